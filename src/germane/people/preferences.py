"""Preference vectors: what each user leans to, as a moving average of the vectors of what they acted on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from germane.log.checkpoint import Arrays
from germane.people.pairs import FloatArray, IntArray

VectorArray = np.ndarray[Any, np.dtype[np.float32]]


def rate(base: float, count: int) -> float:
    """Return how far an update moves a vector: ``base / (1 + ln(count + 1))``.

    Parameters
    ----------
    base : float
        The rate of the signal.
    count : int
        Updates so far.

    Examples
    --------
    >>> rate(0.1, 0), round(rate(0.1, 9), 6)
    (0.1, 0.030279)
    """
    # The logarithm of the C library: NumPy's own differs in the last bit from machine to machine.
    return base / (1.0 + math.log(count + 1))


class Preferences:
    """The preference vectors of all users: ``v = (1 - a) v + a e``, from zero on, in the order of the log.

    They are kept as float64, so that small rates lose nothing over many updates, and given as float32. The
    updates of one user follow each other; those of several are made at once, with the same bits.

    Examples
    --------
    >>> preferences = Preferences()
    >>> preferences.move([preferences.number("ann")], [0.5], np.array([[2, 0]], np.float32))
    >>> preferences.of("ann")
    (array([1., 0.]), 1)
    """

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._vectors: FloatArray = np.zeros((0, 0))
        self._counts: IntArray = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._users)

    def number(self, user: str) -> int:
        """Return the number of a user, a new one if need be."""
        return self._users.setdefault(user, len(self._users))

    def of(self, user: str) -> tuple[FloatArray | None, int]:
        """Return a user's vector, copied, and how often it moved; None before the first time."""
        number = self._users.get(user)
        return (None, 0) if number is None else (self._vectors[number].copy(), int(self._counts[number]))

    def move(self, users: list[int], bases: list[float], vectors: VectorArray) -> None:
        """Make updates, in order.

        Parameters
        ----------
        users : list of int
            By number.
        bases : list of float
            Rates of the signals; below zero for what speaks against an item.
        vectors : float32[n, dimension]
            Of the items.
        """
        self._reserve(vectors.shape[1])
        numbers = np.array(users, np.int64)
        for places in _rounds(numbers):
            who = numbers[places]
            counts = self._counts[who].tolist()
            moves = np.array([rate(bases[place], count) for place, count in zip(places, counts, strict=True)])
            self._vectors[who] = moved(self._vectors[who], moves, vectors[places])
            self._counts[who] += 1

    def to_arrays(self) -> Arrays:
        """Return the vectors in the order in which users first had one."""
        count = len(self._users)
        return {"preferences": self._vectors[:count], "preference_counts": self._counts[:count]}

    @property
    def users(self) -> list[str]:
        """Those who have a vector, in order."""
        return list(self._users)

    @classmethod
    def from_arrays(cls, users: list[str], vectors: FloatArray, counts: IntArray) -> Preferences:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        ValueError
            The arrays are not of that form.
        """
        made = cls()
        made._users = {user: number for number, user in enumerate(users)}
        if not len(made._users) == len(vectors) == len(counts) or vectors.ndim != 2:
            raise ValueError("users and their preferences differ in number")
        made._vectors, made._counts = vectors.copy(), counts.copy()
        return made

    def without(self, user: str) -> Preferences:
        """Return the vectors without a user, who has one: the users behind are numbered anew."""
        number, count = self._users[user], len(self._users)
        if count == 1:
            return Preferences()  # as before the first one: no dimension either
        return Preferences.from_arrays(
            [name for name in self._users if name != user],
            np.delete(self._vectors[:count], number, axis=0),
            np.delete(self._counts[:count], number),
        )

    def __contains__(self, user: object) -> bool:
        """Tell whether a user has a vector."""
        return user in self._users

    def _reserve(self, dimension: int) -> None:
        missing = len(self._users) - len(self._counts)
        if missing > 0:
            room = max(len(self._users), len(self._counts) * 3 // 2, 16)
            vectors, counts = np.zeros((room, dimension)), np.zeros(room, np.int64)
            if len(self._counts):
                vectors[: len(self._counts)], counts[: len(self._counts)] = self._vectors, self._counts
            self._vectors, self._counts = vectors, counts


def moved(vectors: FloatArray, moves: FloatArray, towards: VectorArray) -> FloatArray:
    """Return vectors after an update each: float64[n, dimension].

    Parameters
    ----------
    vectors : float64[n, dimension]
    moves : float64[n]
        The rates; below zero moves away.
    towards : float32[n, dimension]
    """
    kept = (1.0 - np.abs(moves))[:, None] * vectors
    gone: FloatArray = kept + moves[:, None] * towards.astype(np.float64)
    return gone


def _rounds(users: IntArray) -> Iterator[list[int]]:
    """Yield the places of every user's first update, then those of their second, and so on."""
    if len(users) == 1:
        yield [0]
        return
    by_user = np.argsort(users, kind="stable")
    is_first = np.diff(users[by_user], prepend=-1) != 0
    starts = np.flatnonzero(is_first)
    nth = np.empty(len(users), np.int64)
    nth[by_user] = np.arange(len(users)) - np.repeat(starts, np.diff(np.append(starts, len(users))))
    by_nth = np.argsort(nth, kind="stable")
    ends = np.cumsum(np.bincount(nth))
    for places in np.split(by_nth, ends[:-1]):
        yield places.tolist()
