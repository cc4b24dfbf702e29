"""What Germane's recommendations are held against, asked as a profile is: `germane.evaluation.Recommender`.

Popularity and the neighbour are plain NumPy. Item-item and ALS are those of the package implicit; their
models of items are made anew a hundred times in the last fifth of the log, while what the user did is always
the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from germane.evaluation import Case, Story
from germane.model.times import DAY
from germane.signals.decay import FloatArray

MODELS = 500
"""Times at which a model is made over a whole log, evenly in time."""


class Known:
    """Numbers for items and users, in the order in which they appear."""

    def __init__(self, story: Story) -> None:
        self.ids = list(dict.fromkeys(story.on))
        place = {id: number for number, id in enumerate(self.ids)}
        self.items = np.array([place[id] for id in story.on], np.int64)
        self.users: dict[str | None, int] = {}
        self.of = np.array([self.users.setdefault(user, len(self.users)) for user in story.users], np.int64)
        self.of[np.array([user is None for user in story.users], np.bool_)] = -1
        self.span = int(story.at[-1] - story.at[0])

    def best(self, scores: FloatArray, k: int) -> list[str]:
        """Return the ids of the k greatest scores above zero."""
        order = np.argsort(-scores, kind="stable")[:k]
        return [self.ids[number] for number in order.tolist() if scores[number] > 0]


class Popular:
    """Counts events of each item, halving what they count in so many days; without a number of days never."""

    def __init__(self, known: Known, days: float | None = None) -> None:
        self._known = known
        self._days = days
        self._scores = np.zeros(len(known.ids))
        self._at: int | None = None

    def learn(self, story: Story, first: int, upto: int) -> None:
        """Take in events."""
        if upto == first:
            return
        end, weights = int(story.at[upto - 1]), np.ones(upto - first)
        if self._days is not None:
            half_life = self._days * DAY
            self._scores *= 2.0 ** ((0 if self._at is None else self._at - end) / half_life)
            weights = np.exp2((story.at[first:upto] - end) / half_life)
        np.add.at(self._scores, self._known.items[first:upto], weights)
        self._at = end

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best."""
        return self._known.best(self._scores, k)


class Neighbour:
    """Items go together when the same visit holds them; what a user did lately counts most.

    The cosine of two items over visits, one for an item with itself. A user's score for an item is the sum
    over their events of the cosine with it, halved every so many days.
    """

    def __init__(self, known: Known, days: float = 90.0, gap: float = DAY / 48) -> None:
        self._known = known
        self._half_life = days * DAY
        self._gap = gap
        self._together = np.zeros((len(known.ids), len(known.ids)), np.float32)
        self._open: dict[int, tuple[int, list[int]]] = {}
        self._mine: dict[int, list[tuple[int, int]]] = {}

    def learn(self, story: Story, first: int, upto: int) -> None:
        """Take in events."""
        for place in range(first, upto):
            user, item, at = (int(each[place]) for each in (self._known.of, self._known.items, story.at))
            if user < 0:
                continue
            latest, visit = self._open.get(user, (at, []))
            if at - latest > self._gap:
                visit = []
            if item not in visit:
                if visit:
                    self._together[item, visit] += 1
                    self._together[visit, item] += 1
                self._together[item, item] += 1
                visit.append(item)
            self._open[user] = (at, visit)
            self._mine.setdefault(user, []).append((item, at))

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best."""
        mine = self._mine.get(self._known.users[case.user], [])
        if not mine:
            return []
        items, at = np.array(mine).T
        weights = np.bincount(items, np.exp2((at - case.at) / self._half_life), len(self._known.ids))
        some = np.flatnonzero(weights)
        often = np.sqrt(np.maximum(self._together.diagonal(), 1.0))
        return self._known.best((weights[some] / often[some]) @ self._together[some] / often, k)


class Implicit:
    """A model of the package implicit.

    Parameters
    ----------
    known : Known
    model : callable
        Makes one that is not fitted.
    is_als : bool
        Whether a user's vector must be computed anew from what they did.
    """

    def __init__(self, known: Known, model: Any, is_als: bool = False) -> None:
        self._known = known
        self._make = model
        self._is_als = is_als
        self._model: Any = None
        self._fitted = 0
        self._upto = 0
        self._mine: dict[int, dict[int, float]] = {}

    def learn(self, story: Story, first: int, upto: int) -> None:
        """Take in events."""
        for user, item in zip(
            self._known.of[first:upto].tolist(), self._known.items[first:upto].tolist(), strict=True
        ):
            if user >= 0:
                mine = self._mine.setdefault(user, {})
                mine[item] = mine.get(item, 0.0) + 1.0
        self._upto = upto

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best."""
        user = self._known.users[case.user]
        if user not in self._mine:
            return []
        self._fit(case)
        mine = self._mine[user]
        row = _sparse([0] * len(mine), list(mine), list(mine.values()), (1, len(self._known.ids)))
        more = {"recalculate_user": True} if self._is_als else {}
        return self._named(self._model.recommend(0, row, N=k, filter_already_liked_items=False, **more))

    def _fit(self, case: Case) -> None:
        if self._model is None or case.at - self._fitted > self._known.span / MODELS:
            self._model = self._make()
            self._model.fit(self._matrix(), show_progress=False)
            self._fitted = case.at

    def _named(self, found: tuple[Any, Any]) -> list[str]:
        items, scores = found
        return [
            self._known.ids[item]
            for item, score in zip(items.tolist(), scores.tolist(), strict=True)
            if item >= 0 and score > 0
        ]

    def _matrix(self) -> Any:
        rows = [user for user, mine in self._mine.items() for _ in mine]
        items = [item for mine in self._mine.values() for item in mine]
        counts = [count for mine in self._mine.values() for count in mine.values()]
        return _sparse(rows, items, counts, (len(self._known.users), len(self._known.ids)))


class Similar(Implicit):
    """What a model of the package implicit has as similar to the user's latest item."""

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best."""
        if case.last is None:
            return []
        self._fit(case)
        return self._named(self._model.similar_items(self._known.ids.index(case.last), N=k))


class Filled:
    """One recommender, and another for the places that it leaves empty: so none loses by having no answer."""

    def __init__(self, first: Any, rest: Any) -> None:
        self._both = first, rest

    def learn(self, story: Story, first: int, upto: int) -> None:
        """Take in events."""
        for one in self._both:
            one.learn(story, first, upto)

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best."""
        found = list(self._both[0].recommend(case, k))
        if len(found) < k:
            there = set(found)
            found += [id for id in self._both[1].recommend(case, 2 * k) if id not in there]
        return found[:k]


def _sparse(rows: list[int], columns: list[int], values: list[float], shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.array(values, np.float32), (rows, columns)), shape)
