"""Stage 1: the candidates: what the strategies give, then what collections and the filter leave of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.knowledge.selection import select
from germane.model.filters import Comparison, Field, Filter
from germane.model.forms import Term
from germane.model.profiles import Profile
from germane.model.strategies import Strategy
from germane.ranking.behaviour.evaluation import of_term
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.order import best
from germane.ranking.retrieve.request import RetrieveRequest
from germane.signals.decay import BLOCK
from germane.text.segment import BoolArray, IntArray


@dataclass(frozen=True)
class Candidates:
    """Items among which a query ranks.

    Parameters
    ----------
    mask : bool[size]
        Whole blocks; not to be changed.
    """

    mask: BoolArray

    @cached_property
    def count(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.mask))

    @cached_property
    def ordinals(self) -> IntArray:
        """Their ordinals, ascending."""
        return np.flatnonzero(self.mask)

    @cached_property
    def filled(self) -> BoolArray:
        """Which blocks hold any of them: bool[blocks]."""
        filled: BoolArray = np.logical_or.reduce(self.mask.reshape(-1, BLOCK), axis=1)
        return filled

    def only(self, kept: BoolArray) -> Candidates:
        """Return those of them that are kept, too."""
        return Candidates(self.mask & kept)


def find_candidates(readings: Readings, profile: Profile, request: RetrieveRequest) -> Candidates:
    """Return the live items that the strategies give, within collections and filter.

    Ids that a call gives replace the strategies, or join them where the profile names ``ids``.
    """
    strategies = profile.candidates
    if request.candidates is not None and all(each.kind != "ids" for each in strategies):
        strategies = (Strategy("ids"),)
    everything = live(readings)
    found = everything
    if all(each.kind != "all" for each in strategies):
        mask = np.zeros(readings.size, np.bool_)
        for strategy in strategies:
            mask[_given(readings, everything, strategy, request)] = True
        found = Candidates(mask & everything.mask)
    for condition in conditions(request):
        found = found.only(meets(readings, condition))
    return found


def live(readings: Readings) -> Candidates:
    """Return all live items."""

    def make() -> Candidates:
        mask = np.zeros(readings.size, np.bool_)
        mask[: len(readings.catalog.live)] = readings.catalog.live
        return Candidates(mask)

    return readings.catalog.kept("live", make)


def conditions(request: RetrieveRequest) -> Iterable[Filter]:
    """Return what collections and filter ask of an item."""
    if request.collections is not None:
        yield Comparison(Field("collection"), "in", request.collections)
    if request.where is not None:
        yield request.where


def meets(readings: Readings, condition: Filter) -> BoolArray:
    """Return which items meet a filter: bool[size]."""

    def make() -> BoolArray:
        mask = np.zeros(readings.size, np.bool_)
        met = select(readings.connection, readings.catalog, condition)
        mask[: len(met)] = met
        return mask

    return readings.catalog.kept(f"where {condition}", make)


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
        found = best(of_term(readings, strategy.term), everything, n)
        return found.ordinals[found.sums > 0]
    return np.zeros(0, np.int64)  # what a user is near to, follows or came from: nobody asks here


def ordinals_of(readings: Readings, ids: Iterable[str]) -> IntArray:
    """Return the ordinals of ids, without those that no item ever had."""
    query = "SELECT ordinal FROM item WHERE id = ?"
    found = (readings.connection.execute(query, (id,)).get for id in ids)
    return np.array([ordinal for ordinal in found if ordinal is not None], np.int64)
