"""A damaged journal: Corruption that says what to do, or the right answer; never anything else."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import germane
from germane import Item
from germane.database import Database
from germane.log.tables import FOLDED_NAMES

PAGE = 4_096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "store"
    with germane.open(folder) as db:
        db.put_many(
            [
                Item(id=f"i{n}", title=f"title {n}", body=f"word {n} " * (n % 7 + 1), tags=("a", "b"))
                for n in range(400)
            ]
        )
        for n in range(0, 400, 3):
            db.update(f"i{n}", tags=["c"], metadata={"n": n})
        for n in range(0, 400, 7):
            db.delete(f"i{n}")
        db.put_document("doc", title="Doc", sections=[Item(id=f"i{n}", body="word") for n in range(5)])
        db.learn_text("# A\n\nword\n\n## B\n\nword", docid="text")
    return folder


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "store")
    return tmp_path / "store"


def change(store: Path, statement: str, *values: Any) -> None:
    """Change the journal as another program would, past all that this package does."""
    connection = apsw.Connection(str(store / "journal.sqlite"))
    connection.execute(statement, values).fetchall()
    connection.close()


def parts(report: germane.CheckReport) -> set[str]:
    return {finding.part for finding in report.findings}


def calls(db: Database) -> list[Callable[[], object]]:
    return [
        lambda: db.search("word"),
        lambda: db.get("i5"),
        lambda: db.document("doc"),
        lambda: db.stats(),
        lambda: db.put(Item(id="new", body="word")),
        lambda: db.update("i1", tags=["x"]),
        lambda: db.delete("i2"),
        lambda: db.learn_text("# A\n\nother word", docid="text"),
        lambda: db.check(),
        lambda: db.check(repair=True),
        lambda: db.rebuild(),
        lambda: db.close(),
    ]


def blank(store: Path, name: str) -> None:
    """Blank the first page of a table."""
    journal = store / "journal.sqlite"
    connection = apsw.Connection(str(journal))
    root = int(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).get)
    connection.close()
    data = bytearray(journal.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    journal.write_bytes(data)


def outside(folder: Path) -> list[tuple[Any, ...]]:
    """Return what a store answers, and what its log holds."""
    with germane.open(folder) as db:
        told: list[tuple[Any, ...]] = [
            (result.id, result.score, result.tags, result.docids)
            for query in ("word", "title", "tag:a", "tag:c", "doc:doc")
            for result in db.search(query, limit=1000).items
        ]
        with db._journal.read() as connection:
            return told + connection.execute("SELECT * FROM log").fetchall()


@pytest.mark.parametrize("seed", range(10))
def test_damage_to_the_pages_of_folded_tables_is_mended(store: Path, sound: Path, seed: int) -> None:
    """Fails if a damaged table must be readable to be dropped."""
    chance = random.Random(seed)
    journal = store / "journal.sqlite"
    connection = apsw.Connection(str(journal))
    names = ", ".join(f"'{name}'" for name in FOLDED_NAMES)
    pages: list[Any] = connection.execute(
        "SELECT pageno FROM dbstat WHERE name IN"
        f" (SELECT name FROM sqlite_schema WHERE tbl_name IN ({names})) ORDER BY pageno"
    ).fetchall()
    connection.close()
    data = bytearray(journal.read_bytes())
    for (page,) in chance.sample(pages, 1 + seed % 3):
        data[(page - 1) * PAGE : page * PAGE] = chance.choice((bytes(PAGE), chance.randbytes(PAGE)))
    journal.write_bytes(data)
    with germane.open(store) as db:
        report = db.check()
        assert not report.ok
        assert not parts(report) & {"log", "content"}
        report = db.check(repair=True)
        assert report.ok, report
        assert report.findings
        assert all(finding.repaired for finding in report.findings)
        assert db.check() == germane.CheckReport(True)
    assert outside(store) == outside(sound)


@pytest.mark.parametrize("name", FOLDED_NAMES)
def test_damage_to_the_first_page_of_any_table_is_mended(store: Path, sound: Path, name: str) -> None:
    blank(store, name)
    with germane.open(store) as db:
        assert not db.check().ok
        assert db.check(repair=True).ok
        assert db.check() == germane.CheckReport(True)
    assert outside(store) == outside(sound)


def test_damaged_tables_are_not_folded_from_a_log_that_lost_its_end(store: Path) -> None:
    """Fails if a table that cannot be read is struck off before the log is seen to be shorter."""
    change(store, "DELETE FROM log WHERE seq > 100")
    blank(store, "tag")
    with germane.open(store) as db:
        assert not db.check(repair=True).ok
        with pytest.raises(germane.Corruption, match="the log ends at event 100"):
            db.rebuild()
        assert db.get("i398").id == "i398"


@pytest.mark.parametrize("seed", range(32))
def test_any_damage_is_corruption_or_does_no_harm(
    store: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails if UnicodeDecodeError, SQLError or DecodeError pass through `translated`."""
    chance = random.Random(seed)
    if chance.random() < 0.6:
        shutil.rmtree(store / "views")
    journal = store / "journal.sqlite"
    data = bytearray(journal.read_bytes())
    page = chance.randrange(len(data) // PAGE) * PAGE
    match seed % 4:
        case 0:
            for _ in range(chance.choice((1, 3, 30))):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 1:
            data[page : page + PAGE] = chance.randbytes(PAGE)
        case 2:
            data[page : page + PAGE] = bytes(PAGE)
        case 3:
            del data[chance.randrange(1, len(data)) :]
    journal.write_bytes(data)
    monkeypatch.setattr("germane.log.file.BUSY_MS", 100)
    try:
        db = germane.open(store)
    except germane.Corruption as error:
        assert "restore" in str(error) or "move it away" in str(error)
        return
    except germane.InvalidArgument as error:  # the header named another program, or a newer format
        assert error.field == "path"
        return
    for call in calls(db):
        try:
            call()
        except germane.Corruption as error:
            assert any(advice in str(error) for advice in ("restore a backup", "move it away"))
        except germane.NotFound:
            pass  # the index of the ids no longer leads there


def test_a_truncated_journal(store: Path) -> None:
    size = (store / "journal.sqlite").stat().st_size
    os.truncate(store / "journal.sqlite", size // 2)
    with pytest.raises(germane.Corruption, match="restore a backup if there is one") as raised:
        germane.open(store).search("word")
    assert "'germane check --repair' mends tables that are derived" in str(raised.value)
    assert "can copy out the rows that are still readable" in str(raised.value)


def test_check_reports_a_damaged_page_instead_of_raising(store: Path) -> None:
    journal = store / "journal.sqlite"
    connection = apsw.Connection(str(journal))
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'content'").get
    connection.close()
    data = bytearray(journal.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = b"\xff" * PAGE
    journal.write_bytes(data)
    db = germane.open(store)
    for repair in (False, True):
        report = db.check(repair=repair)
        assert not report.ok
        assert parts(report) >= {"journal", "content"}
    with pytest.raises(germane.Corruption):
        db.get("i5")
    db.close()


def test_an_event_that_is_not_what_was_written(store: Path) -> None:
    """Fails if the chain is not looked at: the event still decodes, and a rebuild would spread it."""
    change(store, "UPDATE log SET data = replace(data, '\"a\"', '\"z\"') WHERE seq = 12")
    with germane.open(store) as db:
        before = [result.id for result in db.search("tag:a", limit=1000).items]
        report = db.check()
        assert [finding.part for finding in report.findings] == ["log"]
        assert report.findings[0].detail == "event 12 is not what was written"
        assert not db.check(repair=True).ok
        with pytest.raises(germane.Corruption, match="event 12 of the log is not what was written"):
            db.rebuild()
        assert [result.id for result in db.search("tag:a", limit=1000).items] == before


@pytest.mark.parametrize("column", ["at", "recorded_at"])
def test_a_time_that_is_not_what_was_written(store: Path, column: str) -> None:
    change(store, f"UPDATE log SET {column} = {column} + 1 WHERE seq = 12")
    with germane.open(store) as db:
        assert "event 12 is not what was written" in {finding.detail for finding in db.check().findings}


def test_missing_events(store: Path) -> None:
    change(store, "DELETE FROM log WHERE seq BETWEEN 12 AND 14")
    with germane.open(store) as db:
        report = db.check()
        assert report.findings[0].detail == "events 12 to 14 are missing"
        with pytest.raises(germane.Corruption, match="events 12 to 14 of the log are missing"):
            db.rebuild()
        assert db.search("word").total > 0, "what was folded from them is still there"


def test_events_in_a_wrong_order_of_time(store: Path) -> None:
    change(store, "UPDATE log SET recorded_at = recorded_at + 1000000000 WHERE seq = 12")
    with germane.open(store) as db:
        details = {finding.detail for finding in db.check().findings}
        assert "event 13 was recorded before the one ahead of it" in details


@pytest.mark.parametrize(
    ("statement", "detail"),
    [
        ("UPDATE log SET type = 'psalm' WHERE seq = 12", "event 12 of the log has the unknown type 'psalm'"),
        ("UPDATE log SET data = '{' WHERE seq = 12", "event 12 of the log (put) does not decode"),
        ("UPDATE log SET data = '{}' WHERE seq = 12", "event 12 of the log (put) does not decode"),
        ("UPDATE log SET data = x'ff' WHERE seq = 12", "event 12 of the log (put) does not decode"),
    ],
)
def test_an_event_that_does_not_decode(store: Path, statement: str, detail: str) -> None:
    change(store, statement)
    with germane.open(store) as db:
        assert any(detail in finding.detail for finding in db.check().findings)
        with pytest.raises(germane.Corruption) as raised:
            db.rebuild()
        assert detail in str(raised.value)
        assert db.search("word").total > 0


def test_content_that_is_not_what_was_put(store: Path) -> None:
    change(store, "UPDATE content SET body = 'forged' WHERE rev = (SELECT rev FROM item WHERE id = 'i5')")
    with germane.open(store) as db:
        report = db.check()
        assert "content" in parts(report)
        assert any("is not what was put" in finding.detail for finding in report.findings)


def test_content_that_is_missing(store: Path) -> None:
    """Fails if the advice of the error does not help: a deleted item needs its content no more."""
    shutil.rmtree(store / "views")
    with germane.open(store) as db:
        gone = [db.get(id) for id in ("i5", "i6")]
    change(store, "DELETE FROM content WHERE rev IN (SELECT rev FROM item WHERE id IN ('i5', 'i6'))")
    shutil.rmtree(store / "views", ignore_errors=True)
    with germane.open(store) as db:
        assert "content" in parts(db.check())
        with pytest.raises(germane.Corruption, match=r"content of item 'i[56]' \(rev .*\) is missing"):
            db.search("word")
        with pytest.raises(germane.Corruption, match="restore a backup, or delete the item or put it again"):
            db.get("i5")
        db.put(gone[1])
        db.put(germane.Item(id="i6", title="other", body="word"))
        db.put(gone[1])
        assert db.delete("i5").changed
        assert "i6" in {result.id for result in db.search("word", limit=1000).items}
        with pytest.raises(germane.NotFound, match="was deleted"):
            db.get("i5")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE item SET live = 0 WHERE id = 'i5'",
        "UPDATE item SET collection = 'other'",
        "UPDATE item SET tags = '[\"z\"]' WHERE id = 'i5'",
        "DELETE FROM item WHERE id = 'i5'",
        "DELETE FROM tag",
        "DELETE FROM version WHERE ordinal = 5",
        "DROP TABLE version",
        "DELETE FROM section",
        "UPDATE document SET title = 'z' WHERE docid = 'doc'",
        "INSERT INTO root VALUES ('z', '/z')",
        "UPDATE view SET seq = seq - 1",
        "DELETE FROM declared",
        "UPDATE item SET metadata = '{' WHERE id = 'i5'",
    ],
)
def test_tables_that_differ_from_the_log_are_folded_anew(store: Path, sound: Path, statement: str) -> None:
    """Fails if a table is left out of the comparison."""
    change(store, statement)
    with germane.open(store) as db, germane.open(sound, read_only=True) as wanted:
        report = db.check()
        assert not report.ok
        assert "tables" in parts(report)
        report = db.check(repair=True)
        assert report.ok
        assert any(finding.part == "tables" and finding.repaired for finding in report.findings)
        assert db.check() == germane.CheckReport(True)
        for query in ("word", "tag:a", "tag:c", "doc:doc"):
            ours, theirs = (each.search(query, limit=1000).items for each in (db, wanted))
            assert [(one.id, one.score, one.tags) for one in ours] == [
                (one.id, one.score, one.tags) for one in theirs
            ]


def test_a_table_that_is_gone(store: Path) -> None:
    """Fails if an SQL error passes through `translated`."""
    change(store, "DROP TABLE tag")
    with germane.open(store) as db:
        with pytest.raises(germane.Corruption, match=r"damaged \(no such table: tag\): restore a backup"):
            db.search("tag:a")
        with pytest.raises(germane.Corruption, match="no such table: tag"):
            db.put(Item(id="new", body="word", tags=["a"]))
        assert db.search("word").total > 0
        assert "tables" in parts(db.check())
        assert db.check(repair=True).ok
        assert db.search("tag:a").total > 0


def test_a_row_that_is_in_the_way(store: Path) -> None:
    """Fails if a broken constraint passes through `translated`."""
    change(store, "INSERT INTO tag SELECT 'a', max(ordinal) + 1 FROM item")
    with germane.open(store) as db:
        with pytest.raises(germane.Corruption, match="UNIQUE constraint failed"):
            db.put(Item(id="new", body="word", tags=["a"]))
        assert db.check(repair=True).ok
        db.put(Item(id="new", body="word", tags=["a"]))
        assert db.check().ok


def test_many_findings_are_cut_short(store: Path) -> None:
    change(store, "UPDATE log SET at = at + 1")
    with germane.open(store) as db:
        details = [finding.detail for finding in db.check().findings if finding.part == "log"]
        assert len(details) == 21
        assert details[-1] == "and more of this kind"


def test_closing_a_damaged_store_lets_go_of_it(store: Path) -> None:
    shutil.rmtree(store / "views")
    change(store, "DELETE FROM content")
    with germane.open(store) as db, pytest.raises(germane.Corruption):
        db.search("word")
    assert db._journal.closed
    assert not (store / "journal.sqlite-wal").exists()
