"""Feedback loops in a simulated world: a system shows pages, users react, and only that system hears of it.

All systems meet the same users, who draw the same numbers: who would like an item at one visit does so
whichever system shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

import germane
from benchmarks import world as worlds
from benchmarks.world import EXAMINED, PLACES, THEMES, World, best_for_all, best_possible, moment, utility
from germane import Profile, Schema, Signal
from germane.signals.decay import FloatArray, IntArray

SIGNALS = [
    Signal("view", half_life="7d"),
    Signal("like", half_life="14d", preference=0.3, affinity=1.0),
    Signal("skip", half_life="14d", polarity=-1, preference=0.1, affinity=-0.3),
]
"""What a schema would say: a like tells more than a skip, which may have many reasons."""
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
    """

    def __init__(
        self, world: World, profile: str | Profile, dial: float | None = None, cold: Profile | None = None
    ) -> None:
        self._world = world
        self._now = moment(0)
        declared = [each for each in (profile, cold) if isinstance(each, Profile)]
        self.db = germane.open(
            None, Schema(SIGNALS, declared, impressions=False), clock=lambda: self._now
        )
        self._profile = profile.name if isinstance(profile, Profile) else profile
        self._dial = dial
        self._cold = None if cold is None else cold.name
        self._number = {worlds.name(number): number for number in range(len(world.comes))}
        self._met: set[int] = set()
        self.first_pages: list[bool] = []

    def begin(self, at: int) -> None:
        self._now = moment(at)
        self.db.put_many(self._world.items(at))

    def page(self, at: int, user: int, theme: int) -> list[int]:
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
        names, users, items = zip(*events, strict=True)
        self.db.signal_many(
            {
                "name": names,
                "user": [f"user{user}" for user in users],
                "item": [worlds.name(item) for item in items],
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


def wanted(world: World, at: int, is_search: bool) -> tuple[FloatArray, IntArray]:
    """Return the chances of a round's visits, float64[users, items], and what each user searches for.

    In a search an item is liked only as far as it meets the text.
    """
    chances = world.chances(at)
    themes = np.random.default_rng([world.seed, 3, at]).integers(THEMES, size=len(chances))
    if is_search:
        chances = chances * world.relevance[world.there(at)][:, themes].T
    return chances, themes


def run(world: World, system: System, is_search: bool = False, rounds: int = worlds.ROUNDS) -> Run:
    """Let users visit, and return what their pages were worth."""
    made = Run()
    for at in range(rounds):
        system.begin(at)
        chances, themes = wanted(world, at, is_search)
        events: list[Event] = []
        got: dict[int, float] = {}
        for user in world.present(at):
            random = np.random.default_rng([world.seed, 4, at, user])
            reads, moods, says = random.random(PLACES), random.random(len(world.comes)), random.random(PLACES)
            page = np.array(system.page(at, user, int(themes[user])), np.int64)
            got[user] = utility(chances[user, page])
            for place in np.flatnonzero(reads[: len(page)] < EXAMINED[: len(page)]).tolist():
                item = int(page[place])
                events.append(("view", user, item))
                if moods[item] < chances[user, item]:
                    events.append(("like", user, item))
                elif says[place] < SKIPS:
                    events.append(("skip", user, item))
        if events:
            system.hear(events)
        made.got.append(sum(got.values()))
        made.newcomers.append(sum(got[user] for user in got if user >= worlds.USERS - worlds.NEWCOMERS))
        made.events.append(len(events))
    return made


def bounds(world: World, is_search: bool = False, rounds: int = worlds.ROUNDS) -> tuple[Run, Run]:
    """Return what the best pages are worth, and the best of those that do not depend on the user."""
    best, same = Run(), Run()
    for at in range(rounds):
        chances, themes = wanted(world, at, is_search)
        everyone = world.chances(at)
        present = world.present(at)
        for made, worth in (
            (best, {user: best_possible(chances[user]) for user in present}),
            (same, {user: _same(world, at, everyone, chances[user], themes[user], is_search) for user in present}),
        ):
            made.got.append(sum(worth.values()))
            made.newcomers.append(
                sum(value for user, value in worth.items() if user >= worlds.USERS - worlds.NEWCOMERS)
            )
            made.events.append(0)
    return best, same


def _same(
    world: World, at: int, everyone: FloatArray, mine: FloatArray, theme: int, is_search: bool
) -> float:
    if is_search:
        everyone = everyone * world.relevance[world.there(at), theme]
    return utility(mine[best_for_all(everyone)])


Maker = Callable[[World], Any]
