"""What is known of users: preference, affinity, what they did again and what goes with it.

To a store, as `readings` has it, come ``"user"``, whom a query is for, or None; ``"origin"``, the id that a
profile starts from, or None; and ``"follows"``, the creators whom the user follows. A signal has ``polarity,
preference, affinity, affinity_half_life`` too, an event ``recorded_at``, and the ``creator`` and
``embedding`` that its item had then; events stand in the order of the log. An item has an ``embedding``, a
list of numbers or None.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from typing import Any

from .readings import SECOND, Store

Item = dict[str, Any]
Event = dict[str, Any]
DAY = 86_400 * SECOND
SPAN = 30 * DAY
HORIZON = 990 * DAY
RECENT = 20


def of_users(store: Store, now: int) -> list[Event]:
    """The events that have a user, and a time that has come."""
    return [event for event in store["events"] if event["user"] is not None and event["at"] <= now]


def own(store: Store, now: int) -> list[Event]:
    user = store.get("user")
    return [event for event in of_users(store, now) if event["user"] == user]


def has_history(store: Store) -> bool:
    """Whether any signal of the user was recorded, even if its time is still to come."""
    user = store.get("user")
    return any(user is not None and event["user"] == user for event in store["events"])


def seen(store: Store, now: int) -> set[str]:
    return {event["item"] for event in own(store, now)}


# Taste.


def leaning(store: Store, now: int) -> list[float] | None:
    """v = (1 - a) v + a e in the order of the log; what was ahead of its time comes when its time comes."""

    def turn(event: Event) -> tuple[int, bool]:
        return max(event["at"], event["recorded_at"]), event["at"] <= event["recorded_at"]

    v: list[float] | None = None
    count = 0
    for event in sorted(own(store, now), key=turn):
        signal, e = store["signals"][event["name"]], event["embedding"]
        if signal["preference"] and e is not None:
            a = signal["preference"] / (1 + math.log(count + 1))
            v = [
                (1 - a) * x + a * signal["polarity"] * y for x, y in zip(v or [0.0] * len(e), e, strict=True)
            ]
            count += 1
    return v


def cosine_of(v: list[float] | None, e: list[float] | None) -> float:
    if v is None or e is None or not any(v) or not any(e):
        return 0.0
    return math.fsum(x * y for x, y in zip(v, e, strict=True)) / (math.hypot(*v) * math.hypot(*e))


def preference(store: Store, item: Item, now: int) -> float:
    return cosine_of(leaning(store, now), item["embedding"])


def deltas(store: Store, item: Item, now: int) -> list[float]:
    """What each of the user's signals adds to their affinity to the creator of an item."""
    found = []
    for event in own(store, now):
        signal = store["signals"][event["name"]]
        if item["creator"] is not None and event["creator"] == item["creator"]:
            age = (now - event["at"]) / SECOND
            found.append(signal["affinity"] * 2.0 ** (-age / signal["affinity_half_life"]))
    return found


def affinity(store: Store, item: Item, now: int) -> float:
    total = math.fsum(deltas(store, item, now))
    return total / (1 + abs(total))


# What goes with what.


def oldest(store: Store, now: int) -> int:
    """The time before which nothing counts: 990 days before the latest event."""
    return max((event["at"] for event in of_users(store, now)), default=0) - HORIZON


def pairs(store: Store, now: int) -> dict[tuple[str, str], float]:
    """The co-occurrence of any two items, over all pairs of all users' signals."""
    kept: dict[int, dict[tuple[str, str], float]] = store.setdefault("pairs", {})
    if now not in kept:
        sums: dict[tuple[str, str], list[float]] = defaultdict(list)
        by_user: dict[str, list[Event]] = defaultdict(list)
        number: dict[str, int] = defaultdict(int)
        for event in of_users(store, now):
            by_user[event["user"]].append(event)
            number[event["item"]] += 1
        first = oldest(store, now)
        for events in by_user.values():
            for one, other in combinations(events, 2):
                later = max(one["at"], other["at"])
                is_near = abs(one["at"] - other["at"]) <= SPAN
                if one["item"] != other["item"] and is_near and later >= first:
                    for a, b in ((one["item"], other["item"]), (other["item"], one["item"])):
                        sums[a, b].append(2.0 ** (-(now - later) / SPAN))
        kept[now] = {
            (a, b): math.fsum(each) / math.sqrt(number[a] * number[b]) for (a, b), each in sums.items()
        }
    return kept[now]


def latest(store: Store, now: int) -> list[tuple[str, int]]:
    """The items that the user did something with, not against, and when at last; the latest first."""
    found: dict[str, int] = {}
    for event in own(store, now):
        if store["signals"][event["name"]]["polarity"] > 0 and event["at"] >= oldest(store, now):
            found[event["item"]] = max(found.get(event["item"], event["at"]), event["at"])
    return sorted(found.items(), key=lambda pair: -pair[1])


def cooccurrence(store: Store, item: Item, now: int) -> float:
    origin, all_pairs = store.get("origin"), pairs(store, now)
    if origin is not None:
        return all_pairs.get((origin, item["id"]), 0.0)
    return math.fsum(
        2.0 ** (-(now - at) / SPAN) * all_pairs.get((id, item["id"]), 0.0)
        for id, at in latest(store, now)[:RECENT]
    )


def times_done(store: Store, item: Item, now: int) -> list[float]:
    """What each of the user's own signals on an item counts for doing something with it again."""
    first = oldest(store, now)
    return [
        store["signals"][event["name"]]["polarity"] * 2.0 ** (-(now - event["at"]) / (90 * DAY))
        for event in own(store, now)
        if event["item"] == item["id"] and event["at"] >= first
    ]


def again(store: Store, item: Item, now: int) -> float:
    return math.fsum(times_done(store, item, now))


def origin_of(store: Store) -> Item | None:
    return next((item for item in store["items"] if item["id"] == store.get("origin")), None)


def cosine(store: Store, item: Item, now: int) -> float:
    origin = origin_of(store)
    return cosine_of(origin["embedding"], item["embedding"]) if origin else 0.0


def shared_tags(store: Store, item: Item, now: int) -> float:
    origin = origin_of(store)
    mine, theirs = set(item["tags"]), set(origin["tags"]) if origin else set()
    return len(mine & theirs) / len(mine | theirs) if mine & theirs else 0.0


TERMS: dict[str, Callable[[Store, Item, int], float]] = {
    "preference": preference,
    "affinity": affinity,
    "again": again,
    "cooccurrence": cooccurrence,
    "cosine": cosine,
    "shared_tags": shared_tags,
}


# Candidates.


def nearest(store: Store, live: list[Item], v: list[float] | None, n: int) -> list[Item]:
    """The n items whose vectors are nearest to one; what has no direction is near to nothing."""
    if v is None or not any(v):
        return []
    pointing = [item for item in live if any(item["embedding"] or ())]
    return sorted(pointing, key=lambda item: (-cosine_of(v, item["embedding"]), item["id"]))[:n]


def following(store: Store, live: list[Item], n: int) -> list[Item]:
    followed = [item for item in live if item["creator"] in store.get("follows", ())]
    return sorted(followed, key=lambda item: (-item["created_at"], item["id"]))[:n]


def related(store: Store, live: list[Item], id: str, n: int, now: int) -> list[Item]:
    """The n items of which the greatest sum above 0 says that they go with one, or with what the user did."""
    others = [item for item in live if item["id"] != id]
    summed = ["cooccurrence", "cosine", "shared_tags"] if id else ["cooccurrence", "again"]
    given = {**store, "origin": id or None}
    sums = [(-sum(TERMS[term](given, item, now) for term in summed), item["id"], item) for item in others]
    return [item for _, _, item in sorted((each for each in sums if each[0] < 0), key=lambda s: s[:2])[:n]]
