"""HyperLogLog: how many distinct hashes there were, from the longest runs of zero bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from germane.signals.decay import FloatArray, IntArray

HashArray = np.ndarray[Any, np.dtype[np.uint64]]
RankArray = np.ndarray[Any, np.dtype[np.uint8]]

BITS = 11
"""Bits of a hash that choose its register."""
REGISTERS = 1 << BITS
"""Registers of a sketch, a byte each: the standard error is 1.04 / sqrt(2048), 2.3 %."""
GREATEST = 64 - BITS + 1
"""The greatest rank: all other bits are zero."""

_SCALE = REGISTERS * REGISTERS / (2 * math.log(2.0))


class Sketches:
    """Sketches by number, each with the histogram of its registers, from which the estimate follows.

    A sketch is a function of the set of hashes that it was given: neither order nor repetition matters.

    References
    ----------
    P. Flajolet, E. Fusy, O. Gandouet, F. Meunier. *HyperLogLog.* AofA 2007.
    O. Ertl. *New cardinality estimation algorithms for HyperLogLog sketches.* arXiv:1702.01284, 2017.

    Examples
    --------
    >>> sketches = Sketches()
    >>> first = sketches.begin(1)
    >>> sketches.add(np.zeros(3, np.int64), np.array([7, 1 << 60, 7], np.uint64)).tolist()
    [0]
    >>> sketches.estimates(first).round(3).tolist()
    [2.001]
    """

    def __init__(self, registers: RankArray | None = None) -> None:
        self.registers = np.zeros((0, REGISTERS), np.uint8) if registers is None else registers
        self.count = len(self.registers)
        self._histograms = np.zeros((0, GREATEST + 1), np.int32)
        if self.count:
            where = np.arange(self.count)[:, None] * (GREATEST + 1) + self.registers
            counts = np.bincount(where.ravel(), minlength=self.count * (GREATEST + 1))
            self._histograms = counts.reshape(self.count, GREATEST + 1).astype(np.int32)

    def begin(self, count: int) -> IntArray:
        """Return the numbers of new, empty sketches."""
        made = np.arange(self.count, self.count + count)
        self.count += count
        self.registers = _longer(self.registers, self.count)
        self._histograms = _longer(self._histograms, self.count)
        self._histograms[made, 0] = REGISTERS
        return made

    def add(self, sketches: IntArray, hashes: HashArray) -> IntArray:
        """Add hashes to sketches, and return the numbers of those that changed, ascending.

        Parameters
        ----------
        sketches : int64[n]
        hashes : uint64[n]
        """
        register, rank = _placed(hashes)
        higher = np.flatnonzero(rank > self.registers[sketches, register])
        if not len(higher):
            return higher
        places = sketches[higher] * REGISTERS + register[higher]
        order = np.lexsort((rank[higher], places))
        last = np.append(np.diff(places[order]) != 0, True)  # the greatest rank of each register
        chosen = higher[order[last]]
        of, at, to = sketches[chosen], register[chosen], rank[chosen]
        width = self._histograms.shape[1]
        flat = self._histograms.reshape(-1)
        np.subtract.at(flat, of * width + self.registers[of, at], np.int32(1))
        np.add.at(flat, of * width + to, np.int32(1))
        self.registers[of, at] = to
        return np.unique(of)

    def estimates(self, sketches: IntArray) -> FloatArray:
        """Return how many distinct hashes some sketches were given, about: float64[sketches]."""
        return estimates(self._histograms[sketches])

    def copy_of(self, sketch: int) -> Sketches:
        """Return one sketch apart, as number 0."""
        return Sketches(self.registers[sketch : sketch + 1].copy())


def estimates(histograms: np.ndarray[Any, np.dtype[np.int32]]) -> FloatArray:
    """Return Ertl's improved estimate, which needs no tables and no threshold between two formulas.

    Parameters
    ----------
    histograms : int32[sketches, 55]
        How many registers hold each rank.
    """
    # Single operations in a fixed order: equal on every machine. No register of a real store is full, so
    # the term for those is left out.
    total = np.zeros(len(histograms))
    for rank in range(GREATEST, 0, -1):
        total = 0.5 * (total + histograms[:, rank])
    share = histograms[:, 0] / REGISTERS
    result: FloatArray = _SCALE / (REGISTERS * _sigma(share) + total)
    return result


def _sigma(share: FloatArray) -> FloatArray:
    """Return x + sum of x^(2^k) 2^(k-1) over k from 1, for 0 <= x < 1."""
    power, factor, found = share, 1.0, share
    while True:
        power = power * power
        more = found + power * factor
        if np.array_equal(more, found):
            return found
        found, factor = more, 2.0 * factor


def _longer(rows: Any, size: int) -> Any:
    """Return an array with room for so many rows, the new ones zero."""
    if size <= len(rows):
        return rows
    larger = np.zeros((max(size, len(rows) * 3 // 2), rows.shape[1]), rows.dtype)
    larger[: len(rows)] = rows
    return larger


def _placed(hashes: HashArray) -> tuple[IntArray, RankArray]:
    """Return the register of each hash, and the rank: one more than the zeros that lead its other bits."""
    register = (hashes >> np.uint64(64 - BITS)).astype(np.int64)
    # The top 53 bits that are left are an exact float64; its exponent tells where the first one stands.
    rest = (hashes & np.uint64((1 << (64 - BITS)) - 1)).astype(np.float64)
    _, exponent = np.frexp(rest)
    return register, (GREATEST - exponent).astype(np.uint8)
