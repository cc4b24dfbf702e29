"""Histories: which user did what with which item, and when, in order of user and time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import apsw
import numpy as np

from germane.log.base import arrays_from_chunks, chunks
from germane.log.chain import BEFORE_ALL_TIMES
from germane.log.events import Base, RecordSignal, RecordSignals, decode
from germane.model.times import DAY, Micros
from germane.people.pairs import IntArray
from germane.people.texts import Arrays, texts_from_arrays, texts_to_arrays

SmallArray = np.ndarray[Any, np.dtype[np.int32]]
ShortArray = np.ndarray[Any, np.dtype[np.uint16]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

PART = "histories"
"""The part of a log's base that holds histories."""
HORIZON = 990 * DAY
"""How far before the latest event histories reach: 33 times 30 days, after which 2**-33 is left of a pair."""
SPAN = 30 * DAY
"""How far apart two events of a pair are at most."""
TAIL = 8_192
"""Events that are also kept in the order of the log, so that what is cached can catch up."""

_RECORDS = (
    "SELECT seq, at, recorded_at, type, data FROM log"
    " WHERE seq > ? AND seq <= ? AND type IN ('signal', 'signals', 'base') ORDER BY seq"
)
_RUN = 10_000


class Marks(NamedTuple):
    """Events of users, as columns: users, items and signals by number, and when each happened."""

    users: SmallArray
    items: SmallArray
    at: IntArray
    names: ShortArray

    def chosen(self, which: Any) -> Marks:
        """Return some of the events: a mask, a slice or places."""
        return Marks._make(column[which] for column in self)

    def joined(self, more: Marks) -> Marks:
        """Return these events and more."""
        return _joined([self, more])

    def ordered(self) -> Marks:
        """Return them by user, then time, then item, then signal."""
        return self.chosen(np.lexsort((self.names, self.items, self.at, self.users)))


NONE = Marks(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint16))


class _Run(NamedTuple):
    """Events by user and time, and their places by item."""

    marks: Marks
    by_item: SmallArray

    @classmethod
    def of(cls, marks: Marks) -> _Run:
        ordered = marks.ordered()
        return cls(ordered, np.argsort(ordered.items, kind="stable").astype(np.int32))


class Histories:
    """The events of all users, at one position of the log: 22 bytes for each.

    They lie in logarithmically many sorted runs, each at least twice as long as the next. What happened more
    than `HORIZON` before the latest event is let go, except that it was counted.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.applied = 0
        """Events that were applied, ever since this was begun or loaded."""
        self.newest = BEFORE_ALL_TIMES
        self.tail = NONE
        """The last events, in the order in which they were applied."""
        self._users: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._counts: IntArray = np.zeros(0, np.int64)
        self._runs: list[_Run] = []
        self._waiting = NONE

    @property
    def oldest(self) -> Micros:
        """The time before which an event counts for nothing."""
        return self.newest - HORIZON

    def number(self, user: str) -> int | None:
        """Return the number of a user; None for one without events."""
        return self._users.get(user)

    def are_of(self, marks: Marks, signals: Collection[str]) -> BoolArray:
        """Return which events are of some signals."""
        numbers = [self._names[name] for name in signals if name in self._names]
        return np.isin(marks.names, numbers)

    def counts(self, items: IntArray) -> IntArray:
        """Return how many events of users each of some items ever had."""
        found = np.zeros(len(items), np.int64)
        known = items < len(self._counts)
        found[known] = self._counts[items[known]]
        return found

    def of_users(self, users: SmallArray) -> Marks:
        """Return the events of some users, given ascending; by user and time within each of several runs."""
        return _joined([run.marks.chosen(_within(run.marks.users, users)) for run in self._runs])

    def on_item(self, item: int) -> Marks:
        """Return the events on an item, by user and time."""
        found = []
        for marks, by_item in self._runs:
            low, high = (_place(marks.items, by_item, item, side) for side in ("left", "right"))
            found.append(marks.chosen(np.sort(by_item[low:high])))
        return _joined(found) if len(found) < 2 else _joined(found).ordered()

    def release(self, now: Micros) -> None:
        """Let what was ahead of its time enter, as soon as it is due."""
        due = self._waiting.at <= now
        if due.any():
            self._enter(self._waiting.chosen(due))
            self._waiting = self._waiting.chosen(~due)

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        ordinals: dict[str, int] = {}
        run: list[tuple[int, int, int, int, int]] = []
        for place, at, recorded_at, kind, data in connection.execute(_RECORDS, (self.seq, seq)):
            event = decode(place, kind, data)
            if isinstance(event, RecordSignal):
                if event.user is None:
                    continue
                item = ordinals.get(event.item)
                if item is None:
                    found = connection.execute("SELECT ordinal FROM item WHERE id = ?", (event.item,)).get
                    item = ordinals[event.item] = int(found)
                run.append((self._number(event.user), item, at, self._name(event.name), recorded_at))
                if len(run) == _RUN:
                    self._apply_run(run)
                    run = []
            elif isinstance(event, RecordSignals) and event.user:
                self._apply_run(run)
                run = []
                self._apply_columns(event, recorded_at)
            elif isinstance(event, Base):  # the first record: this has not come as far
                told = arrays_from_chunks(chunks(connection, event, PART)) if PART in event.parts else None
                self.__dict__.update((Histories() if told is None else Histories.from_arrays(told)).__dict__)
        self._apply_run(run)
        reached = connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (seq,)).get
        self.release(BEFORE_ALL_TIMES if reached is None else int(reached))
        self.seq = seq

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log alone."""
        whole = _joined([run.marks for run in self._runs])
        whole, waiting, names = self._named(whole.chosen(whole.at >= self.oldest - SPAN), self._waiting)
        counts = self._counts[: np.max(np.flatnonzero(self._counts), initial=-1) + 1]
        arrays: Arrays = {
            **texts_to_arrays("users", self._users),
            **texts_to_arrays("signals", names),
            "counts": counts,
            "newest": np.array([self.newest], np.int64),
        }
        for prefix, marks in (("", whole), ("waiting_", waiting)):
            for name, column in marks._asdict().items():
                arrays[f"{prefix}marks_{name}"] = column
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Histories:
        """Return what `to_arrays` made arrays of."""
        made = cls()
        made._users, made._names = _numbered("users", arrays), _numbered("signals", arrays)
        made._counts = arrays["counts"].copy()
        made.newest = int(arrays["newest"][0])
        whole, made._waiting = (
            Marks._make(arrays[f"{prefix}marks_{name}"] for name in Marks._fields)
            for prefix in ("", "waiting_")
        )
        made._runs = [_Run.of(whole)] if len(whole.at) else []
        return made

    def _number(self, user: str) -> int:
        return self._users.setdefault(user, len(self._users))

    def _name(self, signal: str) -> int:
        return self._names.setdefault(signal, len(self._names))

    def _named(self, *several: Marks) -> tuple[Any, ...]:
        """Return events in order, their signals numbered by name, whichever came first; and these names."""
        used = np.unique(np.concatenate([marks.names for marks in several]))
        texts = list(self._names)
        names = sorted(texts[number] for number in used.tolist())
        numbers = np.zeros(len(texts), np.uint16)
        for number, name in enumerate(names):
            numbers[self._names[name]] = number
        return *(marks._replace(names=numbers[marks.names]).ordered() for marks in several), names

    def _apply_run(self, run: list[tuple[int, int, int, int, int]]) -> None:
        if run:
            users, items, at, names, recorded_at = (
                np.array(column, np.int64) for column in zip(*run, strict=True)
            )
            marks = Marks(users.astype(np.int32), items.astype(np.int32), at, names.astype(np.uint16))
            self._apply(marks, recorded_at)

    def _apply_columns(self, event: RecordSignals, recorded_at: Micros) -> None:
        user = np.frombuffer(event.user, "<i4")
        rows = np.flatnonzero(user >= 0)
        numbers = np.fromiter(map(self._number, event.users), np.int32, len(event.users))
        items = np.frombuffer(event.item, "<i8")[rows].astype(np.int32)
        at = np.frombuffer(event.at, "<i8")[rows].astype(np.int64)
        told, named = np.frombuffer(event.name, "<u2")[rows], np.zeros(len(event.names), np.uint16)
        for number in np.unique(told).tolist():
            named[number] = self._name(event.names[number])
        self._apply(Marks(numbers[user[rows]], items, at, named[told]), np.full(len(at), recorded_at))

    def _apply(self, marks: Marks, recorded_at: IntArray) -> None:
        ahead = marks.at > recorded_at
        if ahead.any():
            self._waiting = self._waiting.joined(marks.chosen(ahead))
            marks = marks.chosen(~ahead)
        self._enter(marks)

    def _enter(self, marks: Marks) -> None:
        if not len(marks.at):
            return
        missing = int(marks.items.max()) + 1 - len(self._counts)
        if missing > 0:
            self._counts = np.append(self._counts, np.zeros(max(missing, len(self._counts)), np.int64))
        np.add.at(self._counts, marks.items, 1)
        self.newest = max(self.newest, int(marks.at.max()))
        self.applied += len(marks.at)
        self.tail = self.tail.joined(marks).chosen(slice(-TAIL, None))
        self._runs.append(_Run.of(marks))
        while len(self._runs) > 1 and len(self._runs[-2].by_item) < 2 * len(self._runs[-1].by_item):
            both = self._runs[-2].marks.joined(self._runs[-1].marks)
            self._runs[-2:] = [_Run.of(both.chosen(both.at >= self.oldest - SPAN))]


def _joined(several: list[Marks]) -> Marks:
    if len(several) == 1:
        return several[0]
    return Marks._make(map(np.concatenate, zip(*several, strict=True))) if several else NONE


def _numbered(name: str, arrays: Arrays) -> dict[str, int]:
    return {text: number for number, text in enumerate(texts_from_arrays(name, arrays))}


def _place(items: SmallArray, by_item: SmallArray, item: int, side: Any) -> int:
    """Return where an item begins or ends among places by item."""
    return int(np.searchsorted(items, item, side=side, sorter=by_item))


def _within(ascending: SmallArray, wanted: SmallArray) -> IntArray:
    """Return the places of some values in an ascending array, each value's together."""
    first = np.searchsorted(ascending, wanted, side="left")
    count = np.searchsorted(ascending, wanted, side="right") - first
    ends = np.cumsum(count)
    found: IntArray = np.repeat(first - (ends - count), count)
    return found + np.arange(len(found))
