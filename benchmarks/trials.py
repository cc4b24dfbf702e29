"""Trials of reliability: two writers at once, writers killed again and again, write-ahead logs torn off."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import struct
from pathlib import Path
from typing import Any

import germane
from benchmarks.foretold import Holding, found_by_word, plan, read, stages
from benchmarks.writers import Writer, bits, kinds, prepare, wait_and_kill
from germane.log.journal import WAL_PAGES

WAL = "journal.sqlite-wal"
_FRAME = 24


def two_writers(folder: Path, seconds: float, seed: int) -> dict[str, Any]:
    """Let two processes write at once, and compare the store with what both were told.

    Parameters
    ----------
    folder : Path
        Empty; for the store and the files to learn.
    seconds : float
    seed : int

    Returns
    -------
    dict
        What was done and seen.

    Raises
    ------
    AssertionError
        A write was lost or doubled, a writer did not see the other's, or a check found something.
    """
    store = folder / "store"
    prepare(store)
    writers = [
        Writer(store, folder, name, seed, seconds, other=other)
        for name, other in (("ana", "ben"), ("ben", "ana"))
    ]
    for writer in writers:
        errors = writer.join()
        assert writer.has_ended, f"{writer.name} failed:\n{errors}"
    reports = []
    with germane.open(store) as db:
        for writer in writers:
            steps = writer.steps(Holding())
            held = read(db, writer.name)
            assert held == writer.possible(Holding())[-1], f"the store differs from what {writer.name} wrote"
            reports.append(
                {
                    "name": writer.name,
                    "steps": writer.done,
                    "kinds": kinds(steps),
                    "looks": writer.looks,
                    "items": len(held.items),
                    "documents": len(held.documents),
                    "searched": found_by_word(db, writer.name, held, 200),
                    **_milliseconds(writer),
                }
            )
        return {"trial": "two-writers", "seconds": seconds, "seed": seed, "writers": reports, **_sound(db)}


def kills(folder: Path, count: int, seed: int, *, longest: float = 0.6, torn: int = 4) -> dict[str, Any]:
    """Kill a writer at random moments, and look each time at what is left.

    Parameters
    ----------
    folder : Path
        Empty.
    count : int
        Kills.
    seed : int
    longest : float
        Seconds that a writer lives at most once it writes.
    torn : int
        Copies of the folder, every other time, whose write-ahead log is cut at a random place.

    Returns
    -------
    dict
        What was done and seen.

    Raises
    ------
    AssertionError
        An acknowledged write is lost, one is half applied, or a check found something.
    """
    store = folder / "store"
    prepare(store)
    chance = random.Random(seed)
    held = Holding()
    rounds: list[dict[str, Any]] = []
    for number in range(count):
        is_watched = number % 2 == 1
        # Every other time this process has the store open too, and sees what the killed one leaves. The
        # logs are torn in the other rounds: here a copy would close files under the eyes of SQLite.
        bystander = germane.open(store) if is_watched else None
        # Often copied back, the log is also killed in the middle of that.
        wal_pages = chance.choice((100, WAL_PAGES))
        writer = Writer(store, folder, "ana", chance.randrange(1 << 30), 3600, wal_pages=wal_pages)
        wait_and_kill(writer, chance, longest)
        assert not writer.has_ended
        torn_steps: list[int] = []
        if not is_watched:
            torn_steps = [tear(store, folder / "torn", writer, held, chance) for _ in range(torn)]
        with bystander or germane.open(store) as db:
            found = read(db, "ana")
            allowed = writer.possible(held)
            assert found in allowed, f"kill {number}: neither all nor nothing of the last write is there"
            found_by_word(db, "ana", found, 20)
            report = db.check()
            assert report.ok, report
        rounds.append(
            {
                "acknowledged": writer.done,
                "kinds": kinds(writer.steps(held)),
                "interrupted": None
                if writer.begun == writer.done
                else plan("ana", writer.seed, writer.begun, allowed[0]).kind,
                "interrupted_kept": found != allowed[0],
                "watched": is_watched,
                "wal_pages": wal_pages,
                "kept_after_tearing": torn_steps,
            }
        )
        held = found
    with germane.open(store) as db:
        sound = _sound(db)
    return {
        "trial": "kills",
        "kills": count,
        "seed": seed,
        "acknowledged": sum(each["acknowledged"] for each in rounds),
        "interrupted_writes": sum(each["interrupted"] is not None for each in rounds),
        "interrupted_and_kept": sum(each["interrupted_kept"] for each in rounds),
        "watched": sum(each["watched"] for each in rounds),
        "torn": sum(len(each["kept_after_tearing"]) for each in rounds),
        **sound,
        "rounds": rounds,
    }


def tear(store: Path, copy: Path, writer: Writer, before: Holding, chance: random.Random) -> int:
    """Cut the write-ahead log of a copy at a random place, and return how many writes are still there.

    What is there must be what was written up to some moment, whole.
    """
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(store, copy)
    wal = copy / WAL
    least, size = _copied_back(store), wal.stat().st_size if wal.exists() else 0
    if size > least:
        os.truncate(wal, chance.randint(least, size))
    (copy / "journal.sqlite-shm").unlink(missing_ok=True)
    with germane.open(copy) as db:
        found = read(db, "ana")
        report = db.check()
        assert report.ok, report
        db.put(germane.Item(id="after", body="the next write works"))
    held = before
    for number in range(1, writer.begun + 1):
        at = stages("ana", held, plan("ana", writer.seed, number, held))
        if found in at[:-1]:
            return number - 1
        held = at[-1]
    assert found == held, "the store holds no beginning of what was written"
    return writer.begun


def _copied_back(store: Path) -> int:
    """Return how many bytes of the log may be in the main file already; they were synced before that."""
    shared = store / "journal.sqlite-shm"
    if not shared.exists():
        return 0
    data = shared.read_bytes()
    # The index of the write-ahead log: page size, and frames that a checkpoint had begun to copy.
    (page_size,) = struct.unpack_from("=H", data, 14)
    (frames,) = struct.unpack_from("=I", data, 128)
    return 32 + frames * (page_size + _FRAME) if frames else 0


def _sound(db: germane.Database) -> dict[str, Any]:
    """Check a store, rebuild it twice, and say that nothing differs."""
    report = db.check()
    assert report.ok, report
    before = bits(db)
    db.rebuild()
    after = bits(db)
    assert before == after, "a rebuild gives other bits than the writes did"
    db.rebuild()
    assert after == bits(db), "two rebuilds give different bits"
    stats = db.stats()
    return {
        "check": "clean",
        "rebuild": "equal bits",
        "events": stats.events,
        "live_items": stats.items,
        "sections": stats.total_sections,
    }


def _milliseconds(writer: Writer) -> dict[str, float]:
    taken = sorted(writer.milliseconds)
    return {
        "median_ms": round(statistics.median(taken), 3),
        "p99_ms": round(taken[int(len(taken) * 0.99)], 3),
        "longest_ms": round(taken[-1], 3),
    }
