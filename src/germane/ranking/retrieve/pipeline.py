"""RETRIEVE: the pipeline from a request to a page, over one snapshot of the store."""

from __future__ import annotations

import time
import uuid
from typing import Any, NamedTuple

import msgspec
import numpy as np

from germane.log.shown import Shown
from germane.model.builtin import COLD_START
from germane.model.diversity import Diversity
from germane.model.pages import Degradation, Page
from germane.model.profiles import Profile
from germane.ranking.behaviour.evaluation import Evaluation, of_profile
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.candidates import Candidates, find_candidates
from germane.ranking.retrieve.diversify import Chosen, Limits, choose
from germane.ranking.retrieve.explore import NOBODY, draw, slots
from germane.ranking.retrieve.feed import KEPT, Feed, cursor_of, encoded, new_key, packed, resume
from germane.ranking.retrieve.gates import through_gates
from germane.ranking.retrieve.order import best, range_of
from germane.ranking.retrieve.page import results
from germane.ranking.retrieve.request import RetrieveRequest, find_profile, restored


class Ranking(NamedTuple):
    """What a profile ranks: the candidates after its gates, and the function that sums.

    Parameters
    ----------
    profile : Profile
    candidates : Candidates
    evaluation : Evaluation
        Settled.
    """

    profile: Profile
    candidates: Candidates
    evaluation: Evaluation


def rank(readings: Readings, profile: Profile, request: RetrieveRequest) -> Ranking:
    """Find the candidates of a request, and make ready to sum."""
    found = find_candidates(readings, profile, request)
    candidates = through_gates(readings, profile.gates, found)
    evaluation = of_profile(readings, profile)
    if evaluation.is_over_candidates:
        evaluation.settle(candidates.ordinals)
    return Ranking(profile, candidates, evaluation)


def retrieve(readings: Readings, shown: Shown, request: RetrieveRequest, seq: int, impressions: bool) -> Page:
    """Answer a retrieval.

    Parameters
    ----------
    readings : Readings
        At one position of the log; their seed is the request's, or made of that position.
    shown : Shown
        Keeps the order, and what was shown.
    request : RetrieveRequest
    seq : int
        The position.
    impressions : bool
        Whether to keep what was shown.

    Raises
    ------
    CursorExpired
        The request's cursor names no feed.
    """
    began = time.perf_counter()
    parent: bytes | None = None
    if request.cursor is not None:
        parent, feed = resume(shown, request.cursor, readings.now)
        request = restored(feed.asked, request)
        profile = find_profile(readings.connection, request.profile)
    else:
        profile = find_profile(readings.connection, request.profile)
        feed = None
    diversity = request.diversity or profile.diversity
    wanted = max(KEPT, request.limit)
    while True:
        current = feed or first_feed(readings, profile, request, seq, wanted)
        chosen, places = _fill(readings, current, profile, diversity, request.limit)
        is_whole = feed is not None or wanted >= current.total
        if is_whole or (len(chosen.shown) == request.limit and not chosen.relaxed):
            break
        wanted *= 4  # limits held back so many that the order must reach further down
    return _page(readings, shown, request, profile, current, chosen, places, parent, impressions, began)


def first_feed(readings: Readings, profile: Profile, request: RetrieveRequest, seq: int, wanted: int) -> Feed:
    """Rank, and return the whole order, so far as it is wanted."""
    ranking = rank(readings, profile, request)
    ordered = best(ranking.evaluation, ranking.candidates, wanted)
    greatest = float(ordered.sums[0]) if len(ordered.sums) else 0.0
    least, greatest = range_of(ranking.evaluation, ranking.candidates, greatest)
    explorers = NOBODY
    if profile.exploration:
        anyway = ordered.ordinals[: request.limit]
        number = len(slots(profile.exploration, KEPT))
        explorers = draw(readings, ranking.candidates, anyway, number, readings.seed)
    extra = explorers.ordinals[~np.isin(explorers.ordinals, ordered.ordinals)]
    ordinals = np.append(ordered.ordinals, extra)
    columns = list(ranking.evaluation.columns(ordinals))
    place = (
        {ordinal: number for number, ordinal in enumerate(ordinals.tolist())}
        if len(explorers.ordinals)
        else {}
    )
    return Feed(
        asked=request.asked(),
        as_of=seq,
        total=ranking.candidates.count,
        offset=0,
        least=least,
        greatest=greatest,
        names=tuple(name for name, _ in columns),
        ordinals=ordinals.astype("<i8").tobytes(),
        columns=np.array([column for _, column in columns], "<f8").tobytes(),
        order=packed(np.arange(len(ordered.ordinals))),
        explorers=packed([place[ordinal] for ordinal in explorers.ordinals.tolist()]),
        eligible=explorers.eligible,
        cold=profile is COLD_START,
    )


def _fill(
    readings: Readings, feed: Feed, profile: Profile, diversity: Diversity | None, limit: int
) -> tuple[Chosen, dict[int, int]]:
    """Choose what a page shows of a feed; items that are gone by now are passed over."""
    items = feed.items.tolist()
    live = readings.catalog.live
    order = [items[place] for place in np.frombuffer(feed.order, "<i4").tolist()]
    explorers = [items[place] for place in np.frombuffer(feed.explorers, "<i4").tolist()]
    chosen = choose(
        (ordinal for ordinal in order if live[ordinal]),
        (ordinal for ordinal in explorers if live[ordinal]),
        slots(profile.exploration, limit) if explorers else (),
        Limits(readings.catalog, diversity, limit),
        limit,
        relax=diversity is not None and diversity.relax,
    )
    return chosen, {ordinal: place for place, ordinal in enumerate(items)}


def _page(
    readings: Readings,
    shown: Shown,
    request: RetrieveRequest,
    profile: Profile,
    feed: Feed,
    chosen: Chosen,
    places: dict[int, int],
    parent: bytes | None,
    impressions: bool,
    began: float,
) -> Page:
    left = _left(feed, chosen, readings)
    key = new_key(parent, request.limit) if len(left) else None
    rest = _rest(feed, chosen, left, places) if key is not None else b""
    id = uuid.uuid4().hex
    data = _impression(readings, request, profile, feed, chosen) if impressions else None
    kept = shown.keep(key, rest, readings.now, id if impressions else None, data)
    cursor = cursor_of(shown, key) if key is not None and kept else None
    limits = list(chosen.held_back.values())
    return Page(
        id=id,
        items=results(readings.connection, feed, chosen, places, request.explain),
        total=feed.total,
        offset=feed.offset,
        limit=request.limit,
        has_more=key is not None,
        cursor=cursor,
        took_ms=(time.perf_counter() - began) * 1000,
        as_of=feed.as_of,
        constraints_satisfied=not chosen.relaxed,
        held_back={limit: limits.count(limit) for limit in dict.fromkeys(limits)},
        degraded=() if kept else (_NOT_KEPT,),
    )


def _left(feed: Feed, chosen: Chosen, readings: Readings) -> list[int]:
    """Return what a page leaves of the order, as ordinals: what it held back, then what it never reached."""
    gone = {*chosen.shown, *chosen.held_back}
    items = feed.items.tolist()
    order = (items[place] for place in np.frombuffer(feed.order, "<i4").tolist())
    live = readings.catalog.live
    return [*chosen.held_back, *(ordinal for ordinal in order if ordinal not in gone and live[ordinal])][
        :KEPT
    ]


def _rest(feed: Feed, chosen: Chosen, left: list[int], places: dict[int, int]) -> bytes:
    gone = {places[ordinal] for ordinal in chosen.shown}
    explorers = [place for place in np.frombuffer(feed.explorers, "<i4").tolist() if place not in gone]
    return encoded(
        msgspec.structs.replace(
            feed,
            offset=feed.offset + len(chosen.shown),
            order=packed([places[ordinal] for ordinal in left]),
            explorers=packed(explorers),
        )
    )


def _impression(
    readings: Readings, request: RetrieveRequest, profile: Profile, feed: Feed, chosen: Chosen
) -> bytes:
    shown: dict[str, Any] = {
        "at": readings.now,
        "as_of": feed.as_of,
        "profile": profile.label,
        "seed": readings.seed,
        "offset": feed.offset,
        "items": chosen.shown,
        "propensities": dict.fromkeys(chosen.explored.values(), feed.propensity),
    }
    return msgspec.msgpack.encode(shown)


_NOT_KEPT = Degradation(
    "not_kept",
    "the folder cannot be written beside the journal: this feed has no next page, and no impressions",
)
