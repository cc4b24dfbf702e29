"""Histories: which user did what with which item, and when, in order of user and time.

What is done in a session is done by its user; a session without one counts as somebody by itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple, Self

import apsw
import numpy as np

from germane.log.base import arrays_from_chunks, chunks
from germane.log.chain import BEFORE_ALL_TIMES, recorded_at
from germane.log.checkpoint import Arrays
from germane.log.runs import Begun, Columns, Single, signal_runs
from germane.model.times import DAY, Micros
from germane.people.pairs import IntArray
from germane.people.texts import texts_from_arrays, texts_to_arrays

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


AFTER_ALL_TIMES = 2**63 - 1
NOBODYS = "\0"
"""What the names of sessions without a user begin with, among those of users: no user's does."""


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
    def of(cls, ordered: Marks) -> _Run:
        return cls(ordered, np.argsort(ordered.items, kind="stable").astype(np.int32))


class Histories:
    """The events of all users, at one position of the log: 22 bytes for each.

    They lie in logarithmically many sorted runs, each at least twice as long as the next. What happened more
    than `HORIZON` before the latest event is let go, except that it was counted.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.applied = 0
        """Events that were applied since this was begun, loaded or saved."""
        self.entered = 0
        """Events that have come to count, ever since this was begun or loaded."""
        self.newest = BEFORE_ALL_TIMES
        self.tail = NONE
        """The last events, in the order in which they came to count."""
        self._users: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._counts: IntArray = np.zeros(0, np.int64)
        self._runs: list[_Run] = []
        self._waiting = NONE
        self._early = NONE  # what readers let enter before the log reached its time
        self._settled = BEFORE_ALL_TIMES  # the newest of the rest

    @property
    def size(self) -> int:
        """Events that are held."""
        return sum(len(run.by_item) for run in self._runs)

    @property
    def oldest(self) -> Micros:
        """The time before which an event counts for nothing."""
        return self.newest - HORIZON

    def number(self, user: str) -> int | None:
        """Return the number of a user; None for one without events."""
        return self._users.get(user)

    def are_of(self, marks: Marks, signals: Collection[str]) -> BoolArray:
        """Return which events are of some signals."""
        found = np.zeros(len(marks.names), np.bool_)
        for name in signals:
            if name in self._names:
                found |= marks.names == self._names[name]
        return found

    def counts(self, items: IntArray) -> IntArray:
        """Return how many events of users each of some items ever had."""
        found = np.zeros(len(items), np.int64)
        known = items < len(self._counts)
        found[known] = self._counts[items[known]]
        return found

    def of_users(self, users: SmallArray) -> Marks:
        """Return the events of some users, given ascending; by user and time within each of several runs."""
        return _joined([run.marks.chosen(_within(run.marks.users, users)) for run in self._runs])

    def of_one(self, number: int) -> Marks:
        """Return the events of one user that count; by time within each of several runs."""
        ends, found = np.array([number, number + 1], np.int32), []
        for marks, _ in self._runs:
            first, last = marks.users.searchsorted(ends).tolist()
            if first < last:
                first += int(marks.at[first:last].searchsorted(self.oldest))
                found.append(marks.chosen(slice(first, last)))
        return _joined(found)

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
            self._early = self._early.joined(self._waiting.chosen(due))
            self._waiting = self._waiting.chosen(~due)

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        for part in signal_runs(connection, self.seq, seq):
            if isinstance(part, Columns):
                self._apply_columns(part)
            elif isinstance(part, Begun):
                told = arrays_from_chunks(chunks(connection, part.event, PART))
                begun = self.from_arrays(part.seq, told) if told else type(self)()
                self.__dict__.update(begun.__dict__)
            else:
                self._apply_run(part)
        reached = recorded_at(connection, seq)
        self.release(reached)
        is_early = self._early.at > reached
        self._settled = max(self._settled, int(self._early.at[~is_early].max(initial=BEFORE_ALL_TIMES)))
        self._early = self._early.chosen(is_early)
        self.seq = seq

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone.

        What a reader let enter ahead of the log waits again.
        """
        marks, by_item = self._whole()
        is_kept = marks.at >= self._settled - HORIZON - SPAN
        is_kept &= marks.at < self._early.at.min(initial=AFTER_ALL_TIMES)
        if not is_kept.all():
            marks, by_item = _Run.of(marks.chosen(is_kept))
        waiting = self._waiting.joined(self._early).ordered()
        used = np.flatnonzero(np.bincount(marks.names) if len(marks.at) else ())
        used = np.union1d(used, waiting.names).astype(np.uint16)
        counts = self._counts.copy()
        np.subtract.at(counts, self._early.items, 1)
        names = list(self._names)
        arrays: Arrays = {
            **texts_to_arrays("users", self._users),
            **texts_to_arrays("signals", [names[number] for number in used.tolist()]),
            "counts": counts[: np.max(np.flatnonzero(counts), initial=-1) + 1],
            "newest": np.array([self._settled], np.int64),
            "by_item": by_item,
        }
        for prefix, told in (("", marks), ("waiting_", waiting)):
            named = told._replace(names=np.searchsorted(used, told.names).astype(np.uint16))
            for name, column in named._asdict().items():
                arrays[f"{prefix}marks_{name}"] = column
        return arrays

    @classmethod
    def from_arrays(cls, seq: int, arrays: Arrays) -> Self:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        KeyError, ValueError
            The arrays are not of that form.
        """
        made = cls()
        made._users, made._names = _numbered("users", arrays), _numbered("signals", arrays)
        made._counts = arrays["counts"].copy()
        made.newest = made._settled = int(arrays["newest"][0])
        marks, made._waiting = (
            Marks._make(arrays[f"{prefix}marks_{name}"] for name in Marks._fields)
            for prefix in ("", "waiting_")
        )
        if {len(column) for column in (*marks, arrays["by_item"])} != {len(marks.at)}:
            raise ValueError("columns of events differ in length")
        made._runs = [_Run(marks, arrays["by_item"])] if len(marks.at) else []
        made.seq = seq
        return made

    def without(self, user: str) -> Histories:
        """Return the histories without a user: what the log comes to when the user's events are nobody's.

        Events that were let go are not known by user any more, and stay counted.
        """
        number = self._users[user]
        made = Histories()
        made.seq = self.seq
        made._users = {name: place for place, name in enumerate(name for name in self._users if name != user)}
        whole = self._whole().marks
        made._names = self._names.copy()  # those that nobody else gave are told no more
        gone = np.bincount(whole.items[whole.users == number], minlength=len(self._counts))
        made._counts = self._counts - gone
        whole, made._waiting = (_without(marks, number) for marks in (whole, self._waiting))
        made.newest = made._settled = int(whole.at.max(initial=BEFORE_ALL_TIMES))
        made._runs = [_Run.of(whole)] if len(whole.at) else []
        return made

    def __contains__(self, user: object) -> bool:
        """Tell whether a user is known."""
        return user in self._users

    def _number(self, user: str) -> int:
        return self._users.setdefault(user, len(self._users))

    def _name(self, signal: str) -> int:
        return self._names.setdefault(signal, len(self._names))

    def _whole(self) -> _Run:
        """Return all that has entered as one run, signals numbered by name; so it stays."""
        names = sorted(self._names)
        if len(self._runs) > 1 or names != list(self._names):
            numbers = np.array([names.index(name) for name in self._names], np.uint16)
            joined = _joined([run.marks for run in self._runs])
            several = (joined, self._waiting, self._early, self.tail)
            whole, self._waiting, self._early, self.tail = (
                marks._replace(names=numbers[marks.names]) for marks in several
            )
            self._names = {name: number for number, name in enumerate(names)}
            self._runs = [_Run.of(whole.ordered())]
        return self._runs[0] if self._runs else _Run.of(NONE)

    def _apply_run(self, run: list[Single]) -> None:
        rows = [
            (self._number(user or f"{NOBODYS}{session}"), item, at, self._name(name), when)
            for _, at, when, name, item, _, user, session in run
            if user is not None or session is not None
        ]
        if rows:
            users, items, at, names, recorded = (
                np.array(column, np.int64) for column in zip(*rows, strict=True)
            )
            marks = Marks(users.astype(np.int32), items.astype(np.int32), at, names.astype(np.uint16))
            self._apply(marks, recorded)

    def _apply_columns(self, columns: Columns) -> None:
        _, when, event = columns
        if not event.user:
            return
        user = np.frombuffer(event.user, "<i4")
        rows = np.flatnonzero(user >= 0)
        numbers = np.fromiter(map(self._number, event.users), np.int32, len(event.users))
        items = np.frombuffer(event.item, "<i8")[rows].astype(np.int32)
        at = np.frombuffer(event.at, "<i8")[rows].astype(np.int64)
        told, named = np.frombuffer(event.name, "<u2")[rows], np.zeros(len(event.names), np.uint16)
        for number in np.unique(told).tolist():
            named[number] = self._name(event.names[number])
        self._apply(Marks(numbers[user[rows]], items, at, named[told]), np.full(len(at), when))

    def _apply(self, marks: Marks, recorded: IntArray) -> None:
        self.applied += len(marks.at)
        ahead = marks.at > recorded
        if ahead.any():
            self._waiting = self._waiting.joined(marks.chosen(ahead))
            marks = marks.chosen(~ahead)
        self._settled = max(self._settled, int(marks.at.max(initial=BEFORE_ALL_TIMES)))
        self._enter(marks)

    def _enter(self, marks: Marks) -> None:
        if not len(marks.at):
            return
        missing = int(marks.items.max()) + 1 - len(self._counts)
        if missing > 0:
            self._counts = np.append(self._counts, np.zeros(max(missing, len(self._counts)), np.int64))
        np.add.at(self._counts, marks.items, 1)
        self.newest = max(self.newest, int(marks.at.max()))
        self.entered += len(marks.at)
        self.tail = self.tail.joined(marks).chosen(slice(-TAIL, None))
        self._runs.append(_Run.of(marks.ordered()))
        while len(self._runs) > 1 and len(self._runs[-2].by_item) < 2 * len(self._runs[-1].by_item):
            both = self._runs[-2].marks.joined(self._runs[-1].marks)
            # By what the log alone has settled: it must not show in the state what readers let enter early.
            kept = both.chosen(both.at >= self._settled - HORIZON - SPAN)
            self._runs[-2:] = [_Run.of(kept.ordered())]


def _joined(several: list[Marks]) -> Marks:
    if len(several) == 1:
        return several[0]
    return Marks._make(map(np.concatenate, zip(*several, strict=True))) if several else NONE


def _without(marks: Marks, number: int) -> Marks:
    """Return events without those of a user; users behind have one less."""
    others = marks.chosen(marks.users != number)
    return others._replace(users=others.users - (others.users > number))


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
