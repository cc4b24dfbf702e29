"""Durability: when a committed write is on disk, told by counting the calls of fdatasync."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import germane
from germane import Item
from germane.log.durability import WalSync

PATIENCE = 30.0


class Syncs:
    """Stands between the journal and the disk: counts syncs, and holds them up while it is closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.threads: list[str] = []
        self.files: set[str] = set()
        self.finished = 0
        self._real = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", self)

    def __call__(self, file: int) -> None:
        self.threads.append(threading.current_thread().name)
        self.files.add(Path(f"/proc/self/fd/{file}").readlink().name if Path("/proc").exists() else "")
        self.entered.release()
        assert self.gate.wait(PATIENCE)
        self._real(file)
        self.finished += 1


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Syncs]:
    made = Syncs(monkeypatch)
    yield made
    made.gate.set()


def until(wal: WalSync, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    with wal._turn:
        while not condition():
            assert time.monotonic() < deadline
            wal._turn.wait(0.01)


def test_sync_returns_after_the_fsync(tmp_path: Path, syncs: Syncs) -> None:
    """Fails if `sync` only asks the background thread."""
    before = set(threading.enumerate())
    with germane.open(tmp_path / "store", durability="sync") as db:
        for number in range(1, 4):
            db.put(Item(id=f"{number}", body="word"))
            assert syncs.finished == number
        assert syncs.threads == [threading.current_thread().name] * 3
        assert set(threading.enumerate()) <= before
        assert syncs.files <= {"", "journal.sqlite-wal"}


def test_sync_waits_while_the_disk_takes_its_time(tmp_path: Path, syncs: Syncs) -> None:
    with germane.open(tmp_path / "store", durability="sync") as db:
        syncs.gate.clear()
        thread = threading.Thread(target=db.put, args=(Item(id="a", body="word"),))
        thread.start()
        assert syncs.entered.acquire(timeout=PATIENCE)
        assert db.search("word").total == 1, "it is committed"
        assert thread.is_alive(), "but not acknowledged"
        syncs.gate.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_concurrent_writers_share_one_fsync(tmp_path: Path, syncs: Syncs) -> None:
    """Fails if every writer syncs for itself, and if a sync covers what came after it began."""
    returned: list[str] = []
    with germane.open(tmp_path / "store", durability="sync") as db:

        def put(id: str) -> None:
            returned.append(db.put(Item(id=id, body="word")))

        syncs.gate.clear()
        first = threading.Thread(target=put, args=("first",))
        first.start()
        assert syncs.entered.acquire(timeout=PATIENCE)
        others = [threading.Thread(target=put, args=(f"{n}",)) for n in range(7)]
        for thread in others:
            thread.start()
        wal = db._journal._wal
        assert wal is not None
        until(wal, lambda: wal._asked == 8)  # all have committed and asked
        assert returned == []
        assert db.search("word").total == 8
        syncs.gate.set()
        for thread in (first, *others):
            thread.join(PATIENCE)
        assert len(returned) == 8
        assert len(syncs.threads) == 2, "one for the first, and one for the seven that came while it ran"


def test_sync_vouches_for_what_another_wrote(tmp_path: Path, syncs: Syncs) -> None:
    """Fails if a write that finds nothing to do returns before the sync of the one that did it."""
    with germane.open(tmp_path / "store", durability="sync") as db:
        syncs.gate.clear()
        threads = [threading.Thread(target=db.put, args=(Item(id="a", body="word"),)) for _ in range(2)]
        threads[0].start()
        assert syncs.entered.acquire(timeout=PATIENCE)
        threads[1].start()
        wal = db._journal._wal
        assert wal is not None
        until(wal, lambda: wal._asked == 2)
        assert all(thread.is_alive() for thread in threads)
        syncs.gate.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert db.stats().events == 2


def test_batched_returns_before_and_syncs_in_the_background(tmp_path: Path, syncs: Syncs) -> None:
    """Fails if `batched` waits, and if the background thread does not sync."""
    with germane.open(tmp_path / "store") as db:
        syncs.gate.clear()
        db.put(Item(id="a", body="word"))
        db.put(Item(id="b", body="word"))
        assert syncs.finished == 0
        assert syncs.entered.acquire(timeout=PATIENCE)
        assert set(syncs.threads) == {"germane-sync"}
        syncs.gate.set()
        wal = db._journal._wal
        assert wal is not None
        until(wal, lambda: wal._done == 2)
        assert syncs.files <= {"", "journal.sqlite-wal"}


def test_batched_gathers_writes(tmp_path: Path, syncs: Syncs) -> None:
    with germane.open(tmp_path / "store") as db:
        syncs.gate.clear()
        db.put(Item(id="first", body="word"))
        assert syncs.entered.acquire(timeout=PATIENCE)
        for number in range(50):
            db.put(Item(id=f"{number}", body="word"))
        syncs.gate.set()
        wal = db._journal._wal
        assert wal is not None
        until(wal, lambda: wal._done == 51)
        assert len(syncs.threads) == 2


def test_close_syncs_what_is_outstanding(tmp_path: Path, syncs: Syncs) -> None:
    """Fails if `close` does not wait for the sync."""
    db = germane.open(tmp_path / "store")
    syncs.gate.clear()
    db.put(Item(id="a", body="word"))
    closing = threading.Thread(target=db.close)
    closing.start()
    assert syncs.entered.acquire(timeout=PATIENCE)
    assert closing.is_alive()
    syncs.gate.set()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert syncs.finished >= 1
    wal = db._journal._wal
    assert wal is not None
    assert wal._thread is None or not wal._thread.is_alive()


def test_nothing_is_synced_for_reads_and_for_writes_of_nothing(tmp_path: Path, syncs: Syncs) -> None:
    with germane.open(tmp_path / "store", durability="batched") as db:
        db.search("word")
        db.stats()
        assert not db.delete("nothing").changed
    assert syncs.threads == []


def test_the_log_is_copied_back_as_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if nothing copies the write-ahead log into the main file: it would grow without end."""
    monkeypatch.setattr("germane.log.journal.WAL_PAGES", 50)
    folder = tmp_path / "store"
    sizes = []
    with germane.open(folder) as db:
        for number in range(400):
            db.put(Item(id=f"{number}", body=f"{number} " + "word " * 200))
            sizes.append((folder / "journal.sqlite-wal").stat().st_size)
        assert max(sizes) < 200 * 4096
        assert (folder / "journal.sqlite").stat().st_size > 400 * 1000
        assert db.check().ok


def test_a_reader_in_the_way_only_puts_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.log.journal.WAL_PAGES", 20)
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="a", body="word"))
        with db._journal.read() as connection:
            before = connection.execute("SELECT count(*) FROM log").get
            for number in range(100):
                db.put(Item(id=f"{number}", body=f"{number} " + "word " * 200))
            assert connection.execute("SELECT count(*) FROM log").get == before
        for number in range(100):
            db.put(Item(id=f"{number}", body=f"{number} " + "other " * 200))
        size = (tmp_path / "store" / "journal.sqlite-wal").stat().st_size
        for number in range(100):
            db.put(Item(id=f"{number}", body=f"{number} " + "word " * 200))
        assert (tmp_path / "store" / "journal.sqlite-wal").stat().st_size <= size
        assert db.search("word").total == 101
