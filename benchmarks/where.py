"""Where the time of a query goes, and that of a cold start.

python -m benchmarks.where
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import germane
from benchmarks.environment import environment, load, save
from benchmarks.zipf import queries, sections
from germane import Item
from germane.text.plan import make_plan
from germane.text.scoring import Scoring

SECTIONS, COLD_SECTIONS = 100_000, 10_000
QUERIES = 1_000
TOP = 10
REPEATS = 7
_IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")

Figures = dict[str, float]


def fill(store: Path, count: int) -> None:
    """Make a store of made-up sections, and its index."""
    with germane.open(store) as db:
        db.put_many(Item(body=text, type="text/plain") for text in sections(count))
        db.top("lamp")


def stages(db: germane.Database, asked: list[str]) -> Figures:
    """Return the median time of each step of `top` over queries, in microseconds.

    The steps are those that `top` takes one after the other; each query runs as a whole too, with other
    queries in between, so that what the first run looked up is not at hand for the second.
    """
    weights = germane.SearchWeights()
    taken: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, step: Callable[..., Any], *given: Any) -> Any:
        began = time.perf_counter()
        found = step(*given)
        taken[name].append((time.perf_counter() - began) * 1e6)
        return found

    index = db._moments.index()
    assert index is not None, "a query before has brought the index up to date"
    for text in asked:
        timed("see that nothing was written", db._moments.index)
        plan = timed("plan", make_plan, text, index.langs)
        matches = timed("look words up", Scoring, index, plan, weights, 0)
        pairs = timed("find the best", matches.best_pairs, TOP)
        timed("read ids", index.ids, [row for _, row in pairs])
    index._found.clear()
    for text in asked:
        timed("db.top", db.top, text, TOP)
    for text in asked:
        timed("db.top, asked again", db.top, text, TOP)
    for text in asked:
        timed("db.search", db.search, text)
    return {name: median(times) for name, times in taken.items()}


def cold(store: Path) -> tuple[Figures, list[dict[str, Any]]]:
    """Return how long `germane search` takes in a new process, and the imports that it waits for."""
    command = [sys.executable, "-m", "germane", "--db", str(store), "search", "lamp"]
    times, first = [], []
    runs: dict[str, list[float]] = defaultdict(list)
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:  # no byte code is there yet, as after installing
            where = {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
            first.append(_wall(command, where))
            times.append(_wall(command, where))
            told = subprocess.run(
                [sys.executable, "-X", "importtime", *command[1:]],
                env={**os.environ, **where}, capture_output=True, text=True, check=True,
            ).stderr  # fmt: skip
        here: dict[str, float] = defaultdict(float)
        for own, module in _IMPORTED.findall(told):
            here[_package(module)] += int(own) / 1e3
        for package, milliseconds in here.items():
            runs[package].append(milliseconds)
    imports = [{"package": name, "ms": median(each)} for name, each in runs.items()]
    imports.sort(key=lambda each: -float(str(each["ms"])))
    return {"search_s": median(times), "first_search_s": median(first)}, imports


def _package(module: str) -> str:
    """Return the package of a module; all of the standard library is one."""
    top = module.partition(".")[0]
    return "standard library" if top.lstrip("_") in _STANDARD or top in _STANDARD else top


_STANDARD = frozenset(sys.stdlib_module_names)


def _wall(command: list[str], variables: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.where", description=__doc__)
    parser.parse_args()
    busy = load()
    germane.warm()
    with tempfile.TemporaryDirectory() as folder:
        store, small = Path(folder) / "store", Path(folder) / "small"
        fill(store, SECTIONS)
        fill(small, COLD_SECTIONS)
        index_bytes = sum(path.stat().st_size for path in store.glob("views/text-*/*"))
        with germane.open(store) as db:
            for text in queries(2, QUERIES, 1):
                db.top(text, TOP)  # warm
            steps = {str(length): stages(db, queries(length, QUERIES, 0)) for length in (1, 2, 4)}
        started, imports = cold(small)
    for length, of in steps.items():
        print(f"{length} words:", ", ".join(f"{name} {us:.1f}" for name, us in of.items()))
    print(started, imports[:8])
    path = save(
        "where",
        {
            "environment": environment("apsw", "msgspec", "numba", load_before=busy),
            "settings": {
                "sections": SECTIONS, "cold_sections": COLD_SECTIONS, "queries": QUERIES, "top": TOP,
                "repeats": REPEATS,
            },
            "index_bytes": index_bytes,
            "steps": steps,
            "cold": started,
            "imports": imports,
        },
    )  # fmt: skip
    print(f"written to {path}")


if __name__ == "__main__":
    main()
