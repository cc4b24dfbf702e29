"""Kept bounds: the least and greatest sum of each block, renewed where signals came in.

Bounds of each column give bounds of their sum that are far too wide where columns do not go together: hardly
any item has the most views and the most shares of its block. Here the sums of all items are computed once,
and again only in blocks that were touched. Time changes them too, but gently: decayed scores shrink by a
factor that is the same for all items of a signal. The bounds follow by one factor for all parts, and allow
for what a part may differ from it; when one differs by more they are computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from germane.model.forms import Form
from germane.ranking.behaviour.interval import Interval
from germane.ranking.behaviour.operations import FloatArray
from germane.signals.blocks import Extremes, Numbers
from germane.signals.decay import BLOCK, IntArray

DRIFT = 0.01
"""By how much the parts of a sum may have changed apart before its bounds are computed anew."""
AT_ONCE = 256
"""Blocks whose sums are computed at a time: what they need stays in the processor's cache."""
MOST_KEPT = 32
"""Sums whose bounds are kept."""

Key = tuple[tuple[float, float, Form], ...]
Scales = dict[Extremes, float]
Sums = Callable[[IntArray, Scales], tuple[FloatArray, FloatArray]]
"""Returns the sums of all items of some blocks at given scales, and the sums without signs."""


class Reads(NamedTuple):
    """What one part of a sum reads.

    Parameters
    ----------
    numbers : tuple of Numbers
    is_linear : bool
        Whether the part grows as its numbers do; otherwise it grows at most so.
    """

    numbers: tuple[Numbers, ...]
    is_linear: bool


class KeptBounds:
    """The bounds of one sum.

    Parameters
    ----------
    scales : dict of Extremes to float
        The scales of what the sum reads, at the time that the bounds are of.
    """

    def __init__(self, scales: Scales) -> None:
        self._scales = scales
        self._seen = dict.fromkeys(scales, 0)
        self._least: FloatArray = np.zeros(0)
        self._greatest: FloatArray = np.zeros(0)

    def factor(self, reads: list[Reads]) -> float | None:
        """Return by what the bounds are multiplied to hold now; None when they cannot."""
        lowest, highest = np.inf, 0.0
        for part in reads:
            for numbers in part.numbers:
                before = self._scales.get(numbers.extremes, 0.0)
                if before <= 0.0 or numbers.scale <= 0.0:
                    return None
                ratio = numbers.scale / before
                lowest, highest = min(lowest, ratio), max(highest, ratio)
                if not part.is_linear:
                    lowest, highest = min(lowest, 1.0), max(highest, 1.0)
        if not highest:
            return 1.0  # nothing was signalled yet: what is summed are constants
        if highest - lowest > DRIFT * (highest + lowest) * 0.99:
            return None
        return (lowest + highest) / 2

    def renewed(self, sums: Sums, count: int) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of so many blocks, computed where they are not yet, or no more."""
        known = len(self._least)
        if known < count:
            self._least = np.append(self._least, np.zeros(count - known))
            self._greatest = np.append(self._greatest, np.zeros(count - known))
        stale = [np.arange(known, count)] if known < count else []
        for extremes, seen in self._seen.items():
            if extremes.clock > seen:
                stale.append(extremes.touched_since(seen, count))
                self._seen[extremes] = extremes.clock
        if stale:
            blocks = stale[0] if len(stale) == 1 else np.unique(np.concatenate(stale))
            for first in range(0, len(blocks), AT_ONCE):
                self._renew(blocks[first : first + AT_ONCE], sums)
        return self._least[:count], self._greatest[:count]

    def _renew(self, blocks: IntArray, sums: Sums) -> None:
        total, size = sums(blocks, self._scales)
        room = size * DRIFT
        self._least[blocks] = (total - room).reshape(-1, BLOCK).min(axis=1)
        self._greatest[blocks] = (total + room).reshape(-1, BLOCK).max(axis=1)


def kept_bounds(
    kept: dict[Key, KeptBounds], key: Key, reads: list[Reads], sums: Sums, count: int
) -> Interval:
    """Return between which sums the items of each block lie.

    Parameters
    ----------
    kept : dict
        Where the bounds are kept; those of other sums lie there too.
    key : tuple
        What is summed.
    reads : list of Reads
        What it reads now, part by part.
    sums : callable
    count : int
        Blocks.
    """
    scales = {numbers.extremes: numbers.scale for part in reads for numbers in part.numbers}
    found = kept.pop(key, None)
    factor = None if found is None or found._scales.keys() != scales.keys() else found.factor(reads)
    if found is None or factor is None:
        found, factor = KeptBounds(scales), 1.0
    least, greatest = found.renewed(sums, count)
    while len(kept) >= MOST_KEPT:
        kept.pop(next(iter(kept)))
    kept[key] = found  # a failure before leaves nothing half-renewed behind
    return Interval(least * factor, greatest * factor)
