"""Stage 3: the order: the greatest sums first, equal ones by id, found without looking at every item.

Each block of items has bounds of its sums. Blocks are visited by their upper bound, the best first, until
none can hold an item that belongs to the best; so the result is that of a full scan.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import apsw
import numpy as np

from germane.ranking.behaviour.evaluation import Evaluation
from germane.ranking.behaviour.operations import FloatArray
from germane.signals.decay import BLOCK, IntArray
from germane.text.segment import BoolArray

FEW = 32_768
"""Candidates that are computed one and all, without asking for bounds."""
FIRST_BLOCKS, MOST_BLOCKS = 4, 64
"""Blocks that are visited before the bounds are asked again: few at first, so that the threshold rises."""


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
    ordinals = items.ordinals if items.count <= FEW else _could_belong(evaluation, items, wanted)
    return _sorted(evaluation.readings.connection, ordinals, evaluation.sums(ordinals), wanted)


def range_of(evaluation: Evaluation, items: Items, greatest: float) -> tuple[float, float]:
    """Return the least and the greatest sum among items, the greatest being known."""
    if not items.count:
        return 0.0, 0.0
    if items.count <= FEW:
        return float(evaluation.sums(items.ordinals).min()), greatest
    return _least(evaluation, items), greatest


def _could_belong(evaluation: Evaluation, items: Items, wanted: int) -> IntArray:
    """Return the items that could be among the best, as far as rough numbers tell."""
    rows = items.mask.reshape(-1, BLOCK)
    upper = np.where(items.filled, evaluation.bounds().greatest, -np.inf)
    blocks = np.argsort(-upper, kind="stable")
    found, above, below = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
    threshold = -np.inf
    done, step = 0, FIRST_BLOCKS
    while done < len(blocks):
        visited = blocks[done : done + step]
        visited = visited[(upper[visited] >= threshold) & (upper[visited] > -np.inf)]
        if not len(visited):
            break
        values, slack = evaluation.rough(visited)
        values[~rows[visited].ravel()] = -np.inf
        high = values if slack is None else values + slack
        near = np.flatnonzero((high >= threshold) & (high > -np.inf))
        found = np.append(found, visited[near // BLOCK] * BLOCK + near % BLOCK)
        above = np.append(above, high[near])
        below = above if slack is None else np.append(below, (values - slack)[near])
        if len(found) > wanted:
            threshold = np.partition(below, len(below) - wanted)[len(below) - wanted]
            kept = above >= threshold
            if np.count_nonzero(kept) < len(found):
                found, above, below = found[kept], above[kept], below[kept]
        done, step = done + step, min(step * 2, MOST_BLOCKS)
    return found


def _least(evaluation: Evaluation, items: Items) -> float:
    rows = items.mask.reshape(-1, BLOCK)
    lower = np.where(items.filled, evaluation.bounds().least, np.inf)
    blocks = np.argsort(lower, kind="stable")
    least, found = np.inf, np.zeros(0, np.int64)
    done, step = 0, FIRST_BLOCKS
    while done < len(blocks) and lower[blocks[done]] < least:
        visited = blocks[done : done + step]
        values, slack = evaluation.rough(visited)
        values[~rows[visited].ravel()] = np.inf
        low = values if slack is None else values - slack
        # Of those that might be the least the exact sums decide.
        near = np.flatnonzero(low <= min(least, float((values if slack is None else values + slack).min())))
        near = near[np.isfinite(values[near])]
        found = visited[near // BLOCK] * BLOCK + near % BLOCK
        if slack is None:
            least = min(least, float(values.min()))
        elif len(found):
            least = min(least, float(evaluation.sums(found).min()))
        done, step = done + step, min(step * 2, MOST_BLOCKS)
    return least


def _sorted(connection: apsw.Connection, ordinals: IntArray, sums: FloatArray, wanted: int) -> Ordered:
    """Return the first of the order; ids are looked up for equal sums only."""
    if len(sums) > wanted:
        threshold = np.partition(sums, len(sums) - wanted)[len(sums) - wanted]
        above = sums > threshold
        ties = ordinals[sums == threshold]
        missing = wanted - int(np.count_nonzero(above))
        if len(ties) > missing:
            ties = first_by_id(connection, ties, missing)
        ordinals = np.append(ordinals[above], ties)
        sums = np.append(sums[above], np.full(len(ties), threshold))
    order = np.argsort(-sums, kind="stable")
    ordinals, sums = ordinals[order], sums[order]
    changes = np.flatnonzero(np.diff(sums)) + 1
    if len(changes) + 1 < len(sums):
        runs = np.split(np.arange(len(sums)), changes)
        ordinals = np.concatenate(
            [
                ordinals[run] if len(run) == 1 else first_by_id(connection, ordinals[run], len(run))
                for run in runs
            ]
        )
    return Ordered(ordinals, sums)


def first_by_id(connection: apsw.Connection, ordinals: IntArray, wanted: int) -> IntArray:
    """Return the items with the first ids by code point, in that order."""
    if len(ordinals) > MANY_TIES:
        # The index of ids is read from its beginning, and soon comes upon enough of so many.
        asked = set(ordinals.tolist())
        found: list[int] = []
        for (ordinal,) in connection.execute("SELECT ordinal FROM item ORDER BY id"):
            if ordinal in asked:
                found.append(ordinal)
                if len(found) == wanted:
                    break
        return np.array(found, np.int64)
    one = "SELECT id FROM item WHERE ordinal = ?"
    ids = [str(connection.execute(one, (ordinal,)).get).encode() for ordinal in ordinals.tolist()]
    order = sorted(range(len(ids)), key=ids.__getitem__)[:wanted]
    return ordinals[order]


MANY_TIES = 4_096
"""Equal sums beyond which ids are read in their order instead of one by one."""
