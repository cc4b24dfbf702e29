"""A disk that fails: nothing is half applied, the error is clear, and the next write works."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import germane
from germane import Item
from germane.log import journal as journal_module
from support.faults import FaultyDisk

FAULTS = [(apsw.FullError, "disk is full"), (apsw.IOError, "input or output failed")]


@pytest.fixture
def disk() -> Iterator[FaultyDisk]:
    made = FaultyDisk(f"faulty-{os.urandom(4).hex()}")
    yield made
    gc.collect()
    made.unregister()


def state(db: germane.Database) -> tuple[object, ...]:
    with db._journal.read() as connection:
        tables = [
            connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
            for name in ("log", "content", "item", "tag", "document", "section", "view")
        ]
    return (*tables, [result.id for result in db.search("word").items])


def batch(start: int) -> list[Item]:
    # Large enough that SQLite writes frames before the commit, too.
    return [Item(id=f"{start + n}", body=f"word {n} " + "filler " * 400, tags=("t",)) for n in range(60)]


def sort_much(db: germane.Database) -> None:
    with db._journal.read() as connection, db._journal.read() as other:
        for each in (connection, other):
            assert len(each.execute("SELECT body, rev FROM content ORDER BY rev || body").fetchall()) == 600


def large(n: int, *tags: str) -> Item:
    # Together too much for SQLite to sort in its cache.
    return Item(id=f"{n}", body=f"word {n} {'x' * 10_000}", tags=tags)


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_failing_write_leaves_nothing_behind(
    disk: FaultyDisk, tmp_path: Path, fault: type[apsw.Error], message: str
) -> None:
    """Fails if the rollback is left out of `Journal.write`."""
    with germane.open(tmp_path / "store") as db:
        db.put_many(batch(0))
        before = state(db)
        with disk.failing(10**9, fault):
            db.put_many(batch(1000))
            needed = disk.operations
        db.put_document("doc", title="Doc", sections=[Item(id="a", body="word")])
        assert needed > 20
        before = state(db)
        for at in [*range(12), *range(12, needed - 1, 7), needed - 1]:
            with disk.failing(at, fault), pytest.raises(germane.Busy) as raised:
                db.put_many(batch(2000))
            assert message in str(raised.value)
            assert "nothing of this write was kept" in str(raised.value)
            assert state(db) == before
        assert len(db.put_many(batch(3000))) == 60
        assert db.check().ok
        after = state(db)
    with germane.open(tmp_path / "store") as db:
        assert state(db) == after


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_every_write_fails_whole(
    disk: FaultyDisk, tmp_path: Path, fault: type[apsw.Error], message: str
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.md").write_text("# One\n\nword\n\n# Two\n\nword\n")
    with germane.open(tmp_path / "store") as db:
        db.put_many(batch(0)[:5])
        db.put_document("doc", title="Doc", sections=[Item(id="a", body="word"), Item(id="b", body="word")])
        writes: list[Callable[[], object]] = [
            lambda: db.put(Item(id="new", body="word")),
            lambda: db.update("1", tags=["x"], metadata={"n": 1}),
            lambda: db.delete("2"),
            lambda: db.put_document("doc", title="Doc", sections=[Item(id="a", body="other word")]),
            lambda: db.delete_document("doc"),
            lambda: db.learn(tree),
            lambda: db.learn_text("# Title\n\nword", docid="text"),
        ]
        for write in writes:
            before = state(db)
            for at in (0, 1, 2):
                with disk.failing(at, fault), pytest.raises(germane.Busy):
                    write()
                assert state(db) == before
            write()
            assert state(db) != before
        with disk.failing(2, fault), pytest.raises(germane.Busy):
            db.rebuild()
        assert db.check().ok


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_store_that_could_not_be_made_is_made_later(
    disk: FaultyDisk, tmp_path: Path, fault: type[apsw.Error], message: str
) -> None:
    folder = tmp_path / "store"
    for at in range(8):
        with disk.failing(at, fault), pytest.raises(germane.Error) as raised:
            germane.open(folder)
        assert isinstance(raised.value, germane.Busy)
    with germane.open(folder) as db:
        db.put(Item(id="a", body="word"))
        assert db.check().ok


@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_copying_the_log_back_may_fail(
    disk: FaultyDisk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[apsw.Error],
    message: str,
) -> None:
    monkeypatch.setattr(journal_module, "WAL_PAGES", 8)
    with germane.open(tmp_path / "store") as db:
        for at in range(30):
            with disk.failing(at % 3, fault, of="journal.sqlite"):
                db.put(Item(id=f"{at}", body=f"word {at}"))
        assert disk.operations > 0, "nothing was copied back, so nothing failed"
        assert db.search("word").total == 30
        with disk.failing(10**9, fault, of="journal.sqlite"):
            for at in range(30, 40):
                db.put(Item(id=f"{at}", body=f"word {at}"))
        assert disk.operations > 3
        assert db.check().ok
    with germane.open(tmp_path / "store") as db:
        assert db.get("39").body == "word 39"


def test_a_disk_that_is_full_for_sqlite_itself(tmp_path: Path) -> None:
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="a", body="word"))
        writer = db._journal._writer
        pages = writer.execute("PRAGMA page_count").get
        writer.execute(f"PRAGMA max_page_count = {pages + 2}")
        before = state(db)
        with pytest.raises(germane.Busy, match="disk is full"):
            db.put_many(batch(0))
        assert state(db) == before
        writer.execute("PRAGMA max_page_count = 1000000")
        assert len(db.put_many(batch(0))) == 60
        assert db.check().ok


@pytest.mark.parametrize("durability", ["sync", "batched"])
def test_a_failed_fsync_is_told_and_the_next_write_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str
) -> None:
    """Fails if the background thread keeps its failure to itself."""
    real, failed = os.fdatasync, threading.Event()
    with germane.open(tmp_path / "store", durability=durability) as db:

        def fail(file: int) -> None:
            failed.set()
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fdatasync", fail)
        if durability == "sync":
            with pytest.raises(germane.Busy, match="syncing to disk failed"):
                db.put(Item(id="a", body="word"))
        else:
            db.put(Item(id="a", body="word"))
            assert failed.wait(30)
            wal = db._journal._wal
            assert wal is not None
            with wal._turn:
                wal._turn.wait_for(lambda: wal._untold is not None, timeout=30)
            with pytest.raises(germane.Busy, match="a power failure may undo them"):
                db.put(Item(id="b", body="word"))
        monkeypatch.setattr(os, "fdatasync", real)
        db.put(Item(id="c", body="word"))
        assert db.search("word").total == (2 if durability == "sync" else 3)


def test_a_failed_fsync_at_the_end_is_told_and_the_folder_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = germane.open(tmp_path / "store")

    def fail(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    db.put(Item(id="a", body="word"))
    with pytest.raises(germane.Busy, match="syncing to disk failed"):
        db.close()
    monkeypatch.undo()
    db.close()
    assert not (tmp_path / "store" / "journal.sqlite-wal").exists()
    with germane.open(tmp_path / "store") as db:
        assert db.search("word").total == 1


def test_in_memory_no_file_is_opened(disk: FaultyDisk) -> None:
    """Fails if sorting may use temporary files."""
    with germane.open() as db:
        db.put_many([large(n) for n in range(600)])
        db.search("word")
        for n in range(600):
            db.update(f"{n}", tags=["x"])
        assert db.search("word").total == 600
        assert db.check().ok
        db.rebuild()
        sort_much(db)
    assert disk.opened == []


def test_sorting_leaves_nothing_outside_of_the_folder(disk: FaultyDisk, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with germane.open(folder) as db:
        db.put_many([large(n) for n in range(600)])
        db.search("word")
        db.put_many([large(n, "x") for n in range(600)])
        assert db.search("word").total == 600
        assert db.check().ok
        sort_much(db)
    assert all(path is not None and Path(path).parent == folder for path in disk.opened)
