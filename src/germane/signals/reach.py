"""Reach: how many distinct users did anything with an item, over all signals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from germane.log.checkpoint import Arrays
from germane.model.times import Micros
from germane.signals.blocks import Extremes, Numbers
from germane.signals.decay import FloatArray, IntArray, grown, taken
from germane.signals.sketch import HashArray, RankArray, Sketches

EXACT = 64
"""Users of an item up to which they are held one by one."""

_LARGE = EXACT + 1
_ROOM = np.array([0, *(1 << (size - 1).bit_length() for size in range(1, _LARGE))])


class Reach:
    """Distinct users of every item: exact up to 64, a HyperLogLog sketch beyond.

    A user is the first 8 bytes of the BLAKE2b of the id. The state is a function of the set of pairs of item
    and user, so neither order nor repetition matters. Users of small items lie in one array: each item has
    a run in it with room for a power of two of them.

    An event ahead of the log waits, and enters the state at the first position whose time is not before it.

    Examples
    --------
    >>> reach = Reach()
    >>> reach.add(np.array([0, 0, 0, 2]), hashes(["ann", "bob", "ann", "ann"]))
    >>> reach.values[:3].tolist()
    [2.0, 0.0, 1.0]
    """

    def __init__(self) -> None:
        self.values: FloatArray = np.zeros(0)
        """float64[ordinals]: distinct users of each item; longer than the items known."""
        self._extremes = Extremes()
        self._held: RankArray = np.zeros(0, np.uint8)  # users that lie in the run; 65 with a sketch
        self._room: RankArray = np.zeros(0, np.uint8)
        self._place: IntArray = np.zeros(0, np.int64)  # where the run begins, or the number of the sketch
        self._users: HashArray = np.zeros(0, np.uint64)
        self._end = 0
        self._unused = 0  # places of the array that no run has any more
        self._sketches = Sketches()
        self.waiting_items: IntArray = np.zeros(0, np.int64)
        self.waiting_users: HashArray = np.zeros(0, np.uint64)
        self.waiting_at: IntArray = np.zeros(0, np.int64)

    def add(self, items: IntArray, users: HashArray) -> None:
        """Add pairs of item and user.

        Parameters
        ----------
        items : int64[n]
            Numbers of the items.
        users : uint64[n]
            From `hashes`.
        """
        if not len(items):
            return
        self._grow(int(items.max()) + 1)
        is_large = self._held[items] == _LARGE
        if is_large.any():
            self._sketch(items[is_large], users[is_large])
            items, users = items[~is_large], users[~is_large]
        items, users = self._new(items, users)
        if not len(items):
            return
        starts = np.flatnonzero(np.diff(items, prepend=-1))
        owners, counts = items[starts], np.diff(starts, append=len(items))
        sizes = self._held[owners].astype(np.int64) + counts
        outgrown = sizes > EXACT
        if outgrown.any():
            goes = np.repeat(outgrown, counts)
            self._convert(owners[outgrown])
            self._sketch(items[goes], users[goes])
            items, users = items[~goes], users[~goes]
            owners, counts, sizes = owners[~outgrown], counts[~outgrown], sizes[~outgrown]
        self._make_room(owners, sizes)
        first = self._place[owners] + self._held[owners]
        self._users[_spread(first, counts)] = users
        self._held[owners] = sizes
        self._tell(owners, sizes)

    def wait(self, items: IntArray, users: HashArray, at: IntArray) -> None:
        """Keep pairs until their time has come."""
        self.waiting_items = np.concatenate([self.waiting_items, items])
        self.waiting_users = np.concatenate([self.waiting_users, users])
        self.waiting_at = np.concatenate([self.waiting_at, at])

    def release(self, recorded_at: Micros) -> None:
        """Let those pairs that wait enter the state whose time is not after that of the log's last record."""
        if not len(self.waiting_at) or self.waiting_at.min() > recorded_at:
            return
        due = self.waiting_at <= recorded_at
        self.add(self.waiting_items[due], self.waiting_users[due])
        left = ~due
        self.waiting_items, self.waiting_users = self.waiting_items[left], self.waiting_users[left]
        self.waiting_at = self.waiting_at[left]

    def due(self, now: Micros) -> IntArray:
        """Return the items for which `at` differs from `values`, ascending."""
        return np.unique(self.waiting_items[self.waiting_at <= now])

    def at(self, items: IntArray, now: Micros) -> FloatArray:
        """Return the reach of some items at a time not before the last record: float64[items]."""
        found: FloatArray = taken(self.values, items)
        for item in self.due(now).tolist():
            if (of := items == item).any():
                users = self.waiting_users[(self.waiting_items == item) & (self.waiting_at <= now)]
                found[of] = self._with(item, users)
        return found

    def numbers(self, size: int, now: Micros) -> Numbers | None:
        """Return the reach of all items, for ranking; None when there was no user at all.

        Parameters
        ----------
        size : int
            Items there are.
        now : int
            A time not before the last record.
        """
        due = self.due(now)
        if not len(self.values) and not len(due):
            return None
        self._grow(size)
        if len(due):  # rarely: then they are copied
            return Numbers(self.at(np.arange(len(self.values)), now), Extremes(is_lasting=False))
        return Numbers(self.values, self._extremes)

    def users(self, item: int) -> HashArray:
        """Return the users of an item of which at most 64 are known, ascending; of others none."""
        if item >= len(self._held) or self._held[item] == _LARGE:
            return np.zeros(0, np.uint64)
        start = self._place[item]
        return np.sort(self._users[start : start + self._held[item]])

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the set of pairs alone."""
        small = np.flatnonzero((self._held > 0) & (self._held < _LARGE))
        counts = self._held[small].astype(np.int64)
        users = self._users[_spread(self._place[small], counts)]
        large = np.flatnonzero(self._held == _LARGE)
        order = np.lexsort((self.waiting_users, self.waiting_items, self.waiting_at))
        return {
            "items": small,
            "counts": counts.astype(np.uint8),
            "users": users[np.lexsort((users, np.repeat(small, counts)))],
            "sketched": large,
            "registers": self._sketches.registers[self._place[large]],
            "waiting_items": self.waiting_items[order],
            "waiting_users": self.waiting_users[order],
            "waiting_at": self.waiting_at[order],
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Reach:
        """Return the reach that `to_arrays` made arrays of; they are written to."""
        made = cls()
        small, counts, large = arrays["items"], arrays["counts"], arrays["sketched"]
        made._grow(int(max(small[-1:].max(initial=-1), large[-1:].max(initial=-1))) + 1)
        made._held[small] = made._room[small] = made.values[small] = counts
        ends = np.cumsum(counts, dtype=np.int64)
        made._place[small] = ends - counts
        made._users, made._end = arrays["users"], len(arrays["users"])
        if made._end != (ends[-1] if len(ends) else 0):
            raise ValueError("the users are not as many as the items have")
        made._sketches = Sketches(arrays["registers"])
        made._held[large] = _LARGE
        made._place[large] = np.arange(len(large))
        made.values[large] = _beyond(made._sketches.estimates(np.arange(len(large))))
        made.waiting_items, made.waiting_users = arrays["waiting_items"], arrays["waiting_users"]
        made.waiting_at = arrays["waiting_at"]
        return made

    def _grow(self, size: int) -> None:
        self.values, self._place = grown(self.values, size), grown(self._place, size)
        self._held, self._room = grown(self._held, size), grown(self._room, size)

    def _new(self, items: IntArray, users: HashArray) -> tuple[IntArray, HashArray]:
        """Return the pairs that are not held yet, each once, by item and user."""
        if len(items) > 1:
            order = np.lexsort((users, items))
            items, users = items[order], users[order]
            differs = (np.diff(items, prepend=-1) != 0) | np.append(True, users[1:] != users[:-1])
            items, users = items[differs], users[differs]
        counts = self._held[items].astype(np.int64)
        pairs = np.repeat(np.arange(len(items)), counts)
        known = self._users[_spread(self._place[items], counts)] == users[pairs]
        is_new = np.ones(len(items), np.bool_)
        is_new[pairs[known]] = False
        return items[is_new], users[is_new]

    def _make_room(self, owners: IntArray, sizes: IntArray) -> None:
        """See that the runs of some items have room for so many users."""
        moves = sizes > self._room[owners]
        owners, sizes = owners[moves], sizes[moves]
        if not len(owners):
            return
        room = _ROOM[sizes]
        held, before = self._held[owners].astype(np.int64), self._place[owners]
        ends = self._end + np.cumsum(room)
        self._users = grown(self._users, int(ends[-1]))
        self._users[_spread(ends - room, held)] = self._users[_spread(before, held)]
        self._unused += int(self._room[owners].sum())
        self._place[owners], self._room[owners], self._end = ends - room, room, int(ends[-1])
        if 2 * self._unused > self._end > 4_096:
            self._pack()

    def _pack(self) -> None:
        """Give up the places that no run has any more."""
        owners = np.flatnonzero((self._room > 0) & (self._held < _LARGE))
        room = self._room[owners].astype(np.int64)
        self._users = self._users[_spread(self._place[owners], room)]
        self._end, self._unused = len(self._users), 0
        self._place[owners] = np.cumsum(room) - room

    def _convert(self, owners: IntArray) -> None:
        """Give items that outgrow their runs a sketch instead."""
        held = self._held[owners].astype(np.int64)
        users = self._users[_spread(self._place[owners], held)]
        self._unused += int(self._room[owners].sum())
        self._room[owners], self._held[owners] = 0, _LARGE
        self._place[owners] = self._sketches.begin(len(owners))
        self._sketches.add(np.repeat(self._place[owners], held), users)

    def _sketch(self, items: IntArray, users: HashArray) -> None:
        self._sketches.add(self._place[items], users)
        touched = np.unique(items)
        self._tell(touched, _beyond(self._sketches.estimates(self._place[touched])))

    def _tell(self, items: IntArray, values: FloatArray | IntArray) -> None:
        """Put values into the dense column: nothing else changes them."""
        self.values[items] = values
        self._extremes.touch(items)

    def _with(self, item: int, users: HashArray) -> float:
        """Return the reach of an item with more users, which stay out of the state."""
        apart = Reach()
        if item < len(self._held) and self._held[item] == _LARGE:
            apart._grow(1)
            apart._sketches = self._sketches.copy_of(int(self._place[item]))
            apart._held[0] = _LARGE
        else:
            known = self.users(item)
            apart.add(np.zeros(len(known), np.int64), known)
        apart.add(np.zeros(len(users), np.int64), users)
        return float(apart.values[0])


def without_user(arrays: Arrays, user: str) -> Arrays:
    """Return the arrays of a reach in which a user is not among those who are held one by one."""
    (hashed,) = hashes([user])
    owners = np.repeat(np.arange(len(arrays["items"])), arrays["counts"].astype(np.int64))
    others = arrays["users"] != hashed
    counts = np.bincount(owners[others], minlength=len(arrays["items"]))
    waits = arrays["waiting_users"] != hashed
    left = {name: array[waits] for name, array in arrays.items() if name.startswith("waiting_")}
    return {
        **arrays,
        **left,
        "items": arrays["items"][counts > 0],
        "counts": counts[counts > 0].astype(np.uint8),
        "users": arrays["users"][others],
    }


def hashes(users: Iterable[str]) -> HashArray:
    """Return the users as numbers.

    Examples
    --------
    >>> hashes(["ann"]).tolist()
    [10176691957563388837]
    """
    digest = hashlib.blake2b
    told = b"".join(digest(user.encode(), digest_size=8).digest() for user in users)
    return np.frombuffer(told, ">u8").astype(np.uint64)


def _beyond(estimates: FloatArray) -> FloatArray:
    """A sketch is of more users than are held one by one, whatever it estimates."""
    return np.maximum(estimates, float(_LARGE))


def _spread(starts: IntArray, counts: IntArray) -> IntArray:
    """Return the indices of several runs, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)
