"""Feedback loops in a simulated world: a system shows pages, users react, and only that system hears of it.

All systems meet the same users, who draw the same numbers: who would like an item at one visit does so
whichever system shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

import germane
from benchmarks.world import (
    EXAMINED,
    NEWCOMERS,
    PLACES,
    ROUNDS,
    THEMES,
    USERS,
    World,
    best_for_all,
    best_possible,
    moment,
    name,
    utility,
)
from germane import Profile, Schema, Signal
from germane.signals.decay import FloatArray, IntArray

SIGNALS = [
    Signal("view", half_life="7d"),
    Signal("like", half_life="14d", preference=0.3, affinity=1.0),
    Signal("skip", half_life="14d", polarity=-1, preference=0.3, affinity=-1.0),
]
"""What a schema would say: here a skip tells as much against an item as a like tells for it."""
FAINT = [*SIGNALS[:2], Signal("skip", half_life="14d", polarity=-1, preference=0.1, affinity=-0.3)]
"""Another, which makes less of skips."""
SKIPS = 0.5
"""How often a user who read an item and would not like it says so."""

Event = tuple[str, int, int]
"""What was done, the user, the item."""


class System(Protocol):
    """What shows pages and hears what became of them."""

    def begin(self, at: int) -> None:
        """Take in the items that are new in a round."""

    def page(self, at: int, user: int, theme: int) -> Sequence[int]:
        """Return the items to show to a user; those of a theme, where pages are searches."""

    def hear(self, events: list[Event]) -> None:
        """Take in what users did in a round."""


class Store:
    """A store of its own, asked for feeds or for searches.

    Parameters
    ----------
    world : World
    profile : str or Profile
        A declared profile, or the name of a built-in one.
    dial : float, optional
        Searches, personalised so much.
    cold : Profile, optional
        What users without history are to see: their first pages are compared with it.
    signals : sequence of Signal
    """

    def __init__(
        self,
        world: World,
        profile: str | Profile,
        dial: float | None = None,
        cold: Profile | None = None,
        signals: Sequence[Signal] = SIGNALS,
    ) -> None:
        self._world = world
        self._now = moment(0)
        declared = [each for each in (profile, cold) if isinstance(each, Profile)]
        schema = Schema(signals, declared, impressions=False)
        self.db = germane.open(None, schema, clock=lambda: self._now)
        self._profile = profile.name if isinstance(profile, Profile) else profile
        self._dial = dial
        self._cold = None if cold is None else cold.name
        self._number = {name(number): number for number in range(len(world.comes))}
        self._met: set[int] = set()
        self.first_pages: list[bool] = []

    def begin(self, at: int) -> None:
        """Put the items that are new."""
        self._now = moment(at)
        self.db.put_many(self._world.items(at))

    def page(self, at: int, user: int, theme: int) -> list[int]:
        """Retrieve, or search."""
        found = self._asked(self._profile, at, user, theme)
        if self._cold is not None and user not in self._met:
            self.first_pages.append(found == self._asked(self._cold, at, user, theme))
            self._met.add(user)
        return found

    def _asked(self, profile: str, at: int, user: int, theme: int) -> list[int]:
        whose = f"user{user}"
        if self._dial is None:
            page = self.db.retrieve(profile, user=whose, limit=PLACES, seed=f"{at} {user}")
        else:
            page = self.db.search(
                f"theme{theme}", user=whose, profile=profile, personalization=self._dial, limit=PLACES
            )
        return [self._number[str(result.id)] for result in page.items]

    def hear(self, events: list[Event]) -> None:
        """Record signals."""
        names, users, items = zip(*events, strict=True)
        self.db.signal_many(
            {
                "name": names,
                "user": [f"user{user}" for user in users],
                "item": [name(item) for item in items],
            }
        )


@dataclass
class Run:
    """What became of a system, by rounds.

    Parameters
    ----------
    got, newcomers : list of float
        Expected likes of the pages shown to all users, and to newcomers.
    events : list of int
        What the users did.
    """

    got: list[float] = field(default_factory=list)
    newcomers: list[float] = field(default_factory=list)
    events: list[int] = field(default_factory=list)

    def add(self, worth: dict[int, float], events: int) -> None:
        """Add a round: what the page of each user was worth, and how much they did."""
        self.got.append(sum(worth.values()))
        self.newcomers.append(sum(worth[user] for user in worth if user >= USERS - NEWCOMERS))
        self.events.append(events)


def visits(world: World, at: int, is_search: bool) -> tuple[Sequence[int], FloatArray, IntArray]:
    """Return who visits in a round, all users' chances, float64[users, items], and what they search for.

    Every second user searches, and likes an item only as far as it meets the text.
    """
    chances, users = world.chances(at), world.present(at)
    themes = np.random.default_rng([world.seed, 3, at]).integers(THEMES, size=len(chances))
    if is_search:
        chances = chances * world.relevance[world.there(at)][:, themes].T
        users = users[::2]
    return users, chances, themes


def run(world: World, system: System, is_search: bool = False, rounds: int = ROUNDS) -> Run:
    """Let users visit, and return what their pages were worth."""
    made = Run()
    for at in range(rounds):
        system.begin(at)
        users, chances, themes = visits(world, at, is_search)
        events: list[Event] = []
        worth = {}
        for user in users:
            page = np.array(system.page(at, user, int(themes[user])), np.int64)
            worth[user] = utility(chances[user, page])
            events += _reactions(world, at, user, page, chances[user])
        if events:
            system.hear(events)
        made.add(worth, len(events))
    return made


def _reactions(world: World, at: int, user: int, page: IntArray, chances: FloatArray) -> list[Event]:
    random = np.random.default_rng([world.seed, 4, at, user])
    reads, says, moods = random.random(PLACES), random.random(PLACES), random.random(len(world.comes))
    events: list[Event] = []
    for place in np.flatnonzero(reads[: len(page)] < EXAMINED[: len(page)]).tolist():
        item = int(page[place])
        events.append(("view", user, item))
        if moods[item] < chances[item]:
            events.append(("like", user, item))
        elif says[place] < SKIPS:
            events.append(("skip", user, item))
    return events


def bounds(world: World, is_search: bool = False, rounds: int = ROUNDS) -> dict[str, Run]:
    """Return what the best pages are worth, the best that are the same for all users, and random ones.

    Random pages are worth what they are on average: of all items, or of those that a search matches.
    """
    made = {"best": Run(), "same for all": Run(), "random": Run()}
    for at in range(rounds):
        users, chances, themes = visits(world, at, is_search)
        everyone, relevance = world.chances(at), world.relevance[world.there(at)]
        fits = {user: everyone * relevance[:, themes[user]] if is_search else everyone for user in users}
        matching = {
            user: chances[user, relevance[:, themes[user]] > 0 if is_search else ...] for user in users
        }
        worth = {
            "best": {user: best_possible(chances[user]) for user in users},
            "same for all": {user: utility(chances[user, best_for_all(fits[user])]) for user in users},
            "random": {user: float(matching[user].mean() * EXAMINED.sum()) for user in users},
        }
        for of, each in worth.items():
            made[of].add(each, 0)
    return made
