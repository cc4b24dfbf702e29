"""The readings of signals: sums over a plain list of events.

A store is a dict of plain values: ``signals`` maps a name to ``{"half_life": seconds or None, "windows":
[...]}``, ``events`` is a list of ``{"name", "item", "user", "weight", "at"}``, and ``items`` one of ``{"id",
"creator", "collection", "tags", "metadata", "created_at", "live"}``. Times are whole microseconds since the
epoch.
"""

import math
from typing import Any

Store = dict[str, Any]
SECOND = 1_000_000
MINUTE = 60 * SECOND
WINDOWS = {"1h": 3_600, "24h": 86_400, "7d": 7 * 86_400, "30d": 30 * 86_400, "all": None}


def happened(store: Store, name: str, item: str, now: int) -> list[dict[str, Any]]:
    """The events of a signal on an item until now, in the order in which they were recorded."""
    by_place = store.get("by_place")
    if by_place is None:  # sorted out once, so that a store of hundreds of events is read in no time
        by_place = store["by_place"] = {}
        for event in store["events"]:
            by_place.setdefault((event["name"], event["item"]), []).append(event)
    return [event for event in by_place.get((name, item), ()) if event["at"] <= now]


def decayed(store: Store, name: str, item: str, now: int) -> float:
    """S(t) = sum of w exp(-lambda (t - t_i)), lambda = ln 2 / half-life; 0 for an undeclared signal."""
    if name not in store["signals"]:
        return 0.0
    half_life = store["signals"][name]["half_life"]
    rate = 0.0 if half_life is None else math.log(2) / half_life
    score = 0.0
    for event in happened(store, name, item, now):
        score += event["weight"] * math.exp(-rate * (now - event["at"]) / SECOND)
    return score


def count(store: Store, name: str, item: str, window: str, now: int) -> int:
    """The number of events with floor_minute(t_i) > now - window; 0 for what is not declared."""
    if name not in store["signals"] or window not in store["signals"][name]["windows"]:
        return 0
    events, seconds = happened(store, name, item, now), WINDOWS[window]
    if seconds is None:
        return len(events)
    return sum(event["at"] // MINUTE * MINUTE > now - seconds * SECOND for event in events)


def velocity(store: Store, name: str, item: str, window: str, now: int) -> float:
    seconds = WINDOWS[window]
    return 0.0 if seconds is None else count(store, name, item, window, now) / seconds


def total(store: Store, name: str, item: str, now: int) -> int:
    """The all-time count, which is kept of every declared signal whatever its windows."""
    return len(happened(store, name, item, now)) if name in store["signals"] else 0


def ratio(store: Store, name: str, of: str, item: str, now: int) -> float:
    """(likes + 10 p0) / (views + 10), where p0 is the ratio over all live items."""
    live = [each["id"] for each in store["items"] if each["live"]]
    names, ofs = (sum(total(store, signal, id, now) for id in live) for signal in (name, of))
    p0 = names / ofs if ofs else 0.0
    return (total(store, name, item, now) + 10 * p0) / (total(store, of, item, now) + 10)


def reach(store: Store, item: str, now: int) -> int:
    """How many distinct users did anything with an item."""
    users = {event["user"] for name in store["signals"] for event in happened(store, name, item, now)}
    return len(users - {None})
