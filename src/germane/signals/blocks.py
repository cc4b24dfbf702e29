"""Blocks: the least and the greatest of each run of items, so that ranking can pass over most of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.signals.decay import BLOCK, FloatArray, IntArray

Array = np.ndarray[Any, Any]


class Extremes:
    """The least and greatest of an array by block, renewed where the array was touched.

    Parameters
    ----------
    is_lasting : bool
        Whether the array is there for longer than one query.

    Attributes
    ----------
    clock : int
        Counts what was touched, so that others can tell what they have not seen yet.
    is_negative : bool
        Whether any value may be below zero, now or before.

    Examples
    --------
    >>> extremes = Extremes()
    >>> values = np.zeros(2 * BLOCK)
    >>> values[BLOCK + 5] = 3.0
    >>> extremes.of(values)[1].tolist()
    [0.0, 3.0]
    """

    def __init__(self, is_lasting: bool = True) -> None:
        self.is_lasting = is_lasting
        self.clock = 0
        self.is_negative = False
        self._seen = 0
        self._touched: IntArray = np.zeros(0, np.int64)  # the clock when each block was last touched
        self._least: FloatArray = np.zeros(0)
        self._greatest: FloatArray = np.zeros(0)

    def touch(self, items: Array | None = None) -> None:
        """Say that the values of some items changed, or of all."""
        self.clock += 1
        if items is None:
            self._touched[:] = self.clock
        elif len(items):
            blocks = items // BLOCK
            self._touched[blocks[blocks < len(self._touched)]] = self.clock

    def touch_one(self, item: int) -> None:
        """Say that the value of one item changed."""
        self.clock += 1
        block = item // BLOCK
        if block < len(self._touched):
            self._touched[block] = self.clock

    def touched_since(self, clock: int, count: int) -> IntArray:
        """Return which of so many blocks were touched after a clock; `of` must have seen as many."""
        return np.flatnonzero(self._touched[:count] > clock)

    def of(self, values: Array) -> tuple[FloatArray, FloatArray]:
        """Return the least and greatest of each block: float64[blocks] each."""
        count = len(values) // BLOCK
        more = count - len(self._touched)
        if more > 0:
            self.clock += 1
            self._touched = np.append(self._touched, np.full(more, self.clock))
            self._least = np.append(self._least, np.zeros(more))
            self._greatest = np.append(self._greatest, np.zeros(more))
        if self._seen < self.clock:
            blocks = self.touched_since(self._seen, count)
            # All of them are read where they lie; some are gathered first.
            rows = values[: count * BLOCK].reshape(count, BLOCK)
            rows = rows if len(blocks) == count else rows[blocks]
            least = rows.min(axis=1)
            self._least[blocks], self._greatest[blocks] = least, rows.max(axis=1)
            self.is_negative = self.is_negative or bool((least < 0).any())
            self._seen = self.clock
        return self._least, self._greatest


class Numbers:
    """A number for every item: the values times the scale.

    Parameters
    ----------
    values : numeric[ordinals]
        Whole blocks.
    extremes : Extremes
        Of the values.
    scale : float
        Not negative.
    """

    __slots__ = ("extremes", "scale", "values")

    def __init__(self, values: Array, extremes: Extremes, scale: float = 1.0) -> None:
        self.values = values
        self.extremes = extremes
        self.scale = scale
        extremes.of(values)

    @property
    def least(self) -> FloatArray:
        """Return lower bounds by block: float64[blocks]."""
        return self.extremes.of(self.values)[0] * self.scale

    @property
    def greatest(self) -> FloatArray:
        """Return upper bounds by block: float64[blocks]."""
        return self.extremes.of(self.values)[1] * self.scale

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items: float64[items]."""
        return self._scaled(self.values[ordinals])

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks: float64[blocks * BLOCK]."""
        return self._scaled(self.unscaled(blocks))

    def unscaled(self, blocks: IntArray) -> Array:
        """Return the values of all items of some blocks: numeric[blocks * BLOCK]."""
        count = len(self.values) // BLOCK
        return self.values[: count * BLOCK].reshape(count, BLOCK)[blocks].ravel()

    def scaled(self, scale: float) -> Numbers:
        """Return the same values with another scale."""
        return self if scale == self.scale else Numbers(self.values, self.extremes, scale)

    def _scaled(self, values: Array) -> FloatArray:
        if self.scale == 1.0:
            return values.astype(np.float64, copy=False)
        scaled: FloatArray = values * self.scale
        return scaled
