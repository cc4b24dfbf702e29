"""One engine in a process of its own: builds an index, or opens one and answers; prints figures as JSON.

python -m benchmarks.engines.worker NAME version
python -m benchmarks.engines.worker NAME build TEXTS FOLDER
python -m benchmarks.engines.worker NAME ask QUERIES FOLDER SIZE TEXT

``TEXTS`` holds a text a line. A line of ``QUERIES`` is kind, part and query, with tabs between: ``warm`` and
``timed`` are the parts. ``TEXT`` is what is added, one word at its end that no other text has.
"""

from __future__ import annotations

import json
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.engines import Engine, engine

TOP = 10
WARM_S = 2.0
TIMED_S = 20.0
CHECKED = 100
ADDED = 10
PHRASE = "phrase"
"""The kind whose queries are phrases."""

Figures = dict[str, Any]


def memory() -> dict[str, int]:
    """Return bytes of this process that are resident, and of these the ones that no file holds."""
    held = {"Rss:": 0, "Anonymous:": 0}
    for line in Path("/proc/self/smaps_rollup").read_text("ascii").splitlines():
        name, *rest = line.split()
        if name in held:
            held[name] = int(rest[0]) * 1024
    return {"resident": held["Rss:"], "anonymous": held["Anonymous:"]}


def peak() -> int:
    """Return the most bytes of this process that were ever resident."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status")


def build(name: str, texts: Path, folder: Path) -> Figures:
    """Index a file of texts."""
    one = engine(name)
    before = memory()["resident"]

    def lines() -> Iterator[str]:
        with texts.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")

    wall, processor = time.perf_counter(), time.process_time()
    one.build(lines(), folder)
    return {
        "wall_s": time.perf_counter() - wall,
        "processor_s": time.process_time() - processor,
        "bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        "peak_bytes": peak() - before,
    }


def ask(name: str, queries: Path, folder: Path, size: int, text: str) -> Figures:
    """Open an index, ask every kind of query, and add to it."""
    bare = memory()
    one = engine(name)
    kinds: dict[str, dict[str, list[str]]] = {}
    for line in queries.read_text("utf-8").splitlines():
        kind, part, query = line.split("\t")
        kinds.setdefault(kind, {"warm": [], "timed": []})[part].append(query)
    first = next(iter(kinds.values()))["warm"][0]
    imported = memory()
    began = time.perf_counter()
    one.open(folder)
    opened_s = time.perf_counter() - began
    opened = memory()
    one.ask(first, TOP)
    first_s = time.perf_counter() - began
    one.prepare()
    asked = {kind: _kind(one, kind, of) for kind, of in kinds.items() if kind != PHRASE or one.has_phrases}
    return {
        "open_s": opened_s,
        "first_s": first_s,
        "kinds": asked,
        "memory": {"bare": bare, "imported": imported, "opened": opened, "asked": memory()},
        "visible_us": _visible(one, size, text) if one.can_add else [],
    }


def _kind(one: Engine, kind: str, of: dict[str, list[str]]) -> Figures:
    call: Callable[[str, int], Any] = one.ask_phrase if kind == PHRASE else one.ask
    clock = time.perf_counter_ns
    until = clock() + int(WARM_S * 1e9)
    # Others than those that are timed, so that nothing answers from what it kept of the same question.
    while clock() < until:
        for query in of["warm"]:
            call(query, TOP)
            if clock() > until:
                break
    times = array("q")
    until = clock() + int(TIMED_S * 1e9)
    for query in of["timed"]:
        began = clock()
        call(query, TOP)
        ended = clock()
        times.append(ended - began)
        # Queries come in no order: a slow engine answers the first of them, which stand for the rest.
        if ended > until and len(times) >= CHECKED:
            break
    checked = of["timed"][:CHECKED]
    found: Figures = {
        "times_us": [spent / 1000 for spent in times],
        "top": [one.ids(call(query, TOP)) for query in checked],
    }
    if kind != PHRASE and one.exact(checked[0], TOP) is not None:
        found["exact"] = [one.exact(query, TOP) for query in checked]
    return found


def mark(number: int) -> str:
    """Return a word of letters alone that no text holds.

    Examples
    --------
    >>> mark(120)
    'qzbcax'
    """
    return f"qz{str(number).translate(str.maketrans('0123456789', 'abcdefghij'))}x"


def _visible(one: Engine, size: int, text: str) -> list[float]:
    """Return microseconds from adding a text to the answer that has it."""
    found = []
    for number in range(size, size + 2 * ADDED):
        word = mark(number)
        began = time.perf_counter_ns()
        one.add(number, f"{text} {word}")
        answer = one.ask(word, TOP)
        found.append((time.perf_counter_ns() - began) / 1000)
        if one.ids(answer) != [number]:
            raise RuntimeError(f"{word} is not found right after it was added: {one.ids(answer)}")
    return found[ADDED:]  # the first ones warm up


def main() -> None:
    name, task, *given = sys.argv[1:]
    if task == "version":
        found: Figures = {"version": engine(name).version()}
    elif task == "build":
        found = build(name, Path(given[0]), Path(given[1]))
    else:
        found = ask(name, Path(given[0]), Path(given[1]), int(given[2]), given[3])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
