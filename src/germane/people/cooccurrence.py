"""Co-occurrence: how much the same users do with two items, lately and close in time."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from germane.model.times import DAY, Micros
from germane.people.histories import NONE, SPAN, Histories, Marks, SmallArray
from germane.people.pairs import FloatArray, IntArray

HALF_LIFE = SPAN
"""The weight of a pair halves in so many microseconds after its later event."""
RECENT = 20
"""Items of a user, the latest, that say what else may be for them."""
AGAIN = 90 * DAY
"""Half-life of what a user did with an item, for doing something with it again."""
MOST_KEPT = 4_000_000
"""Numbers that are kept of the items that were asked for: at 16 bytes each."""
_FEW = 64
"""Numbers that are summed one by one, which costs less than arrays of so few."""
_DIGITS = float(1 << 32)


class Related(NamedTuple):
    """Items, ascending by ordinal, and how strongly they go with something."""

    items: IntArray
    values: FloatArray


class _Sums(NamedTuple):
    """The sums over pairs of one item with others.

    Parameters
    ----------
    applied : int
        How many events they reflect.
    landmark : int
        The time at which a pair weighs one, in microseconds.
    items : int64[n]
        Ascending.
    sums : float64[n]
    """

    applied: int
    landmark: Micros
    items: IntArray
    sums: FloatArray


class Cooccurrence(Histories):
    """Histories that answer what goes with one item, and with what a user did.

    ``cooccurrence(a, b)`` is the sum over users, and over the pairs of one's events on `a` and on `b` at most
    30 days apart, of ``2**(-age / 30 days)``, where `age` is that of the later of the two; over
    ``sqrt(n_a n_b)``, where `n_a` is how many events of users were ever on `a`. No pair is ever written down:
    the sums of one item take time in proportion to the events of the users who came to it, and are kept, as
    many as `MOST_KEPT` allows, and brought up to date by the events that came since.

    Values are rounded to 32 bits, so that they do not depend on the order in which they were summed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[int, _Sums] = {}
        self._size = 0
        self._those: tuple[tuple[int, int], Marks] = (0, 0), NONE

    def of_item(self, item: int, now: Micros) -> Related:
        """Return the co-occurrence of an item with all that have any."""
        self.release(now)
        return self._of_item(item, now)

    def of_user(self, user: str, now: Micros, against: Collection[str] = ()) -> Related:
        """Return the sum over a user's latest `RECENT` items of how strongly others go with them.

        Each counts ``2**(-age / 30 days)``, where `age` is how long ago the user last did anything with it.
        Signals that speak against items are left out.
        """
        self.release(now)
        number = self.number(user)
        if number is None:
            return _NOTHING
        mine = self.of_one(number)
        mine = mine.chosen(~self.are_of(mine, against))
        order = np.lexsort((mine.items, -mine.at))
        items, first = np.unique(mine.items[order], return_index=True)
        latest = np.argsort(first)[:RECENT]
        at = mine.at[order][first]
        found: list[Related] = []
        for place in latest.tolist():
            weight = 2.0 ** (-(now - int(at[place])) / HALF_LIFE)
            related = self._of_item(int(items[place]), now)
            found.append(Related(related.items, related.values * weight))
        return _rounded(_summed(*map(np.concatenate, zip(*found, strict=True)))) if found else _NOTHING

    def again(self, user: str, now: Micros, against: Collection[str] = ()) -> Related:
        """Return what a user did with each item: each event counts ``2**(-age / 90 days)``.

        Those of signals that speak against items count as much below zero.
        """
        self.release(now)
        number = self.number(user)
        if number is None:
            return _NOTHING
        mine = self.of_one(number)
        values = np.exp2((mine.at - now) / AGAIN)
        values[self.are_of(mine, against)] *= -1.0
        return _rounded(_summed(mine.items, values))

    def _of_item(self, item: int, now: Micros) -> Related:
        sums = self._sums(item, now)
        if not len(sums.items):
            return _NOTHING
        n = self.counts(np.append(sums.items, item)).astype(np.float64)
        values = sums.sums * 2.0 ** ((sums.landmark - now) / HALF_LIFE) / np.sqrt(n[:-1] * n[-1])
        return _rounded(Related(sums.items, values))

    def _sums(self, item: int, now: Micros) -> _Sums:
        sums = self._kept.pop(item, None)
        if sums is not None:
            self._size -= len(sums.items)
        since = 0 if sums is None else self.entered - sums.applied
        if sums is None or since > len(self.tail.at):
            sums = self._fresh(item, now)
        elif since:
            sums = self._caught_up(item, sums, self.tail.chosen(slice(-since, None)))
        self._kept[item] = sums  # the last to be asked for is the last to go
        self._size += len(sums.items)
        while self._size > MOST_KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.pop(next(iter(self._kept))).items)
        return sums

    def _fresh(self, item: int, now: Micros) -> _Sums:
        mine = self.on_item(item)
        theirs = self.of_users(_distinct(mine))
        pairs = self._pairs(mine, theirs.chosen(theirs.items != item), now)
        return _Sums(self.entered, now, *_summed(*pairs))

    def _caught_up(self, item: int, sums: _Sums, new: Marks) -> _Sums:
        """Add the pairs of which an event is new."""
        applied, theirs = self.entered, self._of_those(new)
        mine = theirs.chosen(theirs.items == item)
        if not len(mine.at):
            return sums._replace(applied=applied)
        is_mine = new.items == item
        new_mine, new_theirs = new.chosen(is_mine).ordered(), new.chosen(~is_mine)
        added = [self._pairs(mine, new_theirs, sums.landmark)]
        if len(new_mine.at):
            added.append(self._pairs(new_mine, theirs.chosen(theirs.items != item), sums.landmark))
            both = self._pairs(new_mine, new_theirs, sums.landmark)
            added.append(Related(both.items, -both.values))
        items, values = _summed(
            np.concatenate([sums.items, *(pairs.items for pairs in added)]),
            np.concatenate([sums.sums, *(pairs.values for pairs in added)]),
        )
        return _Sums(applied, sums.landmark, items, values)

    def _of_those(self, new: Marks) -> Marks:
        """Return all events of the users of new ones, in order: the same for every item."""
        key = self.entered, len(new.at)
        if self._those[0] != key:
            self._those = key, self.of_users(_distinct(new)).ordered()
        return self._those[1]

    def _pairs(self, mine: Marks, theirs: Marks, landmark: Micros) -> Related:
        """Return for each of others' events what its pairs with ours weigh; those of nothing are left out.

        Ours are by user and time. With sums that run over them, the pairs of an event are a range: those
        before it weigh what it weighs itself, those after it what they weigh.
        """
        if not len(mine.at) or not len(theirs.at):
            return _NOTHING
        oldest = self.oldest
        times, rank = np.unique(mine.at, return_inverse=True)
        users, own = np.unique(mine.users, return_inverse=True)
        width = len(times) + 1
        keys = own.astype(np.int64) * width + rank + 1
        place = np.minimum(np.searchsorted(users, theirs.users), len(users) - 1)
        known = users[place] == theirs.users
        place, theirs = place[known].astype(np.int64) * width, theirs.chosen(known)

        def before(limit: IntArray, side: str) -> IntArray:
            ranks = np.searchsorted(times, limit, side="left" if side == "left" else "right")
            found: IntArray = np.searchsorted(keys, place + ranks, side="right")
            return found

        first, middle, last = (
            before(theirs.at - SPAN, "left"),
            before(theirs.at, "right"),
            before(theirs.at + SPAN, "right"),
        )
        running = np.append(0.0, np.cumsum(_weights(mine.at, landmark, oldest)))
        values = (middle - first) * _weights(theirs.at, landmark, oldest)
        values += np.where(last > middle, running[last] - running[middle], 0.0)
        some = values > 0
        return Related(theirs.items[some].astype(np.int64), values[some])


_NOTHING = Related(np.zeros(0, np.int64), np.zeros(0))


def _weights(at: IntArray, landmark: Micros, oldest: Micros) -> FloatArray:
    weights: FloatArray = np.where(at >= oldest, np.exp2((at - landmark) / HALF_LIFE), 0.0)
    return weights


def _summed(items: IntArray | SmallArray, values: FloatArray) -> Related:
    """Return the sum of the values of each item."""
    if len(items) <= _FEW:
        sums: dict[int, float] = {}
        for item, value in zip(items.tolist(), values.tolist(), strict=True):
            sums[item] = sums.get(item, 0.0) + value
        ascending = sorted(sums)
        return Related(np.array(ascending, np.int64), np.array([sums[item] for item in ascending]))
    if len(items) and items.max() < 8 * len(items):  # so dense that nothing needs to be put in order
        dense = np.bincount(items, values).astype(np.float64, copy=False)
        there = np.flatnonzero(np.bincount(items))
        return Related(there, dense[there])
    distinct, place = np.unique(items, return_inverse=True)
    summed = np.bincount(place, values, len(distinct)).astype(np.float64, copy=False)
    return Related(distinct.astype(np.int64, copy=False), summed)


def _rounded(related: Related) -> Related:
    mantissa, exponent = np.frexp(related.values)
    return Related(related.items, np.ldexp(np.rint(mantissa * _DIGITS) / _DIGITS, exponent))


def _distinct(marks: Marks) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.unique(marks.users)
