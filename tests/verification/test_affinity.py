"""A user's affinity to a creator: what their signals add, each halved by its own half-life."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Profile, Schema, Signal

from .closed_forms import DAY, START, Clock

DELTAS = {"like": (1.0, 30), "view": (0.1, 10), "nod": (0.25, 2), "dislike": (-1.0, 30)}
"""What each signal adds, and the days in which that halves."""
SIGNALS = tuple(
    Signal(name, affinity=delta, affinity_half_life=days * DAY, polarity=1 if delta > 0 else -1)
    for name, (delta, days) in DELTAS.items()
)
ITEMS = {"a": "ann", "b": "ann", "c": "bob", "d": None}

acts = st.lists(
    st.tuples(st.sampled_from(sorted(DELTAS)), st.sampled_from(sorted(ITEMS)), st.integers(0, 60 * DAY)),
    max_size=25,
)
"""A signal, an item, and how many seconds ago."""
Acts = list[tuple[str, str, int]]


def store(clock: Clock | None = None) -> germane.Database:
    db = germane.open(schema=Schema(SIGNALS, [Profile("liked", boosts=["affinity"])]), clock=clock or Clock())
    db.put_many(Item(id=id, creator=creator) for id, creator in ITEMS.items())
    return db


def do(db: germane.Database, user: str, done: Acts) -> None:
    for name, item, ago in done:
        db.signal(name, item, user=user, at=START - ago)


def parts(done: Acts, creator: str, later: float = 0.0) -> list[float]:
    """delta * 2^(-age / half-life) of each signal on an item of the creator."""
    return [
        DELTAS[name][0] * 2.0 ** (-(ago + later) / DAY / DELTAS[name][1])
        for name, item, ago in done
        if ITEMS[item] == creator
    ]


def affinity(db: germane.Database, user: str, creator: str) -> float:
    return db.user(user).affinities.get(creator, 0.0)


def contribution(db: germane.Database, user: str, item: str) -> float:
    page = db.retrieve("liked", user=user)
    return next(result.contributions["affinity"] for result in page.items if result.id == item)


@given(first=acts, second=acts, dice=st.randoms(use_true_random=False))
def test_affinity_is_additive(first: Acts, second: Acts, dice: random.Random) -> None:
    """What two histories come to together, in any order, is the sum of what each comes to.

    Fails when an affinity is squashed before it is added to, when one half-life is used for all signals, and
    when what is late is added without decay.
    """
    clock = Clock()
    db = store(clock)
    both = dice.sample([*first, *second], len(first) + len(second))
    for user, done in (("one", first), ("other", second), ("both", both)):
        do(db, user, done)
    for later in (0.0, 3.5 * DAY):
        clock.now = START + later
        for creator in ("ann", "bob"):
            size = math.fsum(map(abs, parts(both, creator, later)))
            found = affinity(db, "both", creator)
            assert found == pytest.approx(math.fsum(parts(both, creator, later)), rel=0, abs=1e-10 * size)
            apart = affinity(db, "one", creator) + affinity(db, "other", creator)
            assert found == pytest.approx(apart, rel=0, abs=1e-10 * size)


@given(done=acts, name=st.sampled_from(sorted(DELTAS)), ago=st.integers(0, 30 * DAY))
def test_affinity_is_monotone(done: Acts, name: str, ago: int) -> None:
    """One more signal of any age raises the affinity to its creator if it speaks for them, else lowers it.

    So does the term, ``A / (1 + |A|)``, for all items of the creator; others stay as they were.
    Fails when the term is not monotone, as ``A / (1 + A ** 2)`` is not, and when the sign of a delta is lost.
    """
    db = store()
    do(db, "u", done)
    before = {creator: affinity(db, "u", creator) for creator in ("ann", "bob")}
    terms = {item: contribution(db, "u", item) for item in ITEMS}
    db.signal(name, "b", user="u", at=START - ago)
    after, sign = affinity(db, "u", "ann"), math.copysign(1, DELTAS[name][0])
    assert sign * after > sign * before["ann"]
    assert affinity(db, "u", "bob") == before["bob"]
    for item in ("a", "b"):
        assert sign * contribution(db, "u", item) > sign * terms[item]
        assert contribution(db, "u", item) == pytest.approx(after / (1 + abs(after)), rel=1e-12)
    for item in ("c", "d"):
        assert contribution(db, "u", item) == terms[item]
    assert affinity(db, "other", "ann") == 0.0


def test_affinity_to_whom_an_item_was_by() -> None:
    """Fails when a signal counts for the creator that its item has now."""
    db = store()
    db.signal("like", "a", user="u")
    db.update("a", creator="bob")
    assert (affinity(db, "u", "ann"), affinity(db, "u", "bob")) == (1.0, 0.0)
    assert contribution(db, "u", "a") == 0.0
    db.signal("like", "a", user="u")
    assert affinity(db, "u", "bob") == 1.0
