"""Windowed counts, exact at the granularity of a minute for every window and any stream."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import Any

import numpy as np

from germane.model.times import Micros
from germane.signals.decay import IntArray, grown

MINUTE = 60_000_000


class WindowedCounts:
    """Counts of events in windows that end now, one an item and window.

    An event of minute m counts while ``m > now - window``, whatever its weight. For each window there is a
    dense counter; events lie by minute, and each window takes back the minutes that it has left. A read
    costs nothing but the minutes that went by since the last one.

    Parameters
    ----------
    lengths : tuple of int
        Lengths of the windows in microseconds, each a whole number of minutes.

    Examples
    --------
    >>> counts = WindowedCounts((60 * MINUTE,))
    >>> counts.add(np.array([0, 0]), np.array([0, 30 * MINUTE]))
    >>> [int(counts.read(0, now)[0]) for now in (59 * MINUTE, 60 * MINUTE, 90 * MINUTE)]
    [2, 1, 0]
    """

    def __init__(self, lengths: tuple[Micros, ...]) -> None:
        self._lengths = tuple(length // MINUTE for length in lengths)
        self._counters: list[np.ndarray[Any, np.dtype[np.int32]]] = [np.zeros(0, np.int32) for _ in lengths]
        self._left = [-(1 << 62)] * len(lengths)  # the last minute that each window has taken back
        self._minutes: list[int] = []
        self._events: dict[int, list[np.ndarray[Any, np.dtype[np.int32]]]] = {}

    def add(self, items: IntArray, at: IntArray) -> None:
        """Count events; late ones count in the windows that still reach them.

        Parameters
        ----------
        items : int64[n]
            Numbers of the items.
        at : int64[n]
            Microseconds since the epoch.
        """
        if not len(items):
            return
        minutes = at // MINUTE
        size = int(items.max()) + 1
        for which, left in enumerate(self._left):
            self._counters[which] = grown(self._counters[which], size)
            np.add.at(self._counters[which], items[minutes > left], 1)
        order = np.argsort(minutes, kind="stable")
        starts = np.flatnonzero(np.diff(minutes[order], prepend=-(1 << 62)))
        for group in np.split(order, starts[1:]):
            minute = int(minutes[group[0]])
            if minute not in self._events:
                insort(self._minutes, minute)
                self._events[minute] = []
            self._events[minute].append(items[group].astype(np.int32))

    def read(self, which: int, now: Micros) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Return the counts in one window at a time that never goes back: int32[items known].

        Items beyond the array have none.
        """
        reached = now // MINUTE - self._lengths[which]
        if reached > self._left[which]:
            first = bisect_right(self._minutes, self._left[which])
            last = bisect_right(self._minutes, reached)
            for minute in self._minutes[first:last]:
                for items in self._events[minute]:
                    np.subtract.at(self._counters[which], items, 1)
            self._left[which] = reached
            self._forget()
        return self._counters[which]

    def _forget(self) -> None:
        """Drop the minutes that every window has taken back."""
        last = bisect_right(self._minutes, min(self._left))
        for minute in self._minutes[:last]:
            del self._events[minute]
        del self._minutes[:last]
