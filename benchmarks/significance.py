"""What a difference between two rankings is worth: bootstrap intervals and a paired randomization test.

References
----------
M. Smucker, J. Allan, B. Carterette. *A Comparison of Statistical Significance Tests for Information
Retrieval Evaluation* (2007).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.bm25 import FloatArray

RESAMPLES = 10_000
SEED = 2
_CHUNK = 500


@dataclass(frozen=True)
class Interval:
    """A mean over queries and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """One system against another over the same queries.

    Parameters
    ----------
    mean, low, high : float
        Mean difference and its 95 % bootstrap interval.
    p : float
        Two-sided, by random swaps of the two systems' values.
    better, equal, worse : int
        Queries.
    """

    mean: float
    low: float
    high: float
    p: float
    better: int
    equal: int
    worse: int

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self)


def interval(values: FloatArray) -> Interval:
    """Return the mean of some queries' values and its interval, by resampling the queries.

    Examples
    --------
    >>> interval(np.array([1.0, 1.0, 1.0]))
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    random = np.random.default_rng(SEED)
    count = len(values)
    means = np.concatenate(
        [values[random.integers(0, count, (_CHUNK, count))].mean(axis=1) for _ in range(RESAMPLES // _CHUNK)]
    )
    low, high = np.quantile(means, [0.025, 0.975])
    return Interval(float(values.mean()), float(low), float(high))


def difference(ours: FloatArray, theirs: FloatArray) -> Difference:
    """Compare two systems' values of the same queries.

    Examples
    --------
    >>> found = difference(np.ones(20), np.zeros(20))
    >>> found.mean, found.p < 0.001, found.better
    (1.0, True, 20)
    """
    deltas = ours - theirs
    of_mean = interval(deltas)
    random = np.random.default_rng(SEED)
    observed = abs(deltas.mean())
    # A sum in another order may differ in its last bits, which must not make a tie a win.
    reached = sum(
        int(
            np.count_nonzero(
                np.abs((random.integers(0, 2, (_CHUNK, len(deltas))) * 2 - 1) @ deltas / len(deltas))
                >= observed - 1e-12
            )
        )
        for _ in range(RESAMPLES // _CHUNK)
    )
    return Difference(
        of_mean.mean,
        of_mean.low,
        of_mean.high,
        (reached + 1) / (RESAMPLES + 1),
        int(np.count_nonzero(deltas > 0)),
        int(np.count_nonzero(deltas == 0)),
        int(np.count_nonzero(deltas < 0)),
    )
