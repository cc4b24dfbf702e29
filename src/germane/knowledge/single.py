"""Selecting: whether a single item meets a filter, as the tables hold it."""

from __future__ import annotations

import apsw
import numpy as np

from germane.knowledge.catalog import Catalog, columns_of
from germane.knowledge.selection import select
from germane.log.content import State
from germane.model.filters import Filter


def meets(connection: apsw.Connection, condition: Filter, id: str) -> bool:
    """Tell whether the live item of an id meets a filter, which asks nothing of a user.

    Parameters
    ----------
    connection : apsw.Connection
        Inside any transaction, also one that has changed the item.
    """
    found = connection.execute(
        f"SELECT {', '.join(State._fields)} FROM item WHERE id = ? AND live = 1", (id,)
    ).fetchone()
    if found is None:
        return False
    state = State._make(found)
    docids = connection.execute("SELECT DISTINCT docid FROM section WHERE ordinal = ?", (state.ordinal,))
    live = np.zeros(state.ordinal + 1, np.bool_)
    live[state.ordinal] = True
    catalog = Catalog(0, 0, live, columns_of(state, [str(docid) for (docid,) in docids]))
    return bool(select(connection, catalog, condition)[state.ordinal])
