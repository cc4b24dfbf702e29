"""Stage 3: the order: the greatest sums first, equal ones by id, found without looking at every item.

Each block of items has bounds of its sums. Blocks are visited by their upper bound, the best first, until
none can hold an item that belongs to the best; so the result is that of a full scan.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from germane.ranking.behaviour.evaluation import Evaluation
from germane.ranking.behaviour.operations import FloatArray
from germane.ranking.behaviour.readings import Readings
from germane.signals.decay import BLOCK, IntArray
from germane.text.arrays import BoolArray

FEW = 32_768
"""Candidates that are computed one and all, without asking for bounds."""
EXACT_AT_ONCE = 2_048
"""Candidates whose exact sums cost no more than finding out which of them matter, a feed keeping many."""
FIRST_BLOCKS, MOST_BLOCKS = 8, 512
"""Blocks that are visited before the bounds are asked again: few at first, so that the threshold rises."""
TINY = 1e-300
"""Numbers below this have lost digits, so that no threshold lies between them and zero."""


class Items(Protocol):
    """Items among which the best are found; `candidates.Candidates` is the usual one."""

    @property
    def mask(self) -> BoolArray:
        """Return which items they are."""

    @property
    def filled(self) -> BoolArray:
        """Return which blocks hold any."""

    @property
    def count(self) -> int:
        """Return how many they are."""

    @property
    def ordinals(self) -> IntArray:
        """Return their ordinals."""


class Ordered(NamedTuple):
    """The best items, in order.

    Parameters
    ----------
    ordinals : int64[n]
    sums : float64[n]
        Exact.
    """

    ordinals: IntArray
    sums: FloatArray


NOTHING = Ordered(np.zeros(0, np.int64), np.zeros(0))


def best(evaluation: Evaluation, items: Items, wanted: int) -> Ordered:
    """Return the items with the greatest sums, in order: sum descending, then id by code point.

    Parameters
    ----------
    evaluation : Evaluation
        Settled, if it looks at all candidates.
    items : Items
    wanted : int
        How many, at most.
    """
    if not items.count:
        return NOTHING
    ordinals = _of_few(evaluation, items, wanted)[0] if items.count <= FEW else None
    if ordinals is None:
        ordinals = _could_belong(evaluation, items, wanted, evaluation.bounds().greatest)
    return sorted_by_sum(evaluation.readings, ordinals, evaluation.sums(ordinals), wanted)


def best_and_least(evaluation: Evaluation, items: Items, wanted: int) -> tuple[Ordered, float]:
    """Return the best items, and the least sum of all; 0.0 without any."""
    if not items.count:
        return NOTHING, 0.0
    if items.count <= FEW:
        ordinals, low = _of_few(evaluation, items, wanted)
        sums = evaluation.sums(ordinals)
        least = float((sums if low is ordinals else evaluation.sums(low)).min())
    else:
        bounds = evaluation.bounds()
        ordinals = _could_belong(evaluation, items, wanted, bounds.greatest)
        least = _least(evaluation, items, bounds.least)
        sums = evaluation.sums(ordinals)
    return sorted_by_sum(evaluation.readings, ordinals, sums, wanted), least


def _of_few(evaluation: Evaluation, items: Items, wanted: int) -> tuple[IntArray, IntArray]:
    """Return the items that could be among the best, and those that could be the least."""
    ordinals = items.ordinals
    if len(ordinals) <= EXACT_AT_ONCE or evaluation.is_over_candidates:
        evaluation.know(ordinals)
        return ordinals, ordinals
    rough = evaluation.rough_at(ordinals)
    least, greatest = rough.least, rough.greatest
    low = np.flatnonzero(least <= greatest.min())
    low = ordinals[low[:1]] if rough.size is None else _some(ordinals[low], rough.size[low])
    if len(ordinals) <= wanted:
        return ordinals, low
    return ordinals[greatest >= _threshold(least, wanted)], low


def _threshold(least: FloatArray, wanted: int) -> float:
    """Return what an item must be able to reach, to be among the best of those known."""
    found = float(np.partition(least, len(least) - wanted)[len(least) - wanted])
    return -TINY if abs(found) <= TINY else found


def _could_belong(evaluation: Evaluation, items: Items, wanted: int, greatest: FloatArray) -> IntArray:
    """Return the items that could be among the best, as far as rough numbers tell."""
    mask = items.mask.reshape(-1, BLOCK)
    upper = greatest if items.filled.all() else np.where(items.filled, greatest, -np.inf)
    ordinals, above, below = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    threshold = -np.inf
    first = max(FIRST_BLOCKS, wanted)
    if first < len(upper):
        # As many as are wanted: where bounds are close there is one of the best in each.
        visited = np.argpartition(upper, len(upper) - first)[len(upper) - first :]
    else:
        visited = np.arange(len(upper))
    rest: IntArray | None = None
    step = FIRST_BLOCKS
    while True:
        visited = visited[(upper[visited] >= threshold) & (upper[visited] > -np.inf)]
        if len(visited):
            rough = evaluation.rough(visited)
            high = rough.greatest
            near = np.flatnonzero((high >= threshold) & mask[visited].ravel())
            ordinals = np.append(ordinals, visited[near // BLOCK] * BLOCK + near % BLOCK)
            above = np.append(above, high[near])
            below = above if rough.size is None else np.append(below, rough.least[near])
            if len(ordinals) > wanted:
                threshold = _threshold(below, wanted)
                kept = above >= threshold
                ordinals, above, below = ordinals[kept], above[kept], below[kept]
        elif rest is not None:
            break
        if rest is None:
            others = upper >= threshold
            others[visited] = False
            rest = np.flatnonzero(others)
            rest = rest[np.argsort(-upper[rest], kind="stable")]
        visited, rest = rest[:step], rest[step:]
        step = min(step * 2, MOST_BLOCKS)
    return ordinals


def _least(evaluation: Evaluation, items: Items, lower: FloatArray) -> float:
    """Return the least exact sum among items."""
    mask = items.mask.reshape(-1, BLOCK)
    if not items.filled.all():
        lower = np.where(items.filled, lower, np.inf)
    least = np.inf
    first = min(FIRST_BLOCKS, len(lower))
    visited = np.argpartition(lower, first - 1)[:first]
    rest: IntArray | None = None
    step = FIRST_BLOCKS
    while len(visited):
        rough = evaluation.rough(visited)
        there = mask[visited].ravel()
        low = np.where(there, rough.least, np.inf)
        # Of those that might be the least the exact sums decide.
        most = min(least, float(rough.greatest.min(initial=np.inf, where=there)))
        near = np.flatnonzero((low <= most) & there)
        if rough.size is None:
            least = min(least, float(low.min()))
        elif len(near):
            ordinals = visited[near // BLOCK] * BLOCK + near % BLOCK
            least = min(least, float(evaluation.sums(_some(ordinals, rough.size[near])).min()))
        if rest is None:
            others = lower < least
            others[visited] = False
            rest = np.flatnonzero(others)
            if len(rest) * BLOCK > 2 * items.count:
                # Most of what these blocks hold is not among the items, and their bounds say little of them.
                return min(least, float(evaluation.sums(_of_few(evaluation, items, 1)[1]).min()))
            rest = rest[np.argsort(lower[rest], kind="stable")]
        visited, rest = rest[:step], rest[step:]
        visited = visited[lower[visited] < least]
        step = min(step * 2, MOST_BLOCKS)
    return least


def _some(ordinals: IntArray, size: FloatArray) -> IntArray:
    """Return those items, but of those that have no part that is not zero, as many have, only one."""
    nothing = size == 0.0
    if np.count_nonzero(nothing) < 2:
        return ordinals
    return np.append(ordinals[~nothing], ordinals[np.argmax(nothing)])


def sorted_by_sum(readings: Readings, ordinals: IntArray, sums: FloatArray, wanted: int) -> Ordered:
    """Return the first of the order; ids are looked up for equal sums only."""
    if len(sums) > wanted:
        threshold = np.partition(sums, len(sums) - wanted)[len(sums) - wanted]
        above = sums > threshold
        ties = ordinals[sums == threshold]
        missing = wanted - int(np.count_nonzero(above))
        if len(ties) > missing:
            ties = ties[np.argpartition(by_id(readings, ties), missing - 1)[:missing]]
        ordinals = np.append(ordinals[above], ties)
        sums = np.append(sums[above], np.full(len(ties), threshold))
    order = np.argsort(-sums, kind="stable")
    ordinals, sums = ordinals[order], sums[order]
    equal = sums[1:] == sums[:-1]
    if equal.any():
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        order = np.lexsort((by_id(readings, ordinals[tied]), -sums[tied]))
        ordinals[tied] = ordinals[tied[order]]
    return Ordered(ordinals, sums)


def by_id(readings: Readings, ordinals: IntArray) -> IntArray:
    """Return numbers that order items as their ids do, by code point: int64[items]."""
    catalog = readings.catalog
    # All ids are put in order at the cost of looking up a quarter of them, and stay so until one is put.
    if len(ordinals) > min(MANY_TIES, readings.size // 4) or catalog.has("by id"):
        all_ranks: IntArray = catalog.kept("by id", lambda: _all_by_id(readings))
        return all_ranks[ordinals]
    ids = catalog.ids.of(readings.connection, ordinals.tolist())
    ranks = np.empty(len(ids), np.int64)
    ranks[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return ranks


def _all_by_id(readings: Readings) -> IntArray:
    found = readings.connection.execute("SELECT ordinal FROM item ORDER BY id")
    ordered = np.fromiter((ordinal for (ordinal,) in found), np.int64)
    ranks = np.zeros(readings.size, np.int64)
    ranks[ordered] = np.arange(len(ordered))
    return ranks


MANY_TIES = 4_096
"""Equal sums beyond which all ids are put in order, once, instead of theirs."""
