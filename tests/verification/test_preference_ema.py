"""What a user leans to is the moving average of the vectors of what they acted on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Schema, Signal

from .closed_forms import START, Clock

BASES = {"like": 0.3, "nod": 0.001, "dislike": -0.2}
"""Rates, below zero for what speaks against an item."""
SIGNALS = (
    *(
        Signal(name, polarity=1 if base > 0 else -1, preference=abs(base), affinity=1.0)
        for name, base in BASES.items()
    ),
    Signal("view", affinity=1.0),
)
VECTORS = np.random.default_rng(11).normal(size=(7, 8)).astype(np.float32).tolist()

acts = st.lists(st.tuples(st.sampled_from([*BASES, "view"]), st.integers(0, 7)), max_size=30)
"""A signal and an item; the last has no vector."""


def store() -> germane.Database:
    db = germane.open(schema=Schema(SIGNALS), clock=Clock())
    db.put_many(Item(id=f"i{number}", embedding=vector) for number, vector in enumerate([*VECTORS, None]))
    return db


def average(done: list[tuple[str, int]]) -> list[float] | None:
    """v = (1 - a) v + a e, a = base / (1 + ln(count + 1)), from zero on; towards -e with polarity -1."""
    v, count = [0.0] * 8, 0
    for name, number in done:
        if name in BASES and number < len(VECTORS):
            a = abs(BASES[name]) / (1 + math.log(count + 1))
            towards = [math.copysign(1, BASES[name]) * x for x in VECTORS[number]]
            v = [(1 - a) * x + a * y for x, y in zip(v, towards, strict=True)]
            count += 1
    return v if count else None


def error(found: tuple[float, ...] | None, expected: list[float] | None) -> float:
    """The distance, in relation to the length of what is expected."""
    assert found is not None
    assert expected is not None
    return math.dist(found, expected) / math.hypot(*expected)


@given(done=acts, parts=st.integers(1, 9))
def test_preference_ema(done: list[tuple[str, int]], parts: int) -> None:
    """One by one or in batches, the vector equals a manual average within 1e-6.

    Fails when the rate does not fall with the updates, when a view without a rate counts as an update, and
    when what speaks against an item moves towards it.
    """
    db, expected = store(), average(done)
    for user in ("one", "many", "other"):
        rows: list[dict[str, Any]] = [
            {"name": name, "item": f"i{number}", "user": user} for name, number in done
        ]
        if user == "many":
            for start in range(0, len(rows), parts):
                db.signal_many(rows[start : start + parts])
        elif user == "one":
            for row in rows:
                db.signal(**row)
    for user in ("one", "many"):
        found = db.user(user).preference
        if expected is None:
            assert found is None
        else:
            assert error(found, expected) < 1e-6
    assert db.user("other").preference is None


def test_preference_ema_over_many_updates() -> None:
    """After 10,000 updates with a rate of 0.001, most of them towards one vector, the error is below 1e-6.

    Fails when vectors are kept as float32 from one update to the next.
    """
    db = store()
    drawn = np.random.default_rng(5).integers(0, 40, 10_000).tolist()
    done = [("nod", number if number < len(VECTORS) else 0) for number in drawn]
    rows = [{"name": signal, "item": f"i{number}", "user": "u"} for signal, number in done]
    for start in range(0, len(rows), 4_999):
        db.signal_many(rows[start : start + 4_999])
    assert error(db.user("u").preference, average(done)) < 1e-6


def test_preference_ema_of_late_and_early_acts() -> None:
    """Late acts count in the order of the log, those ahead when their time comes, with the vector of before.

    Fails when an act ahead counts at once, or with the vector of when it counts.
    """
    clock = Clock()
    db = germane.open(schema=Schema(SIGNALS), clock=clock)
    db.put_many(Item(id=f"i{number}", embedding=vector) for number, vector in enumerate(VECTORS))
    db.signal("like", "i0", user="u", at=START + 100)
    db.update("i0", embedding=VECTORS[5])
    db.signal("like", "i1", user="u")
    db.signal("dislike", "i2", user="u", at=START - 1_000_000)
    done = [("like", 1), ("dislike", 2)]
    assert error(db.user("u").preference, average(done)) < 1e-6
    clock.now += 100
    assert error(db.user("u").preference, average([*done, ("like", 0)])) < 1e-6
    db.signal("nod", "i3", user="u")
    assert error(db.user("u").preference, average([*done, ("like", 0), ("nod", 3)])) < 1e-6
