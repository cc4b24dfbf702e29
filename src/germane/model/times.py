"""Times and durations as people give them, and as int64 microseconds inside."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from germane.model.errors import InvalidArgument, quoted

Micros = int
"""Microseconds since the epoch, UTC, within int64."""

Clock = Callable[[], "datetime | float | int"]
"""Anything that returns a time."""

SECOND = 1_000_000
DAY = 86_400 * SECOND
_LEAST = -62_135_596_800 * SECOND  # 0001-01-01
_GREATEST = 253_402_300_800 * SECOND - 1  # the end of 9999
_UNITS = {"us": 1, "ms": 1_000, "s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": DAY, "w": 7 * DAY}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d|w)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(value: datetime | float | int, field: str) -> Micros:
    """Return a time as microseconds since the epoch.

    Parameters
    ----------
    value : datetime, float or int
        An aware datetime, or seconds since the epoch.
    field : str
        Name used in the error.

    Raises
    ------
    InvalidArgument
        A naive datetime, a number that is not finite, a year outside 1 to 9999.

    Examples
    --------
    >>> to_micros(1.5, "at")
    1500000
    """
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InvalidArgument(
                field, "a naive datetime has no time zone: give one, as in datetime(..., tzinfo=timezone.utc)"
            )
        return _within((value - _EPOCH) // timedelta(microseconds=1), value, field)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgument(
            field, f"a time is an aware datetime or seconds since the epoch, not {type(value).__name__}"
        )
    if isinstance(value, int):
        return _within(value * SECOND, value, field)
    if not math.isfinite(value * SECOND):
        raise InvalidArgument(field, f"{value} is not a time")
    return _within(round(value * SECOND), value, field)


def to_datetime(micros: Micros) -> datetime:
    """Return microseconds since the epoch as an aware datetime in UTC.

    Examples
    --------
    >>> to_datetime(1500000).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return _EPOCH + timedelta(microseconds=micros)


def _within(micros: int, given: object, field: str) -> Micros:
    if not _LEAST <= micros <= _GREATEST:
        raise InvalidArgument(field, f"{quoted(given)} lies outside the years 1 to 9999 (UTC)")
    return micros


def to_duration(value: str | float | int | timedelta, field: str) -> Micros:
    """Return a duration as microseconds.

    Parameters
    ----------
    value : str, float, int or timedelta
        Such as ``"30m"``, ``"24h"``, ``"7d"``; or seconds.
    field : str
        Name used in the error.

    Raises
    ------
    InvalidArgument
        Neither of these, not above zero, or too long for int64 microseconds.

    Examples
    --------
    >>> to_duration("30m", "window")
    1800000000
    """
    micros: int | float | None = None
    if isinstance(value, timedelta):
        micros = value // timedelta(microseconds=1)
    elif isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        micros = float(match[1]) * _UNITS[match[2]] if match else None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        micros = value * SECOND
    if micros is None or not 0.5 < micros < 1 << 63:  # not a number either
        raise InvalidArgument(
            field,
            f"{quoted(value)} is not a duration: give one like '30m', '24h' or '7d', or seconds above 0",
        )
    return round(micros)


def in_micros(clock: Clock) -> Callable[[], Micros]:
    """Return a clock that tells the same time in microseconds."""
    return lambda: to_micros(clock(), "clock")


def system_clock() -> Micros:
    """Return the operating system's time."""
    return time.time_ns() // 1_000
