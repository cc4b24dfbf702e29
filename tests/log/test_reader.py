"""What a reader remembers holds until anything is written, by whomever."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import germane
from germane import Item
from germane.log.header import header_of
from germane.log.reader import Reader


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(tmp_path / "file"))
    connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").fetchall()
    yield connection
    connection.close()


@pytest.fixture
def reader(tmp_path: Path, writer: apsw.Connection) -> Iterator[Reader]:
    connection = Reader(str(tmp_path / "file"))
    for _ in range(2):  # the first finds the header, the second sees it before and after
        _count(connection)
    yield connection
    connection.close()


def _counted(connection: apsw.Connection) -> int:
    return len(connection.execute("SELECT x FROM t").fetchall())


def _count(reader: Reader) -> int:
    reader.begin()
    count = reader.remember("count", _counted)
    reader.leave()
    return count


def test_remembered_until_a_commit(reader: Reader, writer: apsw.Connection) -> None:
    assert reader.still("count") == 0
    assert reader.still("other") is None
    writer.execute("BEGIN; INSERT INTO t VALUES (1)").fetchall()
    assert reader.still("count") == 0, "nothing is committed"
    writer.execute("ROLLBACK")
    assert reader.still("count") == 0
    writer.execute("INSERT INTO t VALUES (1)")
    assert reader.still("count") is None
    assert _count(reader) == 1
    assert reader.still("count") == 1


def test_a_commit_within_a_transaction_is_not_missed(reader: Reader, writer: apsw.Connection) -> None:
    """Seen to fail when the header is read with the first question in place of the beginning."""
    reader.begin()
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    writer.execute("INSERT INTO t VALUES (1)")
    assert reader.remember("count", _counted) == 0, "as of its first statement"
    reader.leave()
    assert reader.still("count") is None
    assert _count(reader) == 1


def test_a_checkpoint_changes_nothing_that_is_read(reader: Reader, writer: apsw.Connection) -> None:
    writer.execute("INSERT INTO t VALUES (1)")
    assert _count(reader) == 1
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert reader.still("count") in (1, None)
    writer.execute("INSERT INTO t VALUES (1)")
    assert reader.still("count") is None
    assert _count(reader) == 2


def test_where_there_is_no_header(tmp_path: Path, writer: apsw.Connection) -> None:
    """Memory has none, nor a file that is not in WAL mode."""
    memory = Reader(":memory:")
    memory.execute("CREATE TABLE t (x)")
    plain = Reader(str(tmp_path / "plain"))
    plain.execute("CREATE TABLE t (x)")
    for connection in (memory, plain):
        assert header_of(connection) is None
        assert _count(connection) == _count(connection) == 0
        assert connection.still("count") is None
        connection.close()


def test_writes_of_other_libraries_are_seen(tmp_path: Path) -> None:
    db = germane.open(tmp_path)
    db.put(Item(id="a", body="lamp"))
    for _ in range(3):
        assert db.top("lamp")[0] == ["a"]
    assert db._journal.glance() is not None
    # In a process of its own: two SQLite libraries in one would take each other's locks away.
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE foreign_one (x)')"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "journal.sqlite")], check=True)
    assert db._journal.glance() is None
    assert db.top("lamp")[0] == ["a"]
    db.put(Item(id="b", body="lamp lamp"))
    assert db.top("lamp")[0] == ["b", "a"]
    db.close()
