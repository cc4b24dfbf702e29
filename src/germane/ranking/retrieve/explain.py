"""Explaining: why an item stands where it stands in a profile's ranking, or why it is not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.model.builtin import COLD_START
from germane.model.errors import NotFound
from germane.model.filters import And, Filter
from germane.model.pages import Explanation, Reason
from germane.ranking.asked import find_profile
from germane.ranking.audience import MUTED, filtered, hard_negative
from germane.ranking.behaviour.evaluation import Evaluation, of_term
from germane.ranking.behaviour.readings import Readings
from germane.ranking.result import added
from germane.ranking.retrieve.candidates import Candidates, conditions, meets
from germane.ranking.retrieve.muted import muted_among
from germane.ranking.retrieve.order import best, best_and_least
from germane.ranking.retrieve.page import reasons
from germane.ranking.retrieve.pipeline import Ranking, rank
from germane.ranking.retrieve.request import RetrieveRequest
from germane.ranking.session import Boost
from germane.ranking.session import reasons as reasons_of_session


def explain_retrieve(
    readings: Readings, id: str, request: RetrieveRequest, boost: Boost | None = None
) -> Explanation:
    """Return why an item stands where it stands, or what keeps it out.

    Raises
    ------
    NotFound
        There never was such an item.
    """
    known = readings.connection.execute("SELECT ordinal, live FROM item WHERE id = ?", (id,)).fetchone()
    if known is None:
        raise NotFound(f"there is no item {id!r}")
    ordinal, is_live = known
    profile = find_profile(readings.connection, request.profile, readings.audience)
    ranking = rank(readings, profile, request, boost)
    total = ranking.candidates.count
    if not is_live:
        return _absent(id, total, {}, Reason("NotLive", {"detail": "the item was deleted, or never put"}))
    one = np.array([ordinal], np.int64)
    named = _contributions(ranking.evaluation, one, total)
    if not ranking.candidates.mask[ordinal]:
        return _absent(id, total, named, _why_not(readings, ranking, id, ordinal, request))
    raw = added(named)
    place, is_muted = _place(ranking, ordinal, raw)
    why = [*reasons(named, profile is COLD_START), *reasons_of_session(named, boost, ordinal)]
    if is_muted:
        why.append(MUTED)
    first, least = best_and_least(ranking.evaluation, ranking.candidates, 1)
    greatest = float(first.sums[0])
    beyond = Reason("BeyondPage", {"rank": place, "limit": request.limit})
    return Explanation(
        id=id,
        ranked=True,
        rank=place,
        total=total,
        raw=raw,
        score=1.0 if least == greatest else (raw - least) / (greatest - least),
        contributions=named,
        reasons=tuple(why),
        absence=(beyond,) if place > request.limit else (),
    )


def _contributions(evaluation: Evaluation, ordinals: np.ndarray[Any, Any], total: int) -> dict[str, float]:
    if evaluation.is_over_candidates and not total:
        return {}
    return dict(zip(evaluation.names, evaluation.contributions(ordinals)[:, 0].tolist(), strict=True))


def _place(ranking: Ranking, ordinal: int, raw: float) -> tuple[int, bool]:
    """Return the place of an item in the order, from 1, and whether it is among the muted."""
    everything = ranking.candidates
    muted = muted_among(ranking.evaluation, everything)
    if muted is None:
        return _rank(ranking.evaluation, everything, ordinal, raw), False
    if muted.mask[ordinal]:
        ahead = everything.count - muted.count
        return ahead + _rank(ranking.evaluation, muted, ordinal, raw), True
    return _rank(ranking.evaluation, everything.without(muted.ordinals), ordinal, raw), False


def _rank(evaluation: Evaluation, among: Candidates, ordinal: int, raw: float) -> int:
    wanted = 1_000
    while True:
        ordered = best(evaluation, among, wanted)
        found = np.flatnonzero(ordered.ordinals == ordinal)
        if len(found):
            return int(found[0]) + 1
        if len(ordered.sums) and ordered.sums[-1] > raw:
            # Far down: everything is ordered once.
            wanted = among.count
        else:
            wanted = min(wanted * 10, among.count)


def _why_not(readings: Readings, ranking: Ranking, id: str, ordinal: int, request: RetrieveRequest) -> Reason:
    for condition in conditions(ranking.profile, request):
        if not meets(readings, condition)[ordinal]:
            return filtered(_failing(readings, condition, ordinal))
    negative = hard_negative(readings.audience, id, _creator(readings, ordinal))
    if negative is not None:
        return negative
    for gate in ranking.profile.gates:
        value = float(
            of_term(readings, ranking.profile.threshold_term(gate)).sums(np.array([ordinal], np.int64))[0]
        )
        if value < gate.threshold:
            return Reason("Gate", {"gate": str(gate), "value": value})
    strategies = [str(strategy) for strategy in ranking.profile.candidates]
    if request.similar_to is not None:
        strategies = [f"similar_to={request.similar_to}"]
    if request.candidates is not None:
        strategies = ["ids"]
    return Reason("NotACandidate", {"candidates": tuple(strategies)})


def _creator(readings: Readings, ordinal: int) -> str | None:
    found = readings.connection.execute("SELECT creator FROM item WHERE ordinal = ?", (ordinal,)).get
    return None if found is None else str(found)


def _failing(readings: Readings, condition: Filter, ordinal: int) -> Filter:
    """Return the part of a filter that an item does not meet."""
    for part in condition.parts if isinstance(condition, And) else ():
        if not meets(readings, part)[ordinal]:
            return part
    return condition


def _absent(id: str, total: int, named: dict[str, float], why: Reason) -> Explanation:
    return Explanation(
        id=id,
        ranked=False,
        rank=None,
        total=total,
        raw=added(named) if named else None,
        score=None,
        contributions=named,
        absence=(why,),
    )
