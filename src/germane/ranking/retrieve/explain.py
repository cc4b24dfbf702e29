"""Explaining: why an item stands where it stands in a profile's ranking, or why it is not there."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.model.builtin import COLD_START
from germane.model.errors import NotFound
from germane.model.filters import And, Filter
from germane.model.pages import Explanation, Reason
from germane.ranking.behaviour.evaluation import Evaluation, of_term
from germane.ranking.behaviour.readings import Readings
from germane.ranking.result import added
from germane.ranking.retrieve.candidates import conditions, meets
from germane.ranking.retrieve.order import best, best_and_least
from germane.ranking.retrieve.page import reasons
from germane.ranking.retrieve.pipeline import Ranking, rank
from germane.ranking.retrieve.request import RetrieveRequest, find_profile


def explain_retrieve(readings: Readings, id: str, request: RetrieveRequest) -> Explanation:
    """Return why an item stands where it stands, or what keeps it out.

    Raises
    ------
    NotFound
        There never was such an item.
    """
    ordinal = readings.connection.execute("SELECT ordinal FROM item WHERE id = ?", (id,)).get
    if ordinal is None:
        raise NotFound(f"there is no item {id!r}")
    profile = find_profile(readings.connection, request.profile)
    ranking = rank(readings, profile, request)
    total = ranking.candidates.count
    if not readings.catalog.live[ordinal]:
        return _absent(id, total, {}, Reason("NotLive", {"detail": "the item was deleted, or never put"}))
    one = np.array([ordinal], np.int64)
    named = _contributions(ranking.evaluation, one, total)
    if not ranking.candidates.mask[ordinal]:
        return _absent(id, total, named, _why_not(readings, ranking, ordinal, request))
    raw = added(named)
    place = _rank(ranking, ordinal, raw)
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
        reasons=tuple(reasons(named, profile is COLD_START)),
        absence=(beyond,) if place > request.limit else (),
    )


def _contributions(evaluation: Evaluation, ordinals: np.ndarray[Any, Any], total: int) -> dict[str, float]:
    if evaluation.is_over_candidates and not total:
        return {}
    return {name: float(column[0]) for name, column in evaluation.columns(ordinals)}


def _rank(ranking: Ranking, ordinal: int, raw: float) -> int:
    """Return the place of an item in the order, from 1."""
    wanted = 1_000
    while True:
        ordered = best(ranking.evaluation, ranking.candidates, wanted)
        found = np.flatnonzero(ordered.ordinals == ordinal)
        if len(found):
            return int(found[0]) + 1
        if len(ordered.sums) and ordered.sums[-1] > raw:
            # Far down: everything is ordered once.
            wanted = ranking.candidates.count
        else:
            wanted = min(wanted * 10, ranking.candidates.count)


def _why_not(readings: Readings, ranking: Ranking, ordinal: int, request: RetrieveRequest) -> Reason:
    for condition in conditions(request):
        if not meets(readings, condition)[ordinal]:
            return Reason("Filter", {"filter": str(_failing(readings, condition, ordinal))})
    for gate in ranking.profile.gates:
        value = float(of_term(readings, gate.term).sums(np.array([ordinal], np.int64))[0])
        if value < gate.threshold:
            return Reason("Gate", {"gate": str(gate), "value": value})
    strategies = [str(strategy) for strategy in ranking.profile.candidates]
    if request.candidates is not None:
        strategies = ["ids"]
    return Reason("NotACandidate", {"candidates": tuple(strategies)})


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
