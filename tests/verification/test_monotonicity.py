"""For the profile `for_you`, more engagement ranks higher."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Schema, Signal

from .closed_forms import DAY, START, Clock, analytical, micros, store

HALF_LIFE = {"view": 7 * DAY, "like": 30 * DAY, "share": 30 * DAY}
SIGNALS = tuple(Signal(name, half_life=half_life) for name, half_life in HALF_LIFE.items())
WEIGHTS = {"view": 1, "like": 3, "share": 5}

histories = st.lists(st.tuples(st.sampled_from(sorted(WEIGHTS)), st.integers(0, 60 * DAY)), max_size=30)


def raws(db: germane.Database, user: str | None = None) -> dict[str, float]:
    return {result.id: result.raw for result in db.retrieve("for_you", user=user, limit=100).items}


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


RATES = {"view": (0.0, 0.1), "like": (0.3, 1.0), "share": (0.1, 1.0), "dislike": (-0.2, -1.0)}
"""How far a signal moves a preference, below zero away, and what it adds to an affinity."""
TASTING = tuple(
    Signal(
        name,
        half_life=HALF_LIFE.get(name, DAY),
        polarity=-1 if rate < 0 else 1,
        preference=abs(rate),
        affinity=delta,
        affinity_half_life=30 * DAY,
    )
    for name, (rate, delta) in RATES.items()
)
MADE: dict[str, tuple[str, tuple[float, ...]]] = {
    "a": ("ann", (1, 2, -1)),
    "b": ("ann", (1, 2, -1)),
    "c": ("cy", (3, -1, 0.5)),
    "d": ("ann", (-1, 0, 2)),
}
"""A creator and a vector for each item: `a` and `b` are twins."""
PEOPLE = (None, "me", "other", "new")

Act = tuple[str | None, str, str, int]
"""Who did what with which item, and how many seconds ago."""
acts = st.lists(
    st.tuples(
        st.sampled_from([None, "me", "other"]),
        st.sampled_from(sorted(RATES)),
        st.sampled_from(["twins", "c", "d"]),
        st.integers(0, 60 * DAY),
    ),
    max_size=15,
)


def for_user(done: list[Act], user: str, id: str) -> float:
    """0.4 cos(v, e) + 0.1 E/(E + 3) + 0.07 + 0.3 A/(1 + |A|) + 0.2 R/(1 + |R|), of what is new."""
    v, count, liking, again = [0.0] * 3, 0, [0.0], [0.0]
    for who, name, item, ago in done:
        rate, delta = RATES[name]
        if who == user:
            if rate:
                step = abs(rate) / (1 + math.log(count + 1))
                towards = [math.copysign(step, rate) * x for x in MADE[item][1]]
                v, count = [(1 - step) * x + y for x, y in zip(v, towards, strict=True)], count + 1
            if MADE[item][0] == MADE[id][0]:
                liking.append(delta * 2.0 ** (-ago / (30 * DAY)))
            if item == id:
                again.append((-1 if rate < 0 else 1) * 2.0 ** (-ago / (90 * DAY)))
    lengths = math.hypot(*v) * math.hypot(*MADE[id][1])
    cosine = math.fsum(x * y for x, y in zip(v, MADE[id][1], strict=True)) / lengths if lengths else 0.0
    engaged = math.log1p(
        math.fsum(
            WEIGHTS[name] * 2.0 ** (-ago / HALF_LIFE[name])
            for _, name, item, ago in done
            if item == id and name in WEIGHTS
        )
    )
    a, r = math.fsum(liking), math.fsum(again)
    squashed = 0.1 * engaged / (engaged + 3) + 0.3 * a / (1 + abs(a)) + 0.2 * r / (1 + abs(r))
    return 0.4 * cosine + 0.07 + squashed


@given(
    acts=acts,
    who=st.sampled_from([None, "me", "other"]),
    extra=st.sampled_from(["view", "like"]),
    ago=st.integers(0, 60 * DAY),
)
def test_score_monotonicity_for_users_with_history(
    acts: list[Act], who: str | None, extra: str, ago: int
) -> None:
    """One more view or like of an item by anybody, or by nobody, strictly raises it for everybody.

    With vectors, creators, and what users liked and disliked of it before; it is above its twin then. Only
    a user's own first signal changes what their numbers are made of; above its twin an item is even then.
    Fails when what a user did again counts against an item, when engagement is left out for users with
    history, when a like moves a preference away, and when it lowers an affinity.
    """
    db = germane.open(schema=Schema(TASTING), clock=Clock())
    db.put_many(Item(id=id, creator=creator, embedding=vector) for id, (creator, vector) in MADE.items())
    done: list[Act] = [
        (who, name, item, ago)
        for who, name, told, ago in acts
        for item in (("a", "b") if told == "twins" else (told,))
    ]
    for act in done:
        record(db, act)
    before = {reader: raws(db, reader) for reader in PEOPLE}
    record(db, (who, extra, "b", ago))
    for reader in PEOPLE:
        after = raws(db, reader)
        assert after["b"] > after["a"]
        is_known = any(act[0] == reader for act in done)
        if reader != who or reader is None:
            assert after.keys() == before[reader].keys()
            assert all(after[id] == before[reader][id] for id in "acd")
        if reader != who or is_known or reader is None:
            assert after["b"] > before[reader]["b"]
        if reader is not None and (is_known or reader == who):
            expected = for_user([*done, (who, extra, "b", ago)], reader, "b")
            assert after["b"] == pytest.approx(expected, rel=0, abs=1e-6)


def record(db: germane.Database, act: Act) -> None:
    who, name, item, ago = act
    db.signal(name, item, user=who, at=START - ago)
