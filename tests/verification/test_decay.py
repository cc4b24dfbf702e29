"""Decay accuracy, and convergence of events that come out of order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Signal

from .closed_forms import DAY, HALF_LIVES, START, Clock, Event, analytical, bound, micros, recurrence, store

ages = st.one_of(
    st.integers(0, 90),
    st.integers(0, 50 * 60),
    st.integers(0, 40 * DAY),
    st.integers(0, 40 * 365 * DAY),
    st.integers(0, 10**12).map(lambda age: age / 1e6),
)
weights = st.one_of(st.floats(0, 10), st.floats(-1e12, 1e12), st.sampled_from([1.0, 1e12, -1e12, 1e-12, 0.0]))
histories = st.lists(st.tuples(ages, weights), max_size=40)


def at_microseconds(history: list[tuple[float, float]]) -> list[Event]:
    return [(micros(START) - micros(age), weight) for age, weight in history]


def recorded(db: germane.Database, events: list[Event], item: str = "a") -> float:
    for at, weight in events:
        db.signal("view", item, at=at / 1e6, weight=weight)
    return db.decayed("view", item)


@pytest.mark.parametrize("half_life", HALF_LIVES)
@given(history=histories)
def test_decay_accuracy(half_life: int, history: list[tuple[float, float]]) -> None:
    """A decayed score equals the closed form within 1e-10, for half-lives from a second to ten years.

    Fails when the phase is left out of an event's mantissa, and when the scalar of a read leaves out its own.
    """
    events = at_microseconds(history)
    db, _ = store(Signal("view", half_life=half_life))
    score, allowed = recorded(db, events), bound(events, half_life, START)
    assert abs(score - analytical(events, half_life, START)) <= allowed
    assert abs(recurrence(events, half_life, START) - analytical(events, half_life, START)) <= allowed


@given(ages=st.lists(ages, min_size=1, max_size=40), half_life=st.sampled_from(HALF_LIVES))
def test_decay_accuracy_is_relative_where_nothing_cancels(ages: list[float], half_life: int) -> None:
    """With weights of one the error is below 1e-10 of the score itself.

    Fails when a score is kept as float32.
    """
    events = at_microseconds([(age, 1.0) for age in ages])
    db, _ = store(Signal("view", half_life=half_life))
    expected = analytical(events, half_life, START)
    assert recorded(db, events) == pytest.approx(expected, rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("half_life", HALF_LIVES)
def test_decay_accuracy_while_decades_pass(half_life: int) -> None:
    """Forty years of events, read as time goes on: what is kept moves from landmark to landmark.

    Fails when the landmark moves and the scores kept against it do not.
    """
    db, clock = store(Signal("view", half_life=half_life), clock=Clock(1))
    events: list[Event] = []
    for step in range(400):
        clock.now = 1 + step * 36 * DAY + step % 7
        events.append((micros(clock.now), 1.0 + step % 5))
        db.signal("view", "a", weight=events[-1][1])
        for later in (0, min(half_life / 2, 10 * DAY)):
            clock.now += later
            error = abs(db.decayed("view", "a") - analytical(events, half_life, clock.now))
            assert error <= bound(events, half_life, clock.now)


@given(
    history=histories,
    half_life=st.sampled_from(HALF_LIVES),
    dice=st.randoms(use_true_random=False),
    batched=st.booleans(),
)
def test_out_of_order_convergence(
    history: list[tuple[float, float]], half_life: int, dice: random.Random, batched: bool
) -> None:
    """In order, in any other order, one by one or as a batch: the scores differ by less than 1e-10.

    Fails when an event older than the landmark is added with the weight of a new one.
    """
    in_order = sorted(at_microseconds(history))
    shuffled = dice.sample(in_order, len(in_order))
    db, _ = store(Signal("view", half_life=half_life))
    first = recorded(db, in_order, "a")
    if batched and shuffled:
        at, weight = zip(*shuffled, strict=True)
        db.signal_many(
            {
                "name": ["view"] * len(at), "item": ["b"] * len(at), "weight": weight,
                "at": [each / 1e6 for each in at],
            }
        )  # fmt: skip
        second = db.decayed("view", "b")
    else:
        second = recorded(db, shuffled, "b")
    allowed = bound(in_order, half_life, START)
    assert abs(first - second) <= allowed
    assert abs(second - analytical(in_order, half_life, START)) <= allowed


def test_out_of_order_by_forty_years() -> None:
    """The worst order: the newest event first, and every other one far behind the landmark.

    Fails when events behind the landmark are dropped.
    """
    half_life = 365 * DAY
    db, _ = store(Signal("view", half_life=half_life))
    events = [(micros(START - years * 365 * DAY), 1.0) for years in range(41)]
    assert recorded(db, events) == pytest.approx(analytical(events, half_life, START), rel=1e-10)
