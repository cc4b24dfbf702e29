"""Histories in checkpoints: equal however they were reached and read, and only where someone asks."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import Item, Schema, Signal
from germane.log import state
from germane.log.checkpoint import Arrays
from germane.log.journal import head
from germane.people.cooccurrence import Cooccurrence

NOW = 1_700_000_000.0
DAY = 86_400.0
SCHEMA = Schema([Signal("view"), Signal("like"), Signal("dislike", polarity=-1)])
ITEMS = [f"i{number}" for number in range(7)]


@pytest.fixture(autouse=True)
def little_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "WORTH_SAVING", 1)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def opened(folder: Path | None, clock: Clock | None = None) -> germane.Database:
    db = germane.open(folder, SCHEMA, clock=clock or Clock())
    db.put_many(Item(id=id, created_at=0.0) for id in ITEMS)
    return db


def grow(db: germane.Database, dice: random.Random, count: int, now: float = NOW) -> None:
    """Record events in both forms, late ones and some that are ahead."""
    for _ in range(count):
        rows: list[dict[str, Any]] = [
            {
                "name": dice.choice(["view", "like", "dislike"]),
                "item": dice.choice(ITEMS),
                "user": dice.choice([None, "ann", "bob", "cy"]),
                "at": now + dice.choice([0.0, -DAY, -40 * DAY, 100.0, 200.0]),
            }
            for _ in range(dice.randint(1, 6))
        ]
        if dice.random() < 0.5:
            db.signal_many(rows)
        else:
            for row in rows:
                db.signal(**row)


def told(db: germane.Database) -> Arrays:
    with db._journal.read() as connection, db._views.neighbours.at(connection) as found:
        return found.to_arrays()


def from_the_log(db: germane.Database) -> Arrays:
    with db._journal.read() as connection:
        fresh = Cooccurrence()
        fresh.catch_up(connection, head(connection))
        return fresh.to_arrays()


def assert_same(ours: Arrays, theirs: Arrays) -> None:
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert np.array_equal(array, theirs[name]), name


def answers(db: germane.Database) -> list[list[tuple[str, float]]]:
    return [[(each.id, each.raw) for each in db.related(id).items] for id in ITEMS]


def saved(folder: Path) -> list[Path]:
    return sorted((folder / "views").glob("neighbours-*"))


def test_from_a_checkpoint_and_from_the_log_they_are_equal(tmp_path: Path) -> None:
    """Fails when a checkpoint is not written or not used, or when signals are numbered as they came."""
    dice = random.Random(3)
    with opened(tmp_path) as db:
        grow(db, dice, 20)
    assert saved(tmp_path) == [], "nobody asked what goes together"
    with opened(tmp_path) as db:
        wanted = answers(db)
        arrays = told(db)
    assert len(saved(tmp_path)) == 1
    with opened(tmp_path) as db:
        assert answers(db) == wanted
        with db._journal.read() as connection, db._views.neighbours.at(connection) as found:
            assert found.applied == 0
        assert_same(told(db), arrays)
        assert_same(told(db), from_the_log(db))
        for _ in range(4):
            grow(db, dice, 5)
            answers(db)
            assert_same(told(db), from_the_log(db))
        wanted = answers(db)
        assert db.check().ok
    shutil.rmtree(tmp_path / "views")
    with opened(tmp_path) as db:
        assert answers(db) == wanted


@pytest.mark.parametrize("how", ["flipped", "missing", "short"])
def test_a_damaged_one_is_set_aside(tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    """Fails when a checksum is not compared, or when columns of several lengths are taken."""
    with opened(tmp_path) as db:
        grow(db, random.Random(5), 20)
        wanted = answers(db)
        if how == "short":  # what was written, but nothing that this version writes
            with db._journal.read() as connection:
                arrays = told(db)
                arrays["by_item"] = arrays["by_item"][:-1]
                db._views.neighbours._checkpoints.write(connection, "1", arrays)
    (path,) = saved(tmp_path)
    if how == "flipped":
        data = bytearray((path / "marks_at.npy").read_bytes())
        data[-1] ^= 4
        (path / "marks_at.npy").write_bytes(data)
    elif how == "missing":
        (path / "by_item.npy").unlink()
    with opened(tmp_path) as db:
        assert answers(db) == wanted
        assert "cannot be used and is built anew" in caplog.text
        assert [each.suffix for each in saved(tmp_path)] == [".damaged"]
        assert [finding.part for finding in db.check().findings] == ["checkpoint"]
        assert db.check(repair=True).ok
        assert answers(db) == wanted
    assert [each.suffix for each in saved(tmp_path)] == [""]


def test_check_finds_what_differs_from_the_log(tmp_path: Path) -> None:
    """Fails if check does not look at histories."""
    with opened(tmp_path) as db:
        grow(db, random.Random(7), 10)
        wanted = answers(db)
        with db._journal.read() as connection, db._views.neighbours.at(connection) as found:
            found._counts[1] += 1
        (finding,) = db.check().findings
        assert (finding.part, "'counts'" in finding.detail) == ("people", True)
        assert db.check(repair=True).ok
        assert answers(db) == wanted


def test_what_readers_let_enter_early_leaves_no_trace() -> None:
    """Fails when the form holds as entered what the log has not reached, or lets go by it.

    After a thousand days an event comes that is a little ahead. A reader counts it before the log does, and
    what is old by that must still be there for one who reads the log alone.
    """
    clock = Clock()
    db = opened(None, clock)
    for number in range(40):
        db.signal("view", ITEMS[number % 7], user=f"u{number % 3}", at=NOW - number * 20 * DAY)
    answers(db)
    clock.now += 1_000 * DAY
    for number in range(41):
        db.signal("like", "i1", user="ann", at=clock.now + 100 + number // 40)
    answers(db)
    assert_same(told(db), from_the_log(db))
    clock.now += 100
    assert len(told(db)["waiting_marks_at"]) == 41
    before = answers(db)
    assert_same(told(db), from_the_log(db))
    assert answers(db) == before, "telling it changed nothing"
    for _ in range(12):  # many small runs are merged, and others than before are let go
        db.signal("view", "i2", user="bob")
        answers(db)
        assert_same(told(db), from_the_log(db))
    assert len(told(db)["waiting_marks_at"]) == 1
    assert db.check().ok


def test_a_signal_that_comes_back_is_numbered_as_ever(tmp_path: Path) -> None:
    """Fails when signals are numbered as they came: of one let go, a checkpoint does not know when."""
    clock = Clock()
    with opened(tmp_path, clock) as db:
        db.signal("dislike", "i0", user="ann")
        clock.now += 1_500 * DAY
        db.signal("like", "i0", user="ann")
        db.signal("like", "i1", user="ann")
        answers(db)
    with opened(tmp_path, clock) as db:
        db.signal("dislike", "i1", user="bob")
        assert_same(told(db), from_the_log(db))


def test_a_reader_that_lags_behind_a_base_goes_on_from_it(tmp_path: Path) -> None:
    """Fails when what was kept of an answer outlives the histories that it was made of."""
    clock = Clock()
    schema = Schema(SCHEMA.signals, retention="10d")
    with germane.open(tmp_path, schema, clock=clock) as db, germane.open(tmp_path, clock=clock) as beside:
        db.put_many(Item(id=id, created_at=0.0) for id in ITEMS)
        for id in ("i0", "i1"):
            db.signal("view", id, user="ann")
        assert [each.id for each in beside.related("i0").items] == ["i1"]
        for id in ("i0", "i2", "i3"):
            db.signal("view", id, user="bob")
        clock.now += 20 * DAY
        db.signal("view", "i4", user="cy")
        assert db.gc(dry_run=False).events > 0
        assert [each.id for each in beside.related("i0").items] == ["i1", "i2", "i3"]
        assert answers(beside) == answers(db)


CHILD = f"""
import sys, germane
db = germane.open(sys.argv[1], clock=lambda: {NOW})
print("ready", flush=True)
number = 0
while True:
    db.signal("view", f"i{{number % 7}}", user=f"u{{number * number % 11}}", at={NOW} - number * 3_000)
    if number % 10 == 3:
        users = ["ann", "bob", "u1"] * 3
        db.signal_many({{"name": ["like"] * 9, "item": ["i1", "i2", "i3"] * 3, "user": users}})
        db.related("i1")
    number += 1
    print(number, flush=True)
"""


def test_after_a_kill_they_are_as_the_log_has_them(tmp_path: Path) -> None:
    """Fails when a checkpoint that was loaded and what came after it are joined other than in the log."""
    with opened(tmp_path) as db:
        grow(db, random.Random(9), 15)
        answers(db)
    assert len(saved(tmp_path)) == 1
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        while int(child.stdout.readline()) < 35:
            pass
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.communicate()
    shutil.copytree(tmp_path, tmp_path / "bare", ignore=shutil.ignore_patterns("views"))
    with opened(tmp_path) as db, opened(tmp_path / "bare") as bare:
        assert answers(db) == answers(bare)
        assert_same(told(db), told(bare))
        assert_same(told(db), from_the_log(db))
        assert db.check().ok
