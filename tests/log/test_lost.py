"""What was lost is said, and what is left is not thrown after it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

import germane
from germane import Corruption, InvalidArgument, Item
from germane.log.fold import MARKED


def filled(folder: Path) -> Path:
    with germane.open(folder) as db:
        db.put_many(Item(id=str(n), body=f"word{n} lamp") for n in range(300))
    return folder


def edit(store: Path, *statements: str) -> None:
    connection = apsw.Connection(str(store / "journal.sqlite"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_log_that_lost_its_end_is_not_taken_for_the_truth(tmp_path: Path) -> None:
    """Fails when repair folds the shorter log over tables that hold more."""
    store = filled(tmp_path / "store")
    edit(store, "DELETE FROM log WHERE seq > 100")
    with germane.open(store) as db:
        findings = db.check().findings
        assert any(
            f.part == "log" and "events 101 to 301, its last ones, are missing" in f.detail for f in findings
        )
        report = db.check(repair=True)
        assert not report.ok
        assert db.stats().items == 300
        with pytest.raises(Corruption, match="the log ends at event 100"):
            db.rebuild()
        assert db.get("299").body == "word299 lamp"


def test_a_log_that_lost_its_last_signals_is_not_taken_for_the_truth(tmp_path: Path) -> None:
    """Fails when no signal moves the watermark."""
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="a", body="lamp"))
        for _ in range(MARKED):
            db.signal("view", "a")
        assert db.check().ok
    edit(tmp_path / "store", "DELETE FROM log WHERE seq > 100")
    with germane.open(tmp_path / "store") as db:
        findings = db.check().findings
        assert any(f"events 101 to {MARKED}, its last ones, are missing" in f.detail for f in findings)
        with pytest.raises(Corruption, match="the log ends at event 100"):
            db.rebuild()


@pytest.mark.parametrize("left", ["views", "wal"])
def test_a_journal_that_is_gone_is_no_new_store(tmp_path: Path, left: str) -> None:
    store = filled(tmp_path / "store")
    (store / "journal.sqlite").unlink()
    if left == "wal":
        shutil.rmtree(store / "views")
        (store / "journal.sqlite-wal").write_bytes(b"frames" * 100)
    with pytest.raises(Corruption, match="is empty or gone, but parts of a store lie beside it"):
        germane.open(store)
    assert not (store / "journal.sqlite").exists()


def test_a_damaged_epoch_is_said(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    edit(store, "UPDATE store SET value = 'abc' WHERE key = 'epoch'")
    with pytest.raises(Corruption, match="the store's epoch is 'abc'"), germane.open(store) as db:
        db.search("lamp")


@pytest.mark.parametrize("change", ["tags = '5'", "created_at = 9223372036854775807", "metadata = '[]'"])
def test_damaged_rows_are_said_and_folded_anew(tmp_path: Path, change: str) -> None:
    store = filled(tmp_path / "store")
    edit(store, f"UPDATE item SET {change} WHERE id = '7'")
    with germane.open(store) as db:
        for call in (lambda: db.search("word7"), lambda: db.get("7")):
            with pytest.raises(Corruption, match="the row of item '7' in the tables cannot be read"):
                call()
        assert db.check(repair=True).ok
        assert db.get("7").body == "word7 lamp"


def test_a_read_only_store_is_left_as_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    (checkpoint,) = (store / "views").iterdir()
    (checkpoint / "0-codes.npy").unlink()
    before = sorted(path.name for path in store.rglob("*"))
    with germane.open(store, read_only=True) as db:
        assert db.search("lamp").total == 300
    assert [name for name in sorted(p.name for p in store.rglob("*")) if "journal" not in name] == [
        name for name in before if "journal" not in name
    ]


def test_a_fork_must_open_its_own(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    with germane.open(store) as db:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                db.put(Item(id="x", body="y"))
            except InvalidArgument as error:
                code = 0 if "before this process was forked" in str(error) else 2
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        db.put(Item(id="x", body="the parent's"))
        assert db.get("x").body == "the parent's"


def test_a_bad_clock_leaves_nothing_behind(tmp_path: Path) -> None:
    clocks: tuple[Any, ...] = (5, 0, [], lambda: "now", lambda: float("nan"))
    for clock in clocks:
        with pytest.raises(InvalidArgument, match=r"^clock: "):
            germane.open(tmp_path / "store", clock=clock)
        assert not (tmp_path / "store").exists()


def test_a_working_directory_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(InvalidArgument, match="the working directory is gone"):
        germane.open("store")
    with pytest.raises(germane.NotFound, match="the working directory is gone"):
        germane.open().learn(".")


def test_the_store_itself_is_not_learned_and_links_only_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\nlamp")
    (tmp_path / "alias.md").symlink_to("a.md")
    with germane.open(tmp_path / "store") as db:
        report = db.learn(tmp_path)
        assert report.documents == 1
        assert [skipped.reason for skipped in report.skipped] == ["a link to a file that was found already"]
        assert db.search("lamp").total == 1
    with germane.open(tmp_path) as db:
        assert [skipped.reason for skipped in db.learn(tmp_path).skipped] == ["is the store's own folder"]
