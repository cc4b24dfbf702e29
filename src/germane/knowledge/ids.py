"""The ordinals of ids that were asked for, and the ids of ordinals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import filterfalse

import apsw
import msgspec
import numpy as np

from germane.text.arrays import IntArray

MOST = 131_072
"""Ids that are remembered: about 30 MB."""


class Ids:
    """Looks up ordinals, and remembers them: an id has the same one for as long as the tables are the same.

    What is not there is not remembered. What is may be of an item that an older snapshot does not know: its
    ordinal lies beyond those of the snapshot.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._ids: dict[int, str] = {}

    def ordinals(self, connection: apsw.Connection, ids: Sequence[str]) -> IntArray:
        """Return the ordinals of ids, in order, without those that were never put: int64[n]."""
        known = self._known
        found = list(map(known.get, ids))
        if None in found:
            new = list(filterfalse(known.__contains__, ids))
            if len(known) + len(new) > MOST:
                known = self._known = {}
                new = list(ids)
            query = "SELECT i.id, i.ordinal FROM json_each(?) CROSS JOIN item i ON i.id = value"
            known.update(connection.execute(query, (msgspec.json.encode(new).decode(),)))
            found = [ordinal for id in ids if (ordinal := known.get(id)) is not None]
        return np.array(found, np.int64)

    def of(self, connection: apsw.Connection, ordinals: Sequence[int]) -> list[str]:
        """Return the ids of ordinals that are there, in order."""
        known = self._ids
        if new := list(filterfalse(known.__contains__, ordinals)):
            if len(known) + len(new) > MOST:
                known = self._ids = {}
                new = list(ordinals)
            query = "SELECT i.ordinal, i.id FROM json_each(?) CROSS JOIN item i ON i.ordinal = value"
            known.update(connection.execute(query, (msgspec.json.encode(new).decode(),)))
        return [known[ordinal] for ordinal in ordinals]
