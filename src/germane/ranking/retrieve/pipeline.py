"""RETRIEVE: the pipeline from a request to a page, over one snapshot of the store."""

from __future__ import annotations

import time
import uuid
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from germane.log.shown import Shown
from germane.model.builtin import COLD_START
from germane.model.pages import Degradation, Page
from germane.model.profiles import Profile
from germane.ranking.asked import find_profile
from germane.ranking.audience import are_among
from germane.ranking.behaviour.evaluation import Evaluation, of_profile
from germane.ranking.behaviour.operations import FloatArray
from germane.ranking.behaviour.readings import Readings
from germane.ranking.moment import Moment
from germane.ranking.retrieve.candidates import Candidates, find_candidates
from germane.ranking.retrieve.diversify import Chosen, Limits, choose
from germane.ranking.retrieve.explore import NOBODY, Explorers, draw, slots
from germane.ranking.retrieve.feed import (
    KEPT,
    PAGES,
    Feed,
    cursor_of,
    encoded,
    new_key,
    packed,
    resume,
)
from germane.ranking.retrieve.gates import through_gates
from germane.ranking.retrieve.mmr import TIMES, Spread
from germane.ranking.retrieve.muted import in_order
from germane.ranking.retrieve.order import EXACT_AT_ONCE, FEW, best_and_least
from germane.ranking.retrieve.page import results
from germane.ranking.retrieve.request import RetrieveRequest, restored
from germane.ranking.session import SPREAD, Boost, missing, resolved
from germane.sessions.context import Context
from germane.signals.decay import IntArray

NONE = np.zeros(0, np.int64)


class Ranking(NamedTuple):
    """What a profile ranks: the candidates after its gates, and the function that sums.

    Parameters
    ----------
    profile : Profile
    candidates : Candidates
    evaluation : Evaluation
        Settled.
    scale : float or None
        What the terms of a session were multiplied by.
    """

    profile: Profile
    candidates: Candidates
    evaluation: Evaluation
    scale: float | None = None


def rank(
    readings: Readings, profile: Profile, request: RetrieveRequest, boost: Boost | None = None
) -> Ranking:
    """Find the candidates of a request, and make ready to sum, with what a session adds."""
    found = find_candidates(readings, profile, request)
    gates = tuple(gate._replace(term=profile.threshold_term(gate)) for gate in profile.gates)
    candidates = through_gates(readings, gates, found)
    evaluation = of_profile(readings, profile)
    if evaluation.is_over_candidates:
        evaluation.settle(candidates.ordinals)
    if boost is None:
        return Ranking(profile, candidates, evaluation)
    scale = boost.scale(_spread(evaluation, candidates) if boost.weights.scale == SPREAD else 0.0)
    readings.session = boost.reading
    return Ranking(profile, candidates, evaluation.with_session(boost.factors(scale)), scale)


def _spread(evaluation: Evaluation, candidates: Candidates) -> float:
    """Return how far apart the greatest and the least base of the candidates are."""
    if 0 < candidates.count <= EXACT_AT_ONCE:
        evaluation.know(candidates.ordinals)  # the same numbers are summed again with the session's
        sums = evaluation.sums(candidates.ordinals)
        return float(sums.max() - sums.min())
    first, least = best_and_least(evaluation, candidates, 1)
    return float(first.sums[0]) - least if len(first.sums) else 0.0


def retrieve(
    moment: Moment,
    readings: Readings,
    shown: Shown,
    request: RetrieveRequest,
    context: Context | None,
    impressions: bool,
) -> Page:
    """Answer a retrieval.

    Parameters
    ----------
    moment : Moment
    readings : Readings
        At one position of the log; their seed is the request's, or made of that position.
    shown : Shown
        Keeps the order, and what was shown.
    request : RetrieveRequest
    context : Context or None
        The request's session.
    impressions : bool
        Whether to keep what was shown.

    Raises
    ------
    CursorExpired
        The request's cursor names no feed.
    """
    began = time.perf_counter()
    parent: bytes | None = None
    feed: Feed | None = None
    if request.cursor is not None:
        parent, feed = resume(shown, request.cursor, readings.now)
        request = restored(feed.asked, request)
        readings.seed = feed.seed
        request, context = resolved(request, moment.session)
        in_session = NONE if context is None else context.items
        readings.audience = readings.audience.with_user(request.user, in_session)
    profile = find_profile(readings.connection, request.profile, readings.audience, feed is not None)
    boost = moment.boost(context, request.session_weights)
    ranker = Ranker(readings, profile, request, readings.catalog.seq, boost)
    current = feed or ranker.feed(1)
    chosen = ranker.fill(current)
    # The stretch may run out, and limits may hold back so many that the order must reach further down.
    times = 1 if feed else 4
    while (len(chosen.shown) < ranker.places(current) or chosen.relaxed) and ranker.goes_on(current):
        current = ranker.feed(times, feed)
        chosen, times = ranker.fill(current), times * 4
    return _page(ranker, shown, current, chosen, parent, impressions, began)


class Ranker:
    """Ranks for one call: at most once, and not at all where a kept order will do.

    Parameters
    ----------
    readings : Readings
    profile : Profile
    request : RetrieveRequest
    seq : int
        The position of the log.
    boost : Boost or None
        Of the request's session.
    """

    def __init__(
        self,
        readings: Readings,
        profile: Profile,
        request: RetrieveRequest,
        seq: int,
        boost: Boost | None = None,
    ) -> None:
        self.readings = readings
        self.profile = profile
        self.request = request
        self.boost = boost
        self.diversity = request.diversity or profile.diversity
        self._seq = seq
        self._is_at_end = False
        self._made: Feed | None = None
        self._places: dict[int, int] = {}  # where each item of that stands in its columns
        self._there: tuple[bytes, IntArray] = b"", NONE

    @cached_property
    def ranking(self) -> Ranking:
        """The candidates, and the function that sums."""
        return rank(self.readings, self.profile, self.request, self.boost)

    def feed(self, times: int, before: Feed | None = None) -> Feed:
        """Rank, and return an order.

        Parameters
        ----------
        times : int
            How many times further than usual it reaches.
        before : Feed, optional
            What it goes on from: what that showed does not come again, what it held back comes first.
        """
        candidates, evaluation = self.ranking.candidates, self.ranking.evaluation
        in_stretches = candidates.count > FEW and not evaluation.is_drawn
        wanted = max(KEPT, self.request.limit)
        if in_stretches:
            wanted = min(wanted, PAGES * self.request.limit)
        if self._is_spread:
            wanted = max(wanted, TIMES * self.request.limit)
        held: list[int] = []
        if before is None:
            ordered, least, greatest = in_order(evaluation, candidates, wanted * times)
            explorers = self._explorers(ordered.ordinals)
        else:
            first, least = best_and_least(evaluation, candidates, 1)
            greatest = float(first.sums[0]) if len(first.sums) else 0.0
            there = candidates.mask
            held = [ordinal for ordinal in before.in_order[: before.held] if there[ordinal]]
            passed = np.append(np.frombuffer(before.shown, "<i8"), np.array(held, np.int64))
            ordered, _, _ = in_order(evaluation, candidates.without(np.sort(passed)), wanted * times)
            still = [ordinal for ordinal in before.to_explore if there[ordinal]]
            explorers = Explorers(np.array(still, np.int64), before.eligible)
        self._is_at_end = len(ordered.ordinals) < wanted * times
        self._places = places = {
            ordinal: place for place, ordinal in enumerate(held + ordered.ordinals.tolist())
        }
        order = np.arange(len(places), dtype="<i4")
        explore = [places.setdefault(ordinal, len(places)) for ordinal in explorers.ordinals.tolist()]
        ordinals = np.array(list(places), "<i8")
        self._made = Feed(
            asked=self.request.asked(),
            as_of=self._seq,
            total=candidates.count,
            offset=0 if before is None else before.offset,
            least=least,
            greatest=greatest,
            names=evaluation.names,
            ordinals=ordinals.tobytes(),
            columns=evaluation.contributions(ordinals).astype("<f8", copy=False).tobytes(),
            order=order.tobytes(),
            explorers=packed(explore),
            held=len(held),
            shown=b"" if before is None else before.shown,
            in_stretches=in_stretches if before is None else True,
            seed=self.readings.seed,
            eligible=explorers.eligible,
            cold=self.profile is COLD_START,
            scale=self.ranking.scale,
        )
        return self._made

    def places(self, feed: Feed) -> int:
        """Return how many items the page has places for."""
        limit = self.request.limit
        return min(limit, KEPT - feed.offset) if feed.in_stretches and feed.offset else limit

    def goes_on(self, feed: Feed) -> bool:
        """Tell whether there may be items beyond an order, that ranking again would find."""
        return not self._is_at_end and (feed.in_stretches or not feed.offset)

    def fill(self, feed: Feed) -> Chosen:
        """Choose what a page shows of a feed; items that are gone or hidden by now are passed over."""
        limit = self.request.limit
        explorers = feed.items[self._still_there(feed, feed.explorer_places)].tolist()
        return choose(
            feed.items[self.order_of(feed)].tolist(),
            explorers,
            slots(self.profile.exploration, limit) if explorers else (),
            Limits(self.readings.catalog, self.diversity, limit),
            self.places(feed),
            relax=self.diversity is not None and self.diversity.relax,
            spread=self._spread(feed),
        )

    @property
    def _is_spread(self) -> bool:
        return self.diversity is not None and self.diversity.mmr is not None

    def _spread(self, feed: Feed) -> Spread | None:
        if self.diversity is None or self.diversity.mmr is None:
            return None
        audience = self.readings.audience
        scores = {
            ordinal: feed.score(raw)
            for ordinal, raw in zip(feed.items.tolist(), feed.sums.tolist(), strict=True)
        }

        def scores_of(ordinals: IntArray) -> FloatArray:
            return np.array([scores[ordinal] for ordinal in ordinals.tolist()], np.float64)

        most = TIMES * self.request.limit
        return Spread(self.diversity.mmr, audience.vectors, scores_of, audience.muted, most)

    def order_of(self, feed: Feed) -> IntArray:
        """Return the places of the order's items that are live and not hidden by now."""
        if self._there[0] is not feed.order:
            self._there = feed.order, self._still_there(feed, feed.order_places)
        return self._there[1]

    def places_of(self, feed: Feed, chosen: Chosen) -> dict[int, int]:
        """Return where what was looked at for a page, at least, stands in the feed's columns."""
        if feed is self._made:
            return self._places
        places = np.append(self.order_of(feed)[: chosen.used], feed.explorer_places)
        return dict(zip(feed.items[places].tolist(), places.tolist(), strict=True))

    def _still_there(self, feed: Feed, places: IntArray) -> IntArray:
        if feed is self._made:
            return places  # it is of this very moment
        ordinals = feed.items[places]
        there = self.readings.catalog.live[ordinals]
        there &= ~are_among(ordinals, self.readings.audience.hidden)
        return places[there]

    def _explorers(self, order: IntArray) -> Explorers:
        if not self.profile.exploration:
            return NOBODY
        anyway = order[: self.request.limit]
        number = len(slots(self.profile.exploration, KEPT))
        return draw(self.readings, self.ranking.candidates, anyway, number, self.readings.seed)


def _page(
    ranker: Ranker,
    shown: Shown,
    feed: Feed,
    chosen: Chosen,
    parent: bytes | None,
    impressions: bool,
    began: float,
) -> Page:
    readings, request = ranker.readings, ranker.request
    places = ranker.places_of(feed, chosen)
    left = _left(ranker, feed, chosen, places)
    more = bool(len(left))
    if feed.in_stretches:
        is_full = feed.offset + len(chosen.shown) >= KEPT
        more = not is_full and (more or ranker.goes_on(feed))
    key = new_key(parent, request.limit) if more else None
    rest = _rest(feed, chosen, left, places) if key is not None else b""
    id = uuid.uuid4().hex
    data = _impression(ranker, feed, chosen) if impressions else None
    kept = shown.keep(key, rest, readings.now, id if impressions else None, data)
    cursor = cursor_of(shown, key) if key is not None and kept else None
    limits = list(chosen.held_back.values())
    return Page(
        id=id,
        items=results(
            readings.connection, readings.catalog, feed, chosen, places, request.explain, ranker.boost
        ),
        total=feed.total,
        offset=feed.offset,
        limit=request.limit,
        has_more=key is not None,
        cursor=cursor,
        took_ms=(time.perf_counter() - began) * 1000,
        as_of=feed.as_of,
        constraints_satisfied=not chosen.relaxed,
        held_back={limit: limits.count(limit) for limit in dict.fromkeys(limits)},
        scale=feed.scale,
        session=None if ranker.boost is None else ranker.boost.context.summary,
        degraded=(
            *missing(request, None if ranker.boost is None else ranker.boost.context),
            *(() if kept else (_NOT_KEPT,)),
        ),
    )


def _left(ranker: Ranker, feed: Feed, chosen: Chosen, places: dict[int, int]) -> IntArray:
    """Return what a page leaves of the order, as places: what it held back, then what it never reached."""
    held = [places[ordinal] for ordinal in chosen.held_back]
    left = np.ones(len(feed.items), np.bool_)
    left[held + [places[ordinal] for ordinal in chosen.shown]] = False
    rest = ranker.order_of(feed)
    rest = rest[left[rest]]
    return np.append(held, rest)[:KEPT] if held else rest[:KEPT]


def _rest(feed: Feed, chosen: Chosen, left: IntArray, places: dict[int, int]) -> bytes:
    gone = set(chosen.shown)
    return encoded(
        msgspec.structs.replace(
            feed,
            offset=feed.offset + len(chosen.shown),
            order=packed(left),
            explorers=packed([places[ordinal] for ordinal in feed.to_explore if ordinal not in gone]),
            held=len(chosen.held_back),
            shown=feed.shown + np.array(chosen.shown, "<i8").tobytes() if feed.in_stretches else b"",
        )
    )


def _impression(ranker: Ranker, feed: Feed, chosen: Chosen) -> bytes:
    readings = ranker.readings
    shown: dict[str, Any] = {
        "at": readings.now,
        "as_of": feed.as_of,
        "user": ranker.request.user,
        "profile": ranker.profile.label,
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
