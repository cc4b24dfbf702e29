"""Times and durations: what is taken, what is refused, and that nothing is lost."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.model.errors import InvalidArgument
from germane.model.times import DAY, SECOND, to_datetime, to_duration, to_micros

FIRST = -62_135_596_800 * SECOND
LAST = 253_402_300_800 * SECOND - 1
ZONES = st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))


NAIVE = "a naive datetime has no time zone: give one, as in datetime(..., tzinfo=timezone.utc)"


class Nowhere(tzinfo):
    def utcoffset(self, when: datetime | None) -> None:
        return None

    def dst(self, when: datetime | None) -> None:
        return None

    def tzname(self, when: datetime | None) -> str:
        return "nowhere"


@given(st.datetimes(timezones=st.one_of(st.just(UTC), ZONES)))
def test_a_datetime_comes_back_exactly_or_is_refused(value: datetime) -> None:
    try:
        micros = to_micros(value, "at")
    except InvalidArgument as error:  # the year 0 or 10,000 in UTC
        assert "outside the years 1 to 9999" in error.message
        return
    assert to_datetime(micros) == value
    assert to_datetime(micros).tzinfo is UTC


@given(st.integers(FIRST, LAST))
def test_microseconds_come_back_exactly(micros: int) -> None:
    assert to_micros(to_datetime(micros), "at") == micros


@given(st.one_of(st.integers(), st.floats(), st.integers(-(10**400), 10**400)))
def test_any_number_is_a_time_or_refused(value: float) -> None:
    try:
        micros = to_micros(value, "at")
    except InvalidArgument as error:
        assert error.field == "at"
    else:
        assert FIRST <= micros <= LAST
        assert micros / SECOND == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (datetime(2024, 1, 1), NAIVE),
        (datetime(2024, 1, 1, tzinfo=Nowhere()), NAIVE),
        (True, "a time is an aware datetime or seconds since the epoch, not bool"),
        ("2024-01-01", "a time is an aware datetime or seconds since the epoch, not str"),
        (None, "a time is an aware datetime or seconds since the epoch, not NoneType"),
        (math.nan, "nan is not a time"),
        (math.inf, "inf is not a time"),
        (1e308, "1e+308 is not a time"),
        (1e30, "1e+30 lies outside the years 1 to 9999 (UTC)"),
        (LAST // SECOND + 1, "253402300800 lies outside the years 1 to 9999 (UTC)"),
        (FIRST // SECOND - 1, "-62135596801 lies outside the years 1 to 9999 (UTC)"),
        pytest.param(10**5000, "a value of type int lies outside the years 1 to 9999 (UTC)", id="huge"),
    ],
)
def test_what_is_no_time(value: float, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        to_micros(value, "at")
    assert str(caught.value) == f"at: {message}"
    assert caught.value.field == "at"


@pytest.mark.parametrize("hours", [1, -1])
def test_a_zone_can_push_a_datetime_out_of_range(hours: int) -> None:
    edge = datetime.max if hours < 0 else datetime.min
    with pytest.raises(InvalidArgument, match=r"^at: .* outside the years 1 to 9999 \(UTC\)$"):
        to_micros(edge.replace(tzinfo=timezone(timedelta(hours=hours))), "at")


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("30m", 30 * 60 * SECOND),
        ("24h", DAY),
        ("7d", 7 * DAY),
        ("2w", 14 * DAY),
        (" 1.5s ", 1_500_000),
        ("250ms", 250_000),
        ("1us", 1),
        (1, SECOND),
        (0.5, 500_000),
        (timedelta(days=1, microseconds=1), DAY + 1),
        (3_650_000, 3_650_000 * SECOND),
    ],
)
def test_durations(value: str | float | timedelta, micros: int) -> None:
    assert to_duration(value, "window") == micros


@pytest.mark.parametrize(
    "value",
    ["", "7", "d", "-1d", "1 day", "1e3s", "7d 2h", "9" * 400 + "d", 0, -1, 1e-9, math.nan, math.inf, 1e308,
     1e13, 10**400, pytest.param(10**5000, id="huge"), 1 << 63, True, None, timedelta(0), timedelta(-1), [1]],
)  # fmt: skip
def test_what_is_no_duration(value: str | float | timedelta) -> None:
    with pytest.raises(InvalidArgument) as caught:
        to_duration(value, "window")
    assert caught.value.field == "window"
    assert caught.value.message.endswith("give one like '30m', '24h' or '7d', or seconds above 0")
