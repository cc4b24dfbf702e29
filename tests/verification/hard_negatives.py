"""Every kind of query at once, what each may return to a user, and a process that changes it until killed."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Any

import germane
from germane import Diversity, Item, NotFound, Profile, Schema, Signal

USER = "ann"
WORKERS = ("one", "other")
"""Each changes its own items and creators alone, so that what was acknowledged tells how these stand."""
SIGNALS = (
    Signal("view", half_life="1d", affinity=0.2),
    Signal("like", half_life="7d", preference=0.3, affinity=1.0),
    Signal("share", half_life="7d"),
    Signal("dislike", half_life="7d", polarity=-1, preference=0.2, affinity=-1.0),
)
PROFILES = (
    Profile("exploring", boosts=["engagement", "again", "affinity"], exploration=0.5),
    Profile("near", candidates=["nearest(8)", "related(20)", "signal(again, 20)"], boosts=["preference"]),
    Profile("spread", boosts=["cooccurrence"], diversity={"mmr": 0.5, "max_per_creator": 1, "relax": True}),
)
WINDOWS = ("1h", "24h", "7d", "30d", "all")
WHOLE = ("new", "old", "hot", "shuffle", "controversial", "hidden_gems", "exploring", "spread")
"""Profiles that rank everything that a user may have."""
SOME = (
    "most_viewed", "most_liked", "most_shared", "rising", "trending", "for_you", "following", "notification",
    "near", *(f"top:{window}" for window in WINDOWS),
)  # fmt: skip
EXPLAINED: tuple[dict[str, Any], ...] = ({"profile": "new"}, {"profile": "for_you"}, {"text": "lamp"})
SCHEMA = Schema(SIGNALS, PROFILES)

Step = tuple[str, ...]


def items_of(worker: str) -> list[str]:
    return [f"{worker}-{number}" for number in range(6)]


def creators_of(worker: str) -> list[str]:
    return [f"{worker}-creator-{number}" for number in range(3)]


ITEMS = [id for worker in WORKERS for id in items_of(worker)]
CREATORS = [creator for worker in WORKERS for creator in creators_of(worker)]


@dataclass
class Known:
    """What was acknowledged: what is live, who made each, and what keeps some from the user."""

    creators: dict[str, str | None] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    relations: frozenset[tuple[str, str]] = frozenset()

    def after(self, step: Step) -> Known:
        kind, *told = step
        if kind == "put":
            id, creator, _ = told
            return Known({**self.creators, id: creator or None}, self.live | {id}, self.relations)
        if kind == "delete":
            return replace(self, live=self.live - {told[0]})
        if kind == "relate":
            return replace(self, relations=self.relations | {(told[0], told[1])})
        if kind == "unrelate":
            return replace(self, relations=self.relations - {(told[0], told[1])})
        return self

    def is_negative(self, id: str) -> bool:
        return ("hide", id) in self.relations or ("block", self.creators.get(id)) in self.relations

    @property
    def allowed(self) -> set[str]:
        return {id for id in self.live if not self.is_negative(id)}


def step(worker: str, dice: random.Random, known: Known) -> Step:
    """Return what a worker does next, mostly about what the user does not want to see."""
    mine, theirs = items_of(worker), creators_of(worker)
    live = [id for id in mine if id in known.live]
    standing = sorted(each for each in known.relations if each[1] in (*mine, *theirs))
    chance = dice.random()
    if not live or chance < 0.1:
        return "put", dice.choice(mine), dice.choice(["", *CREATORS]), str(dice.randrange(100))
    if chance < 0.35 and standing:
        return "unrelate", *dice.choice(standing)
    if chance < 0.6:
        relation = dice.choice(["hide", "block"])
        return "relate", relation, dice.choice(live if relation == "hide" else theirs)
    if chance < 0.66:
        return "delete", dice.choice(live)
    if chance < 0.7:
        return "relate", "follow", dice.choice(theirs)
    if chance < 0.74:
        return ("rebuild",)
    if chance < 0.85:
        return "many", dice.choice(["view", "like"]), *dice.choices(live, k=3)
    return "signal", dice.choice(["view", "like", "share", "dislike"]), dice.choice(live)


def do(db: germane.Database, step: Step) -> None:
    kind, *told = step
    if kind == "put":
        id, creator, number = told
        vector = [int(number) % 7 - 3, int(number) % 5, 1]
        db.put(Item(id=id, title=f"lamp {number}", creator=creator or None, tags=["t"], embedding=vector))
    elif kind == "delete":
        db.delete(told[0])
    elif kind in ("relate", "unrelate"):
        getattr(db, kind)(USER, *told)
    elif kind == "signal":
        db.signal(*told, user=USER)
    elif kind == "many":
        db.signal_many(
            [{"name": told[0], "item": id, "user": who} for id in told[1:] for who in (USER, "bob")]
        )
    else:
        db.rebuild()


def feed(db: germane.Database, profile: str, **more: Any) -> set[str]:
    """Return what all pages of a feed show."""
    page = db.retrieve(profile, user=USER, limit=5, **more)
    shown = [result.id for result in page.items]
    while page.cursor is not None:
        page = db.retrieve(cursor=page.cursor, limit=5)
        shown += [result.id for result in page.items]
    return set(shown)


def whole(db: germane.Database) -> Iterator[tuple[str, set[str]]]:
    """Yield what queries return that return all that the user may have."""
    for profile in WHOLE:
        yield f"RETRIEVE {profile}", ids(db.retrieve(profile, user=USER, limit=1000))
    for profile in ("new", "exploring", "spread"):
        yield f"pages of {profile}", feed(db, profile)
    yield "candidates=", ids(db.retrieve("for_you", user=USER, candidates=ITEMS, limit=1000))
    yield (
        "where=",
        ids(db.retrieve("new", user=USER, where="not creator = 'x' or kind = 'default'", limit=1000)),
    )
    yield "collections=", ids(db.retrieve("new", user=USER, collections=["main"], limit=1000))
    yield "text of RETRIEVE", ids(db.query(f"RETRIEVE items FOR USER {USER} USING PROFILE new LIMIT 1000"))
    yield "text of SEARCH", ids(db.query(f'SEARCH "lamp" FOR USER {USER} LIMIT 1000'))
    yield "top", set(db.top("lamp", 1000, user=USER)[0])
    for profile in ("search", "new", "for_you", "trending", "exploring"):
        yield f"SEARCH with {profile}", ids(db.search("lamp", user=USER, profile=profile, limit=1000))
    parts = [db.search("lamp", user=USER, offset=offset, limit=4) for offset in range(0, len(ITEMS), 4)]
    yield "parts of SEARCH", set().union(*map(ids, parts))


def some(db: germane.Database) -> Iterator[tuple[str, set[str]]]:
    """Yield what queries return that return a part of it."""
    for profile in SOME:
        yield f"RETRIEVE {profile}", ids(db.retrieve(profile, user=USER, limit=1000))
    yield "pages of for_you", feed(db, "for_you", seed=1)
    for seed in range(3):
        yield "exploration", ids(db.retrieve("exploring", user=USER, limit=2, seed=seed))
    for id in ITEMS[::3]:
        try:
            yield f"related to {id}", ids(db.retrieve(f"related:{id}", user=USER, limit=1000))
            yield f"similar to {id}", ids(db.retrieve("new", user=USER, similar_to=id, limit=1000))
        except NotFound:
            continue
    for limits in (Diversity(max_per_creator=1, relax=True), Diversity(mmr=0.3)):
        yield "diversity", ids(db.retrieve("new", user=USER, diversity=limits, limit=1000))


def ids(page: germane.Page) -> set[str]:
    return {result.id for result in page.items}


class Feeds:
    """Feeds that were begun earlier, of which a page is looked at now and then."""

    def __init__(self) -> None:
        self._cursors: list[str] = []

    def begin(self, db: germane.Database) -> None:
        for profile in ("new", "for_you", "exploring", "spread"):
            page = db.retrieve(profile, user=USER, limit=1, seed=3)
            self._cursors += [page.cursor] if page.cursor else []
        self._cursors = self._cursors[-12:]

    def next_pages(self, db: germane.Database, more: list[str]) -> Iterator[tuple[str, set[str]]]:
        for cursor in (*self._cursors, *more):
            yield "a feed begun before", ids(db.retrieve(cursor=cursor, limit=1000))

    @property
    def last(self) -> list[str]:
        return self._cursors[-4:]


def explained(db: germane.Database) -> Iterator[tuple[str, str, list[str]]]:
    """Yield for each item and a kind of query the codes that explain why it is not there."""
    turn = db.stats().events % 3
    for id, asked in zip(ITEMS, islice(cycle(EXPLAINED), turn, None), strict=False):
        try:
            why = db.explain(id, user=USER, limit=1000, **asked)
        except NotFound:
            continue
        yield id, str(asked), [reason.code for reason in why.absence]


def look(db: germane.Database, feeds: Feeds, cursors: list[str]) -> dict[str, Any]:
    """Ask everything, and begin feeds for the next time."""
    found = {
        "whole": [(name, sorted(shown)) for name, shown in whole(db)],
        "some": [(name, sorted(shown)) for name, shown in (*some(db), *feeds.next_pages(db, cursors))],
        "explained": list(explained(db)),
    }
    feeds.begin(db)
    return found


def check(found: dict[str, Any], known: Known) -> None:
    """Hold what a process returned against what was acknowledged before it was asked."""
    for name, shown in found["whole"]:
        assert set(shown) == known.allowed, name
    for name, shown in found["some"]:
        assert set(shown) <= known.allowed, name
    for id, asked, codes in found["explained"]:
        if id in known.live:
            assert codes == (["HardNegative"] if known.is_negative(id) else codes), (id, asked)
            assert ("HardNegative" in codes) == known.is_negative(id), (id, asked)


def work(path: str, worker: str, seed: str, told: str) -> None:
    """Do a step and ask everything for each line that comes in; say what was done as soon as it is done."""
    dice, feeds, known = random.Random(int(seed)), Feeds(), decoded(told)
    with germane.open(path) as db:
        for line in sys.stdin:
            made = step(worker, dice, known)
            print(json.dumps(made), flush=True)
            do(db, made)
            known = known.after(made)
            print('"done"', flush=True)
            print(json.dumps(look(db, feeds, json.loads(line))), flush=True)


def encoded(known: Known) -> str:
    return json.dumps([known.creators, sorted(known.live), sorted(known.relations)])


def decoded(told: str) -> Known:
    creators, live, relations = json.loads(told)
    return Known(creators, frozenset(live), frozenset((relation, target) for relation, target in relations))


if __name__ == "__main__":
    work(*sys.argv[1:])
