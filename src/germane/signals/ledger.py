"""The ledger of one signal: three readings of every item."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from germane.model.signals import WINDOWS, Signal
from germane.model.times import SECOND, Micros, to_duration
from germane.signals.blocks import Extremes, Numbers
from germane.signals.decay import DecayedScores, FloatArray, IntArray, grown, taken, whole_blocks
from germane.signals.windows import MINUTE, WindowedCounts


@dataclass(frozen=True)
class Events:
    """Events of one signal as columns, in the order of the log.

    Parameters
    ----------
    items : int64[n]
        Ordinals of the items.
    weights : float64[n]
    at : int64[n]
        Microseconds since the epoch.
    """

    items: IntArray
    weights: FloatArray
    at: IntArray

    def __len__(self) -> int:
        return len(self.items)

    def chosen(self, which: np.ndarray[Any, Any]) -> Events:
        """Return some of the events, by a mask or by places."""
        return Events(self.items[which], self.weights[which], self.at[which])


_ONE = np.int64(1)
_NO_LANDMARK = np.iinfo(np.int64).min

NO_EVENTS = Events(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


class SignalLedger:
    """What is kept of one signal.

    An event ahead of the time at which it was recorded waits, and is applied at the first record of the
    log that is not before it; until then a read adds it as soon as it is due.

    Parameters
    ----------
    signal : Signal
    """

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        half_life = signal.half_life
        self.decayed = DecayedScores(None if half_life is None else to_duration(half_life, "half_life"))
        self.window_names = tuple(name for name in signal.windows if WINDOWS[name] is not None)
        self.windows = WindowedCounts(tuple(WINDOWS[name] or 0 for name in self.window_names))
        self.totals: IntArray = np.zeros(0, np.int64)
        self.waiting = NO_EVENTS
        self._decayed_extremes, self._total_extremes = Extremes(), Extremes()
        self._moves = 0

    def apply_run(self, events: Events, recorded_at: IntArray) -> None:
        """Apply records of one event each, in order; the state is as if they came one by one.

        Parameters
        ----------
        events : Events
        recorded_at : int64[n]
            When each was recorded, in microseconds.
        """
        if len(self.waiting) or (events.at > recorded_at).any():
            events = self._as_they_enter(events, recorded_at)
            if not len(events):
                return
        # The landmark moves with the latest event; between two moves the order of adding is all that counts.
        landmarks = np.maximum.accumulate(events.at) // self.decayed.stride
        starts = np.flatnonzero(np.diff(landmarks, prepend=landmarks[:1] - 1))
        for places in np.split(np.arange(len(events)), starts[1:]):
            self._add(events.chosen(places), int(recorded_at[0]))

    def apply(self, events: Events, recorded_at: Micros) -> None:
        """Apply one record of the log: first what was waiting for its time, then its own events."""
        self.release(recorded_at)
        ahead = events.at > recorded_at
        if ahead.any():
            self.waiting = _joined(self.waiting, events.chosen(ahead))
            events = events.chosen(~ahead)
        self._add(events, recorded_at)

    def apply_one(self, item: int, weight: float, at: Micros, recorded_at: Micros) -> None:
        """Apply a record of one event; the same as `apply`, for a fraction of the time."""
        if len(self.waiting) or at > recorded_at:
            one = Events(np.array([item], np.int64), np.array([weight]), np.array([at], np.int64))
            self.apply(one, recorded_at)
            return
        self.decayed.add_one(item, weight, at)
        if self.decayed.moves != self._moves:
            self._moves = self.decayed.moves
            self._decayed_extremes.touch()
        self._decayed_extremes.touch_one(item)
        self.windows.add_one(item, at, recorded_at)
        if item >= len(self.totals):
            self.totals = grown(self.totals, item + 1)
        self.totals[item] += 1
        self._total_extremes.touch_one(item)

    def release(self, recorded_at: Micros) -> None:
        """Apply the waiting events whose time has come, each as a record of its own, by time."""
        if not len(self.waiting) or self.waiting.at.min() > recorded_at:
            return
        due = self.waiting.at <= recorded_at
        ready = self.waiting.chosen(due)
        self.waiting = self.waiting.chosen(~due)
        for place in np.argsort(ready.at, kind="stable"):
            self._add(ready.chosen(np.array([place])), recorded_at)

    def to_arrays(self, recorded_at: Micros) -> dict[str, np.ndarray[Any, Any]]:
        """Return the state at the time of the log's last record, in a form that no read leaves a trace in."""
        size = whole_blocks(int(np.flatnonzero(self.totals)[-1:].max(initial=-1)) + 1)
        minutes, items = self.windows.inside(recorded_at)
        landmark = self.decayed.landmark
        return {
            "landmark": np.array([_NO_LANDMARK if landmark is None else landmark]),
            # Shorter where a signal was declared anew, and no reading has made room yet.
            "decayed": grown(self.decayed.values, size)[:size],
            "totals": self.totals[:size],
            "counters": self.windows.counters(size, minutes, items, recorded_at).reshape(-1),
            "minutes": minutes,
            "items": items,
            "waiting_items": self.waiting.items,
            "waiting_weights": self.waiting.weights,
            "waiting_at": self.waiting.at,
        }

    def resume(self, arrays: dict[str, np.ndarray[Any, Any]], recorded_at: Micros) -> None:
        """Go on from what `to_arrays` returned; the arrays are written to."""
        landmark = int(arrays["landmark"][0])
        self.decayed.landmark = None if landmark == _NO_LANDMARK else landmark
        self.decayed.values, self.totals = arrays["decayed"], arrays["totals"]
        counters = arrays["counters"].reshape(len(self.window_names), len(self.totals))
        self.windows.resume(counters, arrays["minutes"], arrays["items"], recorded_at)
        self.waiting = Events(arrays["waiting_items"], arrays["waiting_weights"], arrays["waiting_at"])

    def decayed_scores(self, items: IntArray, now: Micros) -> FloatArray:
        """Return decayed scores at a time not before the last record: float64[items]."""
        scores: FloatArray = self.decayed.at(items, now)
        due = self._due(now)
        for item, weight, at in zip(due.items, due.weights, due.at.tolist(), strict=True):
            scores[items == item] += weight * self.decayed.weight(now - at)
        return scores

    def counts(self, items: IntArray, window: str, now: Micros) -> IntArray:
        """Return windowed counts at a time that never goes back: int64[items]."""
        counters = self.totals if window == "all" else self.windows.read(self.window_names.index(window), now)
        counts: IntArray = taken(counters, items).astype(np.int64)
        due, length = self._due(now), WINDOWS[window]
        if length is not None:  # nothing was recorded since, and it may have left the window already
            due = due.chosen(due.at // MINUTE > now // MINUTE - length // MINUTE)
        for item in due.items:
            counts[items == item] += 1
        return counts

    def velocities(self, items: IntArray, window: str, now: Micros) -> FloatArray:
        """Return counts per second of the window; 0.0 for ``all``: float64[items]."""
        length = WINDOWS[window]
        if length is None:
            return np.zeros(len(items))
        return self.counts(items, window, now) / (length / SECOND)

    def _as_they_enter(self, events: Events, recorded_at: IntArray) -> Events:
        """Return the events that enter the state with these records, in the order in which they do."""
        joined = _joined(self.waiting, events)
        waiting = [(at, place) for place, at in enumerate(self.waiting.at.tolist())]
        heapify(waiting)
        entered: list[int] = []
        times = zip(events.at.tolist(), recorded_at.tolist(), strict=True)
        for place, (at, moment) in enumerate(times, len(self.waiting)):
            while waiting and waiting[0][0] <= moment:
                entered.append(heappop(waiting)[1])
            if at > moment:
                heappush(waiting, (at, place))
            else:
                entered.append(place)
        self.waiting = joined.chosen(np.array(sorted(place for _, place in waiting), np.int64))
        return joined.chosen(np.array(entered, np.int64))

    def decayed_numbers(self, size: int, now: Micros) -> Numbers | None:
        """Return the decayed scores of all items, for ranking; None when there was no event at all.

        Parameters
        ----------
        size : int
            Items there are.
        now : int
            A time not before the last record.
        """
        due = self._due(now)
        if not len(self.decayed.values) and not len(due):
            return None
        self.decayed.values = grown(self.decayed.values, size)
        if len(due):  # rarely: then the scores are copied
            scores = self.decayed_scores(np.arange(len(self.decayed.values)), now)
            return Numbers(scores, Extremes(is_lasting=False))
        return Numbers(self.decayed.values, self._decayed_extremes, self.decayed.scalar(now))

    def count_numbers(self, window: str, size: int, now: Micros) -> Numbers | None:
        """Return the windowed counts of all items, for ranking; None when there was no event at all.

        Parameters
        ----------
        window : str
            One of the signal's windows.
        size : int
            Items there are.
        now : int
            A time that never goes back.
        """
        due = self._due(now)
        if not len(self.totals) and not len(due):
            return None
        self.totals = grown(self.totals, size)
        if len(due):
            counts = self.counts(np.arange(len(self.totals)), window, now)
            return Numbers(counts, Extremes(is_lasting=False))
        if window == "all":
            return Numbers(self.totals, self._total_extremes)
        which = self.window_names.index(window)
        return Numbers(self.windows.reserved(which, size, now), self.windows.extremes[which])

    def _add(self, events: Events, recorded_at: Micros) -> None:
        if len(events):
            self.decayed.add(events.items, events.weights, events.at)
            moved = self.decayed.moves != self._moves
            self._moves = self.decayed.moves
            self._decayed_extremes.touch(None if moved else events.items)
            self._total_extremes.touch(events.items)
            self.windows.add(events.items, events.at, recorded_at)
            self.totals = grown(self.totals, int(events.items.max()) + 1)
            np.add.at(self.totals, events.items, _ONE)

    def _due(self, now: Micros) -> Events:
        return self.waiting.chosen(self.waiting.at <= now) if len(self.waiting) else NO_EVENTS


def _joined(first: Events, second: Events) -> Events:
    return Events(
        np.concatenate([first.items, second.items]),
        np.concatenate([first.weights, second.weights]),
        np.concatenate([first.at, second.at]),
    )
