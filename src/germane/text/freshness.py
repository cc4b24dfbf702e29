"""Freshness: how young a section is."""

from __future__ import annotations

import math

import numpy as np

from germane.model.times import DAY, Micros
from germane.text.arrays import IntArray
from germane.text.bm25f import FloatArray


def freshness(created_at: IntArray, now: Micros, half_life_days: float) -> FloatArray:
    """Return ``2 ** (-age / half-life)``; what is younger than now counts as new.

    Parameters
    ----------
    created_at : int64[n]
        Microseconds since the epoch.
    now : int
        Microseconds since the epoch.
    half_life_days : float
        Age at which it halves.

    Returns
    -------
    float64[n]
        In (0, 1], or 0 where that underflows.

    Examples
    --------
    >>> freshness(np.array([0, 86_400_000_000]), 86_400_000_000, 1.0).tolist()
    [0.5, 1.0]
    """
    # math.pow, not NumPy's: its vector version differs in the last bit from machine to machine.
    ages = (max(now - at, 0) / DAY for at in created_at.tolist())
    return np.fromiter((math.pow(2.0, -age / half_life_days) for age in ages), np.float64, len(created_at))
