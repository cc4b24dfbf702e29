"""Reach against sets of users: exact up to 64, close beyond, and a function of the set alone."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.signals.reach import EXACT, Reach, hashes
from germane.signals.sketch import REGISTERS

STANDARD_ERROR = 1.04 / math.sqrt(REGISTERS)

Pair = tuple[int, str]


def add(reach: Reach, pairs: Iterable[Pair]) -> None:
    listed = list(pairs)
    reach.add(np.array([item for item, _ in listed], np.int64), hashes(user for _, user in listed))


def counted(pairs: Iterable[Pair]) -> dict[int, int]:
    """The oracle: a set of users for each item."""
    users: dict[int, set[str]] = defaultdict(set)
    for item, user in pairs:
        users[item].add(user)
    return {item: len(of) for item, of in users.items()}


def same(ours: Reach, theirs: Reach) -> bool:
    """Tell whether two states are bit for bit equal, and what is read from them."""
    left, right = ours.to_arrays(), theirs.to_arrays()
    assert left.keys() == right.keys()
    size = max(len(ours.values), len(theirs.values))
    everything = np.arange(size)
    return all(
        left[name].dtype == right[name].dtype and np.array_equal(left[name], right[name]) for name in left
    ) and np.array_equal(ours.at(everything, 0), theirs.at(everything, 0))


pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 90).map(str)), max_size=400)


@given(pairs)
def test_it_is_exact_up_to_64(made: list[Pair]) -> None:
    """Fails when repeated users are counted twice, or a run is moved without its users."""
    reach = Reach()
    for start in range(0, len(made), 7):
        add(reach, made[start : start + 7])
    for item, count in counted(made).items():
        if count <= EXACT:
            assert reach.values[item] == count


@pytest.mark.parametrize("count", [1, 2, 3, 63, 64, 65, 66, 100])
def test_the_border_between_exact_and_sketched(count: int) -> None:
    """Fails when the sketch begins without the users held until then."""
    reach = Reach()
    for user in range(count):
        add(reach, [(0, str(user))])
        add(reach, [(0, str(user))])
    if count <= EXACT:
        assert reach.values[0] == count
    else:
        assert reach.values[0] == pytest.approx(count, rel=0.05)
        assert reach.values[0] > EXACT


@given(st.integers(0, 2**32), st.sampled_from([100, 300, 1_000, 3_000, 5_000, 7_000, 20_000]))
def test_beyond_64_the_error_is_that_of_the_sketch(seed: int, count: int) -> None:
    """Five standard errors. Fails when the rank of a hash, or the scale, is off by one."""
    users = np.random.default_rng(seed).integers(0, 1 << 64, count, np.uint64)
    reach = Reach()
    reach.add(np.zeros(count, np.int64), users)
    assert reach.values[0] == pytest.approx(count, rel=5 * STANDARD_ERROR)


def test_the_estimates_are_not_biased() -> None:
    """Over 200 sketches of each size the mean is right to a third of a standard error."""
    for count in (80, 1_000, 4_000, 6_000, 40_000):
        users = np.random.default_rng(count).integers(0, 1 << 64, 200 * count, np.uint64)
        reach = Reach()
        reach.add(np.repeat(np.arange(200), count), users)
        assert float(reach.values[:200].mean()) == pytest.approx(count, rel=STANDARD_ERROR / 3), count


def test_ids_of_users_are_spread_as_chance_would() -> None:
    reach = Reach()
    for start in range(0, 30_000, 1_000):
        add(reach, ((0, f"user-{number}") for number in range(start, start + 1_000)))
    assert reach.values[0] == pytest.approx(30_000, rel=3 * STANDARD_ERROR)


@given(pairs, st.randoms(use_true_random=False), st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_order_and_batches_leave_no_trace(made: list[Pair], chance: random.Random, sizes: list[int]) -> None:
    """Singly, at once, shuffled, in batches, repeated: bit for bit one state.

    Fails when the canonical form keeps users in the order in which they came.
    """
    singly, at_once, shuffled, batched = Reach(), Reach(), Reach(), Reach()
    for pair in made:
        add(singly, [pair])
    add(at_once, made)
    other = [*made, *made[:20]]
    chance.shuffle(other)
    add(shuffled, other)
    start = number = 0
    while start < len(made):
        size = sizes[number % len(sizes)]
        add(batched, made[start : start + size])
        start, number = start + size, number + 1
    assert same(singly, at_once)
    assert same(singly, shuffled)
    assert same(singly, batched)


@given(pairs, pairs)
def test_loaded_it_goes_on_as_it_was(before: list[Pair], after: list[Pair]) -> None:
    """Fails when a loaded run is taken to have room that it has not."""
    ours = Reach()
    add(ours, before)
    loaded = Reach.from_arrays({name: array.copy() for name, array in ours.to_arrays().items()})
    assert same(ours, loaded)
    for reach in (ours, loaded):
        for start in range(0, len(after), 11):
            add(reach, after[start : start + 11])
    assert same(ours, loaded)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 70), st.integers(0, 9)), max_size=120))
def test_what_waits_counts_when_it_is_due(made: list[tuple[int, int, int]]) -> None:
    """Read on the fly or released, it is the same. Fails when what is read on the fly stays in the state."""
    waiting, released = Reach(), Reach()
    items, users, at = (np.array([row[which] for row in made], np.int64) for which in range(3))
    told = hashes(map(str, users.tolist()))
    for reach in (waiting, released):
        reach.wait(items, told, at)
    everything = np.arange(3)
    for now in range(-1, 10):
        expected = counted((item, str(user)) for item, user, when in made if when <= now)
        released.release(now)
        assert np.array_equal(waiting.at(everything, now), released.at(everything, now))
        assert set(waiting.due(now).tolist()) == set(expected)
        for item, count in expected.items():
            assert count > EXACT or released.values[item] == count
    assert not waiting.values.any()


def test_memory_is_modest() -> None:
    """A user of a small item takes at most two words, beside the items' own columns."""
    chance = np.random.default_rng(1)
    reach = Reach()
    for _ in range(20):
        users = chance.integers(0, 1 << 64, 10_000, np.uint64)
        reach.add(chance.integers(0, 20_000, 10_000), users)
    held = int(reach.values.sum())
    assert held == 200_000
    assert reach._end <= 4 * held


def test_it_is_fed_by_every_signal_that_names_a_user() -> None:
    """Fails when columns are left out, or each signal counts apart."""
    db = germane.open(clock=lambda: 1e9)
    db.put_many(germane.Item(id=id, title=id) for id in "abc")
    db.signal("view", "a", user="ann")
    db.signal("like", "a", user="ann")
    db.signal("like", "a", user="bob")
    db.signal("like", "a")
    db.signal_many({"name": ["view", "share", "view"], "item": ["a", "b", "c"], "user": ["cy", "cy", None]})
    db.signal("view", "b", user="dee", at=1e9 + 60)
    with db._journal.read() as connection, db._signals.at(connection) as ledgers:
        now = 10**15
        everything = np.arange(1, 4)
        assert ledgers.reach.at(everything, now).tolist() == [3.0, 1.0, 0.0]
        assert ledgers.reach.at(everything, now + 60_000_000).tolist() == [3.0, 2.0, 0.0]


def test_a_profile_ranks_by_it() -> None:
    """Fails when blocks keep the bounds of before, or users that are due are left out."""
    now = [1e9]
    far = germane.Profile("far", boosts=["reach"])
    schema = germane.Schema([germane.Signal("view"), germane.Signal("like")], profiles=[far])
    db = germane.open(schema=schema, clock=lambda: now[0])
    db.put_many(germane.Item(id=f"i{n:04}", title="x", created_at=1e9 - n) for n in range(2_500))
    for count, item in ((3, "i0007"), (2, "i2400"), (1, "i1500")):
        for user in range(count):
            db.signal("view", item, user=f"u{user}")
    assert [result.id for result in db.retrieve(profile="far", limit=3).items] == [
        "i0007",
        "i2400",
        "i1500",
    ]
    for user in range(4):
        db.signal("like", "i1500", user=f"v{user}")
    assert [result.id for result in db.retrieve(profile="far", limit=2).items] == ["i1500", "i0007"]
    for user in range(9):
        db.signal("like", "i0000", user=f"v{user}", at=1e9 + 60)
    assert db.retrieve(profile="far", limit=1).items[0].id == "i1500"
    now[0] += 60
    assert db.retrieve(profile="far", limit=1).items[0].id == "i0000"
