"""The functions that formulas are made of, exact and rough.

A formula is written once, over operators and these functions. Exactly, logarithms and powers come from the C
library, one by one, so that equal numbers give equal bits on every machine. Roughly they come from NumPy, for
many items at once; the two differ by less than `SLACK`, and what is kept is computed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import repeat
from typing import Any, Protocol

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

SLACK = 1e-9
"""By how much a rough number may be off, relative to the sum of its parts without their signs."""


class Operations(Protocol):
    """What a formula may use beside ``+ - * /``."""

    def log1p(self, x: Any) -> Any:
        """Return sign(x) ln(1 + abs(x))."""

    def log10(self, x: Any) -> Any:
        """Return the decimal logarithm of what is above zero."""

    def power(self, base: Any, exponent: Any) -> Any:
        """Return the base, above zero, to a power; one of the two is a number."""

    def sqrt(self, x: Any) -> Any:
        """Return the square root of what is not negative."""


class Exact:
    """From the C library, one by one."""

    def log1p(self, x: FloatArray) -> FloatArray:
        """Return sign(x) ln(1 + abs(x))."""
        return np.copysign(_each(math.log1p, np.abs(x)), x)

    def log10(self, x: FloatArray) -> FloatArray:
        """Return the decimal logarithm."""
        return _each(math.log10, x)

    def power(self, base: Any, exponent: Any) -> FloatArray:
        """Return a power."""
        count = len(base) if isinstance(base, np.ndarray) else len(exponent)
        bases = base.tolist() if isinstance(base, np.ndarray) else repeat(base)
        exponents = exponent.tolist() if isinstance(exponent, np.ndarray) else repeat(exponent)
        # Far below the least number the C library gives zero; Python makes no error of that.
        return np.fromiter(map(math.pow, bases, exponents), np.float64, count)

    def sqrt(self, x: FloatArray) -> FloatArray:
        """Return the square root."""
        return np.sqrt(x)  # correctly rounded everywhere, by IEEE 754


class Rough:
    """From NumPy, all at once."""

    def log1p(self, x: FloatArray) -> FloatArray:
        """Return sign(x) ln(1 + abs(x))."""
        return np.copysign(np.log1p(np.abs(x)), x)

    def log10(self, x: FloatArray) -> FloatArray:
        """Return the decimal logarithm."""
        return np.log10(x)

    def power(self, base: Any, exponent: Any) -> FloatArray:
        """Return a power."""
        powers: FloatArray = np.power(base, exponent)
        return powers

    def sqrt(self, x: FloatArray) -> FloatArray:
        """Return the square root."""
        return np.sqrt(x)


def _each(function: Callable[[float], float], x: FloatArray) -> FloatArray:
    return np.fromiter(map(function, x.tolist()), np.float64, len(x))


EXACT, ROUGH = Exact(), Rough()
