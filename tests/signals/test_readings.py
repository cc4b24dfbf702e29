"""The three readings against closed forms that share nothing with the product.

Named for the criteria that they verify; each says the change of the product that makes it fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Schema, Signal

DAY = 86_400.0
START = 1_700_000_000.0
HALF_LIVES = (1.0, 60.0, DAY, 7 * DAY, 3_652 * DAY)
WINDOWS = {"1h": 60, "24h": 1_440, "7d": 10_080, "30d": 43_200}

ages = st.one_of(
    st.integers(0, 50), st.integers(0, 50 * 60), st.integers(0, 40 * 86_400), st.integers(0, 20 * 31_536_000)
)
events = st.lists(st.tuples(ages, st.floats(-1e6, 1e6)), max_size=30)


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def store(half_life: float | None = 7 * DAY, clock: Clock | None = None) -> tuple[germane.Database, Clock]:
    clock = clock or Clock()
    db = germane.open(schema=Schema([Signal("view", half_life=half_life)]), clock=clock)
    db.put(germane.Item(id="a", title="A", creator="ann"))
    db.put(germane.Item(id="b", title="B", creator="ann"))
    return db, clock


def closed_form(given: Iterable[tuple[float, float]], half_life: float, now: float) -> float:
    """S(t) = sum of w_i exp(-lambda (t - t_i)), term by term, exactly summed."""
    rate = math.log(2.0) / half_life
    return math.fsum(weight * math.exp(-rate * (now - at)) for at, weight in given)


def tolerance(given: Iterable[tuple[float, float]], half_life: float, now: float) -> float:
    return 1e-10 * closed_form(((at, abs(weight)) for at, weight in given), half_life, now) + 1e-300


@pytest.mark.parametrize("half_life", HALF_LIVES)
@given(given_=events)
def test_decay_equals_the_closed_form(half_life: float, given_: list[tuple[int, float]]) -> None:
    """Fails when a phase is left out of the mantissa, or when the landmark moves without the values."""
    db, _ = store(half_life)
    made = [(START - age, weight) for age, weight in given_]
    for at, weight in made:
        db.signal("view", "a", at=at, weight=weight)
    assert db.decayed("view", "a") == pytest.approx(
        closed_form(made, half_life, START), rel=0, abs=tolerance(made, half_life, START)
    )


@given(given_=events, order=st.randoms(use_true_random=False))
def test_any_order_gives_the_same(given_: list[tuple[int, float]], order: object) -> None:
    """Fails when a late event is added as if it were new."""
    made = [(START - age, weight) for age, weight in given_]
    scores = []
    for _ in range(3):
        db, _ = store(DAY)
        for at, weight in made:
            db.signal("view", "a", at=at, weight=weight)
        scores.append(db.decayed("view", "a"))
        order.shuffle(made)  # type: ignore[attr-defined]
    assert max(scores) - min(scores) <= 2 * tolerance(made, DAY, START)


def test_decay_over_decades_as_time_passes() -> None:
    """Half-lives from a second to ten years, read while the landmark moves hundreds of times."""
    for half_life in HALF_LIVES:
        db, clock = store(half_life, Clock(0.0))
        made: list[tuple[float, float]] = []
        for step in range(200):
            clock.now = step * DAY * 73.3
            db.signal("view", "a", weight=step + 1)
            made.append((clock.now, step + 1.0))
            assert db.decayed("view", "a") == pytest.approx(
                closed_form(made, half_life, clock.now), rel=0, abs=tolerance(made, half_life, clock.now)
            )


def counted(given: Iterable[float], now: float, minutes: int | None) -> int:
    """#{ i : t_i <= now and floor_minute(t_i) > now - window }, in exact arithmetic."""
    total = 0
    for at in given:
        minute = Fraction(at) // 60 * 60
        total += at <= now and (minutes is None or minute > Fraction(now) - minutes * 60)
    return total


@given(
    given_=st.lists(st.integers(0, 32 * 1_440), max_size=40),
    seconds=st.lists(st.sampled_from([0.0, 0.5, 1.0, 59.0, 59.999999]), min_size=40, max_size=40),
    reads=st.lists(st.integers(0, 45 * 1_440), min_size=1, max_size=5).map(sorted),
)
def test_windows_are_exact_for_sparse_streams_too(
    given_: list[int], seconds: list[float], reads: list[int]
) -> None:
    """Every window, at every minute, also where nothing happened in between.

    Fails when the last minute of a window is kept, and when late events are not counted.
    """
    base = 28_333_333 * 60.0
    db, clock = store(clock=Clock(base + 33 * DAY))
    made = [base + minute * 60 + second for minute, second in zip(given_, seconds, strict=False)]
    for at in made:
        db.signal("view", "a", at=at)
    for minute in reads:
        clock.now = max(clock.now, base + minute * 60 + seconds[0])
        for window, length in WINDOWS.items():
            assert db.count("view", "a", window) == counted(made, clock.now, length), window
        assert db.count("view", "a", "all") == len(made)


def test_a_window_ends_to_the_minute() -> None:
    db, clock = store(clock=Clock(6_000.0))
    db.signal("view", "a", at=6_000.0)
    for now, expected in ((6_001.0, 1), (9_599.9, 1), (9_600.0, 0), (9_601.0, 0)):
        clock.now = now
        assert db.count("view", "a", "1h") == expected, now


@given(number=st.integers(0, 50))
def test_velocity_is_count_by_seconds(number: int) -> None:
    """Fails when the window is counted in minutes."""
    db, _ = store()
    db.signal_many([{"name": "view", "item": "a"}] * number)
    for window, minutes in WINDOWS.items():
        assert db.velocity("view", "a", window) == number / (minutes * 60)
    assert db.velocity("view", "a", "all") == 0.0


def test_a_creator_reads_the_sum_of_live_items() -> None:
    """Fails when deleted items are read along."""
    db, _ = store()
    db.signal_many({"name": ["view"] * 3, "item": ["a", "a", "b"], "weight": [1.0, 2.0, 4.0]})
    assert db.decayed("view", creator="ann") == db.decayed("view", "a") + db.decayed("view", "b") == 7.0
    assert db.count("view", creator="ann") == 3
    db.delete("b")
    assert (db.decayed("view", creator="ann"), db.count("view", creator="ann")) == (3.0, 2)
    db.put(germane.Item(id="b", title="B again", creator="ann"))
    assert db.decayed("view", creator="ann") == 7.0
    assert db.decayed("view", creator="nobody") == 0.0


def test_never_decaying_signals_sum_weights() -> None:
    db, clock = store(None)
    db.signal("view", "a", weight=2.5)
    clock.now += 1e9
    assert db.decayed("view", "a") == 2.5


def test_an_event_ahead_counts_when_it_is_due() -> None:
    """Fails when it is applied at once, twice, or never."""
    db, clock = store()
    db.signal("view", "a", at=START + 200)
    assert (db.count("view", "a", "1h"), db.count("view", "a", "all"), db.decayed("view", "a")) == (0, 0, 0.0)
    clock.now = START + 200
    assert (db.count("view", "a", "1h"), db.count("view", "a", "all"), db.decayed("view", "a")) == (1, 1, 1.0)
    clock.now = START + 260
    expected = closed_form([(START + 200, 1.0)], 7 * DAY, clock.now)
    assert db.decayed("view", "a") == pytest.approx(expected, rel=1e-12)
    db.signal("view", "b")  # a record after its time: it enters the state
    assert (db.count("view", "a", "1h"), db.count("view", "a", "all")) == (1, 1)
    assert db.decayed("view", "a") == pytest.approx(expected, rel=1e-12)


def test_the_past_reads_from_the_log() -> None:
    db, clock = store(DAY)
    db.signal("view", "a")
    clock.now = START + 3_600
    db.signal("view", "a", at=START - 60)  # recorded later than it happened
    clock.now = START + 7_200
    assert db.decayed("view", "a", at=START + 1) == pytest.approx(closed_form([(START, 1.0)], DAY, START + 1))
    assert db.count("view", "a", "all", at=START + 1) == 1
    assert db.count("view", "a", "all", at=START + 3_600) == 2
    assert db.count("view", "a", "1h", at=START + 3_600) == 0
    assert db.count("view", "a", "24h", at=START - 1) == 0


def test_a_clock_that_jumps_does_no_harm() -> None:
    db, clock = store(DAY)
    db.signal("view", "a")
    clock.now = START + 3_650 * DAY
    db.signal("view", "a")
    assert db.decayed("view", "a") == pytest.approx(1.0, abs=1e-12)
    clock.now = START
    db.signal("view", "a")  # the database's time stands still
    assert db.decayed("view", "a") == pytest.approx(2.0, abs=1e-12)
    assert db.count("view", "a", "1h") == 2
    assert np.isfinite(db.decayed("view", "b"))
