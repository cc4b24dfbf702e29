"""How soon a signal is in the ranking: from the return of `signal` to that of a `retrieve` that shows it.

python -m benchmarks.reactivity

In the same process, and from one process to another on the same folder. Every `retrieve` is checked to
reflect the signal; one that does not is an error.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from germane import Item, Profile, Schema, Signal

ITEMS = (1_000, 100_000)
EVENTS_AN_ITEM = 5
ROUNDS = 500
SCHEMA = Schema(
    [Signal("view", half_life="7d"), Signal("like", half_life="30d")],
    [
        Profile(
            "bench",
            boosts=["like.decayed", "0.5 log1p(view.count.24h)", "0.2 recency.48h"],
            penalties=["0.1 view.velocity.1h"],
        )
    ],
)


def fill(folder: Path, items: int) -> None:
    """Make a store of so many items with a heavy-tailed past of a week."""
    random = np.random.default_rng(1)
    with germane.open(folder, SCHEMA) as db:
        ids = db.put_many(Item(title=f"item {number}", id=str(number)) for number in range(items))
        events = items * EVENTS_AN_ITEM
        chosen = np.minimum(random.zipf(1.3, events) - 1, items - 1)
        db.signal_many(
            {
                "name": random.choice(["view", "like"], events).tolist(),
                "item": [ids[number] for number in chosen],
                "at": time.time() - random.uniform(0, 7 * 86_400, events),
            }
        )


def shown(db: germane.Database, item: str) -> float:
    """Return what the ranking says of an item, which is always its first: nothing outweighs its likes."""
    first = db.retrieve("bench", limit=20).items[0]
    if first.id != item:
        raise RuntimeError(f"{first.id} stands before {item}")
    return first.contributions["like.decayed"]


def write(folder: str, pipe: Connection, item: str) -> None:
    """Record a signal whenever asked to, and answer with the time at which `signal` had returned."""
    with germane.open(folder) as db:
        while pipe.recv():
            db.signal("like", item, weight=1e6, user="u")
            pipe.send(time.perf_counter())


def measure(items: int, is_other_process: bool) -> dict[str, Any]:
    """Return quantiles of the time from `signal` to a ranking that shows it, in microseconds."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        fill(path, items)
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        writer = context.Process(target=write, args=(str(path), theirs, "7"))
        if is_other_process:
            writer.start()
        with germane.open(path) as db:
            db.signal("like", "7", weight=1e7)
            before = shown(db, "7")
            for _ in range(ROUNDS):
                if is_other_process:
                    ours.send(True)
                    returned = ours.recv()  # the clock of the machine is one for all its processes
                else:
                    db.signal("like", "7", weight=1e6, user="u")
                    returned = time.perf_counter()
                after = shown(db, "7")
                times.append(time.perf_counter() - returned)
                if not after > before + 0.9e6:
                    raise RuntimeError(f"a signal of 1e6 is not reflected: {before} became {after}")
                before = after
        if is_other_process:
            ours.send(False)
            writer.join()
    p50, p99, most = np.quantile(times[20:], [0.5, 0.99, 1.0]) * 1e6
    return {
        "items": items,
        "from": "another process" if is_other_process else "the same process",
        "p50_us": float(p50),
        "p99_us": float(p99),
        "max_us": float(most),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reactivity", description=__doc__)
    parser.parse_args()
    busy = load()
    found = [measure(items, other) for items in ITEMS for other in (False, True)]
    for each in found:
        print(
            f"{each['items']:>7} items, {each['from']}: p50 {each['p50_us']:.0f} us, "
            f"p99 {each['p99_us']:.0f} us, max {each['max_us']:.0f} us"
        )
    settings = {"rounds": ROUNDS, "events_an_item": EVENTS_AN_ITEM, "limit": 20}
    path = save(
        "reactivity",
        {"environment": environment("apsw", load_before=busy), "settings": settings, "measured": found},
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
