"""How sure a difference is: a bootstrap interval of a mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from germane.people.pairs import FloatArray

RESAMPLES = 2_000
_SEED = 2
_CHUNK = 100


class Interval(NamedTuple):
    """A mean, and between what it lies in 95 of 100 resamples."""

    mean: float
    low: float
    high: float


def interval(values: FloatArray) -> Interval:
    """Return the mean of some cases' values and its interval, by resampling the cases.

    Examples
    --------
    >>> interval(np.array([1.0, 1.0, 1.0]))
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    count = len(values)
    if not count:
        return Interval(0.0, 0.0, 0.0)
    random = np.random.default_rng(_SEED)
    draws = (values[random.integers(0, count, (_CHUNK, count))] for _ in range(RESAMPLES // _CHUNK))
    low, high = np.quantile(np.concatenate([drawn.mean(axis=1) for drawn in draws]), [0.025, 0.975])
    return Interval(float(values.mean()), float(low), float(high))
