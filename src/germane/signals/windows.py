"""Windowed counts, exact at the granularity of a minute for every window and any stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.model.times import Micros
from germane.signals.blocks import Extremes
from germane.signals.decay import IntArray, grown

MINUTE = 60_000_000
SmallArray = np.ndarray[Any, np.dtype[np.int32]]

_NEVER = -(1 << 31)


class WindowedCounts:
    """Counts of events in windows that end now, one an item and window.

    An event of minute m counts while ``m > now - window``, whatever its weight. For each window there is a
    dense counter; events lie by minute, and each window takes back those that it has left. A read costs
    nothing but the events that left since the last one.

    Parameters
    ----------
    lengths : tuple of int
        Lengths of the windows in microseconds, each a whole number of minutes.

    Examples
    --------
    >>> counts = WindowedCounts((60 * MINUTE,))
    >>> counts.add(np.array([0, 0]), np.array([0, 30 * MINUTE]), recorded_at=31 * MINUTE)
    >>> [int(counts.read(0, now)[0]) for now in (59 * MINUTE, 60 * MINUTE, 90 * MINUTE)]
    [2, 1, 0]
    """

    def __init__(self, lengths: tuple[Micros, ...]) -> None:
        self._lengths = tuple(length // MINUTE for length in lengths)
        self._counters: list[SmallArray] = [np.zeros(0, np.int32) for _ in lengths]
        self._left = [_NEVER] * len(lengths)  # the last minute that each window has taken back
        self.extremes = [Extremes() for _ in lengths]
        self._runs: list[tuple[SmallArray, SmallArray]] = []  # minutes, ascending, and items

    def add(self, items: IntArray, at: IntArray, recorded_at: Micros) -> None:
        """Count events; late ones count in the windows that still reach them.

        Parameters
        ----------
        items : int64[n]
            Numbers of the items.
        at : int64[n]
            Microseconds since the epoch.
        recorded_at : int
            A time that no later read is before.
        """
        if not self._lengths:
            return
        minutes = at // MINUTE
        within = minutes > recorded_at // MINUTE - max(self._lengths)
        if not within.any():
            return
        self._insert(minutes[within].astype(np.int32), items[within].astype(np.int32))

    def add_one(self, item: int, at: Micros, recorded_at: Micros) -> None:
        """Count one event; the same as `add`, for less."""
        minute = at // MINUTE
        if not self._lengths or minute <= recorded_at // MINUTE - max(self._lengths):
            return
        for which, left in enumerate(self._left):
            if item >= len(self._counters[which]):
                self._counters[which] = grown(self._counters[which], item + 1)
            if minute > left:
                self._counters[which][item] += 1
            self.extremes[which].touch_one(item)
        self._runs.append((np.array([minute], np.int32), np.array([item], np.int32)))
        self._merge()

    def _insert(self, minutes: SmallArray, items: SmallArray) -> None:
        size = int(items.max()) + 1
        for which, left in enumerate(self._left):
            self._counters[which] = grown(self._counters[which], size)
            np.add.at(self._counters[which], items[minutes > left], 1)
            self.extremes[which].touch(items)
        order = np.argsort(minutes, kind="stable")
        self._runs.append((minutes[order], items[order]))
        self._merge()

    def read(self, which: int, now: Micros) -> SmallArray:
        """Return the counts in one window at a time that never goes back: int32[items known].

        Items beyond the array have none.
        """
        reached, left = now // MINUTE - self._lengths[which], self._left[which]
        if reached > left:
            for minutes, items in self._runs:
                first, last = np.searchsorted(minutes, (left, reached), side="right")
                np.subtract.at(self._counters[which], items[first:last], 1)
                self.extremes[which].touch(items[first:last])
            self._left[which] = reached
        return self._counters[which]

    def reserved(self, which: int, size: int, now: Micros) -> SmallArray:
        """Return the counts in one window, for at least so many items."""
        self.read(which, now)
        self._counters[which] = grown(self._counters[which], size)
        return self._counters[which]

    def _merge(self) -> None:
        """Keep logarithmically many runs, without what every window has left."""
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            (minutes, items), (later_minutes, later_items) = self._runs[-2:]
            minutes, items = np.concatenate([minutes, later_minutes]), np.concatenate([items, later_items])
            held = np.flatnonzero(minutes > min(self._left))
            order = held[np.argsort(minutes[held], kind="stable")]
            self._runs[-2:] = [(minutes[order], items[order])]
