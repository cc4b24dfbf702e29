"""The journal: transactions that are kept whole or not at all, and a time that never runs backwards."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Item
from germane.log.chain import chained, end
from germane.log.events import DeleteItem, PutItem
from germane.log.journal import Journal, head

YEARS = 10 * 365.25 * 86_400


class Clock:
    """Tells the time that it was set to."""

    def __init__(self, seconds: float = 1_000_000.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(params=["on disk", "in memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "store" if request.param == "on disk" else None


def times(db: germane.Database) -> list[Any]:
    with db._journal.read() as connection:
        return connection.execute("SELECT at, recorded_at FROM log ORDER BY seq").fetchall()


def test_an_exception_takes_the_whole_transaction_back(folder: Path | None) -> None:
    """Fails if `Journal.write` commits in a finally."""
    with germane.open(folder) as db:
        db.put(Item(id="a", body="word"))
        with db._journal.read() as connection:
            before = head(connection), end(connection)
        with pytest.raises(ZeroDivisionError), db._journal.write() as writer:
            writer.keep("r", "text/plain", None, None, None, "other")
            writer.append(PutItem(id="b", rev="r", created_at=0))
            writer.append(DeleteItem(id="a"))
            raise ZeroDivisionError
        with db._journal.read() as connection:
            assert (head(connection), end(connection)) == before
            assert connection.execute("SELECT count(*) FROM content").get == 1
        assert db.search("word").total == 1
        assert db.put(Item(id="b", body="word")) == "b"
        assert db.check().ok


def test_a_batch_with_what_is_no_item_keeps_the_batches_before(
    folder: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("germane.knowledge.items.BATCH", 4)
    with germane.open(folder) as db:
        items = [Item(id=f"{n}", body="word") for n in range(10)]
        with pytest.raises(germane.InvalidArgument, match=r"iterable\[9\]"):
            db.put_many([*items[:9], "no item"])  # type: ignore[list-item]
        assert sorted(result.id for result in db.search("word").items) == [f"{n}" for n in range(8)]


def test_a_generator_that_fails_keeps_the_batches_before(
    folder: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("germane.knowledge.items.BATCH", 4)
    with germane.open(folder) as db:
        with pytest.raises(ZeroDivisionError):
            db.put_many(Item(id=f"{n}", body=f"word {1 // (6 - n)}") for n in range(10))
        assert db.stats().items == 4
        assert db.check().ok


def test_a_generator_may_use_the_database(folder: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.knowledge.items.BATCH", 3)
    with germane.open(folder) as db:
        ids = db.put_many(Item(id=f"{n}", body=f"word {db.stats().items}") for n in range(7))
        assert len(ids) == db.stats().items == 7


def test_now_never_runs_backwards(folder: Path | None) -> None:
    """Fails if `Journal.now` forgets what it returned to a read."""
    clock = Clock()
    with germane.open(folder, clock=clock) as db:
        db.put(Item(id="a", body="word"))
        told = []
        for seconds in (1_000_010.0, 1_000_001.0, 500.0, 1_000_020.0, 1_000_019.0):
            clock.seconds = seconds
            with db._journal.read() as connection:
                told.append(db._journal.now(connection))
        assert told == [1_000_010_000_000] * 3 + [1_000_020_000_000] * 2


@pytest.mark.parametrize("jump", [-1.0, -YEARS, YEARS])
def test_a_clock_that_jumps(folder: Path | None, jump: float) -> None:
    clock = Clock()
    with germane.open(folder, clock=clock) as db:
        first = db.get(db.put(Item(id="a", body="word"))).created_at
        clock.seconds += jump
        second = db.get(db.put(Item(id="b", body="word"))).created_at
        clock.seconds -= jump
        third = db.get(db.put(Item(id="c", body="word"))).created_at
        assert isinstance(first, datetime)
        assert isinstance(second, datetime)
        assert isinstance(third, datetime)
        assert first <= second <= third
        if jump == YEARS:
            assert second == third == datetime.fromtimestamp(1_000_000.0 + YEARS, UTC)
        else:
            assert first == second == third
        recorded = [recorded_at for _, recorded_at in times(db)]
        assert recorded == sorted(recorded)
        assert db.check().ok


def test_another_process_with_an_older_clock_does_not_run_behind(tmp_path: Path) -> None:
    with (
        germane.open(tmp_path / "store", clock=Clock(2_000_000.0)) as ahead,
        germane.open(tmp_path / "store", clock=Clock(1_000.0)) as behind,
    ):
        ahead.put(Item(id="a", body="word"))
        behind.put(Item(id="b", body="word"))
        assert ahead.get("b").created_at == datetime.fromtimestamp(2_000_000.0, UTC)
        recorded = [recorded_at for _, recorded_at in times(ahead)]
        assert recorded == sorted(recorded)


@given(st.lists(st.floats(-1e9, 4e9), max_size=30))
def test_recorded_at_never_decreases(readings: list[float]) -> None:
    clock = Clock(readings[0] if readings else 0.0)
    with germane.open(clock=clock) as db:
        for number, seconds in enumerate(readings):
            clock.seconds = seconds
            if number % 3 == 2:
                db.search("word")
            db.put(Item(id=f"{number % 4}", body=f"word {number}"))
        recorded = [recorded_at for _, recorded_at in times(db)]
        assert len(recorded) == len(readings) + 1
        assert recorded == sorted(recorded)
        assert recorded[-1] >= max((round(seconds * 1e6) for seconds in readings), default=0) - 1
        assert all(at == recorded_at for at, recorded_at in times(db))


@pytest.mark.parametrize("told", [datetime(2024, 1, 1), "noon", float("nan"), True])
def test_a_clock_that_tells_no_time(told: object) -> None:
    clock = Clock()
    with germane.open(clock=clock) as db:
        clock.seconds = told  # type: ignore[assignment]
        with pytest.raises(germane.InvalidArgument) as raised:
            db.put(Item(id="a", body="word"))
        assert raised.value.field == "clock"
        clock.seconds = 2_000_000.0
        db.put(Item(id="a", body="word"))
        assert db.check().ok


@pytest.mark.parametrize("durability", ["batched", "sync"])
def test_close_keeps_everything_and_leaves_one_file(tmp_path: Path, durability: str) -> None:
    folder = tmp_path / "store"
    db = germane.open(folder, durability=durability)
    db.put_many([Item(id=f"{n}", body="word") for n in range(5)])
    db.close()
    db.close()
    assert [path.name for path in folder.iterdir()] == ["journal.sqlite"]
    with germane.open(folder) as again:
        assert again.search("word").total == 5


def test_a_closed_database_refuses(folder: Path | None, tmp_path: Path) -> None:
    db = germane.open(folder)
    db.put(Item(id="a", body="word"))
    db.close()
    (tmp_path / "a.md").write_text("# A\n")
    for call in (
        lambda: db.put(Item(id="b")),
        lambda: db.put_many([Item(id="b")]),
        lambda: db.update("a", tags=["x"]),
        lambda: db.delete("a"),
        lambda: db.put_document("d", title="D", sections=[]),
        lambda: db.delete_document("d"),
        lambda: db.learn(tmp_path / "a.md"),
        lambda: db.learn_text("# A"),
        lambda: db.get("a"),
        lambda: db.document("d"),
        lambda: db.search("word"),
        lambda: db.top("word"),
        lambda: db.stats(),
        lambda: db.check(),
        lambda: db.rebuild(),
        lambda: db.schema,
    ):
        with pytest.raises(germane.InvalidArgument, match="is closed: open it again"):
            call()


def test_closing_while_another_thread_reads(tmp_path: Path) -> None:
    db = germane.open(tmp_path / "store")
    db.put(Item(id="a", body="word"))
    with db._journal.read() as connection:
        db.close()
        assert head(connection) == 2
    assert db._journal._idle == [], "a connection was kept open"
    with germane.open(tmp_path / "store") as again:
        assert again.search("word").total == 1


def test_every_event_is_chained_to_all_before_it(tmp_path: Path) -> None:
    """Fails if the checksum of an event leaves out what came before."""
    with germane.open(tmp_path / "store") as db:
        db.put_many([Item(id=f"{n}", body=f"word {n}") for n in range(4)])
        db.delete("1")
        with db._journal.read() as connection:
            rows: list[Any] = connection.execute("SELECT * FROM log ORDER BY seq").fetchall()
    checksum = 0
    for *event, told in rows:
        checksum = chained(checksum, *event)
        assert checksum == told
    assert len({row[-1] for row in rows}) == len(rows) == 6
    event = rows[3][:-1]
    changed = [(7, *event[1:]), (event[0], 7, *event[2:]), (*event[:2], 7, *event[3:])]
    changed += [(*event[:3], "delete", event[4]), (*event[:4], event[4] + " ")]
    sums = {chained(before, *each) for before in (0, 1) for each in (event, *changed)}
    assert len(sums) == 12


def test_two_journals_of_one_folder_take_turns(tmp_path: Path) -> None:
    def journal() -> Journal:
        return Journal(tmp_path / "store", lambda: 1, "batched", False)

    first, second = journal(), journal()
    for turn, number in zip(itertools.cycle((first, second)), range(6)):
        with turn.write() as writer:
            assert writer.head == number + 1
            writer.append(DeleteItem(id="nothing"))
    with first.read() as one, second.read() as other:
        assert end(one) == end(other)
        assert head(one) == 7
    first.close()
    second.close()


def test_a_clock_must_be_callable(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"^clock: must be callable and return a time, not float"):
        germane.open(tmp_path / "store", clock=1.0)  # type: ignore[arg-type]
    assert not (tmp_path / "store").exists()
