"""Learning three documentation trees: how long, how much, and what learning them again costs.

python -m benchmarks.learning --data PATH
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import germane
from benchmarks.environment import environment, load, save
from benchmarks.questions import QUESTIONS
from benchmarks.trees import TREES

REPEATS = 5
MOST_SHARE = 0.20
"""Of the first time, that learning an unchanged tree may take."""
FIRST_SEARCH = {
    "rust-book": "what is ownership",
    "astro-docs": "environment variables",
    "eips": "base fee burn",
}

Report = dict[str, Any]


def in_new_process(function: Callable[..., Report], *arguments: Any) -> Report:
    """Call a function in a process of its own, so that nothing is warm that would not be."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def learn(store: Path, tree: Path) -> Report:
    """Learn a tree; the time of `learn` itself, and of closing, which writes the text index.

    Both are wall time in a process that has done nothing before but import Germane.
    """
    db = germane.open(store)
    began = time.perf_counter()
    found = db.learn(tree)
    learned = time.perf_counter()
    db.close()
    closed = time.perf_counter()
    return {
        "learn_s": learned - began,
        "index_and_close_s": closed - learned,
        "added": found.added,
        "changed": found.changed,
        "unchanged": found.unchanged,
        "removed": found.removed,
        "documents": found.documents,
        "skipped": [f"{Path(each.path).name}: {each.reason}" for each in found.skipped],
        "errors": [f"{Path(each.path).name}: {each.reason}" for each in found.errors],
    }


def first_search(store: Path, query: str, questions: list[str]) -> Report:
    """Time `germane search` in the terminal, and the first search of a process without its start."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "germane", "--db", str(store), "search", query],
        capture_output=True,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - began
    if query.split()[-1] not in done.stdout:
        raise RuntimeError(f"the search for {query!r} found nothing: {done.stdout}")
    return {"command_s": whole, **in_new_process(open_and_search, store, query, questions)}


def open_and_search(store: Path, query: str, questions: list[str]) -> Report:
    """Open a store and search it once; then time pages of 20 when everything is warm."""
    opens = germane.open  # imports the database, which is timed with the process
    began = time.perf_counter()
    with opens(store) as db:
        page = db.search(query)
        first = time.perf_counter() - began
        times = []
        for question in [*questions, *questions]:
            began = time.perf_counter()
            db.search(question)
            times.append(time.perf_counter() - began)
    return {"open_and_search_s": first, "total": page.total, "page_s": median(times[len(questions) :])}


def measure(name: str, tree: Path, scratch: Path) -> Report:
    """Learn one tree five times into new stores, and again into each."""
    rounds: list[Report] = []
    for number in range(REPEATS):
        store = scratch / f"{name}-{number}"
        first = in_new_process(learn, store, tree)
        size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        again = in_new_process(learn, store, tree)
        questions = [question.text for question in QUESTIONS[name]]
        searched = first_search(store, FIRST_SEARCH[name], questions)
        rounds.append({"first": first, "again": again, "search": searched, "store_bytes": size})
    first, again = rounds[0]["first"], rounds[0]["again"]
    seconds = median(each["first"]["learn_s"] for each in rounds)
    again_seconds = median(each["again"]["learn_s"] for each in rounds)
    return {
        "name": name,
        "files": sum(1 for path in tree.rglob("*") if path.is_file()),
        "source_bytes": sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()),
        "documents": first["documents"],
        "sections": first["added"],
        "skipped": first["skipped"],
        "errors": first["errors"],
        "again": {key: again[key] for key in ("added", "changed", "unchanged", "removed")},
        "learn_s": seconds,
        "index_and_close_s": median(each["first"]["index_and_close_s"] for each in rounds),
        "learn_again_s": again_seconds,
        "share": again_seconds / seconds,
        "largest_share": max(each["again"]["learn_s"] / each["first"]["learn_s"] for each in rounds),
        "holds": again_seconds / seconds < MOST_SHARE and again["unchanged"] == first["added"],
        "sections_per_s": first["added"] / seconds,
        "search_command_s": median(each["search"]["command_s"] for each in rounds),
        "open_and_search_s": median(each["search"]["open_and_search_s"] for each in rounds),
        "page_s": median(each["search"]["page_s"] for each in rounds),
        "store_bytes": int(median(each["store_bytes"] for each in rounds)),
        "rounds": [
            {
                "learn_s": each["first"]["learn_s"],
                "index_and_close_s": each["first"]["index_and_close_s"],
                "learn_again_s": each["again"]["learn_s"],
                "command_s": each["search"]["command_s"],
                "open_and_search_s": each["search"]["open_and_search_s"],
            }
            for each in rounds
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds docs-trees/ and eips/")
    given = parser.parse_args()
    busy = load()
    results: list[Report] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, lay_out in TREES.items():
            found = measure(name, lay_out(given.data, scratch), scratch)
            results.append(found)
            print(
                f"{name}: {found['sections']} sections of {found['documents']} documents,"
                f" {found['learn_s']:.3f} s, again {found['share']:.1%}, holds: {found['holds']}"
            )
    settings = {"repeats": REPEATS, "most_share": MOST_SHARE, "first_search": FIRST_SEARCH}
    path = save(
        "learning", {"environment": environment(busy, "apsw"), "settings": settings, "trees": results}
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
