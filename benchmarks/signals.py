"""Recording signals in a folder, one call at a time and as columns, beside the least that SQLite needs.

python -m benchmarks.signals

A contestant prepares a folder and offers what it can do of four tasks; every round asks all of them in turn,
each in a process of its own, so that a busy machine is busy for all.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.environment import environment, load, save

ITEMS = 100_000
"""Items of the store; how often each is met follows Zipf's law."""
USERS = 20_000
CALLS = 50_000
"""Events that are recorded one call at a time."""
EVENTS = 1_000_000
"""Events that are recorded as columns."""
REPEATS = 5
NOW = 1_700_000_000.0

TASKS = {
    "calls": "one call each, bare",
    "calls_identified": "one call each, with user and event id",
    "columns": "columns of name, item, weight and time, as lists",
    "columns_of_arrays": "the same as NumPy arrays",
    "columns_identified": "the same as lists, with user and event id",
}

Task = Callable[["Events"], int]
"""Records events, and returns how many it recorded."""


@dataclass(frozen=True)
class Events:
    """Events to record, the same in every round.

    Parameters
    ----------
    names, items, users, event_ids : str[n]
    weights : float64[n]
    at : float64[n]
        Seconds since the epoch, in the last thirty days.
    """

    names: np.ndarray[Any, Any]
    items: np.ndarray[Any, Any]
    users: np.ndarray[Any, Any]
    event_ids: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]
    at: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.names)


def item_id(number: int) -> str:
    """Return the id of the item of a number."""
    return f"item-{number:07d}"


def events(count: int, seed: int) -> Events:
    """Return events; different seeds share no event id."""
    random = np.random.default_rng(seed)
    items = np.array([item_id(number) for number in range(ITEMS)])
    users = np.array([f"user-{number}" for number in range(USERS)])
    return Events(
        names=random.choice(np.array(["view", "like", "share"]), count, p=[0.9, 0.08, 0.02]),
        items=items[(random.zipf(1.2, count) - 1) % ITEMS],
        users=random.choice(users, count),
        event_ids=np.array([f"{seed}-{number:x}" for number in random.permutation(count)]),
        weights=random.random(count),
        at=NOW - random.random(count) * 30 * 86_400,
    )


@contextmanager
def with_germane(folder: Path) -> Iterator[dict[str, Task]]:
    """A store with its items, durability `batched`."""
    import germane

    def calls(given: Events) -> int:
        names, items, signal = given.names.tolist(), given.items.tolist(), db.signal
        return sum(signal(name, item).changed for name, item in zip(names, items, strict=True))

    def calls_identified(given: Events) -> int:
        columns = (given.names, given.items, given.users, given.event_ids)
        rows = zip(*(each.tolist() for each in columns), strict=True)
        return sum(
            db.signal(name, item, user=user, event_id=event_id).changed for name, item, user, event_id in rows
        )

    def columns(given: Events) -> int:
        return db.signal_many(
            {
                "name": given.names.tolist(),
                "item": given.items.tolist(),
                "weight": given.weights.tolist(),
                "at": given.at.tolist(),
            }
        )

    def columns_of_arrays(given: Events) -> int:
        return db.signal_many(
            {"name": given.names, "item": given.items, "weight": given.weights, "at": given.at}
        )

    def columns_identified(given: Events) -> int:
        return db.signal_many(
            {
                "name": given.names.tolist(),
                "item": given.items.tolist(),
                "weight": given.weights.tolist(),
                "at": given.at.tolist(),
                "user": given.users.tolist(),
                "event_id": given.event_ids.tolist(),
            }
        )

    with germane.open(folder) as db:
        db.put_many(germane.Item(id=item_id(number), type="text/plain") for number in range(ITEMS))
        yield {
            "calls": calls,
            "calls_identified": calls_identified,
            "columns": columns,
            "columns_of_arrays": columns_of_arrays,
            "columns_identified": columns_identified,
        }


@contextmanager
def with_sqlite(folder: Path) -> Iterator[dict[str, Task]]:
    """The floor: one row a transaction and nothing else, with the settings that the journal has."""
    import apsw

    connection = apsw.Connection(str(folder / "floor.sqlite"))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.wal_autocheckpoint(4_096)
    connection.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, at INTEGER, data TEXT) STRICT")
    connection.execute("CREATE TABLE event_id (id TEXT PRIMARY KEY, seq INTEGER) STRICT, WITHOUT ROWID")
    execute = connection.cursor().execute
    event = '{"name":"view","item":"item-0000000","user":"user-00000","event_id":"0-00000"}'

    def calls(given: Events) -> int:
        for _ in range(len(given)):
            execute("BEGIN IMMEDIATE")
            execute("INSERT INTO log VALUES (NULL, ?, ?)", (0, event[:37]))
            execute("COMMIT")
        return len(given)

    def calls_identified(given: Events) -> int:
        for seq, event_id in enumerate(given.event_ids.tolist()):
            execute("BEGIN IMMEDIATE")
            execute("INSERT INTO log VALUES (NULL, ?, ?)", (0, event))
            execute("INSERT INTO event_id VALUES (?, ?)", (event_id, seq))
            execute("COMMIT")
        return len(given)

    yield {"calls": calls, "calls_identified": calls_identified}
    connection.close()


CONTESTANTS: dict[str, Callable[[Path], AbstractContextManager[dict[str, Task]]]] = {
    "germane": with_germane,
    "SQLite, one row a commit": with_sqlite,
}


def one_round(name: str) -> dict[str, float]:
    """Return a contestant's events per second in each task; runs in a process of its own."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, CONTESTANTS[name](Path(folder)) as tasks:
        for seed, (task, run) in enumerate(tasks.items()):
            given = events(CALLS if task.startswith("calls") else EVENTS, seed)
            run(events(1_000, 100 + seed))  # warm
            began = time.perf_counter()
            recorded = run(given)
            found[task] = recorded / (time.perf_counter() - began)
            if recorded != len(given):
                raise RuntimeError(f"{name} recorded {recorded} of {len(given)} events: {TASKS[task]}")
    return found


def measure() -> list[dict[str, Any]]:
    """Take turns: each round asks every contestant."""
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
    for _ in range(REPEATS):
        for name in CONTESTANTS:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                rounds[name].append(pool.submit(one_round, name).result())
    return [
        {
            "name": name,
            "events_per_s": {task: median(each[task] for each in of) for task in of[0]},
            "rounds": of,
        }
        for name, of in rounds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.signals", description=__doc__)
    parser.parse_args()
    busy = load()
    results = measure()
    for each in results:
        told = "  ".join(f"{task}: {rate:,.0f}" for task, rate in each["events_per_s"].items())
        print(f"{each['name']}: events/s {told}")
    path = save(
        "signals",
        {
            "environment": environment("apsw", load_before=busy),
            "settings": {
                "items": ITEMS, "users": USERS, "calls": CALLS, "events": EVENTS, "repeats": REPEATS,
                "tasks": TASKS,
            },
            "contestants": results,
        },
    )  # fmt: skip
    print(f"written to {path}")


if __name__ == "__main__":
    main()
