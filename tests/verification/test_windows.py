"""Windowed counts, exact to the minute for every window, and velocity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import Signal

from .closed_forms import DAY, HOUR, SECONDS, Clock, counted, store

BASE = 28_333_333 * 60
"""A whole minute."""

seconds = st.sampled_from([0.0, 0.000001, 0.5, 30.0, 59.0, 59.999999])


def times(minutes: int) -> st.SearchStrategy[list[float]]:
    """Times before `BASE`, each within so many minutes."""
    moment = st.tuples(st.integers(1, minutes), seconds)
    return st.lists(moment.map(lambda pair: BASE - pair[0] * 60 + pair[1]), max_size=60)


@given(made=times(90), reads=st.lists(st.tuples(st.integers(0, 90), seconds), min_size=1, max_size=6))
def test_windowed_count_accuracy_1h(made: list[float], reads: list[tuple[int, float]]) -> None:
    """The last hour at the granularity of a minute, with no error, at any time of reading.

    Fails when the minute at the end of the window is kept, and when one is given back too early.
    """
    db, clock = store(Signal("view", half_life="7d"), clock=Clock(BASE))
    for at in made:
        db.signal("view", "a", at=at)
    for minute, second in sorted(reads):
        clock.now = BASE + minute * 60 + second
        assert db.count("view", "a", "1h") == counted(made, clock.now, HOUR)


@pytest.mark.parametrize("window", ["24h", "7d", "30d"])
@given(
    data=st.data(),
    gaps=st.lists(st.integers(1, 40 * DAY), min_size=1, max_size=5),
    late=st.booleans(),
)
def test_windowed_count_accuracy_of_long_windows_for_sparse_streams(
    window: str, data: st.DataObject, gaps: list[int], late: bool
) -> None:
    """A few events over weeks and reads with long silences between: still exact, early or late.

    Fails when expiry is taken once an hour, and when an event that comes late is counted in a window that
    has left its minute, or not in one that has not.
    """
    length = SECONDS[window]
    made = data.draw(times(length // 60 + 3))
    edges = data.draw(st.lists(st.sampled_from([-60, -1, 0, 1, 60]), max_size=4))
    made += [BASE - length + edge for edge in edges]
    db, clock = store(Signal("view", half_life="7d"), clock=Clock(BASE))
    recorded: list[float] = []

    def record(times: list[float]) -> None:
        db.signal_many([{"name": "view", "item": "a", "at": at} for at in times])
        recorded.extend(times)

    record(made[::2] if late else made)
    for gap in [0, *gaps]:
        clock.now += gap
        assert db.count("view", "a", window) == counted(recorded, clock.now, length)
        if late:
            record(made[1::2])
            late = False
            assert db.count("view", "a", window) == counted(recorded, clock.now, length)
    assert db.count("view", "a", "all") == len(made)


def test_a_minute_leaves_the_window_as_a_whole() -> None:
    """An event at 12:00:59 leaves an hour's window when 13:00:00 strikes, with its minute.

    Fails when a window ends at the event's second instead of its minute's.
    """
    db, clock = store(Signal("view"), clock=Clock(BASE + 59.0))
    db.signal("view", "a")
    for window, length in SECONDS.items():
        for now, held in ((BASE + length - 0.000001, 1), (BASE + length, 0)):
            db_now = max(clock.now, now)
            clock.now = db_now
            assert db.count("view", "a", window) == held, (window, now)


def test_an_event_ahead_leaves_its_windows_too() -> None:
    """An event recorded before its time, the last that was recorded at all: it comes, and it goes.

    Fails when what is added on the fly once it is due is added for ever.
    """
    db, clock = store(Signal("view"), clock=Clock(BASE))
    at = BASE + 120
    db.signal("view", "a", at=at)
    for now in sorted(at + passed - early for passed in (0, *SECONDS.values()) for early in (1, 0)):
        clock.now = now
        for window, length in SECONDS.items():
            expected = counted([at], now, length)
            assert db.count("view", "a", window) == expected, (window, now - at)
            assert db.velocity("view", "a", window) == expected / length
    assert db.count("view", "a", "all") == 1


def test_weights_do_not_count() -> None:
    """Fails when a count sums weights."""
    db, _ = store(Signal("view"))
    for weight in (0.0, -3.0, 1e12):
        db.signal("view", "a", weight=weight)
    assert db.count("view", "a", "1h") == db.count("view", "a", "all") == 3


@given(made=times(45 * 24 * 60), later=st.integers(0, 40 * DAY))
def test_velocity_formula(made: list[float], later: int) -> None:
    """Exactly count / seconds of the window; 0.0 for all time.

    Fails when it counts seconds as minutes, and when all time gets a velocity.
    """
    db, clock = store(Signal("view", half_life="7d"), clock=Clock(BASE))
    db.signal_many([{"name": "view", "item": "a", "at": at} for at in made])
    clock.now += later
    for window, length in SECONDS.items():
        assert db.velocity("view", "a", window) == counted(made, clock.now, length) / length
    assert db.velocity("view", "a", "all") == 0.0
