"""For the profile `for_you`, more engagement ranks higher."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Signal

from .closed_forms import DAY, START, analytical, micros, store

HALF_LIFE = {"view": 7 * DAY, "like": 30 * DAY, "share": 30 * DAY}
SIGNALS = tuple(Signal(name, half_life=half_life) for name, half_life in HALF_LIFE.items())
WEIGHTS = {"view": 1, "like": 3, "share": 5}

histories = st.lists(st.tuples(st.sampled_from(sorted(WEIGHTS)), st.integers(0, 60 * DAY)), max_size=30)


def raws(db: germane.Database) -> dict[str, float]:
    return {result.id: result.raw for result in db.retrieve("for_you", limit=100).items}


def for_you(history: list[tuple[str, int]], age: float) -> float:
    """0.93 E/(E + 3) + 0.07 * 2^(-age / 168 h), E = ln(1 + views + 3 likes + 5 shares), each decayed."""
    engaged = math.fsum(
        weight
        * analytical([(micros(START - ago), 1.0) for n, ago in history if n == name], HALF_LIFE[name], START)
        for name, weight in WEIGHTS.items()
    )
    engagement = math.log1p(engaged)
    return float(0.93 * engagement / (engagement + 3) + 0.07 * 2.0 ** (-age / (7 * DAY)))


@given(history=histories, extra=st.sampled_from(["view", "like"]), ago=st.integers(0, 60 * DAY))
def test_score_monotonicity(history: list[tuple[str, int]], extra: str, ago: int) -> None:
    """One more view or like, of any age, strictly raises an item: it ranks above its twin without.

    Fails when likes weigh negatively in engagement, and when engagement is rounded, or capped.
    """
    db, _ = store(*SIGNALS)
    for name, before in history:
        for item in "ab":
            db.signal(name, item, at=START - before)
    twins = raws(db)
    assert twins["a"] == twins["b"] == pytest.approx(for_you(history, 0), rel=1e-10)
    db.signal(extra, "b", at=START - ago)
    after = raws(db)
    assert after["b"] > after["a"] == twins["a"]
    assert after["b"] == pytest.approx(for_you([*history, (extra, ago)], 0), rel=1e-10)
    assert list(after) == ["b", "a"]


@pytest.mark.parametrize("name", sorted(WEIGHTS))
def test_score_monotonicity_over_many(name: str) -> None:
    """Items with 0, 1, 2, 4, ... 8,192 signals of a kind stand in this order.

    Fails when engagement stops to grow anywhere on the way.
    """
    db, _ = store(*SIGNALS)
    numbers = {f"n{number:04}": number for number in (0, *(2**power for power in range(14)))}
    db.delete("a")
    db.delete("b")
    db.put_many(germane.Item(id=id) for id in numbers)
    db.signal_many([{"name": name, "item": id} for id, number in numbers.items() for _ in range(number)])
    found = raws(db)
    by_rank = [id for id, _ in sorted(found.items(), key=lambda pair: -pair[1])]
    assert by_rank == sorted(numbers, key=numbers.__getitem__, reverse=True)
    for id, number in numbers.items():
        assert found[id] == pytest.approx(for_you([(name, 0)] * number, 0), rel=1e-10)


def test_newer_ranks_higher_where_nothing_else_differs() -> None:
    """Fails when recency grows with age."""
    db, _ = store(*SIGNALS)
    for days in range(1, 30):
        db.put(germane.Item(id=f"d{days:02}", created_at=START - days * DAY))
    found = raws(db)
    assert sorted(found, key=found.__getitem__, reverse=True)[2:] == [f"d{days:02}" for days in range(1, 30)]
    assert found["d02"] == pytest.approx(0.07 * 2 ** (-2 / 7))
