"""Pairs of a user and an item, by the million: sorted arrays that are merged as they grow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]

SHIFT = 32
"""Bits of a pair that are the item."""
_ITEM = (1 << SHIFT) - 1


class Pairs:
    """Pairs of a user and an item, both by number; a pair is held once, however often it is added.

    A pair is one integer, so that the items of a user lie together in a sorted array. There are
    logarithmically many arrays, each at least twice as long as the next.

    Examples
    --------
    >>> pairs = Pairs()
    >>> pairs.add(np.array([1, 0, 1]), np.array([7, 7, 3]))
    >>> pairs.add(np.array([1]), np.array([7]))
    >>> pairs.of(1).tolist(), pairs.of(2).tolist()
    ([3, 7], [])
    """

    def __init__(self, keys: IntArray | None = None) -> None:
        self._runs: list[IntArray] = [] if keys is None or not len(keys) else [keys]

    def __len__(self) -> int:
        """Return how many there are; one that was added again may count more than once."""
        return sum(map(len, self._runs))

    def add(self, users: IntArray, items: IntArray) -> None:
        """Add pairs."""
        if not len(users):
            return
        self._runs.append(np.unique(users << SHIFT | items))
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._runs[-2:] = [_united(self._runs[-2:])]

    def of(self, user: int) -> IntArray:
        """Return the items of a user, ascending."""
        theirs = [part for run in self._runs if len(part := run[_range(run, user)])]
        return _united(theirs) & _ITEM

    def keys(self) -> IntArray:
        """Return all pairs as integers, ascending."""
        return _united(self._runs)


class Progress(NamedTuple):
    """Weights of pairs, the latest for each.

    Parameters
    ----------
    keys : int64[n]
        Pairs, ascending.
    at, order : int64[n]
        When each weight was given, and its place in the log: of one time, the later place counts.
    weights : float64[n]
    """

    keys: IntArray
    at: IntArray
    order: IntArray
    weights: FloatArray

    @classmethod
    def of(
        cls, users: IntArray, items: IntArray, at: IntArray, order: IntArray, weights: FloatArray
    ) -> Progress:
        """Return the latest of some weights of pairs."""
        return cls(users << SHIFT | items, at, order, weights).latest()

    @classmethod
    def joined(cls, several: list[Progress]) -> Progress:
        """Return the latest of several."""
        if not several:
            nothing = np.zeros(0, np.int64)
            return cls(nothing, nothing, nothing, np.zeros(0))
        return cls._make(map(np.concatenate, zip(*several, strict=True))).latest()

    def latest(self) -> Progress:
        """Return the latest weight of each pair."""
        order = np.lexsort((self.order, self.at, self.keys))
        keys = self.keys[order]
        last = order[np.append(keys[1:] != keys[:-1], np.ones(min(1, len(keys)), np.bool_))]
        return Progress(self.keys[last], self.at[last], self.order[last], self.weights[last])

    def of_user(self, user: int) -> Progress:
        """Return those of a user."""
        return Progress._make(column[_range(self.keys, user)] for column in self)

    @property
    def items(self) -> IntArray:
        """The items of the pairs."""
        return self.keys & _ITEM


class LatestWeights:
    """The latest weight of each pair, whatever the order in which weights arrive.

    Examples
    --------
    >>> weights = LatestWeights()
    >>> def add(at, place, weight):
    ...     one = np.array([1])
    ...     weights.add(Progress.of(one, one, np.array([at]), np.array([place]), np.array([weight])))
    >>> add(20, 0, 0.5), add(10, 1, 0.1)
    (None, None)
    >>> weights.of(1).weights.tolist()
    [0.5]
    """

    def __init__(self, whole: Progress | None = None) -> None:
        self._runs: list[Progress] = [] if whole is None or not len(whole.keys) else [whole]

    def add(self, more: Progress) -> None:
        """Add weights."""
        if not len(more.keys):
            return
        self._runs.append(more)
        while len(self._runs) > 1 and len(self._runs[-2].keys) < 2 * len(self._runs[-1].keys):
            self._runs[-2:] = [Progress.joined(self._runs[-2:])]

    def of(self, user: int) -> Progress:
        """Return those of a user."""
        return Progress.joined([run.of_user(user) for run in self._runs])

    def whole(self) -> Progress:
        """Return all of them."""
        return Progress.joined(self._runs)


def moved_up(keys: IntArray, number: int) -> IntArray:
    """Return pairs whose users behind a number have one less: that of a user who is gone."""
    return keys - ((keys >> SHIFT > number).astype(np.int64) << SHIFT)


def _range(keys: IntArray, user: int) -> slice:
    first, last = np.searchsorted(keys, (user << SHIFT, (user + 1) << SHIFT)).tolist()
    return slice(first, last)


def _united(runs: list[IntArray]) -> IntArray:
    if not runs:
        return np.zeros(0, np.int64)
    if len(runs) == 1:
        return runs[0]
    keys = np.sort(np.concatenate(runs), kind="stable")  # sorted runs are merged in one pass
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys
