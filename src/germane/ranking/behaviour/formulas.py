"""The named terms as formulas: pure functions of an item's readings.

Each runs over arrays exactly or roughly, and over intervals for bounds of a whole block. Those whose bounds
would be void that way have bounds of their own below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.ranking.behaviour.interval import Interval
from germane.ranking.behaviour.operations import EXACT, Operations

HOUR = 3_600_000_000.0
"""Microseconds."""
Z = 1.96
"""Quantile of the normal distribution for 95 %."""
PRIOR = 10.0
"""Events that a ratio starts with at the store-wide ratio."""


def engagement(ops: Operations, views: Any, likes: Any, shares: Any) -> Any:
    """Return log1p(view.decayed + 3 like.decayed + 5 share.decayed)."""
    return ops.log1p(views + 3.0 * likes + 5.0 * shares)


def recency(ops: Operations, age: Any, half_life: float) -> Any:
    """Return 2^(-age / half-life); both in microseconds, the age not negative."""
    return ops.power(2.0, -1.0 * age / half_life)


def ratio(ops: Operations, part: Any, whole: Any, overall: float) -> Any:
    """Return a share of events, drawn to the store-wide one where there are few."""
    return (part + PRIOR * overall) / (whole + PRIOR)


def hot(ops: Operations, likes: Any, dislikes: Any, age: Any) -> Any:
    """Return sign(s) log10(max(abs(s), 1)) / (age in hours + 2)^1.8 with s = likes - dislikes."""
    return signed_log10(ops, likes - dislikes) / ops.power(age / HOUR + 2.0, 1.8)


def signed_log10(ops: Operations, x: Any) -> Any:
    """Return sign(x) log10(max(abs(x), 1)), which never falls as x grows."""
    if isinstance(x, Interval):
        return Interval(signed_log10(EXACT, x.least), signed_log10(EXACT, x.greatest))
    return np.sign(x) * ops.log10(np.maximum(np.abs(x), 1.0))


def rising(ops: Operations, hour: Any, day: Any, age: Any) -> Any:
    """Return (view.count.1h + 5) / (view.count.24h / 24 + 5) * 2^(-age / 48h)."""
    return (hour + 5.0) / (day / 24.0 + 5.0) * recency(ops, age, 48.0 * HOUR)


def controversial(ops: Operations, likes: Any, dislikes: Any) -> Any:
    """Return likes * dislikes / (likes + dislikes)^2 * log1p(likes + dislikes), 0 when there are none."""
    if isinstance(likes, Interval):
        # The first factor is at most 1/4, and nothing without both.
        most = 0.25 * ops.log1p(likes + dislikes).greatest
        both = (likes.greatest > 0) & (dislikes.greatest > 0)
        return Interval(np.zeros(len(most)), np.where(both, most, 0.0))
    total = likes + dislikes
    some = np.maximum(total, 1.0)
    return likes * dislikes / (some * some) * ops.log1p(total)


def wilson(ops: Operations, likes: Any, views: Any) -> Any:
    """Return the lower bound of Wilson's interval (z 1.96) of likes over n = max(views, likes), 0 at n = 0.

    References
    ----------
    E. B. Wilson. *Probable Inference, the Law of Succession, and Statistical Inference.* JASA 22 (1927).
    """
    if isinstance(likes, Interval):
        # It is greatest when every view was a like: n / (n + z^2).
        return Interval(np.zeros(len(likes.least)), likes.greatest / (likes.greatest + Z * Z))
    n = np.maximum(views, likes)
    some = np.maximum(n, 1.0)
    share = likes / some
    spread = ops.sqrt((share * (1.0 - share) + Z * Z / (4.0 * some)) / some)
    bound = (share + Z * Z / (2.0 * some) - Z * spread) / (1.0 + Z * Z / some)
    # In exact arithmetic it is never below zero.
    return np.where(n > 0, np.maximum(bound, 0.0), 0.0)


def gem(ops: Operations, likes: Any, views: Any) -> Any:
    """Return wilson / log10(views + 10)."""
    return wilson(ops, likes, views) / ops.log10(views + 10.0)


def shuffle(ops: Operations, drawn: Any, likes: Any, views: Any) -> Any:
    """Return u * sqrt(wilson + 0.01), u drawn from [0, 1)."""
    return drawn * ops.sqrt(wilson(ops, likes, views) + 0.01)


def saturate(ops: Operations, x: Any, k: float) -> Any:
    """Return x / (abs(x) + k)."""
    if isinstance(x, Interval):
        return Interval(saturate(ops, x.least, k), saturate(ops, x.greatest, k))
    return x / (np.abs(x) + k)
