"""Stage 1: the sections that match, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from germane.knowledge.selection import select as select_items
from germane.ranking.audience import Audience
from germane.ranking.moment import Moment
from germane.ranking.search.request import SearchRequest
from germane.text.arrays import BoolArray, IntArray
from germane.text.match import conditions
from germane.text.plan import Filter, Plan, make_plan
from germane.text.scoring import Scoring

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
    matches : Scoring
    loosened : bool
        Whether no section held all words, so that any had to do.
    """

    plan: Plan
    matches: Scoring
    loosened: bool


def find_candidates(moment: Moment, request: SearchRequest, audience: Audience) -> Candidates:
    """Plan a query and select the sections that match; what is hidden from the user is no match."""
    index, connection = moment.index, moment.connection
    langs = (request.lang,) if request.lang else index.languages(request.collections)
    plan = make_plan(request.text, langs or (index.lang,))

    def select(condition: Filter) -> IntArray:
        found = connection.execute(_SELECT[condition.field], (condition.value,))
        return np.fromiter((ordinal for (ordinal,) in found), np.int64)

    def matches(needs_all: bool) -> Scoring:
        met = conditions(index, plan, select, request.collections, needs_all, allowed)
        return Scoring(index, plan, request.weights, moment.now, met)

    allowed: BoolArray | None = None
    if request.where is not None:
        # The catalogue is built only when a filter asks for it.
        allowed = select_items(connection, moment.catalog, request.where, audience.state)[index.ordinals]
    if len(audience.hidden):
        shown = ~np.isin(index.ordinals, audience.hidden)
        allowed = shown if allowed is None else allowed & shown
    found = matches(request.needs_all)
    if request.needs_all and not found.total:
        looser = matches(False)
        if looser.total:
            return Candidates(plan, looser, True)
    return Candidates(plan, found, False)
