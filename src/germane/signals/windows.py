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
_ONE = np.int32(1)
"""Of the counters' own type: adding another one takes twenty times as long."""
_FEW = 4_096
"""Events whose merging is cheaper than looking for what the windows have left."""


class WindowedCounts:
    """Counts of events in windows that end now, one an item and window.

    An event of minute m counts while ``m > now - window``, whatever its weight. For each window there is a
    dense counter; events lie by minute, and each window takes back those that it has left. A read costs
    nothing but the events that left since the last one. What reads took back is kept as long as it lies
    within a window at the log's own time, so that the state can be told apart from when it was read.

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
        self._recorded = _NEVER  # the minute of the latest record

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
        self._recorded = max(self._recorded, recorded_at // MINUTE)
        within = minutes > self._recorded - max(self._lengths)
        if not within.any():
            return
        self._insert(minutes[within].astype(np.int32), items[within].astype(np.int32))

    def add_one(self, item: int, at: Micros, recorded_at: Micros) -> None:
        """Count one event; the same as `add`, for less."""
        if not self._lengths:
            return
        minute = at // MINUTE
        self._recorded = max(self._recorded, recorded_at // MINUTE)
        if minute <= self._recorded - max(self._lengths):
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
            np.add.at(self._counters[which], items[minutes > left], _ONE)
            self.extremes[which].touch(items)
        order = np.argsort(minutes, kind="stable")
        self._runs.append((minutes[order], items[order]))
        self._merge()

    def read(self, which: int, now: Micros) -> SmallArray:
        """Return the counts in one window at a time that never goes back: int32[items known].

        Items beyond the array have none.
        """
        self._leave(which, now // MINUTE - self._lengths[which])
        return self._counters[which]

    def reserved(self, which: int, size: int, now: Micros) -> SmallArray:
        """Return the counts in one window, for at least so many items."""
        self.read(which, now)
        self._counters[which] = grown(self._counters[which], size)
        return self._counters[which]

    def inside(self, recorded_at: Micros) -> tuple[SmallArray, SmallArray]:
        """Return the events that lie within any window at a time: minutes and items, by both.

        Parameters
        ----------
        recorded_at : int
            When the log's last record was recorded, whatever the latest read.
        """
        if not self._runs:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        minutes, items = (np.concatenate(columns) for columns in zip(*self._runs, strict=True))
        keys = minutes.astype(np.int64) << 32 | items
        keys = np.sort(keys[minutes > recorded_at // MINUTE - max(self._lengths)])
        return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)

    def counters(self, size: int, minutes: SmallArray, items: SmallArray, recorded_at: Micros) -> SmallArray:
        """Return what each window counts at a time, of the events that lie within: int32[windows, size]."""
        counters = np.zeros((len(self._lengths), size), np.int32)
        for which, length in enumerate(self._lengths):
            first = _after(minutes, recorded_at // MINUTE - length)
            counters[which] = np.bincount(items[first:], minlength=size)
        return counters

    def resume(
        self, counters: SmallArray, minutes: SmallArray, items: SmallArray, recorded_at: Micros
    ) -> None:
        """Go on from what `inside` and `counters` returned; the counters are written to."""
        self._counters = list(counters)
        self._recorded = recorded_at // MINUTE
        self._left = [self._recorded - length for length in self._lengths]
        self._runs = [(minutes, items)] if len(minutes) else []

    def _leave(self, which: int, reached: int) -> None:
        """Take back what a window leaves up to a minute."""
        left = self._left[which]
        if reached > left:
            for minutes, items in self._runs:
                first, last = _after(minutes, left), _after(minutes, reached)
                if first < last:
                    np.subtract.at(self._counters[which], items[first:last], _ONE)
                    self.extremes[which].touch(items[first:last])
            self._left[which] = reached

    def _merge(self) -> None:
        """Keep logarithmically many runs, without what every window has left at the log's own time."""
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            if len(self._runs[-2][0]) > _FEW:
                for which, length in enumerate(self._lengths):
                    self._leave(which, self._recorded - length)
            (minutes, items), (later_minutes, later_items) = self._runs[-2:]
            minutes, items = np.concatenate([minutes, later_minutes]), np.concatenate([items, later_items])
            held = np.flatnonzero(minutes > min(*self._left, self._recorded - max(self._lengths)))
            order = held[np.argsort(minutes[held], kind="stable")]
            self._runs[-2:] = [(minutes[order], items[order])]


def _after(minutes: SmallArray, minute: int) -> int:
    """Return the place behind a minute among ascending ones."""
    # Of their own type: for another one NumPy would copy all of them first.
    return int(minutes.searchsorted(np.int32(min(max(minute, _NEVER), -_NEVER - 1)), side="right"))
