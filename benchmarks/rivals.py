"""What feeds in a simulated world are held against, made anew every few rounds.

Two models of the package implicit see who liked what; a regression for each user sees vectors, creators and
age as well. Events count half after as many days as Germane's likes. The last place of a page shows an item
that the user has not read, drawn at random, as `for_you` does; what models say nothing of goes by likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.loops import Event
from benchmarks.world import CREATORS, HOURS, PLACES, USERS, World
from germane.signals.decay import FloatArray

EVERY = 2
"""Rounds between two models."""
RIDGE = 3.0
"""How many events hold a user's regression to that of all."""
DAYS = 14.0
"""In which a like halves."""
KEPT = 2 ** (-HOURS / 24 / DAYS)


class _Rival:
    def __init__(self, world: World) -> None:
        self._world = world
        self._likes: FloatArray = np.zeros((USERS, len(world.comes)))
        self._read = np.zeros(self._likes.shape, np.bool_)
        self._scores: FloatArray = np.zeros(self._likes.shape)

    def begin(self, at: int) -> None:
        """Forget a little, and every few rounds make the model anew."""
        if at:
            self._likes *= KEPT
        if at % EVERY == 0 and self._likes.any():
            self._scores = self._fitted(self._likes)

    def page(self, at: int, user: int, theme: int) -> list[int]:
        """Show what the model says is best, and one that the user has not read."""
        there = self._world.there(at)
        known, popular = self._scores[user, there], self._likes[:, there].sum(axis=0)
        # What the model says nothing of stands below all that it says something of.
        order = np.lexsort((-popular, -np.maximum(known, 0)))
        page: list[int] = there[order][:PLACES].tolist()
        unread = np.setdiff1d(there[~self._read[user, there]], page[:-1])
        if len(unread):
            page[-1] = int(np.random.default_rng([self._world.seed, 5, at, user]).choice(unread))
        return page

    def hear(self, events: list[Event]) -> None:
        """Keep what was read and liked."""
        for told, user, item in events:
            self._read[user, item] = True
            self._likes[user, item] += told == "like"

    def _fitted(self, likes: FloatArray) -> FloatArray:
        raise NotImplementedError


class Factors(_Rival):
    """Alternating least squares."""

    def _fitted(self, likes: FloatArray) -> FloatArray:
        from implicit.als import AlternatingLeastSquares

        model = AlternatingLeastSquares(
            factors=8, regularization=0.1, alpha=5.0, iterations=10, random_state=2, num_threads=1
        )
        model.fit(_sparse(likes), show_progress=False)
        of_users, of_items = (
            np.asarray(each, np.float64) for each in (model.user_factors, model.item_factors)
        )
        scores: FloatArray = of_users @ of_items.T
        return scores


class Together(_Rival):
    """Items that the same users like: the cosine of two items over users."""

    def _fitted(self, likes: FloatArray) -> FloatArray:
        from implicit.nearest_neighbours import CosineRecommender

        model = CosineRecommender(K=50, num_threads=1)
        model.fit(_sparse(likes), show_progress=False)
        scores: FloatArray = likes @ model.similarity.toarray()
        return scores


class Regression(_Rival):
    """Ridge regression of liked or not on vector, creator and age: one for all, and from there each user's.

    It holds the very features that the chance of a like is made of, so it says what the data allows for.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        count = len(world.comes)
        made_by = np.eye(CREATORS)[world.creators]
        self._features = np.column_stack([world.vectors, 0.5 * made_by, np.ones(count), np.zeros(count)])
        size = self._features.shape[1]
        self._squares, self._sums = np.zeros((USERS, size, size)), np.zeros((USERS, size))

    def begin(self, at: int) -> None:
        """Let items age, and forget a little."""
        self._features[:, -1] = np.maximum(at - self._world.comes, 0) * HOURS / 24 / 30
        self._squares *= KEPT
        self._sums *= KEPT
        super().begin(at)

    def hear(self, events: list[Event]) -> None:
        """Learn from what was read."""
        super().hear(events)
        for told, user, item in events:
            row = self._features[item]
            if told == "view":
                self._squares[user] += np.outer(row, row)
            elif told == "like":
                self._sums[user] += row

    def _fitted(self, likes: FloatArray) -> FloatArray:
        eye = np.eye(self._features.shape[1])
        of_all = np.linalg.solve(self._squares.sum(axis=0) + eye, self._sums.sum(axis=0))
        own = np.linalg.solve(self._squares + RIDGE * eye, (self._sums + RIDGE * of_all)[..., None])[..., 0]
        scores: FloatArray = np.asarray(own @ self._features.T, np.float64)
        return scores


def _sparse(likes: FloatArray) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(likes.astype(np.float32))
