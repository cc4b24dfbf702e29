"""RETRIEVE: candidates, scores, order, and the pages that are cut from it."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import people, terms
from .profiles import Profile, origin, parse_form, parse_gate, parse_strategy, summands
from .readings import Store
from .terms import Item

SIMILAR = 500


@dataclass(frozen=True)
class Hit:
    id: str
    raw: float
    score: float
    contributions: list[tuple[str, float]]


@dataclass(frozen=True)
class Page:
    """A page by rank; what was held back is counted by the first limit that held it."""

    ids: list[str]
    held_back: dict[str, int]


def begun(store: Store, profile: Profile) -> Store:
    """A store with the item that a profile starts from."""
    return {**store, "origin": origin(profile)}


def candidates(
    store: Store,
    profile: Profile,
    now: int,
    *,
    seed: object = 0,
    ids: Iterable[str] | None = None,
    similar_to: str | None = None,
    collections: Collection[str] | None = None,
    where: Callable[[Item], bool] | None = None,
    hidden: Collection[str] = (),
    blocked: Collection[str] = (),
) -> list[Item]:
    """C: strategies united, live, in the collections, meeting the filter, not hidden, and past the gates."""
    store = begun(store, profile)
    live = [item for item in store["items"] if item["live"]]
    chosen: set[str] = set()
    strategies = profile.get("candidates", ["all"])
    if ids is not None:
        chosen |= set(ids)
        strategies = strategies if "ids" in strategies else []
    if similar_to is not None:
        (one,) = (item for item in live if item["id"] == similar_to)
        others = [item for item in live if item is not one]
        chosen = {item["id"] for item in people.nearest(store, others, one["embedding"], SIMILAR)}
        strategies = []
    for text in strategies:
        kind, term, n = parse_strategy(text)
        if kind == "all":
            chosen |= {item["id"] for item in live}
        elif kind == "fresh":
            chosen |= {item["id"] for item in sorted(live, key=lambda i: (-i["created_at"], i["id"]))[:n]}
        elif kind == "signal":
            values = [(-terms.value(store, term, item, now, seed), item["id"]) for item in live]
            chosen |= {id for _, id in sorted(pair for pair in values if pair[0] < 0)[:n]}
        elif kind == "nearest":
            chosen |= {item["id"] for item in people.nearest(store, live, people.leaning(store, now), n)}
        elif kind == "following":
            chosen |= {item["id"] for item in people.following(store, live, n)}
        elif kind == "related":
            chosen |= {item["id"] for item in people.related(store, live, term, n, now)}
    found = [item for item in live if item["id"] in chosen]
    if profile.get("unseen"):
        found = [item for item in found if item["id"] not in people.seen(store, now)]
    found = [item for item in found if collections is None or item["collection"] in collections]
    found = [item for item in found if where is None or where(item)]
    found = [item for item in found if item["id"] not in hidden and item["creator"] not in blocked]
    for gate in profile.get("gates", ()):
        term, threshold = parse_gate(gate)
        found = [item for item in found if terms.value(store, term, item, now, seed) >= threshold]
    return found


def form_values(store: Store, form: str, found: list[Item], now: int, seed: object = 0) -> list[float]:
    """The value of a form for every candidate."""
    term, transforms = parse_form(form)
    values = [terms.value(store, term, item, now, seed) for item in found]
    for name, k in transforms:
        if name == "log1p":
            values = [terms.log1p(x) for x in values]
        elif name == "saturate":
            values = [terms.saturate(x, k) for x in values]
        else:
            values = {"minmax": terms.minmax, "rank": terms.rank}[name](values) if values else []
    return values


def scored(store: Store, profile: Profile, found: list[Item], now: int, seed: object = 0) -> dict[str, Hit]:
    """What every candidate scores, and what of."""
    store = begun(store, profile)
    contributions: list[list[tuple[str, float]]] = [[] for _ in found]
    for name, weight, form in summands(profile):
        for listed, x in zip(contributions, form_values(store, form, found, now, seed), strict=True):
            listed.append((name, weight * x))
    raws = [left_to_right(listed) for listed in contributions]
    shown = [1.0] * len(raws)
    if raws and max(raws) > min(raws):
        shown = [(raw - min(raws)) / (max(raws) - min(raws)) for raw in raws]
    rows = zip(found, raws, shown, contributions, strict=True)
    return {item["id"]: Hit(item["id"], raw, score, listed) for item, raw, score, listed in rows}


def left_to_right(contributions: Iterable[tuple[str, float]]) -> float:
    raw = 0.0
    for _, value in contributions:
        raw += value
    return raw


def order(
    found: list[Item],
    raws: Mapping[str, float],
    muted_creators: Collection[str] = (),
    muted_items: Collection[str] = (),
) -> list[Item]:
    """By (muted, -raw, id by code point)."""

    def place(item: Item) -> tuple[bool, float, str]:
        muted = item["creator"] in muted_creators or item["id"] in muted_items
        return muted, -raws[item["id"]], item["id"]

    return sorted(found, key=place)


def pages(ordered: list[Item], profile: Profile, limit: int) -> list[Page]:
    """All pages by rank: one greedy pass a page, over what the page before held back and then the rest.

    Without limits of diversity they are plain slices.
    """
    made, left = [], list(ordered)
    while left:
        page, held = one_page(left, profile, limit)
        made.append(page)
        shown = set(page.ids)
        left = [item for item in left if item["id"] not in shown]
        assert shown, "a page that shows nothing would be followed by itself"
        assert not held - {item["id"] for item in left}
    return made


def one_page(ordered: list[Item], profile: Profile, limit: int) -> tuple[Page, set[str]]:
    """Take items in order while they keep within the limits; `relax` fills the page with what is left."""
    shown: list[Item] = []
    held: list[tuple[Item, str]] = []
    for item in ordered:
        if len(shown) == limit:
            break
        broken = first_limit_broken(item, shown, profile, limit)
        if broken:
            held.append((item, broken))
        else:
            shown.append(item)
    if profile.get("relax"):
        shown += [item for item, _ in held[: limit - len(shown)]]
    kept = {item["id"] for item in shown}
    counts: dict[str, int] = {}
    for item, broken in held:
        if item["id"] not in kept:
            counts[broken] = counts.get(broken, 0) + 1
    return Page([item["id"] for item in shown], counts), {item["id"] for item, _ in held} - kept


def first_limit_broken(item: Item, shown: list[Item], profile: Profile, limit: int) -> str | None:
    most = profile.get("max_per_creator")
    if most is not None and item["creator"] is not None:
        creators = [other["creator"] for other in shown]
        if creators.count(item["creator"]) >= most:
            return "max_per_creator"
    for field, share in profile.get("max_share", {}).items():
        cap = max(1, math.floor(Fraction(str(share)) * limit))
        for value in field_values(item, field):
            if sum(value in field_values(other, field) for other in shown) >= cap:
                return f"max_share {field}"
    return None


def field_values(item: Item, field: str) -> list[Any]:
    """The values of a field as a list; none where it is missing. True is not 1."""
    name, _, key = field.partition(".")
    given = item["metadata"].get(key) if name == "meta" else item[name]
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    return [(isinstance(value, bool), value) for value in values if value is not None]


def slots(share: float, limit: int) -> list[int]:
    """Where a page of exploration shows what it would not show by rank, from 0. The share is as printed."""
    exact = Fraction(str(share))
    return [math.floor((i + 1) / exact) - 1 for i in range(math.floor(exact * limit))]


def eligible(
    found: list[Item], by_rank: Collection[str], now: int, seen: Collection[str] = (), known: Any = ()
) -> set[str]:
    """What exploration draws from: unseen, not shown anyway, and new or by a creator unknown to the user.

    Who has no creator is by no unknown one.
    """
    return {
        item["id"]
        for item in found
        if item["id"] not in seen
        and item["id"] not in by_rank
        and (terms.age(item, now) < 24 * terms.HOUR or item["creator"] not in (None, *known))
    }
