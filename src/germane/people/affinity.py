"""Affinity: how much each user likes each creator, by what they did with the creator's items."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from germane.log.checkpoint import Arrays
from germane.model.times import Micros
from germane.people.pairs import FloatArray, IntArray
from germane.signals.decay import DecayedScores, grown

_NO_LANDMARK = np.iinfo(np.int64).min


class Affinities:
    """Sums of what signals add, each decayed with its signal's half-life.

    They do not depend on the order of arrival. Of each half-life there is a column of forward-decayed sums,
    one a pair of a user and a creator.

    Parameters
    ----------
    half_lives : tuple of int
        Microseconds, distinct, in the order in which an affinity is summed.

    Examples
    --------
    >>> affinities = Affinities((1_000_000,))
    >>> affinities.add(1_000_000, affinities.pairs(["ann"], [3]), [1.0], [0])
    >>> affinities.of("ann", 1_000_000)
    {3: 0.5}
    """

    def __init__(self, half_lives: tuple[Micros, ...]) -> None:
        self._scores = {half_life: DecayedScores(half_life) for half_life in half_lives}
        self._pairs: dict[str, dict[int, int] | slice] = {}  # a slice of what was loaded, until it is needed
        self._loaded: IntArray = np.zeros((2, 0), np.int64)  # numbers and creators, by user
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def half_lives(self) -> tuple[Micros, ...]:
        """The half-lives, in order."""
        return tuple(self._scores)

    def pairs(self, users: list[str], creators: list[int]) -> IntArray:
        """Return the numbers of pairs of a user and a creator, new ones if need be, in order.

        Parameters
        ----------
        users : list of str
        creators : list of int
            By number.
        """
        return np.array([self._pair(*pair) for pair in zip(users, creators, strict=True)], np.int64)

    def add(self, half_life: Micros, pairs: IntArray, deltas: list[float], at: list[Micros]) -> None:
        """Add what signals of one half-life add, in the order of the log.

        Parameters
        ----------
        half_life : int
        pairs : int64[n]
            As `pairs` numbers them.
        deltas : list of float
        at : list of int
            When it happened, in microseconds.
        """
        if not len(pairs):
            return
        amounts, times = np.array(deltas), np.array(at, np.int64)
        scores = self._scores[half_life]
        # As if they came one by one: the landmark moves before the first that is beyond the next one.
        landmarks = np.maximum.accumulate(times) // scores.stride
        starts = np.flatnonzero(np.diff(landmarks, prepend=landmarks[0] - 1)).tolist()
        for first, last in pairwise([*starts, len(times)]):
            part = slice(first, last)
            scores.add(pairs[part], amounts[part], times[part])

    def of(self, user: str, now: Micros) -> dict[int, float]:
        """Return a user's affinity to each creator of whom anything is known, at a time."""
        if user not in self._pairs:
            return {}
        pairs = self._of(user)
        numbers = np.fromiter(pairs.values(), np.int64, len(pairs))
        total = np.zeros(len(numbers))
        for scores in self._scores.values():
            total += scores.at(numbers, now)
        return dict(zip(pairs, total.tolist(), strict=True))

    def kept(self, half_lives: tuple[Micros, ...]) -> Affinities:
        """Return what goes on under other half-lives: the sums of those that are among them."""
        made = Affinities(half_lives)
        made._pairs, made._loaded, made._count = self._pairs, self._loaded, self._count
        made._scores.update(
            (half_life, scores) for half_life, scores in self._scores.items() if half_life in made._scores
        )
        return made

    def without(self, user: str) -> Affinities:
        """Return the sums without a user, who has some: users and pairs behind are numbered anew.

        Landmarks stay where the user's events have moved them: they are a scale, and change no sum.
        """
        arrays, users = self.to_arrays(), self.users
        number, who = users.index(user), arrays["affinity_users"]
        kept = who != number
        return Affinities.from_arrays(
            self.half_lives,
            [name for name in users if name != user],
            who[kept] - (who[kept] > number),
            arrays["affinity_creators"][kept],
            arrays["affinity_landmarks"],
            arrays["affinities"][:, kept],
        )

    def __contains__(self, user: object) -> bool:
        """Tell whether a user has an affinity."""
        return user in self._pairs

    def left(self, half_life: Micros, age: Micros) -> float:
        """Return what is left of one after an age."""
        return self._scores[half_life].weight(age)

    @property
    def users(self) -> list[str]:
        """Those who have an affinity, in the order in which they first had one."""
        return list(self._pairs)

    def to_arrays(self) -> Arrays:
        """Return the sums by pair, in the order in which pairs first appeared."""
        who, creators = np.zeros(self._count, np.int64), np.zeros(self._count, np.int64)
        for number, pairs in enumerate(self._pairs.values()):
            if isinstance(pairs, slice):
                places, named = self._loaded[:, pairs]
            else:
                places = np.fromiter(pairs.values(), np.int64, len(pairs))
                named = np.fromiter(pairs, np.int64, len(pairs))
            who[places], creators[places] = number, named
        landmarks = [
            _NO_LANDMARK if scores.landmark is None else scores.landmark for scores in self._scores.values()
        ]
        columns = [grown(scores.values, self._count)[: self._count] for scores in self._scores.values()]
        return {
            "affinity_users": who,
            "affinity_creators": creators,
            "affinity_landmarks": np.array(landmarks, np.int64),
            "affinities": np.array(columns).reshape(len(columns), self._count),
        }

    @classmethod
    def from_arrays(
        cls,
        half_lives: tuple[Micros, ...],
        users: list[str],
        who: IntArray,
        creators: IntArray,
        landmarks: IntArray,
        columns: FloatArray,
    ) -> Affinities:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        ValueError, IndexError
            The arrays are not of that form.
        """
        made = cls(half_lives)
        if columns.shape != (len(half_lives), len(who)) or len(creators) != len(who):
            raise ValueError("pairs and their affinities differ in number")
        numbers = np.argsort(who, kind="stable")
        made._loaded = np.stack([numbers, creators[numbers]])
        ends = np.cumsum(np.bincount(who, minlength=len(users))).tolist()
        made._pairs = {user: slice(*part) for user, part in zip(users, pairwise([0, *ends]), strict=True)}
        made._count = len(who)
        for scores, landmark, column in zip(made._scores.values(), landmarks.tolist(), columns, strict=True):
            scores.landmark = None if landmark == _NO_LANDMARK else landmark
            scores.values = grown(column.copy(), 0) if len(column) else np.zeros(0)
        return made

    def _of(self, user: str) -> dict[int, int]:
        """Return the numbers of a user's pairs by creator."""
        pairs = self._pairs.setdefault(user, {})
        if isinstance(pairs, slice):
            numbers, creators = self._loaded[:, pairs].tolist()
            self._pairs[user] = pairs = dict(zip(creators, numbers, strict=True))
        return pairs

    def _pair(self, user: str, creator: int) -> int:
        pairs = self._of(user)
        number = pairs.setdefault(creator, self._count)
        if number == self._count:
            self._count += 1
        return number
