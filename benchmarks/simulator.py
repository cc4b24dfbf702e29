"""A world of users whose tastes are known: how near do feeds and searches come to the best that there is?

Every user likes every item by a chance that is known here and to nobody else: a product of what the item is
worth and of how well its subjects fit the user's taste. A page is read from the top, each place less often
than the one above; what is read is liked by that chance, and told to the store with page and position. So
what a page is worth can be computed, and so can the best page. Halfway all tastes change at once.

python -m benchmarks.simulator
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from germane import Item, Page, Profile, Schema, Signal
from germane.signals.decay import FloatArray

ITEMS, USERS, SUBJECTS = 400, 20, 6
NAMES = ("amber", "birch", "cedar", "daisy", "ember", "fjord")
PLACES = 10
VISITS = 3_200
STRETCHES = 16
"""Equal parts of the visits; the tastes change after half of them."""
MINUTES = 10
START = 1_700_000_000.0
SEED = 4
NEAR = 0.9
"""The share of the level before the change at which a ranking has adapted."""

TASTE = [
    "0.3 saturate(1)(again)",
    "0.1 saturate(1)(cooccurrence)",
    "0.3 saturate(3)(engagement)",
]
PROFILES = [
    Profile("most_liked_ever", boosts=["like.count.all"]),
    Profile("engagement", boosts=["engagement"]),
    Profile("personal", candidates=["all"], boosts=TASTE),
    Profile("personal_explore", candidates=["all"], boosts=TASTE, exploration=0.2),
    Profile("neighbours", candidates=["all"], boosts=["saturate(1)(cooccurrence)", "0.1 engagement"],
            exploration=0.2),
]  # fmt: skip
FEEDS = ("shuffle", *(profile.name for profile in PROFILES), "for_you")
DIALS = (0.0, 0.3, 0.6, 1.0)


@dataclass
class World:
    """Items and users as they really are.

    Parameters
    ----------
    subjects : float64[items, subjects]
        What items are about, each row of length one.
    worth : float64[items]
        The chance that an item is liked by those whom it fits.
    tastes : float64[users, subjects]
        What users like, each row of length one.
    """

    subjects: FloatArray
    worth: FloatArray
    tastes: FloatArray

    @classmethod
    def drawn(cls, random: np.random.Generator) -> World:
        """Return a world."""
        return cls(_units(random, ITEMS), random.beta(2, 3, ITEMS), _units(random, USERS))

    def appeal(self, user: int) -> FloatArray:
        """Return by what chance a user likes each item that they read: float64[items]."""
        fit: FloatArray = 1 / (1 + np.exp(-12 * (self.subjects @ self.tastes[user] - 0.6)))
        return fit * self.worth


def _units(random: np.random.Generator, count: int) -> FloatArray:
    drawn = random.dirichlet(np.full(SUBJECTS, 0.3), count)
    units: FloatArray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return units


READ = 1 / np.log2(np.arange(PLACES) + 2)
"""By what chance each place of a page is read."""

Ask = Callable[[germane.Database, int], tuple[Page, FloatArray]]
"""Asks for a page for a user; returns it, and the appeal of all that it could have shown."""


def run(world: World, ask: Ask, random: np.random.Generator) -> list[float]:
    """Let users visit, and return for each stretch what share of the best pages the pages were worth."""
    now = START
    tastes = _units(random, USERS)
    schema = Schema([Signal("view", half_life="7d"), Signal("like", half_life="7d")], PROFILES)
    db = germane.open(None, schema, clock=lambda: now)
    subject = world.subjects.argmax(axis=1)
    # Texts say their subject more or less often: what ranks them has nothing to do with tastes.
    said, beside = np.random.default_rng(SEED).integers(1, 60, (2, ITEMS)).tolist()
    db.put_many(
        Item(
            id=str(n),
            title=NAMES[subject[n]] if said[n] < 10 else "Note",
            body=f"{NAMES[subject[n]]} " * (said[n] % 7 + 1) + "something else " * beside[n],
            creator=f"c{n % 50}",
            created_at=START,
        )
        for n in range(ITEMS)
    )
    got, best = np.zeros(STRETCHES), np.zeros(STRETCHES)
    for visit in range(VISITS):
        if visit == VISITS // 2:
            world = World(world.subjects, world.worth, tastes)
        now += MINUTES * 60
        user = int(random.integers(USERS))
        page, possible = ask(db, user)
        shown = np.array([int(str(result.id)) for result in page.items], np.int64)
        appeal = world.appeal(user)
        stretch = visit * STRETCHES // VISITS
        got[stretch] += float(appeal[shown] @ READ[: len(shown)])
        top = np.sort(appeal[possible > 0])[::-1][:PLACES]
        best[stretch] += float(top @ READ[: len(top)])
        read = random.random(len(shown)) < READ[: len(shown)]
        liked = random.random(len(shown)) < appeal[shown]
        for place in np.flatnonzero(read & liked).tolist():
            db.signal("like", str(shown[place]), user=f"u{user}", page=page.id or None, position=place)
    db.close()
    return [float(share) for share in got / best]


def feed(profile: str) -> Ask:
    """Return what asks a profile for a feed."""
    everything = np.ones(ITEMS)

    def ask(db: germane.Database, user: int) -> tuple[Page, FloatArray]:
        return db.retrieve(profile, user=f"u{user}", limit=PLACES), everything

    return ask


def searching(world: World, dial: float, random: np.random.Generator) -> Ask:
    """Return what searches for the items about a subject, personalised by a dial."""
    subject = world.subjects.argmax(axis=1)

    def ask(db: germane.Database, user: int) -> tuple[Page, FloatArray]:
        wanted = int(random.integers(SUBJECTS))
        page = db.search(
            NAMES[wanted], user=f"u{user}", profile="personal", personalization=dial, limit=PLACES
        )
        return page, (subject == wanted).astype(np.float64)

    return ask


def told(name: str, shares: list[float]) -> dict[str, Any]:
    """Return the figures of one ranking."""
    half = STRETCHES // 2
    level = shares[half - 1]
    visits = VISITS // STRETCHES / USERS

    def until(part: list[float]) -> float | None:
        reached = next((number for number, share in enumerate(part) if share >= NEAR * level), None)
        return None if reached is None else (reached + 1) * visits

    return {
        "name": name,
        "shares": shares,
        "before_the_change": level,
        "after_the_change": shares[half],
        "at_the_end": shares[-1],
        "visits_to_learn": until(shares[:half]),
        "visits_to_adapt": until(shares[half:]),
    }


def main() -> None:
    """Run every feed, and searches at every dial."""
    argparse.ArgumentParser(prog="python -m benchmarks.simulator", description=__doc__).parse_args()
    busy, world = load(), World.drawn(np.random.default_rng(SEED))
    feeds, searches = [], []
    for profile in FEEDS:
        feeds.append(told(profile, run(world, feed(profile), np.random.default_rng(SEED + 1))))
        print(feeds[-1])
    for dial in DIALS:
        ask = searching(world, dial, np.random.default_rng(SEED + 2))
        searches.append(told(f"{dial:g}", run(world, ask, np.random.default_rng(SEED + 1))))
        print(searches[-1])
    settings = {"items": ITEMS, "users": USERS, "visits": VISITS, "stretches": STRETCHES, "near": NEAR}
    found = {"environment": environment(load_before=busy), "settings": settings}
    print(f"written to {save('simulator', {**found, 'feeds': feeds, 'searches': searches})}")


if __name__ == "__main__":
    main()
