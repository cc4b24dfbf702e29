"""Blocks: the least and the greatest of each run of items, so that ranking can pass over most of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from germane.signals.decay import BLOCK, FloatArray, IntArray

Array = np.ndarray[Any, Any]


class Extremes:
    """The least and greatest of an array by block, renewed where the array was touched.

    Examples
    --------
    >>> extremes = Extremes()
    >>> values = np.zeros(2 * BLOCK)
    >>> values[BLOCK + 5] = 3.0
    >>> extremes.of(values)[1].tolist()
    [0.0, 3.0]
    """

    def __init__(self) -> None:
        self._least: FloatArray = np.zeros(0)
        self._greatest: FloatArray = np.zeros(0)
        self._stale = np.zeros(0, np.bool_)
        self._is_stale = True

    def touch(self, items: Array | None = None) -> None:
        """Say that the values of some items changed, or of all."""
        self._is_stale = True
        if items is None:
            self._stale[:] = True
        elif len(items):
            blocks = items // BLOCK
            self._stale[blocks[blocks < len(self._stale)]] = True

    def of(self, values: Array) -> tuple[FloatArray, FloatArray]:
        """Return the least and greatest of each block: float64[blocks] each."""
        count = len(values) // BLOCK
        if count > len(self._stale):
            more = count - len(self._stale)
            self._least = np.append(self._least, np.zeros(more))
            self._greatest = np.append(self._greatest, np.zeros(more))
            self._stale = np.append(self._stale, np.ones(more, np.bool_))
            self._is_stale = True
        if self._is_stale:
            blocks = np.flatnonzero(self._stale)
            # All of them are read where they lie; some are gathered first.
            rows = values[: count * BLOCK].reshape(count, BLOCK)
            rows = rows if len(blocks) == count else rows[blocks]
            self._least[blocks], self._greatest[blocks] = rows.min(axis=1), rows.max(axis=1)
            self._stale[blocks] = False
            self._is_stale = False
        return self._least, self._greatest


class Numbers(NamedTuple):
    """A number for every item: the values times the scale.

    Parameters
    ----------
    values : numeric[ordinals]
        Whole blocks.
    scale : float
        Not negative.
    least, greatest : float64[blocks]
        Bounds of the numbers of each block.
    """

    values: Array
    scale: float
    least: FloatArray
    greatest: FloatArray

    @classmethod
    def of(cls, values: Array, extremes: Extremes, scale: float = 1.0) -> Numbers:
        """Return an array's numbers, with what is known of its blocks."""
        least, greatest = extremes.of(values)
        return cls(values, scale, least * scale, greatest * scale)

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items: float64[items]."""
        return self._scaled(self.values[ordinals])

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks: float64[blocks * BLOCK]."""
        count = len(self.values) // BLOCK
        return self._scaled(self.values[: count * BLOCK].reshape(count, BLOCK)[blocks].ravel())

    def _scaled(self, values: Array) -> FloatArray:
        if self.scale == 1.0:
            return values.astype(np.float64, copy=False)
        scaled: FloatArray = values * self.scale
        return scaled
