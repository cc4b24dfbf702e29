"""Intervals: between which bounds a formula lies for all items of a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.ranking.behaviour.operations import FloatArray


class Interval:
    """Numbers that are each known to lie between two bounds.

    The operators are those of formulas, so that a formula over intervals gives bounds of its values. Bounds
    are rounded as the values are, so that they may be off by as much: whoever uses them widens them.

    Parameters
    ----------
    least, greatest : float64[n]

    Examples
    --------
    >>> x = Interval(np.array([1.0]), np.array([2.0]))
    >>> (3.0 * x - 5.0).least, (x / (x + 1.0)).greatest
    (array([-2.]), array([1.]))
    """

    __slots__ = ("greatest", "least")
    __array_ufunc__ = None  # an array beside an interval gives an interval

    def __init__(self, least: FloatArray, greatest: FloatArray) -> None:
        self.least = least
        self.greatest = greatest

    def widened(self, share: float) -> Interval:
        """Return the interval with bounds that are off by a share of themselves at most."""
        if not share:
            return self
        return Interval(
            self.least - share * np.abs(self.least), self.greatest + share * np.abs(self.greatest)
        )

    def __neg__(self) -> Interval:
        return Interval(-self.greatest, -self.least)

    def __add__(self, other: Any) -> Interval:
        if isinstance(other, Interval):
            return Interval(self.least + other.least, self.greatest + other.greatest)
        return Interval(self.least + other, self.greatest + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Interval:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> Interval:
        if isinstance(other, Interval):
            products = (
                self.least * other.least, self.least * other.greatest,
                self.greatest * other.least, self.greatest * other.greatest,
            )  # fmt: skip
            return Interval(np.minimum.reduce(products), np.maximum.reduce(products))
        if other < 0:
            return Interval(self.greatest * other, self.least * other)
        return Interval(self.least * other, self.greatest * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        """Divide by what is above zero."""
        if isinstance(other, Interval):
            return self * Interval(1.0 / other.greatest, 1.0 / other.least)
        return Interval(self.least / other, self.greatest / other)


class Bounding:
    """The functions of formulas over intervals; all are monotone."""

    def log1p(self, x: Interval) -> Interval:
        """Return sign(x) ln(1 + abs(x))."""
        return Interval(
            np.copysign(np.log1p(np.abs(x.least)), x.least),
            np.copysign(np.log1p(np.abs(x.greatest)), x.greatest),
        )

    def log10(self, x: Interval) -> Interval:
        """Return the decimal logarithm."""
        return Interval(np.log10(x.least), np.log10(x.greatest))

    def power(self, base: Any, exponent: Any) -> Interval:
        """Return a number above one to a power in an interval, or an interval above one to a number."""
        if isinstance(exponent, Interval):
            return Interval(np.power(base, exponent.least), np.power(base, exponent.greatest))
        first, second = np.power(base.least, exponent), np.power(base.greatest, exponent)
        return Interval(np.minimum(first, second), np.maximum(first, second))

    def sqrt(self, x: Interval) -> Interval:
        """Return the square root."""
        return Interval(np.sqrt(x.least), np.sqrt(x.greatest))


BOUNDING = Bounding()
