"""Putting 20,000 sections of 100 words and querying them, beside bm25s and SQLite FTS5 in the same run.

python -m benchmarks.speed

A baseline: how fast what is there is, on plain text that follows Zipf's law.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import germane
from benchmarks.bm25 import K1, B
from benchmarks.environment import environment, load, save
from benchmarks.zipf import VOCABULARY, WORDS, queries, sections
from germane import Item

SECTIONS = 20_000
QUERIES = 200
LENGTHS = (1, 2, 4)
TOP = 10
REPEATS = 5

Ask = Callable[[str], int]
"""Answers a query with its ten best, and returns how many it found."""


class Clock:
    """Wall and processor time since it was started."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        """Return seconds passed."""
        return {
            "wall_s": time.perf_counter() - self._wall,
            "processor_s": time.process_time() - self._processor,
        }


@contextmanager
def with_germane(texts: list[str], folder: Path) -> Iterator[tuple[dict[str, Any], Ask]]:
    """A store on disk: put, made searchable by a first search, and closed; then opened anew to be asked."""
    clock = Clock()
    db = germane.open(folder / "store")
    db.put_many(Item(body=text, type="text/plain") for text in texts)
    put = clock.read()
    db.top(texts[0].split()[0], TOP)
    searched = clock.read()
    db.close()
    built = {"put_many": put, "put_many_and_search": searched, **clock.read()}
    built["bytes"] = sum(path.stat().st_size for path in (folder / "store").rglob("*") if path.is_file())
    with germane.open(folder / "store") as db:
        yield built, lambda query: len(db.top(query, TOP)[0])


@contextmanager
def with_bm25s(texts: list[str], folder: Path) -> Iterator[tuple[dict[str, Any], Ask]]:
    """bm25s with words split at spaces, which is all that this text needs; its index saved as it offers."""
    import bm25s

    clock = Clock()
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    index.index([text.split() for text in texts], show_progress=False)
    index.save(str(folder / "bm25s"))
    built: dict[str, Any] = clock.read()
    built["bytes"] = sum(path.stat().st_size for path in (folder / "bm25s").iterdir())

    def ask(query: str) -> int:
        found = index.retrieve([query.split()], k=TOP, show_progress=False)
        return int(np.count_nonzero(found.scores))

    yield built, ask


@contextmanager
def with_fts5(texts: list[str], folder: Path) -> Iterator[tuple[dict[str, Any], Ask]]:
    """SQLite FTS5 with its stemmer, any of the words, ordered by its BM25."""
    path = folder / "fts5.db"
    clock = Clock()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE VIRTUAL TABLE section USING fts5(body, tokenize = 'porter unicode61')")
    with connection:
        connection.executemany("INSERT INTO section VALUES (?)", ((text,) for text in texts))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    built: dict[str, Any] = clock.read()
    built["bytes"] = path.stat().st_size

    def ask(query: str) -> int:
        any_of = " OR ".join(f'"{word}"' for word in query.split())
        found = connection.execute(
            "SELECT rowid, rank FROM section WHERE section MATCH ? ORDER BY rank LIMIT ?", (any_of, TOP)
        )
        return len(found.fetchall())

    yield built, ask
    connection.close()


SYSTEMS = {"germane": with_germane, "bm25s": with_bm25s, "SQLite FTS5": with_fts5}


def one_round(name: str) -> dict[str, Any]:
    """Build a system and ask it every query; runs in a process of its own."""
    texts = sections(SECTIONS)
    with tempfile.TemporaryDirectory() as folder, SYSTEMS[name](texts, Path(folder)) as (built, ask):
        asked: dict[str, Any] = {}
        for length in LENGTHS:
            given = queries(texts, length, QUERIES)
            for query in given[:20]:
                ask(query)  # warm
            times = []
            for query in given:
                began = time.perf_counter()
                found = ask(query)
                times.append(time.perf_counter() - began)
                if not found:
                    raise RuntimeError(f"{name} found nothing for {query!r}")
            p50, p99 = np.quantile(times, [0.5, 0.99]) * 1e6
            asked[str(length)] = {"p50_us": float(p50), "p99_us": float(p99)}
        return {"built": built, "queries": asked}


def measure() -> list[dict[str, Any]]:
    """Take turns: each round asks every system, so that a busy machine is busy for all of them."""
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in SYSTEMS}
    for _ in range(REPEATS):
        for name in SYSTEMS:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                rounds[name].append(pool.submit(one_round, name).result())
    return [_summary(name, each) for name, each in rounds.items()]


def _summary(name: str, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    processor = median(each["built"]["processor_s"] for each in rounds)
    return {
        "name": name,
        "build_wall_s": median(each["built"]["wall_s"] for each in rounds),
        "build_processor_s": processor,
        "sections_per_core_s": SECTIONS / processor,
        "bytes": int(median(each["built"]["bytes"] for each in rounds)),
        "queries": {
            str(length): {
                key: median(each["queries"][str(length)][key] for each in rounds)
                for key in ("p50_us", "p99_us")
            }
            for length in LENGTHS
        },
        "rounds": rounds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.parse_args()
    busy = load()
    results = measure()
    for each in results:
        asked = "  ".join(
            f"{length}: {of['p50_us']:.0f}/{of['p99_us']:.0f}" for length, of in each["queries"].items()
        )
        print(
            f"{each['name']}: {each['sections_per_core_s']:.0f} sections/core-s; p50/p99 us by words {asked}"
        )
    settings = {
        "sections": SECTIONS,
        "words": WORDS,
        "vocabulary": VOCABULARY,
        "queries": QUERIES,
        "top": TOP,
        "repeats": REPEATS,
    }
    path = save(
        "speed", {"environment": environment(busy, "bm25s", "apsw"), "settings": settings, "systems": results}
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
