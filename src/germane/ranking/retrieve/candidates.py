"""Stage 1: the candidates: what the strategies give, then what collections and the filter leave of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from germane.knowledge.selection import select
from germane.model.builtin import UNSEEN, related
from germane.model.errors import NotFound
from germane.model.filter_text import parse_filter
from germane.model.filters import Comparison, Field, Filter
from germane.model.forms import Term
from germane.model.profiles import Profile
from germane.model.strategies import Strategy
from germane.ranking.audience import are_among
from germane.ranking.behaviour.evaluation import Evaluation, of_profile, of_term, of_terms
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.order import best, sorted_by_sum
from germane.ranking.retrieve.request import RetrieveRequest
from germane.signals.decay import BLOCK
from germane.text.arrays import BoolArray, IntArray

SIMILAR = 500
"""Candidates of a call that names an item to which they are similar."""


class Candidates:
    """Items among which a query ranks: as a mask, or as ordinals where they are few.

    Parameters
    ----------
    mask : bool[size], optional
        Whole blocks; not to be changed.
    ordinals : int64[n], optional
        Instead: ascending, each once.
    size : int
        Whole blocks of items, where ordinals are given.
    """

    def __init__(
        self, mask: BoolArray | None = None, ordinals: IntArray | None = None, size: int = 0
    ) -> None:
        # What is given stands in for what would be computed of the other.
        if mask is not None:
            self.mask = mask
        if ordinals is not None:
            self.ordinals = ordinals
        self._size = size if mask is None else len(mask)

    @cached_property
    def mask(self) -> BoolArray:
        """Which items they are: bool[size], not to be changed."""
        mask = np.zeros(self._size, np.bool_)
        mask[self.ordinals] = True
        return mask

    @cached_property
    def ordinals(self) -> IntArray:
        """Their ordinals, ascending."""
        return np.flatnonzero(self.mask)

    @cached_property
    def count(self) -> int:
        """How many they are."""
        return len(self.ordinals) if "ordinals" in self.__dict__ else int(np.count_nonzero(self.mask))

    @cached_property
    def filled(self) -> BoolArray:
        """Which blocks hold any of them: bool[blocks]."""
        # Eight items are looked at as one number.
        rows = self.mask.view(np.int64) if BLOCK % 8 == 0 else self.mask
        filled: BoolArray = np.logical_or.reduce(rows.reshape(self._size // BLOCK, -1), axis=1)
        return filled

    def only(self, kept: BoolArray) -> Candidates:
        """Return those of them that are kept, too."""
        if "ordinals" in self.__dict__:
            return Candidates(ordinals=self.ordinals[kept[self.ordinals]], size=self._size)
        return Candidates(self.mask & kept)

    def without(self, gone: IntArray) -> Candidates:
        """Return them without some, given ascending."""
        if "ordinals" in self.__dict__:
            return Candidates(ordinals=self.ordinals[~are_among(self.ordinals, gone)], size=self._size)
        mask = self.mask.copy()
        mask[gone[gone < self._size]] = False
        return Candidates(mask)

    def among(self, some: IntArray) -> Candidates:
        """Return those of them that are among some, given ascending."""
        if "ordinals" in self.__dict__:
            return Candidates(ordinals=self.ordinals[are_among(self.ordinals, some)], size=self._size)
        some = some[some < self._size]
        return Candidates(ordinals=some[self.mask[some]], size=self._size)


def find_candidates(readings: Readings, profile: Profile, request: RetrieveRequest) -> Candidates:
    """Return the live items that the strategies give, within collections and filter, without hard negatives.

    Ids that a call gives replace the strategies, or join them where the profile names ``ids``. So do the
    items that are nearest to the one that the call names.

    Raises
    ------
    NotFound
        There is no item that others could be similar to.
    """
    strategies = profile.candidates
    if request.candidates is not None and all(each.kind != "ids" for each in strategies):
        strategies = (Strategy("ids"),)
    if request.similar_to is not None:
        strategies = (Strategy("similar", SIMILAR, id=request.similar_to),)
    everything = live(readings)
    asked = tuple(conditions(profile, request))
    if any(each.kind == "all" for each in strategies):
        return _admitted(readings, _everything_within(readings, everything, asked))
    given = [_given(readings, everything, profile.started(strategy), request) for strategy in strategies]
    united = np.sort(np.concatenate(given))
    united = united[everything.mask[united]]
    if len(given) > 1:
        united = united[np.diff(united, prepend=-1) > 0]
    return _admitted(readings, _within(readings, Candidates(ordinals=united, size=readings.size), asked))


def _everything_within(readings: Readings, everything: Candidates, asked: tuple[Filter, ...]) -> Candidates:
    if any(condition.state is not None for condition in asked):
        return _within(readings, everything, asked)
    name = "all " + " and ".join(f"({condition})" for condition in asked)
    return readings.catalog.kept(name, lambda: _within(readings, everything, asked))


def _within(readings: Readings, found: Candidates, asked: tuple[Filter, ...]) -> Candidates:
    for condition in asked:
        found = found.only(meets(readings, condition))
    return found


def _admitted(readings: Readings, found: Candidates) -> Candidates:
    """Return the candidates without hard negatives."""
    hidden = readings.audience.hidden
    return found.without(hidden) if len(hidden) else found


def live(readings: Readings) -> Candidates:
    """Return all live items."""

    def make() -> Candidates:
        mask = np.zeros(readings.size, np.bool_)
        mask[: len(readings.catalog.live)] = readings.catalog.live
        return Candidates(mask)

    return readings.catalog.kept("live", make)


def conditions(profile: Profile, request: RetrieveRequest) -> Iterable[Filter]:
    """Return what the profile, collections and filter ask of an item."""
    if profile.name in UNSEEN:
        yield parse_filter("unseen")
    if request.collections is not None:
        yield Comparison(Field("collection"), "in", request.collections)
    if request.where is not None:
        yield request.where


def meets(readings: Readings, condition: Filter) -> BoolArray:
    """Return which items meet a filter: bool[size]."""

    def make() -> BoolArray:
        mask = np.zeros(readings.size, np.bool_)
        met = select(readings.connection, readings.catalog, condition, readings.audience.state)
        mask[: len(met)] = met
        return mask

    # What is asked of the user differs from one to the next, and with every signal.
    return make() if condition.state is not None else readings.catalog.kept(f"where {condition}", make)


def _given(
    readings: Readings, everything: Candidates, strategy: Strategy, request: RetrieveRequest
) -> IntArray:
    """Return what one strategy gives of the live items."""
    n = strategy.n or 0
    if strategy.kind == "ids":
        return ordinals_of(readings, request.candidates or ())
    if strategy.kind == "fresh":
        return best(of_term(readings, Term("created_at")), everything, n).ordinals
    if strategy.kind == "signal":
        assert strategy.term is not None
        return _above_zero(of_term(readings, strategy.term), everything, n)
    if strategy.kind == "following":
        followed = everything.among(readings.audience.followed)
        return best(of_term(readings, Term("created_at")), followed, n).ordinals
    if strategy.kind == "related":
        return _related(readings, everything, strategy)
    if strategy.kind == "nearest":
        near = Candidates(
            ordinals=np.sort(readings.audience.taste.near(everything.mask, n)), size=readings.size
        )
        return best(of_term(readings, Term("preference")), near, n).ordinals
    if strategy.kind == "similar":
        return _similar(readings, everything, strategy.id or "", n)
    return np.zeros(0, np.int64)


def _related(readings: Readings, everything: Candidates, strategy: Strategy) -> IntArray:
    """Return the items that go with one, itself left out, or with what the user did lately."""
    if strategy.id is None:
        evaluation = of_terms(readings, Term("cooccurrence"), Term("again"))
    else:
        evaluation = of_profile(readings, related(strategy.id))
        everything = everything.without(ordinals_of(readings, (strategy.id,)))
    return _above_zero(evaluation, everything, strategy.n or 0)


def _above_zero(evaluation: Evaluation, everything: Candidates, wanted: int) -> IntArray:
    """Return the best of those whose sums are above zero."""
    few = evaluation.above_zero
    found = best(evaluation, everything if few is None else everything.among(few), wanted)
    return found.ordinals[found.sums > 0]


def _similar(readings: Readings, everything: Candidates, id: str, wanted: int) -> IntArray:
    """Return the items whose vectors are nearest to that of one, without it; none if it has no vector."""
    found = readings.connection.execute("SELECT ordinal FROM item WHERE id = ? AND live = 1", (id,)).get
    if found is None:
        raise NotFound(f"there is no item {id!r} that others could be similar to")
    vectors = readings.audience.vectors
    vector = vectors.vector(int(found))
    if vector is None:
        return np.zeros(0, np.int64)
    others = everything.mask.copy()
    others[found] = False
    near = vectors.near(vector, others, wanted)
    return sorted_by_sum(readings, near, vectors.cosines(vector, near), wanted).ordinals


def ordinals_of(readings: Readings, ids: Iterable[str]) -> IntArray:
    """Return the ordinals of ids, without those that were never put."""
    # One that was never put, but signalled on, may lie beyond what the catalogue knows.
    found = readings.catalog.ids.ordinals(readings.connection, tuple(ids))
    return found[found < readings.size]
