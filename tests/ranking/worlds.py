"""Random stores, profiles and queries, as plain values for the oracle and as calls of the product."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import germane
from germane import Item, Profile, Schema, Signal, where
from oracle import people
from oracle.profiles import BUILT_IN, WITH_HISTORY, related
from oracle.readings import SECOND, Store

START = 1_700_000_000 * SECOND
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
SIGNALS = ("view", "like", "dislike", "share", "clap")
WINDOWS = ("1h", "24h", "7d", "30d", "all")
HALF_LIVES = (None, 1, 3_600, 86_400, 7 * 86_400, 3_652 * 86_400)
USER = "me"
VECTORS = (None, [0, 0, 0], [1, 2, 2], [1, 2, 2], [-1, 0.5, 3], [0.1, -7, 0.25], [2, -1, 0], [-3, 1, 1e-3])
"""As float32 has them, so that both sides know the same."""
TASTES = ("preference", "affinity", "again", "cooccurrence", "cosine", "shared_tags")
CREATORS = (None, "ann", "bob", "cy", "di")
IDS = ("a", "é", "𝒳", "\uffee", "z", "B", "a b")
PRICES = (0, 1, 1, 2, 2.5, -3, 0.1, 1e200, -1e200, (1 << 53) + 1, "2", True, [1, 2], None, None)
FORMATS = (None, "clip", "clip", "film", 1, True, 1.0)
KEYS = ("meta.price", "meta.'odd name'")
AGES = (0, 0, HOUR, DAY, DAY, DAY + 1, 2 * DAY, 40 * DAY, 30 * 365 * DAY, -HOUR, -5 * 365 * DAY)
EVENT_AGES = (
    0,
    0,
    1,
    59,
    60,
    3_599,
    3_600,
    3_660,
    86_400,
    100_000,
    604_800,
    2_592_000,
    900_000_000,
    -60,
    -300,
)

Filter = tuple[Any, Callable[[dict[str, Any]], bool]]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


FILTERS: tuple[Filter, ...] = (
    (
        where.meta.price < 2,
        lambda it: is_number(it["metadata"].get("price")) and it["metadata"]["price"] < 2,
    ),
    ("creator in ('ann', 'bob')", lambda it: it["creator"] in ("ann", "bob")),
    (
        "tags contains 'x' and not collection = 'other'",
        lambda it: "x" in it["tags"] and it["collection"] != "other",
    ),
    (where.id >= "b", lambda it: it["id"] >= "b"),
    ("meta.format = 'clip' or creator = 'di'", lambda it: is_clip(it) or it["creator"] == "di"),
    ("creator = 'nobody'", lambda it: False),
)


def is_clip(item: dict[str, Any]) -> bool:
    return bool(item["metadata"].get("format") == "clip")


class World:
    """A store that grows by phases, and the same as plain values.

    Parameters
    ----------
    seed : int
    items, events : int
        How many there are, about.
    """

    def __init__(self, seed: int, items: int, events: int) -> None:
        self.dice = random.Random(seed)
        dice = self.dice
        self.now = START + dice.choice([0, 20 * SECOND, 12_345_678])
        self.negative = dice.random() < 0.3
        self.declared: dict[str, dict[str, Any]] = {
            name: {
                "half_life": dice.choice(HALF_LIVES),
                "windows": [window for window in WINDOWS if dice.random() < 0.7] or ["1h"],
                "polarity": dice.choice([1, 1, -1]),
                "preference": dice.choice([0, 0.1, 0.002, 1]),
                "affinity": dice.choice([0, 1, -1, 0.25, -0.3]),
                "affinity_half_life": dice.choice([3_600, 2 * 86_400, 30 * 86_400]),
            }
            for name in dice.sample(SIGNALS, dice.randint(1, len(SIGNALS)))
        }
        self.size, self.number = items, events
        self.known: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.relations: dict[str, set[str]] = {
            relation: set() for relation in ("mute", "hide", "block", "follow", "save")
        }
        self.profiles = {f"p{number}": self.profile() for number in range(3)}
        self.db = germane.open(schema=self.schema(), clock=lambda: self.now / SECOND)

    # Declarations.

    def schema(self) -> Schema:
        signals = [
            Signal(
                name,
                half_life=declared["half_life"],
                windows=declared["windows"],
                velocity=declared["windows"] != ["all"],
                **{field: declared[field] for field in ("polarity", "preference", "affinity")},
                affinity_half_life=declared["affinity_half_life"],
            )
            for name, declared in self.declared.items()
        ]
        return Schema(signals, [declared(name, profile) for name, profile in self.profiles.items()])

    def term(self) -> str:
        dice, name = self.dice, self.dice.choice(list(self.declared))
        windows = self.declared[name]["windows"]
        readings = [f"{name}.decayed", f"{name}.count.{dice.choice(windows)}"]
        readings += [f"{name}.ratio.{dice.choice(list(self.declared))}"]
        if windows != ["all"]:
            readings.append(f"{name}.velocity.{dice.choice(windows)}")
        others = [
            *KEYS, "reach", "recency.48h", "recency.1h", "recency.30d", "created_at", "engagement", "hot",
            "rising", "controversial", "wilson", "gem", "shuffle",
        ]  # fmt: skip
        return dice.choice(dice.choice([readings, others, TASTES]))

    def form(self, transforms: tuple[str, ...]) -> str:
        form = self.term()
        for _ in range(self.dice.choice([0, 0, 1, 2])):
            form = self.dice.choice(transforms).format(form)
        return form

    def profile(self) -> dict[str, Any]:
        dice = self.dice
        transforms: tuple[str, ...] = ("log1p({})", "saturate(3)({})", "saturate(0.001)({})")
        candidates = ["all"]
        if dice.random() < 0.6:
            transforms += ("minmax({})", "rank({})")
            made = [
                f"signal({self.term()}, {dice.choice([1, 3, 10, 1000])})",
                f"signal({dice.choice(TASTES)}, {dice.choice([1, 3, 10, 1000])})",
                f"fresh({dice.choice([1, 5, 20, 1000])})",
                f"nearest({dice.choice([1, 3, 10, 1000])})",
                f"following({dice.choice([1, 3, 1000])})",
                f"related({dice.choice([1, 4, 1000])})",
                f"related({dice.choice(IDS)}{dice.randrange(3)}, {dice.choice([1, 4, 1000])})",
                "ids",
            ]
            candidates = dice.sample(made, dice.randint(1, 3))
        profile: dict[str, Any] = {"candidates": candidates}
        if dice.random() < 0.2:
            profile["sort"] = dice.choice(["", "-"]) + self.form(transforms)
        else:
            for field, most in (("boosts", 4), ("penalties", 2)):
                forms = dict.fromkeys(self.form(transforms) for _ in range(dice.randint(0, most)))
                profile[field] = [self.weighted(form) for form in forms]
        profile["gates"] = [
            f"{self.term()} >= {dice.choice([0, 1, 2, 0.37, 5, -1])}"
            for _ in range(dice.choice([0, 0, 1, 2]))
        ]
        profile["exploration"] = dice.choice([0.0, 0.0, 0.0, 0.1, 0.3, 0.5])
        return profile

    def weighted(self, form: str) -> str:
        weight = self.dice.choice(["", "", "0.5 ", "2 ", "-1 ", "-0.7 ", "1000000 ", "0 ", "0.1 "])
        return weight + form

    # Writes.

    def write(self) -> None:
        """One phase: put, delete, record, and let time pass."""
        dice = self.dice
        for _ in range(self.size // 2 if self.known else self.size):
            self.put(dice.choice(IDS) + str(dice.randrange(1 + self.size // 4)))
        for id in dice.sample(sorted(self.known), len(self.known) // 10):
            self.db.delete(id)
            self.known[id]["live"] = False
        self.relate()
        self.record([self.event() for _ in range(self.number // 2)])
        self.now += dice.choice([0, 1, 59 * SECOND, HOUR, DAY, 8 * DAY])
        self.record([self.event() for _ in range(self.number // 2)])
        self.now += dice.choice([0, 1, 30 * SECOND, 300 * SECOND, 45 * DAY])

    def put(self, id: str) -> None:
        dice = self.dice
        vector = dice.choice(VECTORS)
        values = {
            "price": dice.choice(PRICES),
            "format": dice.choice(FORMATS),
            "odd name": dice.choice(PRICES),
        }
        item: dict[str, Any] = {
            "creator": dice.choice(CREATORS),
            "collection": dice.choice(["main", "main", "other"]),
            "tags": tuple(dice.sample(["x", "y", "z"], dice.choice([0, 1, 2]))),
            "metadata": {name: value for name, value in values.items() if value is not None},
            "embedding": vector and [float(np.float32(number)) for number in vector],
        }
        created_at = self.now - dice.choice(AGES)
        self.db.put(Item(id=id, created_at=created_at / SECOND, **item))
        self.known[id] = {"id": id, "created_at": created_at, "live": True, **item}

    def relate(self) -> None:
        """Let one user relate to items and creators in every way, and undo some of it."""
        dice, creators = self.dice, [creator for creator in CREATORS if creator]
        for relation, among in (
            ("mute", [*dice.sample(sorted(self.known), len(self.known) // 6), *creators]),
            ("hide", sorted(self.known)),
            ("block", creators),
            ("follow", creators),
            ("save", sorted(self.known)),
        ):
            for target in dice.sample(among, min(len(among), dice.choice([0, 0, 1, 3]))):
                live = target in creators or self.known[target]["live"]
                if live:
                    self.db.relate(USER, relation, target)
                    self.relations[relation].add(target)
            for target in sorted(self.relations[relation]):
                if dice.random() < 0.3:
                    self.db.unrelate(USER, relation, target)
                    self.relations[relation].discard(target)

    def event(self) -> dict[str, Any] | None:
        dice = self.dice
        live = [id for id, item in self.known.items() if item["live"]]
        if not live:
            return None
        weights = [1.0, 1.0, 2.0, 0.5, 0.3] + [-1.0] * self.negative
        return {
            "name": dice.choice(list(self.declared)),
            "item": dice.choice(live[: 1 + len(live) // 2]),
            "weight": dice.choice(weights),
            "at": self.now - dice.choice(EVENT_AGES) * SECOND,
            "user": dice.choice([None, "u", "v", "w", "ü", USER, USER]),
        }

    def record(self, events: list[dict[str, Any] | None]) -> None:
        made = [event for event in events if event is not None]
        rows = [{**event, "at": event["at"] / SECOND} for event in made]
        half = self.dice.randrange(len(rows) + 1)
        for row in rows[:half]:
            self.db.signal(**row)
        self.db.signal_many(rows[half:])
        for event in made:
            item = self.known[event["item"]]
            then = {field: item[field] for field in ("creator", "embedding")}
            self.events.append({**event, **then, "recorded_at": self.now})

    def store(self, user: str | None = None) -> Store:
        """The store as the oracle takes it, for a user."""
        return {
            "signals": self.declared,
            "items": list(self.known.values()),
            "events": self.events,
            "user": user,
            "follows": self.relations["follow"] if user == USER else (),
            "pairs": {},
        }

    # Queries.

    def query(self) -> dict[str, Any]:
        """A profile by name and as plain values, and the options of a call."""
        dice = self.dice
        of_people = dice.choice(["for_you", "following", "notification", "related"])
        name = dice.choice(
            [*self.profiles, *self.profiles, dice.choice(list(BUILT_IN)), of_people, of_people]
        )
        profile = (self.profiles | BUILT_IN | {"related": {}})[name]
        live = sorted(id for id, item in self.known.items() if item["live"])
        user = dice.choice([None, USER, USER, "u", "stranger"])
        if name == "related" and live:
            id = dice.choice(live)
            name, profile = f"related:{id}", related(id)
        elif name == "related":
            name, profile = "new", BUILT_IN["new"]
        elif name == "for_you" and people.has_history(self.store(user)):
            profile = WITH_HISTORY
        limits: dict[str, Any] = {}
        if dice.random() < 0.5:
            limits = {
                "max_per_creator": dice.choice([None, 1, 2]),
                "max_share": dict(
                    dice.sample([("meta.format", 0.6), ("tags", 0.3), ("creator", 0.29)], dice.randint(0, 2))
                ),
                "relax": dice.random() < 0.3,
            }
        nothing: dict[str, set[str]] = {relation: set() for relation in self.relations}
        ids = None
        if dice.random() < 0.3:
            ids = [*dice.sample(sorted(self.known), len(self.known) // 2), "nobody"]
        return {
            "user": user,
            "relations": self.relations if user == USER else nothing,
            "name": name,
            "profile": profile,
            "similar_to": dice.choice(live) if live and ids is None and dice.random() < 0.1 else None,
            "ids": ids,
            "collections": dice.choice([None, None, None, ["main"], ["other", "none"], []]),
            "filter": dice.choice([None, None, *FILTERS]),
            "seed": dice.choice([1, "s", 2]),
            "limits": limits,
            "limit": dice.choice([1, 2, 5, 10, 20]),
        }


def declared(name: str, profile: dict[str, Any]) -> Profile:
    return Profile(name, **profile)
