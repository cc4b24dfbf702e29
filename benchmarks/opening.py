"""Opening a store of 1,000,000 items and 5,000,000 signals, to the first reading.

python -m benchmarks.opening

Every reading is the first of a process of its own: after a process that died without a checkpoint of its
events, and after a clean close. The events come in columns, each with a user.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from germane import Item
from germane.knowledge.selection import select
from germane.model.filter_text import parse_filter
from germane.signals.view import Ledgers

ITEMS = 1_000_000
EVENTS = 5_000_000
USERS = 200_000
REPEATS = 3
NOW = 1_760_000_000.0
NAMES = {"view": 0.7, "like": 0.1, "share": 0.05, "save": 0.05, "skip": 0.1}
FILTER = "meta.price < 10 and meta.genre = 'jazz'"


def put(store: Path, items: int) -> None:
    """Put items whose bodies are no text: what is measured is not the text index."""
    with germane.open(store, clock=lambda: NOW) as db:
        db.put_many(
            Item(
                id=f"i{n}",
                type="application/octet-stream",
                body=b"",
                creator=f"c{n % 1000}",
                metadata={"price": n % 100, "genre": ("jazz", "rock", "folk")[n % 3]},
            )
            for n in range(items)
        )


def signal(store: Path, items: int, events: int) -> None:
    """Record heavy-tailed events over the last months, and die without closing."""
    db = germane.open(store, clock=lambda: NOW)
    chance = np.random.default_rng(1)
    names = np.array(list(NAMES))
    for start in range(0, events, 100_000):
        count = min(100_000, events - start)
        db.signal_many(
            {
                "name": names[chance.choice(len(names), count, p=list(NAMES.values()))],
                "item": [f"i{n}" for n in (chance.zipf(1.2, count) % items).tolist()],
                "user": [f"u{n}" for n in chance.integers(0, USERS, count).tolist()],
                "at": NOW - chance.exponential(20 * 86_400, count),
            }
        )
    os._exit(0)


def read(store: Path, close: bool = False) -> dict[str, float]:
    """Open the store, and read a score and a filter, each timed from before the opening."""
    began, busy = time.perf_counter(), time.process_time()
    db = germane.open(store, clock=lambda: NOW)
    db.decayed("view", "i1")
    scored, worked = time.perf_counter() - began, time.process_time() - busy
    with db._journal.read() as connection:
        chosen = int(select(connection, db._catalogs.at(connection), parse_filter(FILTER)).sum())
        filtered = time.perf_counter() - began
        assert chosen
        with db._signals.at(connection) as ledgers:
            memory = _memory(ledgers)
    found = {"decayed_s": scored, "decayed_processor_s": worked, "decayed_and_where_s": filtered, **memory}
    found["resident_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if close:
        began = time.perf_counter()
        db.close()
        found["close_s"] = time.perf_counter() - began
    else:
        db._journal.close()
    return found


def _memory(ledgers: Ledgers) -> dict[str, float]:
    """Return bytes for each (item, signal) with all windows, and for each event that lies within them."""
    dense = rows = inside = held = 0
    for signal in ledgers.signals:
        ledger = ledgers[signal.name]
        rows += len(ledger.totals)
        dense += ledger.totals.nbytes + ledger.decayed.values.nbytes
        dense += sum(counters.nbytes for counters in ledger.windows._counters)
        inside += sum(minutes.nbytes + items.nbytes for minutes, items in ledger.windows._runs)
        held += sum(len(minutes) for minutes, _ in ledger.windows._runs)
    return {"bytes_a_row": dense / rows, "bytes_an_event_inside": inside / max(held, 1), "inside": held}


def apart(work: Callable[..., Any], *given: Any) -> Any:
    """Do a piece of work in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def measure(items: int, events: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        apart(put, store, items)
        child = get_context("spawn").Process(target=signal, args=(store, items, events))
        child.start()
        child.join()
        behind = [apart(read, store) for _ in range(REPEATS)]
        closing = apart(read, store, True)
        closed = [apart(read, store) for _ in range(REPEATS)]
        views = {
            path.name.partition("-")[0]: sum(file.stat().st_size for file in path.iterdir())
            for path in (store / "views").iterdir()
        }
    return {
        "after_the_last_checkpoint": _middle(behind),
        "closing_s": closing["close_s"],
        "after_a_clean_close": _middle(closed),
        "bytes": views,
        "rounds": {"behind": behind, "closing": closing, "closed": closed},
    }


def _middle(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(each[name] for each in rounds) for name in rounds[0]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opening", description=__doc__)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--events", type=int, default=EVENTS)
    given = parser.parse_args()
    busy = load()
    found = measure(given.items, given.events)
    for name in ("after_the_last_checkpoint", "after_a_clean_close"):
        of = found[name]
        scored, worked = of["decayed_s"], of["decayed_processor_s"]
        print(
            f"{name}: first score {scored:.2f} s ({worked:.2f} s of a core), first filter "
            f"{of['decayed_and_where_s']:.2f} s, {of['bytes_a_row']:.0f} bytes an item and signal, "
            f"{of['resident_mb']:.0f} MB resident"
        )
    settings = {**vars(given), "users": USERS, "repeats": REPEATS, "filter": FILTER}
    path = save(
        "opening",
        {"environment": environment("apsw", load_before=busy), "settings": settings, **found},
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
