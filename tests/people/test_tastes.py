"""Preferences and affinities: against plain ones, in columns, ahead of time, across changes, as arrays."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Schema, Signal
from germane.log import state as log_state
from germane.people import tastes as module
from germane.people.affinity import Affinities
from germane.people.preferences import Preferences
from germane.people.tastes import Tastes

NOW = 1_700_000_000.0
DAY = 86_400.0
TENTH = float(np.float32(0.1))
SIGNALS = (
    Signal("like", preference=0.1, affinity=1.0, affinity_half_life="30d"),
    Signal("nod", preference=0.002, affinity=0.25, affinity_half_life="2d"),
    Signal("skip", polarity=-1, preference=0.05, affinity=-0.5, affinity_half_life="30d"),
    Signal("see"),
)


def arrays(db: germane.Database) -> dict[str, Any]:
    with db._journal.read() as connection, db._tastes.at(connection) as tastes:
        return tastes.to_arrays()


def fresh(db: germane.Database) -> dict[str, Any]:
    with db._journal.read() as connection:
        made = Tastes(module.Kind.of(db.schema))
        made.catch_up(connection, db.stats().events)
        return made.to_arrays()


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    for name, array in ours.items():
        assert np.array_equal(array, theirs[name]), name


@pytest.mark.parametrize("base", [0.1, 0.002])
def test_a_preference_is_the_moving_average(base: float) -> None:
    """Fails if the rate does not fall with the updates, or if small steps are lost to float32.

    ``v = (1 - a) v + a e``, ``a = base / (1 + ln(count + 1))``: relative error < 1e-6 after 10,000 updates.
    """
    dice = np.random.default_rng(7)
    given = dice.normal(size=(10_000, 16)).astype(np.float32)
    expected = [0.0] * 16
    preferences = Preferences()
    for count, vector in enumerate(given.tolist()):
        a = base / (1 + math.log(count + 1))
        sign = -1 if count % 5 == 0 else 1
        expected = [(1 - a) * v + a * sign * e for v, e in zip(expected, vector, strict=True)]
    who = preferences.number("u")
    bases = [-base if count % 5 == 0 else base for count in range(len(given))]
    for start in range(0, len(given), 999):
        part = slice(start, start + 999)
        preferences.move([who] * len(given[part]), bases[part], given[part])
    vector_of, count = preferences.of("u")
    assert vector_of is not None
    assert count == 10_000
    found = vector_of.astype(np.float32)
    assert np.linalg.norm(found - expected) <= 1e-6 * np.linalg.norm(expected)
    assert np.allclose(found, expected, rtol=1e-6, atol=0)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1, 1, width=32)), max_size=40), st.integers(1, 9))
def test_updates_at_once_have_the_bits_of_one_by_one(moves: list[tuple[int, float]], size: int) -> None:
    """Fails if two updates of one user in a batch are made from the same vector."""
    one, many = Preferences(), Preferences()
    users = [one.number(f"u{who}") for who, _ in moves]
    assert [many.number(f"u{who}") for who, _ in moves] == users
    vectors = np.array([[x, 1.0, x * x] for _, x in moves], np.float32).reshape(-1, 3)
    for place in range(len(moves)):
        one.move(users[place : place + 1], [0.3], vectors[place : place + 1])
    for start in range(0, len(moves), size):
        part = slice(start, start + size)
        many.move(users[part], [0.3] * len(users[part]), vectors[part])
    for name, array in one.to_arrays().items():
        assert np.array_equal(array, many.to_arrays()[name])


@given(st.lists(st.tuples(st.integers(0, 400), st.floats(-9, 9)), min_size=1, max_size=30), st.randoms())
def test_affinity_is_the_decayed_sum_in_any_order(told: list[tuple[int, float]], dice: Any) -> None:
    """Fails if the landmark moves otherwise than by shifts, or an event of the past is not decayed."""
    half_life, second = 7_200_000_000, 1_000_000
    now = 401 * 3_600 * second

    def of(events: list[tuple[int, float]], step: int) -> float:
        made = Affinities((half_life,))
        for start in range(0, len(events), step):
            part = events[start : start + step]
            at = [hours * 3_600 * second for hours, _ in part]
            pairs = made.pairs(["u"] * len(part), [2] * len(part))
            made.add(half_life, pairs, [delta for _, delta in part], at)
        return made.of("u", now)[2]

    shuffled = list(told)
    dice.shuffle(shuffled)
    weights = [2.0 ** (-(401 - hours) / 2) for hours, _ in told]
    expected = math.fsum(delta * weight for (_, delta), weight in zip(told, weights, strict=True))
    size = math.fsum(abs(delta) * weight for (_, delta), weight in zip(told, weights, strict=True))
    assert of(told, 1) == of(told, 7)
    for events in (told, shuffled, sorted(told)):
        assert abs(of(events, 3) - expected) <= 1e-10 * size + 1e-300


def test_at_once_has_the_bits_of_one_by_one_where_almost_nothing_is_left() -> None:
    """Fails if a batch adds what is long past to sums that were moved already, where digits are lost."""
    half_life = 1_000_000
    at = [*range(0, half_life, 777), 1_063 * half_life]
    creators = [1] * (len(at) - 1) + [2]
    one, many = Affinities((half_life,)), Affinities((half_life,))
    for moment, creator in zip(at, creators, strict=True):
        one.add(half_life, one.pairs(["u"], [creator]), [1.0], [moment])
    many.add(half_life, many.pairs(["u"] * len(at), creators), [1.0] * len(at), at)
    told = one.to_arrays()["affinities"]
    assert 0 < told[0, 0] < 2.0**-1_022
    assert np.array_equal(told, many.to_arrays()["affinities"])


def story(
    db: germane.Database, dice: random.Random, steps: int, in_columns: bool, is_read: bool = False
) -> None:
    """Let users act, while items get other vectors and creators and are deleted; or read after each act."""
    for number in range(6):
        db.put(Item(id=f"i{number}", creator=f"c{number % 3}" if number else None, embedding=[number, 1, -1]))
    for _ in range(steps):
        item = f"i{dice.randrange(6)}"
        chance = dice.random()
        if chance < 0.1:
            db.update(item, embedding=dice.choice([None, [dice.random(), 2, 3]]))
        elif chance < 0.2:
            db.update(item, creator=dice.choice([None, "c0", "c7"]))
        elif chance < 0.3:
            db.put(Item(id=item, title=str(dice.random()), creator=dice.choice(["c1", None])))
        elif chance < 0.35:
            db.put_document("d", title="D", sections=[Item(id="i9", title=str(chance), embedding=[1, 1, 1])])
        rows: list[dict[str, Any]] = [
            {
                "name": dice.choice(["like", "nod", "skip", "see"]),
                "item": f"i{dice.randrange(6)}",
                "user": dice.choice(["ann", "bob", None]),
                "at": NOW - dice.choice([0, 0, 1, 40, 500]) * DAY,
            }
            for _ in range(dice.randrange(5))
        ]
        if in_columns:
            db.signal_many(rows)
        else:
            for row in rows:
                db.signal(**row)
                arrays(db) if is_read else None


def test_columns_and_single_events_give_the_same_bits() -> None:
    """Fails if columns are applied otherwise than records, or what is read between changes what comes."""
    one, many = (germane.open(schema=Schema(SIGNALS), clock=lambda: NOW) for _ in range(2))
    story(one, random.Random(3), 60, in_columns=False)
    story(many, random.Random(3), 60, in_columns=True)
    assert_same(arrays(one), arrays(many))
    third = germane.open(schema=Schema(SIGNALS), clock=lambda: NOW)
    story(third, random.Random(3), 60, in_columns=False, is_read=True)
    assert_same(arrays(third), arrays(one))
    assert_same(arrays(third), fresh(third))
    assert one.user("ann") == many.user("ann") == third.user("ann")
    assert one.user("ann").preference is not None
    assert one.check().ok


def test_a_signal_counts_the_vector_and_creator_of_its_time() -> None:
    """Fails if a later vector or creator is taken for the one that the user acted on."""
    db = germane.open(schema=Schema(SIGNALS), clock=lambda: NOW)
    db.put(Item(id="a", creator="ann", embedding=[1, 0]))
    db.put(Item(id="b"))
    db.signal("like", "a", user="u")
    db.signal("like", "b", user="u")  # neither a vector nor a creator: nothing moves
    db.update("a", embedding=[0, 1], creator="bea")
    for _ in range(2):
        state = db.user("u")
        assert state.preference == (TENTH, 0.0)
        assert dict(state.affinities) == pytest.approx({"ann": 1.0})
        db.rebuild()
    db.signal("skip", "a", user="u")
    a = 0.05 / (1 + math.log(2))
    state = db.user("u")
    assert state.preference == pytest.approx(((1 - a) * 0.1, -a), rel=1e-6)
    assert dict(state.affinities) == pytest.approx({"ann": 1.0, "bea": -0.5})
    assert db.user("v").preference is None
    assert not db.user("v").affinities


def test_affinities_decay_each_with_its_half_life() -> None:
    """Fails if one half-life is used for all signals."""
    now = NOW
    db = germane.open(schema=Schema(SIGNALS), clock=lambda: now)
    db.put(Item(id="a", creator="ann"))
    db.signal("like", "a", user="u")
    db.signal("nod", "a", user="u")
    now += 4 * DAY
    assert db.user("u").affinities["ann"] == pytest.approx(2 ** (-4 / 30) + 0.25 * 2**-2, rel=1e-12)


def test_acts_ahead_count_when_their_time_comes() -> None:
    """Fails if an act ahead counts at once, is lost, or takes the vector of when its time came."""
    now = NOW
    db = germane.open(schema=Schema(SIGNALS), clock=lambda: now)
    db.put(Item(id="a", creator="ann", embedding=[1, 0]))
    db.signal("like", "a", user="u", at=NOW + 100)
    db.update("a", embedding=None)
    assert db.user("u").preference is None
    assert len(arrays(db)["waiting"]) == 1
    told = arrays(db)
    assert_same(Tastes.from_arrays(module.Kind.of(db.schema), 9, told).to_arrays(), told)
    now += 100
    before = db.user("u")
    assert before.preference == (TENTH, 0.0)
    assert before.affinities["ann"] == pytest.approx(1.0)
    assert len(arrays(db)["waiting"]) == 1
    db.put(Item(id="b"))
    assert db.user("u").preference == before.preference
    assert db.user("u").affinities == pytest.approx(dict(before.affinities))
    assert len(arrays(db)["waiting"]) == 0
    assert_same(arrays(db), fresh(db))


@pytest.mark.parametrize("is_recorded", [False, True])
def test_acts_ahead_count_in_the_order_of_their_times(is_recorded: bool) -> None:
    """Fails when what waits is released in the order of the log: the later act leaves more of itself."""
    now = NOW
    db = germane.open(schema=Schema(SIGNALS), clock=lambda: now)
    db.put(Item(id="a", embedding=[1, 0]))
    db.put(Item(id="b", embedding=[0, 1]))
    db.signal("like", "a", user="u", at=NOW + 200)
    db.signal("like", "b", user="u", at=NOW + 100)
    now += 200
    if is_recorded:
        db.put(Item(id="c"))
    assert len(arrays(db)["waiting"]) == (0 if is_recorded else 2)
    second = 0.1 / (1 + math.log(2))
    assert db.user("u").preference == pytest.approx((second, (1 - second) * 0.1), rel=1e-6)


def test_another_declaration_counts_all_anew(tmp_path: Path) -> None:
    with germane.open(tmp_path / "store", Schema(SIGNALS), clock=lambda: NOW) as db:
        db.put(Item(id="a", creator="ann", embedding=[1, 0]))
        db.signal("like", "a", user="u")
        assert db.user("u").affinities["ann"] == pytest.approx(1.0)
    changed = Schema([Signal("like", preference=0.5, affinity=3.0)])
    with germane.open(tmp_path / "store", changed, clock=lambda: NOW) as db:
        assert db.user("u").affinities["ann"] == pytest.approx(3.0)
        assert db.user("u").preference == (0.5, 0.0)


def test_two_objects_of_one_folder_and_the_past_agree(tmp_path: Path) -> None:
    """Fails if what another process wrote is missed, or the present is read for the past."""
    schema, path = Schema(SIGNALS), tmp_path / "s"

    def clock() -> float:
        return NOW

    with germane.open(path, schema, clock=clock) as one, germane.open(path, clock=clock) as two:
        one.put(Item(id="a", title="a", creator="ann", embedding=[1, 0]))
        two.put(Item(id="b", title="b", creator="bob", embedding=[0, 1]))
        first = one.signal("like", "a", user="u").seq
        assert two.user("u").affinities.keys() == {"ann"}
        two.signal("like", "b", user="u")
        assert one.user("u").affinities.keys() == {"ann", "bob"}
        assert one.user("u") == two.user("u")
        assert_same(arrays(one), arrays(two))
        with one._moments.at(first) as moment:
            assert list(moment.audience("u").taste.affinities.values()) == [pytest.approx(1.0)]


def test_a_checkpoint_spares_the_next_process_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails if a checkpoint is not written, not used, or loses anything."""
    monkeypatch.setattr(log_state, "WORTH_SAVING", 3)
    folder = tmp_path / "store"
    with germane.open(folder, Schema(SIGNALS), clock=lambda: NOW) as db:
        story(db, random.Random(5), 30, in_columns=True)
        told, state = arrays(db), db.user("ann")
    (kept,) = (folder / "views").glob("tastes-*")
    with germane.open(folder, clock=lambda: NOW) as db:
        assert_same(arrays(db), told)
        assert db.user("ann") == state
        with db._journal.read() as connection, db._tastes.at(connection) as tastes:
            assert tastes.applied == 0
        story(db, random.Random(6), 30, in_columns=False)
        assert_same(arrays(db), fresh(db))
        assert db.check().ok
    for path in (folder / "views").glob("tastes-*"):
        (path / "affinities.npy").write_bytes(b"nothing")
    with germane.open(folder, clock=lambda: NOW) as db:
        assert_same(arrays(db), fresh(db))
        assert {finding.part for finding in db.check().findings} == {"checkpoint"}
    assert kept.name.startswith("tastes-")


def test_check_finds_what_differs_from_the_log() -> None:
    """Fails if check does not look at tastes."""
    db = germane.open(schema=Schema(SIGNALS), clock=lambda: NOW)
    db.put(Item(id="a", creator="ann", embedding=[1, 0]))
    db.signal("like", "a", user="u")
    assert db.user("u").preference is not None
    assert db.check().ok
    with db._journal.read() as connection, db._tastes.at(connection) as tastes:
        tastes._preferences._counts[0] = 7
    assert [finding.part for finding in db.check().findings] == ["people"]
    assert db.check(repair=True).ok


def test_retention_keeps_what_was_learned(tmp_path: Path) -> None:
    """Fails if a base holds less than what goes on from it needs, under the same declarations or others."""
    now = NOW
    folder = tmp_path / "store"
    with germane.open(folder, Schema(SIGNALS, retention="2d"), clock=lambda: now) as db:
        story(db, random.Random(8), 40, in_columns=False)
        db.signal("like", "i3", user="ann", at=now + 200)
        now += 3 * DAY
        story(db, random.Random(9), 10, in_columns=True)
        before, told = db.user("ann"), arrays(db)
        assert db.gc(dry_run=False).events > 40
        assert db.user("ann") == before
        assert_same(arrays(db), told)
        db.rebuild()
        assert_same(arrays(db), told)
        assert db.check().ok
    with germane.open(folder, Schema([*SIGNALS, Signal("cheer", affinity=2.0)], retention="2d")) as db:
        assert db.user("ann").preference == before.preference
        assert db.user("ann").affinities.keys() == before.affinities.keys()
