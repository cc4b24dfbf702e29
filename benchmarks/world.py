"""A world of users whose tastes are known, so that the best page for each of them can be computed.

A user likes an item that they read with the chance

    sigmoid(BASE + TASTE * taste . subjects + CREATOR (a creator they like) + worth - fading * age in days)

and reads each place of a page less often than the one above. Tastes drift all the time, and at one round all
are drawn anew. A store never sees any of this: it gets vectors (the subjects with noise), creators, texts,
times, and what users did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from germane import Item
from germane.signals.decay import FloatArray, IntArray

BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

SUBJECTS, DIMENSIONS, THEMES = 8, 24, 12
USERS, NEWCOMERS, CREATORS = 16, 4, 40
ROUNDS, CHANGE, ARRIVAL = 40, 20, 8
"""Each user visits once a round. Tastes change at one round; newcomers come at another."""
AT_START, A_ROUND = 300, 8
"""Items that are there at first, and those that come every round."""
HOURS = 24
"""Between two rounds."""
PLACES = 10
START = 1_700_000_000.0
BASE, TASTE, CREATOR = -1.8, 3.0, 1.0
DRIFT = 0.4
"""How far a taste has moved towards another when the change, or the end, comes."""
NOISE = 0.15
"""In each dimension of a vector; subjects are of length one, so 0.54 of 1.54 of its squared length."""
FADING = 0.1
"""What the logit of a like loses with every day of an item's age, in worlds that fade."""
CENTRAL = (1.0, 0.6, 0.3)
"""How well an item meets a search for its first, second and third theme; others not at all."""
MENTIONS = ((2, 5), (2, 4), (1, 2))
"""How often a text names each of them: at least, and below."""
FILLERS = 200

EXAMINED = 1 / np.log2(np.arange(PLACES) + 2)
"""By what chance each place of a page is read."""


def utility(values: FloatArray) -> float:
    """Return how many likes a page is expected to get, from the chance of each of its items if it is read.

    Examples
    --------
    >>> utility(np.array([0.5, 0.0, 0.2]))
    0.6
    """
    return float(values @ EXAMINED[: len(values)])


def best_possible(values: FloatArray) -> float:
    """Return the utility of the best page: the greatest chances, the greatest first.

    Examples
    --------
    >>> best_possible(np.array([0.0, 0.2, 0.0, 0.5])) == utility(np.array([0.5, 0.2]))
    True
    """
    return utility(np.sort(values)[::-1][:PLACES])


def best_for_all(chances: FloatArray) -> IntArray:
    """Return the best page among those that are the same for all users: the greatest mean chances.

    Parameters
    ----------
    chances : float64[users, items]
    """
    page: IntArray = np.argsort(-chances.mean(axis=0), kind="stable")[:PLACES]
    return page


@dataclass(frozen=True)
class World:
    """Items and users as they really are; tastes and likings are given before and after the change.

    Parameters
    ----------
    seed : int
    fading : float
        What the logit of a like loses a day.
    subjects : float64[items, subjects]
        What each item is about, in shares.
    vectors : float64[items, dimensions]
        What a store sees of it.
    creators : int64[items]
    worth : float64[items]
        The item's own and its creator's, in logits.
    comes : float64[items]
        The round in which it is made; below 0, before the first.
    relevance : float64[items, themes]
        How well it meets a search for each theme.
    tastes : float64[2, 2, users, subjects]
        By epoch, where each starts and where it drifts to.
    liked : bool[2, users, creators]
    """

    seed: int
    fading: float
    subjects: FloatArray
    vectors: FloatArray
    creators: IntArray
    worth: FloatArray
    comes: FloatArray
    relevance: FloatArray
    tastes: FloatArray
    liked: BoolArray

    @classmethod
    def drawn(cls, seed: int, fading: float = 0.0) -> World:
        """Return the world of a seed."""
        random = np.random.default_rng([seed, 1])
        count = AT_START + A_ROUND * (ROUNDS - 1)
        at_home = random.integers(SUBJECTS, size=CREATORS)
        creators = random.integers(CREATORS, size=count)
        leaning = np.full((count, SUBJECTS), 0.05)
        # Creators keep to their subject, mostly.
        main = np.where(random.random(count) < 0.8, at_home[creators], random.integers(SUBJECTS, size=count))
        leaning[np.arange(count), main] = 1.0
        shares = random.gamma(leaning * 2)
        subjects = shares / shares.sum(axis=1, keepdims=True)
        axes = np.linalg.qr(random.normal(size=(DIMENSIONS, DIMENSIONS)))[0][:SUBJECTS]
        themes = random.permuted(np.tile(np.arange(THEMES), (count, 1)), axis=1)[:, : len(CENTRAL)]
        relevance = np.zeros((count, THEMES))
        relevance[np.arange(count)[:, None], themes] = CENTRAL
        tastes, liked = _people(random, at_home)
        return cls(
            seed=seed,
            fading=fading,
            subjects=subjects,
            vectors=subjects @ axes + random.normal(0, NOISE, (count, DIMENSIONS)),
            creators=creators,
            worth=random.normal(0, 0.5, count) + random.normal(0, 0.5, CREATORS)[creators],
            comes=np.concatenate(
                [np.linspace(-AT_START / A_ROUND, 0, AT_START), np.repeat(np.arange(1, ROUNDS), A_ROUND)]
            ),
            relevance=relevance,
            tastes=tastes,
            liked=liked,
        )

    def there(self, at: int) -> IntArray:
        """Return the items that have been made by a round; their numbers are 0, 1, 2..."""
        return np.flatnonzero(self.comes <= at)

    def present(self, at: int) -> range:
        """Return the users who visit in a round; the last ones come later."""
        return range(USERS if at >= ARRIVAL else USERS - NEWCOMERS)

    def chances(self, at: int) -> FloatArray:
        """Return by what chance each user likes each item that is there, if they read it."""
        epoch = int(at >= CHANGE)
        way = at / CHANGE if not epoch else (at - CHANGE) / (ROUNDS - CHANGE)
        tastes = (1 - way) * self.tastes[epoch, 0] + way * self.tastes[epoch, 1]
        there = self.there(at)
        age = (at - self.comes[there]) * HOURS / 24
        logits = (
            BASE
            + TASTE * tastes @ self.subjects[there].T
            + CREATOR * self.liked[epoch][:, self.creators[there]]
            + self.worth[there]
            - self.fading * age
        )
        chances: FloatArray = 1 / (1 + np.exp(-logits))
        return chances

    def items(self, at: int) -> list[Item]:
        """Return the items that are new in a round; in the first, all that are there."""
        new = self.there(at) if at == 0 else np.setdiff1d(self.there(at), self.there(at - 1))
        return [self._item(number) for number in new.tolist()]

    def _item(self, number: int) -> Item:
        random = np.random.default_rng([self.seed, 2, number])
        words = [f"filler{word}" for word in random.integers(FILLERS, size=random.integers(20, 80))]
        themes = np.argsort(-self.relevance[number], kind="stable")[: len(CENTRAL)].tolist()
        for theme, (least, below) in zip(themes, MENTIONS, strict=True):
            words += [f"theme{theme}"] * int(random.integers(least, below))
        random.shuffle(words)
        return Item(
            id=name(number),
            title=f"theme{themes[0]} filler{random.integers(FILLERS)}",
            body=" ".join(words),
            creator=f"creator{self.creators[number]}",
            created_at=moment(float(self.comes[number])),
            embedding=self.vectors[number],
        )


def _people(random: np.random.Generator, at_home: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return tastes and liked creators; some subjects are loved by more users than others."""
    weights = 1 / np.arange(1, SUBJECTS + 1)
    crowd = random.permutation(weights / weights.sum())

    def draw() -> FloatArray:
        taste = random.normal(0, 0.2, (USERS, SUBJECTS))
        for each in taste:
            first, second, loathed = random.choice(SUBJECTS, 3, replace=False, p=0.5 * crowd + 0.5 / SUBJECTS)
            each[first] += 1
            each[second] += 0.8
            each[loathed] -= 1
        return taste

    tastes, liked = np.empty((2, 2, USERS, SUBJECTS)), np.zeros((2, USERS, CREATORS), np.bool_)
    for epoch in range(2):
        start, other = draw(), draw()
        tastes[epoch] = start, (1 - DRIFT) * start + DRIFT * other
        for user in range(USERS):
            drawn = np.exp(2 * start[user, at_home])
            liked[epoch, user, random.choice(CREATORS, 4, replace=False, p=drawn / drawn.sum())] = True
    return tastes, liked


def name(number: int) -> str:
    """Return the id of an item; ids say nothing about the order in which items came."""
    return f"item{number * 7919 % 10_007:05}"


def moment(at: float) -> float:
    """Return when a round is, in seconds since the epoch."""
    return START + at * HOURS * 3_600
