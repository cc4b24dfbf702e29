"""Stage 1: the sections that match, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import apsw
import numpy as np

from germane.knowledge.catalog import CatalogView
from germane.knowledge.selection import select as select_items
from germane.ranking.audience import Audience
from germane.ranking.search.request import SearchRequest
from germane.text.index import Index
from germane.text.match import Matches, match
from germane.text.plan import Filter, Plan, make_plan
from germane.text.segment import BoolArray, IntArray

_SELECT = {
    "tag": "SELECT ordinal FROM tag WHERE tag = ? ORDER BY ordinal",
    "type": "SELECT ordinal FROM item WHERE type = ? ORDER BY ordinal",
    "doc": "SELECT ordinal FROM section WHERE docid = ? ORDER BY ordinal",
}


@dataclass(frozen=True)
class Candidates:
    """What a query selects, before anything is scored.

    Parameters
    ----------
    plan : Plan
    matches : Matches
    loosened : bool
        Whether no section held all words, so that any had to do.
    """

    plan: Plan
    matches: Matches
    loosened: bool


def find_candidates(
    index: Index,
    catalogs: CatalogView,
    connection: apsw.Connection,
    request: SearchRequest,
    audience: Audience,
) -> Candidates:
    """Plan a query and select the sections that match; what is hidden from the user is no match."""
    langs = (request.lang,) if request.lang else index.languages(request.collections)
    plan = make_plan(request.text, langs or (index.lang,))

    def select(condition: Filter) -> IntArray:
        found = connection.execute(_SELECT[condition.field], (condition.value,))
        return np.fromiter((ordinal for (ordinal,) in found), np.int64)

    allowed: BoolArray | None = None
    if request.where is not None:
        # The catalogue is built only when a filter asks for it.
        met = select_items(connection, catalogs.at(connection), request.where, audience.state)
        allowed = met[index.ordinals]
    if len(audience.hidden):
        shown = ~np.isin(index.ordinals, audience.hidden)
        allowed = shown if allowed is None else allowed & shown
    matches = match(index, plan, select, request.collections, request.needs_all, allowed)
    if request.needs_all and not len(matches.rows):
        looser = match(index, plan, select, request.collections, False, allowed)
        if len(looser.rows):
            return Candidates(plan, looser, True)
    return Candidates(plan, matches, False)
