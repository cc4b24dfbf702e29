"""Opening: what lies at the path is a store, or left untouched with one clear error."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

import germane
from germane import Item, Schema
from germane.version import FORMAT

NOBODY = 65_534


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with germane.open(tmp_path / "store") as db:
        db.put_many([Item(id=f"{n}", body=f"word {n}") for n in range(5)])
    return tmp_path / "store"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def sqlite(path: Path, *statements: str) -> None:
    path.parent.mkdir(exist_ok=True)
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def left_by_a_killed_process(folder: Path, wal_pages: int = 4_096) -> None:
    code = (
        "import germane, germane.log.journal, os, sys\n"
        f"germane.log.journal.WAL_PAGES = {wal_pages}\n"
        "db = germane.open(sys.argv[1])\n"
        "for n in range(20):\n"
        "    db.put(germane.Item(id=str(n), body='word ' * 200 + str(n)))\n"
        f"os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=False)


def test_a_path_that_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("kept")
    with pytest.raises(germane.InvalidArgument, match="is a file: a store is a folder") as raised:
        germane.open(path)
    assert raised.value.field == "path"
    assert path.read_text() == "kept"


def test_a_path_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(germane.ReadOnly, match="cannot be made: Not a directory"):
        germane.open(tmp_path / "file" / "store")


def test_read_only_on_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(germane.NotFound, match=r"there is no store in .*'germane init' makes one"):
            germane.open(path, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_read_only_refuses_every_write(store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    with germane.open(store, read_only=True) as db:
        assert db.search("word").total == 5
        assert db.check().ok
        for call in (
            lambda: db.put(Item(id="b")),
            lambda: db.put_many([Item(id="b")]),
            lambda: db.update("1", tags=["x"]),
            lambda: db.delete("1"),
            lambda: db.put_document("d", title="D", sections=[]),
            lambda: db.delete_document("d"),
            lambda: db.learn(tmp_path / "a.md"),
            lambda: db.learn_text("# A"),
            lambda: db.rebuild(),
        ):
            with pytest.raises(germane.ReadOnly, match="opened with read_only=True: open it without"):
                call()
    with pytest.raises(germane.ReadOnly, match="the schema differs"):
        germane.open(store, Schema(lang="german"), read_only=True)
    with germane.open(store, read_only=True) as db:
        declared = db.schema
    with germane.open(store, declared, read_only=True) as db:
        assert db.stats().lang == "english"


def test_read_only_sees_what_others_write(store: Path) -> None:
    with germane.open(store) as writer, germane.open(store, read_only=True) as reader:
        assert reader.search("word").total == 5
        writer.put(Item(id="new", body="word"))
        assert reader.search("word").total == 6


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('kept')"],
        ["CREATE TABLE log (text)", "INSERT INTO log VALUES ('kept')"],
        [f"PRAGMA user_version = {FORMAT}", "CREATE TABLE notes (text)"],
        ["PRAGMA application_id = 7"],
        ["PRAGMA user_version = 7"],
        [f"PRAGMA application_id = 7; PRAGMA user_version = {FORMAT}"],
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_another_program_stays_as_it_is(
    tmp_path: Path, statements: list[str], read_only: bool
) -> None:
    """Fails if a file is taken for a store by its user_version alone, or put into WAL mode unasked."""
    folder = tmp_path / "store"
    sqlite(folder / "journal.sqlite", *statements)
    before = contents(folder)
    with pytest.raises(germane.InvalidArgument, match="belongs to another program: choose another folder"):
        germane.open(folder, read_only=read_only)
    assert contents(folder) == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_format(store: Path, read_only: bool) -> None:
    sqlite(store / "journal.sqlite", f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(germane.InvalidArgument) as raised:
        germane.open(store, read_only=read_only)
    assert f"has format {FORMAT + 1} and this version reads up to {FORMAT}" in str(raised.value)
    assert "pip install --upgrade germane" in str(raised.value)


def test_a_format_that_rises_while_the_store_is_open(store: Path) -> None:
    with germane.open(store) as db:
        sqlite(store / "journal.sqlite", f"PRAGMA user_version = {FORMAT + 1}")
        with pytest.raises(germane.InvalidArgument, match="has format"):
            db.put(Item(id="new", body="word"))
        sqlite(store / "journal.sqlite", f"PRAGMA user_version = {FORMAT}")
        db.put(Item(id="new", body="word"))
        assert db.search("word").total == 6


def test_a_store_of_which_nothing_but_the_name_is_there(store: Path) -> None:
    sqlite(store / "journal.sqlite", "PRAGMA user_version = 0")
    with pytest.raises(germane.Corruption):
        germane.open(store, read_only=True)


def test_what_is_no_database(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "journal.sqlite").write_text("this is a shopping list, and long enough for a header: " * 50)
    before = contents(folder)
    for read_only in (False, True):
        with pytest.raises(germane.Corruption, match="is not a journal of this package") as raised:
            germane.open(folder, read_only=read_only)
        assert "move it away, or restore it from a backup" in str(raised.value)
    assert contents(folder) == before


def test_an_empty_folder_and_an_empty_file_become_a_store(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "journal.sqlite").touch()
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="a", body="word"))
        assert db.check().ok


def test_a_journal_that_lost_all_of_its_bytes_is_no_new_store(tmp_path: Path) -> None:
    """Fails if an empty file always becomes a store; SQLite would drop the write-ahead log."""
    folder = tmp_path / "store"
    left_by_a_killed_process(folder)
    size = (folder / "journal.sqlite-wal").stat().st_size
    os.truncate(folder / "journal.sqlite", 0)
    with pytest.raises(germane.Corruption, match="is empty or gone, but parts of a store lie beside it"):
        germane.open(folder)
    assert (folder / "journal.sqlite-wal").stat().st_size == size
    for name in ("journal.sqlite-wal", "journal.sqlite-shm"):
        (folder / name).unlink()
    (folder / "views" / "text-0-300").mkdir(parents=True)
    with pytest.raises(germane.Corruption, match="restore a backup"):
        germane.open(folder)
    shutil.rmtree(folder / "views")
    with germane.open(folder) as db:
        assert db.stats().items == 0


def test_a_locked_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.log.file.BUSY_MS", 50)
    other = apsw.Connection(str(store / "journal.sqlite"))
    with germane.open(store) as db:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(germane.Busy, match="is locked by another process: try again") as raised:
            db.put(Item(id="new", body="word"))
        assert raised.value.retry_after > 0
        assert db.search("word").total == 5, "reading goes on"
        other.execute("ROLLBACK")
        db.put(Item(id="new", body="word"))
        assert db.search("word").total == 6
    other.close()


def test_a_store_that_another_process_holds_alone(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.log.file.BUSY_MS", 50)
    other = apsw.Connection(str(store / "journal.sqlite"))
    other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    other.execute("BEGIN IMMEDIATE")
    for read_only in (False, True):
        with pytest.raises(germane.Busy, match="is locked by another process"):
            germane.open(store, read_only=read_only)
    other.execute("ROLLBACK")
    other.close()
    with germane.open(store) as db:
        assert db.search("word").total == 5


def test_many_open_a_new_folder_at_once(tmp_path: Path) -> None:
    def first(number: int) -> str:
        with germane.open(folder) as db:
            db.put(Item(id=f"{number}", body="word"))
            return db._journal.id

    with ThreadPoolExecutor(8) as pool:
        for attempt in range(5):
            folder = tmp_path / f"store-{attempt}"
            assert len(set(pool.map(first, range(8)))) == 1
            with germane.open(folder) as db:
                assert db.search("word").total == 8
                assert db.stats().events == 9
                assert db.check().ok


def test_the_tail_of_an_unfinished_write_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Fails if frames behind the last commit are not looked for."""
    folder, copy = tmp_path / "store", tmp_path / "copy"
    left_by_a_killed_process(folder)
    size = (folder / "journal.sqlite-wal").stat().st_size
    with caplog.at_level(logging.WARNING, "germane"):
        shutil.copytree(folder, copy)
        with germane.open(copy) as db:
            assert db.search("word").total == 20
        assert caplog.messages == [], "nothing was torn"
        for cut in (1, 5_000):
            shutil.rmtree(copy)
            shutil.copytree(folder, copy)
            os.truncate(copy / "journal.sqlite-wal", size - cut)
            with germane.open(copy) as db:
                assert db.search("word").total == 19
            (message,) = caplog.messages
            assert "bytes of a write that was never finished are left out" in message
            caplog.clear()
            with germane.open(copy) as db:
                db.put(Item(id="new", body="word"))
                assert db.check().ok
            assert caplog.messages == [], "it is told once: then the log was begun anew"


def test_what_lies_behind_a_log_that_was_begun_anew_is_no_tail(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Fails if the salts of a frame are not compared."""
    left_by_a_killed_process(tmp_path / "store", wal_pages=50)
    with caplog.at_level(logging.WARNING, "germane"), germane.open(tmp_path / "store") as db:
        frames, _ = db._journal._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        size = (tmp_path / "store" / "journal.sqlite-wal").stat().st_size
        assert 0 < frames < size // 4_120 - 1, "there are older frames behind the newest"
        assert db.search("word").total == 20
    assert caplog.messages == []


def test_no_tail_is_told_beside_a_process_at_work(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    with germane.open(store) as db, db._journal.write() as writer:
        for number in range(3_000):
            writer.keep(f"{number}", "text/plain", None, None, None, f"{number}" * 900)
        assert (store / "journal.sqlite-wal").stat().st_size > 100_000, "frames of this write are there"
        with caplog.at_level(logging.WARNING, "germane"), germane.open(store) as other:
            assert other.search("word").total == 5
        assert caplog.messages == []


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that every user can enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def write_protect(folder: Path) -> None:
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)


def as_nobody(code: str, *arguments: str) -> str:
    """Run code that must not write, as a user whom the permissions hold."""
    start = (
        "import os, sys, germane\n"
        "with germane.open() as db:\n"  # import what is imported late while it can be read
        "    db.put(germane.Item(body='word')), db.search('word'), db.check(), db.rebuild()\n"
        f"if os.getuid() == 0: os.setgid({NOBODY}), os.setuid({NOBODY})\n"
        "def attempt(**how):\n"
        "    try:\n"
        "        with germane.open(sys.argv[1], **how) as db:\n"
        "            return db.search('word').total\n"
        "    except germane.Error as error:\n"
        "        return f'{type(error).__name__}: {error}'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + code, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_folder_that_cannot_be_written(readable: Path) -> None:
    with germane.open(readable / "store") as db:
        db.put(Item(id="a", body="word"))
    write_protect(readable / "store")
    before = contents(readable / "store")
    told = as_nobody("print(attempt(read_only=True))\nprint(attempt())", str(readable / "store"))
    first, second = told.splitlines()
    assert first == "1"
    assert second.startswith("ReadOnly: ")
    assert "cannot be written: open it with read_only=True, or change its permissions" in second
    assert contents(readable / "store") == before


def test_a_folder_that_cannot_be_made(readable: Path) -> None:
    readable.chmod(0o555)
    told = as_nobody("print(attempt())", str(readable / "store"))
    assert told.startswith("ReadOnly: ")
    assert "cannot be made: Permission denied" in told


def test_last_writes_that_cannot_be_read_are_not_left_out_silently(readable: Path) -> None:
    """Fails if a folder that cannot be written is read without its write-ahead log."""
    folder = readable / "store"
    left_by_a_killed_process(folder)
    write_protect(folder)
    assert as_nobody("print(attempt(read_only=True))", str(folder)) == "20\n"
    folder.chmod(0o755)
    (folder / "journal.sqlite-shm").unlink()
    folder.chmod(0o555)
    told = as_nobody("print(attempt(read_only=True))\nprint(attempt())", str(folder))
    first, second = told.splitlines()
    assert first.startswith("ReadOnly: ")
    assert "its last writes lie in journal.sqlite-wal" in first
    assert second.startswith("ReadOnly: ")
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    with germane.open(folder) as db:
        assert db.search("word").total == 20


@pytest.mark.parametrize("path", [7, "", "a\0b", b"bytes"])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(germane.InvalidArgument) as raised:
        germane.open(path)  # type: ignore[arg-type]
    assert raised.value.field == "path"


def test_read_only_in_memory_is_an_empty_store() -> None:
    with germane.open(read_only=True) as db:
        assert db.search("word").total == 0
        with pytest.raises(germane.ReadOnly):
            db.put(Item(id="a"))
