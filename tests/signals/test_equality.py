"""One log, one state: however the ledgers were reached, they are equal, and read the same.

Bit for bit where the log is equal: live, replayed, from a checkpoint, in another process, after a kill. To
1e-10 where the events came in another order.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import germane
from germane import Item, Schema, Signal
from germane.knowledge.catalog import CatalogView
from germane.log import state as log_state
from germane.log.checkpoint import Arrays
from germane.signals.view import Ledgers

NOW = 1_700_000_000.0
DAY = 86_400.0
YEAR = 365.25 * DAY
ITEMS = 5
SCHEMA = Schema(
    [
        Signal("view", half_life=1.0),
        Signal("like", half_life="7d", windows=("1h", "24h", "all")),
        Signal("share", half_life=3_652 * DAY),
        Signal("save", windows=("30d",)),
    ]
)
WINDOWS = {signal.name: signal.windows for signal in SCHEMA.signals}

events = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(sorted(WINDOWS)),
            "item": st.integers(0, ITEMS - 1).map("i{}".format),
            "weight": st.floats(-100, 100).map(lambda w: round(w, 3)),
            "at": st.one_of(
                st.integers(-290, 40),
                st.integers(0, 50 * 3_600),
                st.integers(0, 40 * 86_400),
                st.integers(0, 30 * 31_557_600),
            ).map(lambda age: NOW - age),
            "user": st.one_of(st.none(), st.integers(0, 99).map("u{}".format)),
        }
    ),
    max_size=60,
)


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def little_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_state, "WORTH_SAVING", 1)
    monkeypatch.setattr(log_state, "MUCH", 1)
    monkeypatch.setattr(CatalogView, "worth_saving", 1)


def opened(path: Path | None = None, clock: Clock | None = None) -> germane.Database:
    db = germane.open(path, SCHEMA, clock=clock or Clock())
    if "i0" not in [row[0] for row in _ids(db)]:
        db.put_many(Item(id=f"i{n}", title=f"{n}", creator="ann") for n in range(ITEMS))
    return db


def _ids(db: germane.Database) -> list[Any]:
    with db._journal.read() as connection:
        return list(connection.execute("SELECT id FROM item"))


def readings(db: germane.Database) -> list[float]:
    """Every reading of every item and of its creator."""
    found: list[float] = []
    for name, windows in WINDOWS.items():
        for n in range(ITEMS):
            found.append(db.decayed(name, f"i{n}"))
            found += [db.count(name, f"i{n}", window) for window in windows]
            found += [db.velocity(name, f"i{n}", window) for window in windows]
        found.append(db.decayed(name, creator="ann"))
    with db._journal.read() as connection, db._signals.at(connection) as ledgers:
        at = db._journal.now(connection)
        found += ledgers.reach.at(np.arange(ITEMS + 1), at).tolist()
    return found


def state(db: germane.Database) -> Arrays:
    """What a checkpoint of the ledgers would hold."""
    with db._journal.read() as connection, db._signals.at(connection) as ledgers:
        return ledgers.to_arrays()


def anew(db: germane.Database) -> Arrays:
    """The same from the log alone."""
    with db._journal.read() as connection:
        ledgers = Ledgers(db.schema.signals)
        ledgers.catch_up(connection, db.stats().events)
        return ledgers.to_arrays()


def assert_equal(ours: Arrays, theirs: Arrays) -> None:
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name


def saved(store: Path, name: str = "signals") -> list[str]:
    return sorted(path.name for path in (store / "views").glob(f"{name}-*"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(events, st.randoms(use_true_random=False), st.integers(0, 40))
def test_any_way_to_the_same_events(made: list[dict[str, Any]], chance: random.Random, seconds: int) -> None:
    """Singly, in batches, shuffled, read in between or not: readings agree to 1e-10, and reach exactly.

    Fails when a late event is counted in windows that it has left, or is added as if it were new.
    """
    other = made.copy()
    chance.shuffle(other)
    singly, read, batches, shuffled = (opened(clock=Clock()) for _ in range(4))
    for event in made:
        singly.signal(**event)
        read.signal(**event)
        read.count("view", "i0", "1h")
    for start in range(0, len(made), 7):
        batches.signal_many(made[start : start + 7])
    for event in other:
        shuffled.signal(**event)
    for db in (singly, read, batches, shuffled):
        db._journal._clock = lambda: round((NOW + seconds) * 1e6)
    wanted = readings(singly)
    assert readings(read) == wanted
    sizes = {(event["name"], event["item"]): 0.0 for event in made}
    for event in made:
        sizes[event["name"], event["item"]] += abs(event["weight"])
    for db in (batches, shuffled):
        assert readings(db) == pytest.approx(wanted, rel=0, abs=1e-10 * sum(sizes.values()) + 1e-300)
    for db in (singly, read, batches, shuffled):
        assert_equal(state(db), anew(db))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(events, events, st.sampled_from([0.0, 30.0, 3_601.0, 10 * YEAR]))
def test_live_replayed_from_a_checkpoint_and_beside(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    seconds: float,
) -> None:
    """Bit for bit one state. Fails when what reads took back from the windows is missing in a checkpoint."""
    store = tmp_path_factory.mktemp("equal") / "store"
    clock = Clock()
    with opened(store, clock) as db:
        db.signal_many(before[:20])
        for event in before[20:]:
            db.signal(**event)
        clock.now += seconds
        readings(db)  # takes back what the windows have left by then
    assert len(saved(store)) == 1
    clock.now = NOW + 1  # the next process has another clock
    with opened(store, clock) as db, opened(store, clock) as beside:
        assert_equal(state(db), anew(db))
        for event in after:
            db.signal(**event)
        assert_equal(state(db), anew(db))
        assert_equal(state(db), state(beside))
        live = readings(db)
        assert readings(beside) == live
        assert db.check().ok
        db.rebuild()
        assert readings(db) == live
        assert readings(beside) == live
        assert_equal(state(db), state(beside))


def test_a_checkpoint_is_used(tmp_path: Path) -> None:
    """Fails when it is written and never read: then the whole log is applied again."""
    store = tmp_path / "store"
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1", "user": f"u{n}"} for n in range(100)])
        before = db.signal("like", "i1", at=NOW + 60).seq
    with opened(store) as db, watched(db) as read:
        assert db.count("like", "i1") == 100
        assert read == []
        after = db.signal("like", "i2").seq
        assert db.count("like", "i2") == 1
        assert read == [after]
        assert after > before


@contextmanager
def watched(db: germane.Database) -> Iterator[list[int]]:
    """Give the positions of the signals that readers take from the log."""
    read: list[int] = []

    def step(cursor: apsw.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        columns = [name for name, _ in cursor.get_description()]
        if columns == ["seq", "at", "recorded_at", "type", "data"]:
            read.append(int(row[0]))
        return row

    def trace(cursor: apsw.Cursor, sql: str, bindings: Any) -> bool:
        cursor.row_trace = step
        return True

    with db._journal.read() as connection:
        connection.exec_trace = trace
    try:
        yield read
    finally:
        with db._journal.read() as connection:
            connection.exec_trace = None


def test_a_newer_one_replaces_it_and_a_rebuild_writes_it_anew(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with opened(store) as db:
        db.signal("like", "i1")
    (first,) = saved(store)
    with opened(store) as db:
        db.signal("like", "i1")
        assert db.count("like", "i1") == 2
    (second,) = saved(store)
    assert first != second
    with opened(store) as db:
        db.rebuild()
        (third,) = saved(store)
        assert third.startswith("signals-1-")
        assert len(saved(store, "catalog")) == 1
    assert saved(store) == [third]


def test_nothing_is_written_for_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_state, "WORTH_SAVING", 50)
    monkeypatch.setattr(log_state, "MUCH", 100)
    store = tmp_path / "store"
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1"}] * 49)
        assert db.count("like", "i1") == 49
    assert saved(store) == []
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1"}] * 11)
        assert db.count("like", "i1") == 60
    assert len(saved(store)) == 1


def test_a_process_that_read_nothing_saves_a_long_tail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when only readers save: then the next reader pays for all that was written."""
    monkeypatch.setattr(log_state, "MUCH", 100)
    store = tmp_path / "store"
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1"}] * 90)
    assert saved(store) == []
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1"}] * 10)
    assert len(saved(store)) == 1


def test_other_declarations_build_anew(tmp_path: Path) -> None:
    """Fails when the form does not name the half-life: scores of the old one would be read."""
    store = tmp_path / "store"
    with germane.open(store, Schema([Signal("like", half_life="1d")]), clock=Clock()) as db:
        db.put(Item(id="a"))
        db.signal("like", "a", at=NOW - 2 * DAY)
        assert db.decayed("like", "a") == 0.25
    assert len(saved(store)) == 1
    with germane.open(store, Schema([Signal("like", half_life="2d")]), clock=Clock()) as db:
        assert db.decayed("like", "a") == 0.5
        assert db.check().ok
    with germane.open(store, clock=Clock()) as db:
        assert db.decayed("like", "a") == 0.5


@pytest.mark.parametrize("name", ["signals", "catalog"])
@pytest.mark.parametrize("how", ["flipped", "form", "missing"])
def test_a_damaged_one_is_set_aside_and_built_anew(
    tmp_path: Path, name: str, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Fails when a checksum is not compared, or a form that cannot be read ends the query."""
    store = tmp_path / "store"
    with opened(store) as db:
        db.signal_many([{"name": "like", "item": "i1", "user": f"u{n}"} for n in range(70)])
        wanted = readings(db)
    (found,) = saved(store, name)
    path = store / "views" / found
    array = path / ("decayed.npy" if name == "signals" else "bits.npy")
    if how == "flipped":
        data = bytearray(array.read_bytes())
        data[-1] ^= 4
        array.write_bytes(data)
    elif how == "missing":
        array.unlink()
    else:  # what was written, but by nothing that this version knows
        data_, _, _ = (path / "manifest.json").read_bytes().partition(b"\n")
        manifest = json.loads(data_)
        del manifest["checksums"][array.stem]
        told = json.dumps(manifest).encode()
        (path / "manifest.json").write_bytes(b"%s\n%d\n" % (told, zlib.crc32(told)))
    with opened(store) as db:
        assert readings(db) == wanted
        assert db.search("1", where="creator = 'ann'").total == 1
        assert "cannot be used and is built anew" in caplog.text
        assert saved(store, name) == [f"{found}.damaged"]
        assert [finding.part for finding in db.check().findings] == ["checkpoint"]
        assert db.check(repair=True).ok
        assert db.check().ok


def test_check_finds_ledgers_that_differ(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as db:
        db.signal("like", "i1", user="ann")
        assert db.check().ok
        with db._journal.read() as connection, db._signals.at(connection) as ledgers:
            ledgers["like"].totals[2] += 1
        (finding,) = db.check().findings
        assert (finding.part, "'totals'" in finding.detail) == ("signals", True)
        assert db.check(repair=True).ok
        assert db.count("like", "i1") == 1


CHILD = """
import json, sys, germane
from germane import Schema, Signal
db = germane.open(sys.argv[1], clock=lambda: {now})
print("ready", flush=True)
number = 0
while True:
    db.signal("like", f"i{{number % 5}}", user=f"u{{number % 97}}", weight=number % 7 - 2.5,
              at={now} - (number * 7919) % 4_000_000)
    if number % 10 == 3:
        columns = {{"name": ["view", "save"] * 20, "item": ["i1", "i2"] * 20, "user": ["ann", None] * 20}}
        db.signal_many(columns)
    if number % 25 == 0:
        db.count("like", "i0", "1h")
    number += 1
    print(number, flush=True)
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with opened(tmp_path / "store"):
        pass
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.format(now=NOW), str(tmp_path / "store")],
        stdout=subprocess.PIPE,
        text=True,
    )
    yield child
    child.kill()
    child.communicate()


def test_killed_and_reopened(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    """What was acknowledged is read, live beside the writer and after its death, bit for bit as replayed.

    Fails when an event is acknowledged before it is in the log, or is applied twice.
    """
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    with opened(tmp_path / "store") as beside:
        for _ in range(40):
            told = int(writer.stdout.readline())
            assert sum(beside.count("like", f"i{n}", "all") for n in range(ITEMS)) >= told
        writer.send_signal(signal.SIGKILL)
        told = max([told, *map(int, writer.stdout.read().split())])
        writer.wait()
        counted = sum(beside.count("like", f"i{n}", "all") for n in range(ITEMS))
        assert told <= counted <= told + 1
        assert_equal(state(beside), anew(beside))
        wanted = readings(beside)
    shutil.copytree(tmp_path / "store", tmp_path / "bare")
    shutil.rmtree(tmp_path / "bare" / "views")
    for name in ("store", "bare"):
        with opened(tmp_path / name) as db:
            assert readings(db) == wanted
            assert db.check().ok


def test_clocks_that_jump_and_run_backwards(tmp_path: Path) -> None:
    """Ten years ahead and back, then second by second into the past, through reopening.

    Fails when a checkpoint holds the windows as of the reading, not as of the log.
    """
    clock = Clock()
    store = tmp_path / "store"

    def reopened() -> germane.Database:
        return opened(store, clock)

    with reopened() as db:
        db.signal_many([{"name": "like", "item": "i1", "at": NOW - 60 * n} for n in range(100)])
        assert (db.count("like", "i1", "1h"), db.count("like", "i1", "24h")) == (60, 100)
        clock.now = NOW + 10 * YEAR
        assert (db.count("like", "i1", "1h"), db.count("like", "i1", "24h")) == (0, 0)
        clock.now = NOW
        assert db.count("like", "i1", "24h") == 0, "here the database's time stands still"
    with reopened() as db:  # nothing was recorded at that time, so for a new process it has not been
        assert (db.count("like", "i1", "1h"), db.count("like", "i1", "24h")) == (60, 100)
        clock.now = NOW + 10 * YEAR
        db.signal("like", "i1")
        assert (db.count("like", "i1", "1h"), db.decayed("like", "i1")) == (1, 1.0)
        clock.now = NOW
    with reopened() as db:  # now it has: the log's time never runs backwards
        assert (db.count("like", "i1", "1h"), db.count("like", "i1", "24h")) == (1, 1)
        assert db.count("like", "i1", "all") == 101
        for _ in range(100):
            clock.now -= 1
            db.signal("like", "i2")
            db.signal("view", "i2", at=clock.now)
        assert db.count("like", "i2", "1h") == 100
        assert db.decayed("like", "i2") == pytest.approx(100.0, rel=1e-12)
        assert db.decayed("view", "i2") == 0.0
        assert np.isfinite(readings(db)).all()
        assert db.check().ok


def test_what_a_process_of_another_time_saves(tmp_path: Path) -> None:
    """One whose clock is ten years ahead reads and saves what the other one records.

    Fails when events that its reads took back are dropped while the log itself is still within the window.
    """
    store = tmp_path / "store"
    with opened(store) as db:
        ahead = opened(store, Clock(NOW + 10 * YEAR))
        for n in range(30):
            db.signal("like", "i1", at=NOW - 60 * n)
            assert (ahead.count("like", "i1", "24h"), ahead.count("like", "i1", "1h")) == (0, 0)
        ahead.close()
        (name,) = saved(store)
        assert db.count("like", "i1", "24h") == 30
        db._signals._state = None
        assert db.count("like", "i1", "24h") == 30, "as the checkpoint has it"
        assert db.count("like", "i1", "1h") == 30
        assert db.check().ok
        assert saved(store) == [name]


def test_what_waited_enters_with_the_first_record_that_is_not_before_it() -> None:
    """Fails when it stays outside for good: reads add it all the same, and it is never let go of."""
    clock = Clock()
    db = opened(clock=clock)
    for ahead in (50, 10, 30, 200):
        db.signal("like", "i1", at=NOW + ahead, user="ann")
    assert state(db)["waiting_at"].tolist() == [round((NOW + ahead) * 1e6) for ahead in (50, 10, 30, 200)]
    assert len(state(db)["reach_waiting_at"]) == 4
    clock.now += 40
    db.signal("like", "i2")
    assert db.count("like", "i1", "all") == 2
    assert state(db)["waiting_at"].tolist() == [round((NOW + ahead) * 1e6) for ahead in (50, 200)]
    assert len(state(db)["reach_waiting_at"]) == 2
    assert int(state(db)["totals"].sum()) == 3


def test_decades_of_events_with_every_half_life(tmp_path: Path) -> None:
    """Scores over sixty years of moving landmarks, against the plain sum, live and from checkpoints."""
    clock, made = Clock(0.0), []
    half_lives = {"view": 1.0, "like": 7 * DAY, "share": 3_652 * DAY}
    for year in range(0, 60, 4):
        clock.now = max(year * YEAR, 1.0)
        with opened(tmp_path / "store", clock) as db:
            for name in half_lives:
                for age in (0.0, 0.5, 3.0, 5 * DAY, 2 * YEAR):
                    db.signal(name, "i1", weight=age + 1, at=clock.now - age)
                    made.append((name, clock.now - age, age + 1))
            clock.now += 1.25
            for name, half_life in half_lives.items():
                expected = sum(w * 2.0 ** (-(clock.now - at) / half_life) for n, at, w in made if n == name)
                assert db.decayed(name, "i1") == pytest.approx(expected, rel=1e-10, abs=1e-300)
            assert_equal(state(db), anew(db))
