"""Checkpoints: loaded they give an equal index; damaged, strange or left behind they do no harm."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import Item, Schema
from germane.log import checkpoint
from germane.log.checkpoint import Manifest
from germane.log.journal import head
from germane.text.analysis import VERSION
from germane.text.index import Index
from germane.text.segment import Segment
from germane.text.stored import canonical, from_arrays, to_arrays
from germane.text.view import FORM, TextView

COUNT = 42
WORDS = "river stone cloud ember field lantern harbor meadow".split()
LANGUAGES = (None, "german", "french")
ARRAYS = sorted(
    {
        *("term_text", "term_ends", "term_hashes", "term_by_hash", "collection_text", "collection_ends"),
        *("language_text", "language_ends", "parts", "0-alive"),
        *(f"0-{field.name}" for field in fields(Segment)),
    }
)


def items(count: int, start: int = 0) -> list[Item]:
    return [
        Item(
            id=f"i{n}",
            title=f"{WORDS[n % 8]} {n}",
            body=f"{WORDS[n % 7]} {WORDS[n % 5]} häuser\n\n```\ncode{n} {WORDS[n % 3]}\n```\n",
            lang=LANGUAGES[n % 3],
            collection=("main", "other")[n % 2],
            tags=("even",) if n % 2 == 0 else (),
        )
        for n in range(start, start + count)
    ]


Answer = list[tuple[str, float, tuple[str, ...]]]


def answers(db: germane.Database) -> list[tuple[int, Answer]]:
    pages = [db.search(query, limit=50) for query in ("river", "field stone", "haus code7", "tag:even")]
    return [(page.total, [(r.id, r.score, r.matched_terms) for r in page.items]) for page in pages]


@pytest.fixture(scope="module", autouse=True)
def small_is_worth_saving() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextView, "worth_saving", 10)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "store"
    with germane.open(folder) as db:
        db.put_many(items(COUNT))
        db.delete("i7")
    return folder


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture(scope="module")
def wanted(made: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, Answer]]:
    copy = tmp_path_factory.mktemp("wanted") / "store"
    shutil.copytree(made, copy)
    shutil.rmtree(copy / "views")
    with germane.open(copy) as db:
        return answers(db)


def saved(store: Path) -> Path:
    """Return the only checkpoint."""
    (found,) = [path for path in (store / "views").iterdir() if not path.suffix]
    return found


def index(db: germane.Database) -> Index:
    with db._journal.read() as connection:
        return db._text.at(connection)


def is_mapped(db: germane.Database) -> bool:
    """Tell whether the index comes from a checkpoint."""
    found: Index = index(db)
    return isinstance(found.parts[0].segment.rows.base, np.memmap) or isinstance(
        found.parts[0].segment.rows, np.memmap
    )


def test_loaded_it_is_an_equal_index(store: Path, wanted: list[tuple[int, Answer]]) -> None:
    """Fails if a checkpoint is written and never read."""
    assert {path.name for path in saved(store).iterdir()} == {
        "manifest.json", *(f"{name}.npy" for name in ARRAYS)
    }  # fmt: skip
    with germane.open(store) as db:
        assert answers(db) == wanted
        assert is_mapped(db)
        loaded = index(db)
        assert db.stats().total_sections == COUNT - 1
        db.rebuild()
        assert not is_mapped(db)
        built = index(db)
    assert sorted(to_arrays(loaded)) == sorted(to_arrays(built)) == ARRAYS
    ours, anew = canonical(loaded), canonical(built)
    for name, array in anew.items():
        assert ours[name].dtype == array.dtype
        assert np.array_equal(ours[name], array)


def test_what_changed_since_is_caught_up(store: Path) -> None:
    with germane.open(store) as db:
        db.put_many(items(20, COUNT - 5))
        db.delete("i3")
        db.update("i4", collection="third")
        db.put(Item(id="i5", body="other"))
        assert is_mapped(db)
        ours = answers(db)
        arrays = canonical(index(db))
        db.rebuild()
        assert answers(db) == ours
        for name, array in canonical(index(db)).items():
            assert np.array_equal(array, arrays[name])


def test_it_is_written_once_for_one_position(store: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in saved(store).iterdir()}
    with germane.open(store) as db, db._journal.read() as connection:
        db._text.at(connection)
        db._text._unsaved = TextView.worth_saving
        db._text.save(connection)
    assert {path: path.stat().st_mtime_ns for path in saved(store).iterdir()} == before


def test_a_newer_one_replaces_it(store: Path) -> None:
    old = saved(store)
    with germane.open(store) as db:
        db.put_many(items(COUNT, 1000))
    new = saved(store)
    assert new != old
    with germane.open(store) as db:
        assert is_mapped(db)
        assert db.check().ok


def test_a_small_store_has_none(tmp_path: Path) -> None:
    with germane.open(tmp_path / "store") as db:
        db.put_many(items(9))
        db.search("river")
    assert not (tmp_path / "store" / "views").exists()


def test_an_empty_index_is_stored_and_loaded(tmp_path: Path) -> None:
    with germane.open(tmp_path / "store") as db:
        db.put_many(items(COUNT))
        for n in range(COUNT):
            db.delete(f"i{n}")
        assert db.search("river").total == 0
        db.rebuild()
    with germane.open(tmp_path / "store") as db:
        assert saved(tmp_path / "store").name.startswith("text-1-")
        assert db.search("river").total == 0
        db.put(items(1)[0])
        assert db.search("river").total == 1
        assert db.check().ok


def flip_in(name: str, at: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        file = path / name
        data = bytearray(file.read_bytes())
        data[int((len(data) - 1) * at)] ^= 4
        file.write_bytes(data)

    return flip


def shorten(name: str, keep: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path / name, int((path / name).stat().st_size * keep))


def write_manifest(path: Path, **changes: object) -> None:
    """Write a manifest that is sound in itself."""
    manifest = json.loads((path / "manifest.json").read_bytes().split(b"\n")[0])
    data = json.dumps({**manifest, **changes}).encode()
    (path / "manifest.json").write_bytes(b"%s\n%d\n" % (data, zlib.crc32(data)))


def file_for_folder(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("file")


FILES = ("manifest.json", *(f"{name}.npy" for name in ARRAYS))
DAMAGE: dict[str, Callable[[Path], object]] = {
    **{f"{name} flipped": flip_in(name, number / len(FILES)) for number, name in enumerate(FILES)},
    **{f"{name} cut": shorten(name, number / len(FILES)) for number, name in enumerate(FILES)},
    **{f"the manifest flipped at {at}": flip_in("manifest.json", at) for at in (0.1, 0.2, 0.3, 0.9, 1.0)},
    **{f"{name} gone": lambda path, name=name: (path / name).unlink() for name in FILES},  # type: ignore[misc]
    "garbage for a manifest": lambda path: (path / "manifest.json").write_bytes(b"\xff\x00garbage"),
    "a list for a manifest": lambda path: (path / "manifest.json").write_bytes(b"[]\n223132457\n"),
    "a manifest without arrays": lambda path: write_manifest(path, checksums={}),
    "a manifest of another position": lambda path: write_manifest(path, seq=100),
    "a manifest of another store": lambda path: write_manifest(path, store="other"),
    "a manifest of another history": lambda path: write_manifest(path, history=7),
    "arrays exchanged": lambda path: (path / "0-rows.npy").replace(path / "0-terms.npy"),
    "a file for a folder": file_for_folder,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_noticed_set_aside_and_built_anew(
    store: Path,
    wanted: list[tuple[int, Answer]],
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], object],
) -> None:
    """Fails if a checksum is not compared."""
    path = saved(store)
    damage(path)
    with caplog.at_level(logging.WARNING, "germane"), germane.open(store) as db:
        assert answers(db) == wanted, "queries go on, and give the same"
        assert not is_mapped(db)
        (message,) = caplog.messages
        assert "a checkpoint of the text index cannot be used and is built anew: text-0-" in message
        assert not path.exists()
        assert path.with_name(path.name + ".damaged").exists()
        report = db.check()
        assert [finding.part for finding in report.findings] == ["checkpoint"]
        assert "set aside and built anew" in report.findings[0].detail
    assert saved(store) == path, "closing wrote it anew, and dropped what was set aside"
    with germane.open(store) as db:
        assert answers(db) == wanted
        assert is_mapped(db)
        assert db.check() == germane.CheckReport(True)


def test_a_large_file_is_compared_beside_the_first_answers(
    store: Path,
    wanted: list[tuple[int, Answer]],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fails if a file that is spared at opening is never compared, or the index of it is kept."""
    monkeypatch.setattr(checkpoint, "LARGE", 16)
    path = saved(store)
    flip_in("0-created_at.npy", 0.9)(path)
    with caplog.at_level(logging.WARNING, "germane"), germane.open(store) as db:
        assert db.search("river").total > 0
        for _ in range(500):
            if caplog.messages and not is_mapped(db):
                break
            time.sleep(0.01)
        assert "0-created_at.npy does not match its checksum" in caplog.text
        assert answers(db) == wanted
        assert not is_mapped(db)
        assert db.check(repair=True).findings
    with germane.open(store) as db:
        assert is_mapped(db)
        assert db.check() == germane.CheckReport(True)


def test_what_did_not_change_is_not_written_again(store: Path) -> None:
    """Fails if a checkpoint copies the files of segments that it was loaded with."""
    before = {path.name: path.stat().st_ino for path in saved(store).iterdir()}
    with germane.open(store) as db:
        db.put_many(items(300, 1000))
        db.search("river")
        assert is_mapped(db)
    after = {path.name: path.stat().st_ino for path in saved(store).iterdir()}
    assert after["0-rows.npy"] == before["0-rows.npy"]
    assert after["1-rows.npy"] not in before.values()
    with germane.open(store) as db:
        assert db.check() == germane.CheckReport(True)


@pytest.mark.parametrize("name", ["0-rows.npy", "manifest.json"])
def test_check_reports_and_mends(store: Path, wanted: list[tuple[int, Answer]], name: str) -> None:
    """Fails if `check` does not look at the checkpoint's files."""
    with germane.open(store) as db:
        assert db.search("river").total > 0
        flip_in(name, 0.9)(saved(store))
        report = db.check()
        assert not report.ok
        assert {finding.part for finding in report.findings} >= {"checkpoint"}
        assert any("does not match its checksum" in finding.detail for finding in report.findings)
        report = db.check(repair=True)
        assert report.ok
        assert report.findings
        assert all(finding.repaired for finding in report.findings)
        assert db.check() == germane.CheckReport(True)
        assert answers(db) == wanted
    assert saved(store).name.startswith("text-1-")


def test_check_finds_an_index_that_differs(store: Path, wanted: list[tuple[int, Answer]]) -> None:
    """Fails if the index is not compared with one that is built anew."""
    with germane.open(store) as db:
        db.search("river")
        held = index(db)
        arrays = to_arrays(held)
        arrays["0-positions"] = arrays["0-positions"] ^ np.uint8(1)
        db._text._kept = from_arrays(arrays, held.seq, held.epoch, held.lang)
        report = db.check()
        assert [finding.part for finding in report.findings] == ["text"]
        assert "'positions'" in report.findings[0].detail
        assert db.check(repair=True).ok
        assert answers(db) == wanted


def test_the_views_of_another_store(store: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with germane.open(tmp_path / "other") as db:
        db.put_many([Item(id=f"i{n}", body="river river") for n in range(COUNT)])
        db.delete("i7")
    shutil.rmtree(store / "views")
    shutil.copytree(tmp_path / "other" / "views", store / "views")
    with caplog.at_level(logging.WARNING, "germane"), germane.open(store) as db:
        assert db.search("stone").total > 0
        assert "belongs to another store" in caplog.text
    with germane.open(store) as db:
        assert is_mapped(db)
        assert db.check().ok


@pytest.mark.parametrize("seconds", [None, 1_000_000.0])
def test_a_journal_restored_from_an_older_copy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seconds: float | None
) -> None:
    """Fails if histories are told apart by times: under a clock that stands they are equal."""
    clock = (lambda: seconds) if seconds is not None else None
    folder, old = tmp_path / "store", tmp_path / "old.sqlite"
    with germane.open(folder, clock=clock) as db:
        db.put_many(items(COUNT))
    shutil.rmtree(folder / "views")
    shutil.copy(folder / "journal.sqlite", old)
    with germane.open(folder, clock=clock) as db:
        db.put_many([Item(id=f"n{n}", body=f"river newcomer {n}") for n in range(COUNT)])
        assert db.search("newcomer").total == COUNT
    later, kept = saved(folder), tmp_path / "kept"
    shutil.copytree(later, kept)
    shutil.copy(old, folder / "journal.sqlite")
    with caplog.at_level(logging.WARNING, "germane"):
        with germane.open(folder, clock=clock) as db:
            assert db.search("newcomer").total == 0, "the checkpoint is ahead, and not used"
            assert 0 < db.search("river").total < COUNT
            db.put_many([Item(id=f"m{n}", body=f"stone latecomer {n}") for n in range(COUNT)])
            # The log is now as long as it was, and another one.
            with db._journal.read() as connection:
                assert f"text-0-{head(connection)}" == later.name
        # Closing wrote over it; here it lies there as before.
        shutil.rmtree(later)
        shutil.copytree(kept, later)
        with germane.open(folder, clock=clock) as db:
            assert db.search("newcomer").total == 0
            assert db.search("latecomer").total == COUNT
            assert "belongs to another history of this store" in caplog.text
            ours = answers(db)
            db.rebuild()
            assert answers(db) == ours
            assert db.check() == germane.CheckReport(True)


def test_a_checkpoint_ahead_of_a_reader_is_left_alone(store: Path) -> None:
    """Fails if one that is newer than a snapshot is set aside: another process wrote it."""
    with germane.open(store) as reader, germane.open(store) as writer:
        with reader._journal.read() as connection:
            seq = head(connection)
            writer.put_many(items(COUNT, 1000))
            writer.close()
            newer = saved(store)
            assert newer.name != f"text-0-{seq}"
            assert reader._text.at(connection).seq == seq
        assert newer.exists()
        assert reader.search("river").total > 0
        assert reader.check().ok


def test_an_older_sound_one_is_used(store: Path, wanted: list[tuple[int, Answer]]) -> None:
    with germane.open(store) as db, db._journal.read() as connection:
        db._text.at(connection)
        manifest = db._text._checkpoints.manifest(connection, f"{FORM}/{VERSION}/english")
        damaged = store / "views" / "text-0-9999"
        shutil.copytree(saved(store), damaged)
        (damaged / "manifest.json").unlink()
        loaded = checkpoint.load(store / "views", "text", manifest, lambda seq: manifest.history)
        assert loaded.manifest is not None
        assert loaded.damage == ("text-0-9999: manifest.json is missing",)
    with germane.open(store) as db:
        assert is_mapped(db)
        assert answers(db) == wanted


def test_of_another_format_or_epoch_it_is_passed_over(store: Path) -> None:
    path = saved(store)
    with germane.open(store) as db, db._journal.read() as connection:
        db._text._checkpoints.write(connection, "another/english", to_arrays(db._text.at(connection)))
    assert saved(store) == path
    assert json.loads((path / "manifest.json").read_bytes().split(b"\n")[0])["format"] == "another/english"
    with germane.open(store) as db:
        assert db.search("river").total > 0
        assert not is_mapped(db)
        assert path.exists()
        assert db.check().ok
    assert saved(store) == path
    manifest = json.loads((path / "manifest.json").read_bytes().split(b"\n")[0])
    assert manifest["format"] == f"{FORM}/{VERSION}/english", "closing wrote it in the format that is read"


def test_a_change_of_the_default_language_builds_anew_everywhere(store: Path) -> None:
    """Fails if the index of one language is taken for one of another."""
    with germane.open(store) as watching, germane.open(store) as other:
        watching.put(Item(id="new", body="häusern"))
        assert watching.search("haus", lang="german").total > 0
        before = {result.id for result in watching.search("haus", limit=1000).items}
        assert "new" not in before
        assert other.search("haus", limit=1000).total == len(before)
        with germane.open(store, Schema(lang="german")) as changing:
            assert changing.stats().lang == "german"
            for db in (changing, watching, other):
                found = {result.id for result in db.search("haus", limit=1000).items}
                assert found == before | {"new"} | {f"i{n}" for n in range(0, COUNT, 3)}
                assert db.stats() == changing.stats()
            assert watching.schema == Schema(lang="german")
            assert watching.check().ok
    with germane.open(store) as db:
        assert is_mapped(db)
        assert db.search("haus").total == len(found)


def test_a_rebuild_reaches_other_processes(store: Path) -> None:
    with germane.open(store) as watching:
        watching.put_many(items(300, 1000))
        before = answers(watching)
        code = "import germane, sys\nwith germane.open(sys.argv[1]) as db: print(db.rebuild())"
        subprocess.run([sys.executable, "-c", code, str(store)], check=True, capture_output=True)
        assert index(watching).epoch == 1
        assert is_mapped(watching), "it took over what the other had built"
        assert answers(watching) == before
        assert watching.check().ok


@pytest.mark.parametrize("age", [0.0, 2 * checkpoint.STALE_SECONDS])
def test_what_an_interrupted_write_leaves_behind(
    store: Path, wanted: list[tuple[int, Answer]], age: float
) -> None:
    """Fails if folders of processes that died are never cleaned up, or those of living ones are."""
    views = store / "views"
    left = views / "text.abcdefgh.tmp"
    shutil.copytree(saved(store), left)
    (left / "manifest.json").unlink()
    removing = views / "text-0-12.0badcafe.tmp"
    removing.mkdir()
    then = time.time() - age
    for path in (left, removing):
        os.utime(path, (then, then))
    with germane.open(store) as db:
        assert answers(db) == wanted
        assert is_mapped(db)
        assert db.check() == germane.CheckReport(True)
        db.put_many(items(COUNT, 1000))
    assert left.exists() == (age == 0)
    assert not removing.exists()
    with germane.open(store) as db:
        db.rebuild()
        assert db.check().ok
    assert not left.exists()


def test_a_checkpoint_that_cannot_be_written(
    store: Path, wanted: list[tuple[int, Answer]], caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(store / "views")
    (store / "views").write_text("a file is in the way")
    with caplog.at_level(logging.WARNING, "germane"):
        with germane.open(store) as db:
            assert answers(db) == wanted
        assert "the text index could not be saved, and will be built anew" in caplog.text
    with germane.open(store) as db:
        assert answers(db) == wanted


def test_a_disk_that_is_full_while_it_is_written(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved(store)
    calls = []

    def full(file: int) -> None:
        calls.append(file)
        if len(calls) > 5:
            raise OSError(28, "No space left on device")

    with germane.open(store) as db:
        db.put_many(items(COUNT, 1000))
        monkeypatch.setattr(os, "fsync", full)
        db.close()
        monkeypatch.undo()
    assert [path.name for path in (store / "views").iterdir()] == [before.name], "nothing is left of it"
    with germane.open(store) as db:
        assert db.check().ok


def test_writing_it_is_whole_or_not_at_all(tmp_path: Path) -> None:
    manifest = Manifest(store="s", epoch=0, seq=5, history=1, format="f")
    arrays: checkpoint.Arrays = {"some": np.arange(5), "none": np.zeros((0, 3), np.int32)}
    path = checkpoint.write(tmp_path, "view", manifest, arrays)
    assert checkpoint.write(tmp_path, "view", manifest, arrays) == path
    assert [each.name for each in tmp_path.iterdir()] == ["view-0-5"]
    loaded = checkpoint.load(tmp_path, "view", manifest, lambda seq: 1)
    assert loaded.damage == ()
    for name, array in arrays.items():
        assert loaded.arrays[name].dtype == array.dtype
        assert np.array_equal(loaded.arrays[name], array)
    flip_in("some.npy", 1.0)(path)
    checkpoint.write(tmp_path, "view", manifest, arrays)
    assert checkpoint.load(tmp_path, "view", manifest, lambda seq: 1).damage == (), "written over"
    assert checkpoint.newest(tmp_path, "view", 0, 5) == 5
    assert checkpoint.newest(tmp_path, "view", 0, 4) == checkpoint.newest(tmp_path, "view", 1, 9) == 0
    assert checkpoint.newest(tmp_path / "none", "view", 0, 5) == 0
    checkpoint.clear(tmp_path, "view")
    assert list(tmp_path.iterdir()) == []


def test_two_processes_that_close_at_once(store: Path) -> None:
    code = (
        "import germane, sys\n"
        "db = germane.open(sys.argv[1])\n"
        "print(db.search('river').total, flush=True)\n"
        "sys.stdin.readline()\n"
        "print(db.search('river').total, flush=True)\n"
        "sys.stdin.readline()\n"
        "db.close()\n"
    )
    with germane.open(store) as db:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(store)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        db.put_many(items(COUNT, 1000))
        for line in range(2):
            for child in children:
                assert child.stdin is not None
                assert child.stdout is not None
                child.stdin.write("\n")
                child.stdin.flush()
                if line == 0:
                    child.stdout.readline()
        for child in children:
            child.communicate()
            assert child.returncode == 0
    with germane.open(store) as db:
        assert is_mapped(db)
        assert db.check() == germane.CheckReport(True)
