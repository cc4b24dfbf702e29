"""How long a personal page takes: a hundred given candidates, or everything that there is for a user.

python -m benchmarks.personal                  # 100,000 items with vectors, a million events
python -m benchmarks.personal --items 5000     # to see that it runs

The users have a history: what they did, whom they follow, what they hid. Each page is a whole one of 20
results, kept for paging, and its impressions are kept too. It is asked for right after a signal of the same
user, which it reflects, or without one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from benchmarks.retrieve import timed
from germane import Item, Profile, Schema, Signal

ITEMS, DIMENSION = 100_000, 128
EVENTS_AN_ITEM = 10
USERS, ASKING = 20_000, 200
"""Users that have a history, and those of them that ask, in turn."""
GIVEN, LIMIT = 100, 20
SETS = 50
"""Lists of candidates that are asked for again and again, as those of what is popular are."""
DAY = 86_400.0

SCHEMA = Schema(
    [
        Signal("view", half_life="7d", preference=0.1, affinity=0.1),
        Signal("like", half_life="30d", preference=0.3, affinity=1.0),
        Signal("share", half_life="30d", affinity=1.0),
        Signal("skip", half_life="7d", polarity=-1, preference=0.1),
        Signal("completion", half_life="30d"),
    ],
    [
        Profile(
            "five",
            boosts=[
                "view.decayed",
                "3 like.decayed",
                "5 share.decayed",
                "2 completion.decayed",
                "0.5 log1p(view.count.24h)",
            ],
        )
    ],
)
SHARES = (0.7, 0.15, 0.05, 0.05, 0.05)


def fill(folder: Path, items: int) -> None:
    """Make a store of so many items with vectors, and a heavy-tailed past of a week."""
    random, now = np.random.default_rng(1), time.time()
    ages = random.uniform(0, 60 * DAY, items).tolist()
    with germane.open(folder, SCHEMA) as db:
        db.put_many(
            Item(
                id=named(number),
                title=f"Item {number}",
                body=f"What there is to say of item {number}, in one sentence.",
                creator=f"c{number % 5_000}",
                metadata={"price": number % 100},
                tags=[f"t{number % 50}"],
                embedding=random.normal(size=DIMENSION).astype(np.float32).tolist(),
                created_at=now - ages[number],
            )
            for number in range(items)
        )
        count = items * EVENTS_AN_ITEM
        places = random.permutation(items)[random.zipf(1.3, count) % items]
        db.signal_many(
            {
                "name": random.choice([signal.name for signal in SCHEMA.signals], count, p=SHARES).tolist(),
                "item": [named(place) for place in places.tolist()],
                "user": [f"u{user}" for user in random.integers(0, USERS, count).tolist()],
                "at": now - random.uniform(0, 7 * DAY, count),
            }
        )
        for user in range(ASKING):
            for creator in range(5):
                db.relate(f"u{user}", "follow", f"c{user * 7 + creator}")
            db.relate(f"u{user}", "hide", named(user))


def named(number: int) -> str:
    return f"item-{number:06}"


def measure(items: int) -> dict[str, Any]:
    """Return quantiles of each page, in microseconds."""
    random = np.random.default_rng(2)

    def candidates() -> list[str]:
        return [named(number) for number in random.choice(items, GIVEN, replace=False).tolist()]

    again = [candidates() for _ in range(SETS)]
    turn: tuple[int, list[str]] = 0, again[0]

    def nothing(number: int) -> None:
        nonlocal turn
        turn = number, again[number % SETS]

    def anything(number: int) -> None:
        nonlocal turn
        turn = number, candidates()

    def signal(number: int) -> None:
        nothing(number)
        db.signal("view", turn[1][0], user=user())

    def user() -> str:
        return f"u{turn[0] % ASKING}"

    def given(profile: str) -> Callable[[], object]:
        return lambda: db.retrieve(profile, user=user(), candidates=turn[1], limit=LIMIT)

    def everything() -> object:
        return db.retrieve("for_you", user=user(), limit=LIMIT)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        fill(path, items)
        with germane.open(path) as db:
            began = time.perf_counter()
            everything()
            first = time.perf_counter() - began
            return {
                "first_s": first,
                "cases": {
                    f"{GIVEN} given candidates, `for_you`": timed(nothing, given("for_you")),
                    f"{GIVEN} given candidates, `for_you`, after a signal of theirs": timed(
                        signal, given("for_you")
                    ),
                    f"{GIVEN} given candidates, `for_you`, others each time": timed(
                        anything, given("for_you")
                    ),
                    f"{GIVEN} given candidates, five boosts": timed(nothing, given("five")),
                    "`for_you` over all items": timed(nothing, everything, 100),
                    "`for_you` over all items, after a signal of theirs": timed(signal, everything, 100),
                },
            }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.personal", description=__doc__)
    parser.add_argument("--items", type=int, default=ITEMS)
    items = parser.parse_args().items
    busy = load()
    found = measure(items)
    for name, each in found["cases"].items():
        print(f"{name}: p50 {each['p50_us']:,.0f} us, p99 {each['p99_us']:,.0f} us")
    settings = {
        "items": items, "dimension": DIMENSION, "events": items * EVENTS_AN_ITEM, "users": USERS,
        "asking": ASKING, "given": GIVEN, "sets": SETS, "limit": LIMIT,
    }  # fmt: skip
    path = save(
        "personal", {"environment": environment("apsw", load_before=busy), "settings": settings, **found}
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
