"""The terms of a profile, one value an item, and the transforms of a number."""

import hashlib
import math
from typing import Any

from . import people, readings
from .readings import SECOND, Store

Item = dict[str, Any]
HOUR = 3_600 * SECOND
DURATIONS = {"s": SECOND, "m": 60 * SECOND, "h": HOUR, "d": 24 * HOUR, "w": 7 * 24 * HOUR}
GREATEST = 1e100
Z = 1.96


def value(store: Store, term: str, item: Item, now: int, seed: object) -> float:
    """The number that an item has under a term; 0 where something is missing."""
    name, _, rest = term.partition(".")
    if term in NAMED:
        return NAMED[term](store, item, now)
    if term in people.TERMS:
        return people.TERMS[term](store, item, now)
    if term == "shuffle":
        return uniform(seed, item["id"]) * math.sqrt(wilson(store, item, now) + 0.01)
    if name == "recency":
        return halved(age(item, now), float(rest[:-1]) * DURATIONS[rest[-1]])
    if name == "meta":
        return metadata(item, unquoted(rest))
    kind, _, of = rest.partition(".")
    if kind == "decayed":
        return readings.decayed(store, name, item["id"], now)
    if kind == "count":
        return readings.count(store, name, item["id"], of, now)
    if kind == "velocity":
        return readings.velocity(store, name, item["id"], of, now)
    assert kind == "ratio", term
    return readings.ratio(store, name, of, item["id"], now)


def age(item: Item, now: int) -> int:
    return int(now - item["created_at"])


def halved(age: float, half_life: float) -> float:
    """2^(-age / half-life); what is not yet made is new."""
    return float(2.0 ** (-max(age, 0) / half_life))


def unquoted(name: str) -> str:
    """A name of metadata as it is: printed it stands in quotes where it is no plain word."""
    return name[1:-1].replace("''", "'") if name.startswith("'") else name


def metadata(item: Item, name: str) -> float:
    """A number as it is, clipped; anything else is missing."""
    given = item["metadata"].get(name)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return 0.0
    return max(-GREATEST, min(float(given), GREATEST))


def engagement(store: Store, item: Item, now: int) -> float:
    weighed = ((1, "view"), (3, "like"), (5, "share"))
    return log1p(sum(weight * readings.decayed(store, name, item["id"], now) for weight, name in weighed))


def all_time(store: Store, item: Item, now: int, *names: str) -> list[int]:
    return [readings.total(store, name, item["id"], now) for name in names]


def hot(store: Store, item: Item, now: int) -> float:
    likes, dislikes = all_time(store, item, now, "like", "dislike")
    s = likes - dislikes
    sign = (s > 0) - (s < 0)
    return float(sign * math.log10(max(abs(s), 1)) / (max(age(item, now) / HOUR, 0) + 2) ** 1.8)


def rising(store: Store, item: Item, now: int) -> float:
    hour, day = (readings.count(store, "view", item["id"], window, now) for window in ("1h", "24h"))
    return (hour + 5) / (day / 24 + 5) * halved(age(item, now), 48 * HOUR)


def controversial(store: Store, item: Item, now: int) -> float:
    likes, dislikes = all_time(store, item, now, "like", "dislike")
    both = likes + dislikes
    return likes * dislikes / both**2 * math.log1p(both) if both else 0.0


def wilson(store: Store, item: Item, now: int) -> float:
    """The lower bound of the share of likes, by Wilson's score interval."""
    views, likes = all_time(store, item, now, "view", "like")
    n = max(views, likes)
    if not n:
        return 0.0
    p = likes / n
    middle = p + Z * Z / (2 * n)
    spread = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (middle - spread) / (1 + Z * Z / n)


def gem(store: Store, item: Item, now: int) -> float:
    (views,) = all_time(store, item, now, "view")
    return wilson(store, item, now) / math.log10(views + 10)


def uniform(seed: object, id: str) -> float:
    """A number from 0 to below 1: the top 53 bits of eight bytes of BLAKE2b."""
    digest = hashlib.blake2b(f"{seed}\x00{id}".encode(), digest_size=8).digest()
    return float((int.from_bytes(digest, "big") >> 11) / 2**53)


def reach(store: Store, item: Item, now: int) -> float:
    return float(readings.reach(store, item["id"], now))


def created_at(store: Store, item: Item, now: int) -> float:
    return float(item["created_at"] / SECOND)


NAMED = {
    "engagement": engagement,
    "hot": hot,
    "rising": rising,
    "controversial": controversial,
    "wilson": wilson,
    "gem": gem,
    "reach": reach,
    "created_at": created_at,
}


def log1p(x: float) -> float:
    return math.copysign(math.log1p(abs(x)), x)


def saturate(x: float, k: float) -> float:
    return x / (abs(x) + k)


def minmax(values: list[float]) -> list[float]:
    """From 0 for the least to 1 for the greatest of the candidates; 0 when all are equal."""
    least, greatest = min(values), max(values)
    return [(x - least) / (greatest - least) if greatest > least else 0.0 for x in values]


def rank(values: list[float]) -> list[float]:
    """The share of the other candidates that have less."""
    others = len(values) - 1
    return [sum(other < x for other in values) / others if others else 0.0 for x in values]
