"""Decayed scores by forward decay: one number an item, and one scalar for all of them at read time."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any

import numpy as np

from germane.model.times import Micros

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

STRIDE = 32
"""Half-lives between two landmarks."""

BLOCK = 128
"""Items that lie together: arrays over items are whole blocks long."""

_LEAST_EXPONENT = -1_100
"""Two to this power is nothing in float64."""


class DecayedScores:
    """Sums of weights that halve with time, one an item.

    Kept are ``g = sum of w_i * 2^((t_i - L) / h)`` against a landmark L, the greatest multiple of 32
    half-lives that is not after the latest event; the score at t is ``g * 2^(-(t - L) / h)``. Moving the
    landmark scales every g by a power of two, which loses nothing, so equal logs give equal bits.

    Parameters
    ----------
    half_life : int or None
        Microseconds; None never decays.

    References
    ----------
    G. Cormode, V. Shkapenyuk, D. Srivastava, B. Xu. *Forward Decay: A Practical Time Decay Model for
    Streaming Systems.* ICDE 2009.

    Examples
    --------
    >>> scores = DecayedScores(half_life=1_000_000)
    >>> scores.add(np.array([0, 0]), np.array([1.0, 1.0]), np.array([0, 1_000_000]))
    >>> scores.at(np.array([0]), 2_000_000).tolist()
    [0.75]
    """

    def __init__(self, half_life: Micros | None) -> None:
        self.half_life = half_life
        self.landmark: Micros | None = None
        self.values: FloatArray = np.zeros(0)
        self.moves = 0  # how often the landmark has moved: all values change then

    def add(self, items: IntArray, weights: FloatArray, at: IntArray) -> None:
        """Add events of one record of the log, at least one: the landmark moves once, first.

        Parameters
        ----------
        items : int64[n]
            Numbers of the items.
        weights : float64[n]
        at : int64[n]
            Microseconds since the epoch.
        """
        self.values = grown(self.values, int(items.max()) + 1)
        if self.half_life is not None:
            self._move(int(at.max()), self.half_life)
            weights = weights * self._powers(at, self.half_life)
        np.add.at(self.values, items, weights)

    def add_one(self, item: int, weight: float, at: Micros) -> None:
        """Add one event, that is one record of the log; the same as `add`, for less."""
        if item >= len(self.values):
            self.values = grown(self.values, item + 1)
        if self.half_life is not None:
            if self.landmark is None or at >= self.landmark + self.stride:
                self._move(at, self.half_life)
            whole, phase = divmod(at - (self.landmark or 0), self.half_life)
            weight *= power(whole, phase / self.half_life)
        self.values[item] += weight

    def at(self, items: IntArray, now: Micros) -> FloatArray:
        """Return the scores of some items at a time not before the latest event: float64[items]."""
        scores: FloatArray = taken(self.values, items) * self.scalar(now)
        return scores

    @property
    def stride(self) -> Micros:
        """Microseconds between two landmarks; what never decays has one for all time."""
        return STRIDE * self.half_life if self.half_life else 1 << 62

    def scalar(self, now: Micros) -> float:
        """Return what every value is multiplied by to give the score at a time."""
        if self.half_life is None or self.landmark is None:
            return 1.0
        whole, phase = divmod(now - self.landmark, self.half_life)
        return power(-whole, -phase / self.half_life)

    def weight(self, age: Micros) -> float:
        """Return what is left after an age of a weight of one."""
        if self.half_life is None:
            return 1.0
        whole, phase = divmod(age, self.half_life)
        return power(-whole, -phase / self.half_life)

    def _move(self, latest: Micros, half_life: Micros) -> None:
        landmark = latest // self.stride * self.stride
        if self.landmark is None:
            self.landmark = landmark
        elif landmark > self.landmark:
            halvings = min((landmark - self.landmark) // half_life, -2 * _LEAST_EXPONENT)
            self.values = np.ldexp(self.values, -halvings)
            self.landmark = landmark
            self.moves += 1

    def _powers(self, at: IntArray, half_life: Micros) -> FloatArray:
        whole, phase = np.divmod(at - (self.landmark or 0), half_life)
        # The C library's function, one by one: NumPy's own differs in the last bit from machine to machine.
        mantissas = np.fromiter(map(math.pow, repeat(2.0), (phase / half_life).tolist()), np.float64, len(at))
        return np.ldexp(mantissas, np.maximum(whole, _LEAST_EXPONENT).astype(np.int32))


def power(whole: int, fraction: float) -> float:
    """Return 2 to the power of a whole number and a fraction.

    Examples
    --------
    >>> power(3, -0.0), power(-5_000, 0.5)
    (8.0, 0.0)
    """
    return math.ldexp(math.pow(2.0, fraction), max(whole, _LEAST_EXPONENT))


def grown(values: Any, size: int) -> Any:
    """Return an array with room for so many items, the new ones zero.

    It is whole blocks long, and half as long again as before, so that growing is cheap.
    """
    if size <= len(values):
        return values
    larger = np.zeros(whole_blocks(max(size, len(values) * 3 // 2)), values.dtype)
    larger[: len(values)] = values
    return larger


def whole_blocks(size: int) -> int:
    """Return how many items the blocks hold that so many items need."""
    return -(-size // BLOCK) * BLOCK


def taken(values: Any, items: IntArray) -> Any:
    """Return the values of some items, zero for those that the array does not reach."""
    if not len(values):
        return np.zeros(len(items), values.dtype)
    found = values[np.minimum(items, len(values) - 1)]
    found[items >= len(values)] = 0
    return found
