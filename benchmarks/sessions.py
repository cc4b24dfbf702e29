"""What a session adds to the time of a query, on both surfaces, beside the same query without it.

`top` is a search without its page: with a session a page shows other results, whose snippets take other
times.

python -m benchmarks.sessions                  # 1,000 and 100,000 candidates, about three minutes
"""

from __future__ import annotations

import gc
import random
import time
from statistics import median
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, save
from germane import Database, Item, Profile, Schema, Session, Signal

SIZES = {1_000: 400, 100_000: 60}
"""Candidates, and how often each query is asked."""
KEYWORDS = (1, 20, 200)
SIGNALED = 20
PROFILE = Profile("even", boosts=["0.6 view.decayed", "0.4 like.decayed"])
SIGNALS = (Signal("view", half_life="7d"), Signal("like", half_life="30d"), Signal("reward", half_life="7d"))
SCHEMA = Schema(SIGNALS, [PROFILE])


def main() -> None:
    """Measure, print and keep the figures."""
    rows = []
    for size, repeats in SIZES.items():
        db, words, ids = filled(size)
        for count in KEYWORDS:
            session = begun(db, words, ids, count)
            for surface in ("top", "search", "retrieve"):
                row = {"surface": surface, "candidates": size, "keywords": count,
                       **compared(db, surface, session, repeats)}  # fmt: skip
                rows.append(row)
                print(
                    f"{surface:>8} {size:>7} candidates {count:>3} keywords: {row['without_ms']:.3f} ms,"
                    f" {row['with_ms']:.3f} with, {row['added_ms']:+.3f} (p99 {row['added_p99_ms']:+.3f}),"
                    f" budget {row['budget_ms']:.3f}; first time {row['first_ms']:.1f}"
                )
        db.close()
    save("sessions", {"environment": environment(), "rows": rows})


def filled(size: int) -> tuple[Database, list[str], list[str]]:
    """A store of items that all match one search, with metadata, tags and creators."""
    draw = random.Random(1)
    words = [f"w{number:04d}" for number in range(2_000)]
    db = germane.open(schema=SCHEMA)
    ids = db.put_many(
        Item(
            id=f"i{number}",
            title=" ".join(draw.choices(words, k=4)),
            body=" ".join(["common"] * draw.randrange(1, 6) + draw.choices(words, k=draw.randrange(5, 60))),
            creator=f"c{draw.randrange(max(size // 20, 1))}",
            tags=draw.sample(words, 2),
            metadata={"place": draw.choice(words), "price": draw.randrange(1_000)},
        )
        for number in range(size)
    )
    count = size * 2
    db.signal_many({"name": draw.choices(("view", "like"), k=count), "item": draw.choices(ids, k=count)})
    return db, words, ids


def begun(db: Database, words: list[str], ids: list[str], count: int) -> Session:
    """A session that noted so many words, ten at a time, and signalled on some items."""
    draw = random.Random(count)
    session = db.start_session(agent="bench")
    chosen = draw.sample(words, count)
    for first in range(0, count, 10):
        session.annotate(" ".join(chosen[first : first + 10]))
    for id in draw.sample(ids, SIGNALED):
        session.signal("reward", id)
    return session


def compared(db: Database, surface: str, session: Session, repeats: int) -> dict[str, float]:
    """Ask with and without the session in turn."""

    def ask(session: Session | None) -> float:
        began = time.perf_counter()
        if surface == "top":
            db.top("common", 20, session=session)
        elif surface == "search":
            db.search("common", session=session, limit=20)
        else:
            db.retrieve("even", session=session, limit=20)
        return (time.perf_counter() - began) * 1000

    ask(None)
    first = ask(session)
    for _ in range(10):
        ask(None), ask(session)
    gc.collect()
    gc.freeze()
    pairs = np.array([(ask(None), ask(session)) for _ in range(repeats)])
    without, with_session = (float(median(column)) for column in pairs.T.tolist())
    added: Any = pairs[:, 1] - pairs[:, 0]
    return {
        "without_ms": without,
        "with_ms": with_session,
        "added_ms": with_session - without,
        "added_p99_ms": float(np.quantile(added, 0.99)),
        "budget_ms": max(0.2, 0.1 * without),
        "first_ms": first,
    }


if __name__ == "__main__":
    main()
