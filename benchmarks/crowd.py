"""Many open sessions at once: threads of several processes write to them while queries run for them.

python -m benchmarks.crowd                     # 1,000 sessions, 2 processes of 8 threads, about two minutes

Each session notes words and signals on items that are its own, and goes beyond its limits on purpose. No
query for one may show anything of another; afterwards no write is missing and every refusal is on record.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import germane
from benchmarks.environment import environment, save
from germane import Database, Item, Policy, PolicyViolation, Schema, Signal

NOTES, SIGNALS, BEYOND = 5, 6, 2
CROWDED = Policy("crowded", max_annotations=NOTES, max_signals=SIGNALS)
SCHEMA = Schema([Signal("reward", half_life=None)], policies=[CROWDED])


class Found(NamedTuple):
    """What a run came to: writes, refusals and queries that were made, and what was wrong."""

    writes: int
    refusals: int
    queries: int
    wrong: tuple[str, ...]


def main() -> None:
    """Run, print and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000)
    count = parser.parse_args().sessions
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = crowd(Path(folder) / "store", count, processes=2, threads=8)
        seconds = time.perf_counter() - began
    print(
        f"{count} sessions in {seconds:.0f} s: {found.writes} writes, {found.refusals} refusals,"
        f" {found.queries} queries; {len(found.wrong)} wrong"
    )
    for each in found.wrong[:20]:
        print(f"  {each}")
    told = {**found._asdict(), "wrong": list(found.wrong), "sessions": count, "seconds": seconds}
    save("crowd", {"environment": environment(), **told})


def crowd(folder: Path, count: int, processes: int, threads: int) -> Found:
    """Let a crowd of sessions write and ask, and check what is left of it."""
    with germane.open(folder, SCHEMA) as db:
        db.put_many(
            Item(id=f"item{number}", title=f"thing mark{number}", body="a thing") for number in range(count)
        )
        ids = [
            db.start_session(user=f"user{number % 50}", agent="crowd", policy="crowded").id
            for number in range(count)
        ]
    parts = [(folder, ids, list(range(first, count, processes)), threads) for first in range(processes)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        several = list(pool.map(_process, parts))
    wrong = [each for found in several for each in found.wrong]
    with germane.open(folder) as db:
        for number, id in enumerate(ids):
            wrong += _left(db, number, id)
        if not db.check().ok:
            wrong.append("the store does not pass its check")
    return Found(
        sum(found.writes for found in several),
        sum(found.refusals for found in several),
        sum(found.queries for found in several),
        tuple(wrong),
    )


def _process(given: tuple[Path, list[str], list[int], int]) -> Found:
    folder, ids, mine, threads = given
    with germane.open(folder) as db, ThreadPoolExecutor(threads) as pool:
        chunks = [mine[first::threads] for first in range(threads)]
        several = list(pool.map(lambda numbers: _thread(db, ids, numbers), chunks))
    return Found(
        sum(found.writes for found in several),
        sum(found.refusals for found in several),
        sum(found.queries for found in several),
        tuple(each for found in several for each in found.wrong),
    )


def _thread(db: Database, ids: list[str], numbers: list[int]) -> Found:
    """Make the writes of some sessions in a mixed order, and ask for one of them now and then."""
    draw = random.Random(numbers[0] if numbers else 0)
    jobs = [
        (number, kind)
        for number in numbers
        for kind in ["note"] * (NOTES + BEYOND) + ["signal"] * (SIGNALS + BEYOND)
    ]
    draw.shuffle(jobs)
    done, writes, refusals, queries, wrong = dict[tuple[int, str], int](), 0, 0, 0, list[str]()
    for number, kind in jobs:
        session = db.session(ids[number])
        place = done[number, kind] = done.get((number, kind), 0) + 1
        try:
            if kind == "note":
                session.annotate(f"mark{number} word{number}x{place}")
            else:
                session.signal("reward", f"item{number}", float(place))
            writes += 1
        except PolicyViolation:
            refusals += 1
        if draw.random() < 0.1:
            queries += 1
            page = db.search("thing", session=session, limit=3) if draw.random() < 0.5 else db.retrieve(
                "new", session=session, limit=3
            )  # fmt: skip
            told = page.session
            alien = told is None or any(not _is_of(word, number) for word in told.keywords)
            if alien or page.degraded:
                wrong.append(f"a query for session {number} shows {page.session}")
    return Found(writes, refusals, queries, tuple(wrong))


def _is_of(word: str, number: int) -> bool:
    return word == f"mark{number}" or word.startswith(f"word{number}x")


def _left(db: Database, number: int, id: str) -> list[str]:
    """Return what is wrong with a session afterwards."""
    told, audit = db.session(id).snapshot(), db.audit(id)
    notes = {f"mark{number}", *(f"word{number}x{place}" for place in range(1, NOTES + 1))}
    expected = float(sum(range(1, SIGNALS + 1)))
    refused = sum(entry.count for entry in audit if not entry.accepted)
    is_right = (
        set(told.keywords) == notes
        and dict(told.items) == {f"item{number}": expected}
        and (told.accepted, told.refused, refused) == (NOTES + SIGNALS, 2 * BEYOND, 2 * BEYOND)
        and sum(entry.accepted for entry in audit) == 1 + NOTES + SIGNALS
        and db.count("reward", f"item{number}", "all") == SIGNALS
    )
    return [] if is_right else [f"session {number} has {told}"]


if __name__ == "__main__":
    main()
