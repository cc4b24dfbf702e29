"""What users have seen: one at a time or in columns, in any order, ahead of time, and from its arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item
from germane.log import runs, state
from germane.people.pairs import LatestWeights, Pairs, Progress
from germane.people.seen import Seen

NOW = 1_700_000_000.0
columns = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), max_size=30)
weighed = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 5), st.floats(-1, 1)), max_size=25
)


@given(st.lists(columns, max_size=12))
def test_pairs_are_sets(batches: list[list[tuple[int, int]]]) -> None:
    """Fails if a merge loses the pairs of a run, or takes a user's neighbours for theirs."""
    pairs, expected = Pairs(), set[tuple[int, int]]()
    for batch in batches:
        pairs.add(*(np.array(column, np.int64) for column in zip(*batch, strict=True))) if batch else None
        expected |= set(batch)
    for user in range(7):
        assert pairs.of(user).tolist() == sorted(item for who, item in expected if who == user)
    assert pairs.keys().tolist() == sorted(user << 32 | item for user, item in expected)


@given(st.lists(weighed, max_size=8))
def test_the_latest_weight_is_that_of_the_latest_time(
    batches: list[list[tuple[int, int, int, float]]],
) -> None:
    """Fails if a weight that arrives late replaces a later one."""
    weights, expected, place = LatestWeights(), dict[tuple[int, int], tuple[int, int, float]](), 0
    for batch in batches:
        rows = [(user, item, at, place + row, weight) for row, (user, item, at, weight) in enumerate(batch)]
        place += len(rows)
        for user, item, at, after, weight in rows:
            expected[user, item] = max(expected.get((user, item), (-1, -1, 0.0)), (at, after, weight))
        if rows:
            of_user, of_item, times, order, told = (np.array(column) for column in zip(*rows, strict=True))
            weights.add(Progress.of(of_user, of_item, times, order, told))
    for user in range(4):
        found = weights.of(user)
        told_of = dict(zip(found.items.tolist(), found.weights.tolist(), strict=True))
        assert told_of == {item: told[2] for (who, item), told in expected.items() if who == user}


def arrays(db: germane.Database) -> dict[str, Any]:
    with db._journal.read() as connection, db._people.at(connection) as view:
        return view.to_arrays()


def made(**how: Any) -> germane.Database:
    db = germane.open(**how)
    db.put_many([Item(id=id, title="word") for id in "abcd"])
    return db


def ids(db: germane.Database, where: str, user: str = "u") -> list[str]:
    return [result.id for result in db.search("word", user=user, where=where).items]


EVENTS = [
    ("view", "a", "u", 1.0, NOW - 900),
    ("completion", "b", "u", 0.5, NOW - 100),
    ("completion", "b", "v", 0.95, NOW - 100),
    ("completion", "b", "u", 0.95, NOW - 200),
    ("view", "c", None, 1.0, NOW),
    ("completion", "d", "v", 0.2, NOW + 100),
]


def test_one_by_one_and_in_columns_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if the rows of columns are read otherwise than single records."""
    monkeypatch.setattr(runs, "RUN", 2)
    one, many = made(clock=lambda: NOW), made(clock=lambda: NOW)
    for name, item, user, weight, at in EVENTS:
        one.signal(name, item, user=user, weight=weight, at=at)
        arrays(one)
    many.signal_many(
        [
            {"name": name, "item": item, "user": user, "weight": weight, "at": at}
            for name, item, user, weight, at in EVENTS
        ]
    )
    for db in (one, many):
        assert ids(db, "unseen") == ["c", "d"]
        assert ids(db, "unseen", "v") == ["a", "c", "d"]
        assert ids(db, "in_progress") == ["b"]
        assert ids(db, "in_progress", "v") == []
    ours, theirs = arrays(one), arrays(many)
    for name in ours:
        if not name.endswith("_order"):  # a place in the log is another for records and for rows
            assert np.array_equal(ours[name], theirs[name]), name


def test_events_ahead_count_when_their_time_comes() -> None:
    """Fails if an event ahead is seen at once, or never; and if the log's next record loses it."""
    now = NOW
    db = made(clock=lambda: now)
    db.signal("completion", "a", user="u", weight=0.5, at=NOW + 200)
    db.signal("completion", "a", user="u", weight=1.0, at=NOW + 100)
    assert ids(db, "unseen") == ["a", "b", "c", "d"]
    now += 100
    assert (ids(db, "unseen"), ids(db, "in_progress")) == (["b", "c", "d"], [])
    now += 99
    assert ids(db, "in_progress") == []
    now += 1
    assert ids(db, "in_progress") == ["a"]
    assert len(arrays(db)["waiting_users"]) == 2
    db.put(Item(id="e", title="other"))
    assert ids(db, "in_progress") == ["a"]
    assert len(arrays(db)["waiting_users"]) == 0


def test_a_signal_of_a_kind_that_is_declared_no_more_was_still_one(tmp_path: Any) -> None:
    with made(path=tmp_path / "store") as db:
        db.signal("view", "a", user="u")
    with germane.open(tmp_path / "store", germane.Schema()) as db:
        assert ids(db, "not unseen") == ["a"]


def test_arrays_hold_all_of_it() -> None:
    """Fails if what is kept in a checkpoint is less than the state."""
    db = made(clock=lambda: NOW)
    for name, item, user, weight, at in EVENTS:
        db.signal(name, item, user=user, weight=weight, at=at)
    told = arrays(db)
    again = Seen.from_arrays(7, told)
    for user, at in (("u", NOW), ("v", NOW), ("v", NOW + 100), ("w", NOW)):
        with db._journal.read() as connection, db._people.at(connection) as view:
            moment = int(at * 1_000_000)
            assert again.items(user, moment).tolist() == view.items(user, moment).tolist()
            assert again.in_progress(user, moment).tolist() == view.in_progress(user, moment).tolist()
            assert again.signals(user) == view.signals(user)
    for name, array in again.to_arrays().items():
        assert np.array_equal(array, told[name])
    with pytest.raises(ValueError, match="users and their counts"):
        Seen.from_arrays(7, {**told, "signals": told["signals"][:1]})


def test_check_finds_what_differs_from_the_log() -> None:
    """Fails if check does not look at what users have seen."""
    db = made()
    db.signal("view", "a", user="u")
    assert db.user("u").seen == 1
    assert db.check().ok
    with db._journal.read() as connection, db._people.at(connection) as view:
        view._pairs.add(np.array([0]), np.array([3]))
    assert [finding.part for finding in db.check().findings] == ["people"]
    assert [finding.repaired for finding in db.check(repair=True).findings] == [True]
    assert db.user("u").seen == 1


def test_a_checkpoint_spares_the_next_process_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails if a checkpoint is not written, not used, or used with another history."""
    monkeypatch.setattr(state, "WORTH_SAVING", 3)
    folder = tmp_path / "store"
    with made(path=folder) as db:
        for name, item, user, weight, _ in EVENTS:
            db.signal(name, item, user=user, weight=weight)
    assert not list((folder / "views").glob("people-*"))  # nobody asked
    with germane.open(folder) as db:
        before = db.user("u")
        told = arrays(db)
    (kept,) = (folder / "views").glob("people-*")
    with germane.open(folder) as db:
        db.signal("view", "d", user="u")
        assert db.user("u").seen == before.seen + 1
        with db._journal.read() as connection, db._people.at(connection) as seen:
            assert seen.applied == 1
        assert db.check().ok
    with germane.open(folder, read_only=True) as db:
        assert db.user("u").signals == before.signals + 1
    (kept / "pairs.npy").write_bytes(b"nothing")
    with germane.open(folder) as db:
        assert db.user("u").seen == before.seen + 1
        assert not np.array_equal(arrays(db)["pairs"], told["pairs"])
        findings = db.check().findings
        assert [finding.part for finding in findings] == ["checkpoint"]
        assert db.check(repair=True).ok
    assert not list((folder / "views").glob("*.damaged"))
    with germane.open(folder) as db:
        assert db.user("u").seen == before.seen + 1
    for path in (folder / "views").glob("people-*"):
        (path / "users.npy").unlink()
    with germane.open(folder) as db:
        assert db.user("u").seen == before.seen + 1
        assert not db.check().ok
        db.rebuild()
        assert db.check().ok
