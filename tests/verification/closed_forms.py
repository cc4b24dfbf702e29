"""The analytical solutions, and the small stores that are held against them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import germane
from germane import Schema, Signal

HOUR = 3_600
DAY = 24 * HOUR
START = 1_700_000_040
"""A whole minute."""
SECONDS = {"1h": HOUR, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}
HALF_LIVES = (1, 60, HOUR, DAY, 7 * DAY, 365 * DAY, 3_652 * DAY)

Event = tuple[int, float]
"""A time in whole microseconds, which is what is kept of it, and a weight."""


def micros(seconds: float) -> int:
    return round(seconds * 1e6)


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def store(
    *signals: Signal, items: Sequence[str] = ("a", "b"), clock: Clock | None = None, **schema: Any
) -> tuple[germane.Database, Clock]:
    """Open a store in memory that holds some items, all of one creator."""
    clock = clock or Clock()
    db = germane.open(schema=Schema(signals, **schema), clock=clock)
    db.put_many(germane.Item(id=id, title=id, creator="ann") for id in items)
    return db, clock


def analytical(events: Iterable[Event], half_life: float, now: float) -> float:
    """S(t) = sum of w_i exp(-lambda (t - t_i)), term by term; `half_life` and `now` in seconds."""
    rate, end = math.log(2.0) / half_life, micros(now)
    return math.fsum(weight * math.exp(-rate * (end - at) / 1e6) for at, weight in events if at <= end)


def recurrence(events: Iterable[Event], half_life: float, now: float) -> float:
    """S(t_i) = S(t_{i-1}) exp(-lambda (t_i - t_{i-1})) + w_i, in order of time."""
    rate, score, last = math.log(2.0) / half_life, 0.0, micros(now)
    for at, weight in sorted(events):
        score = score * math.exp(-rate * max(at - last, 0) / 1e6) + weight
        last = at
    return score * math.exp(-rate * (micros(now) - last) / 1e6)


def bound(events: Iterable[Event], half_life: float, now: float) -> float:
    """The error that is allowed: 1e-10 of the sum of absolute values; below 1e-300 it is absolute."""
    return max(1e-10 * analytical(((at, abs(weight)) for at, weight in events), half_life, now), 1e-300)


def counted(times: Iterable[float], now: float, window: int | None) -> int:
    """#{ i : t_i <= now and floor_minute(t_i) > now - window }, in exact arithmetic."""
    held = 0
    for at in times:
        minute = Fraction(at) // 60 * 60
        held += at <= now and (window is None or minute > Fraction(now) - window)
    return held
