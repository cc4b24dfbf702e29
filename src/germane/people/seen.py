"""What users have seen: the items that their signals were on, and how far they came with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import apsw
import numpy as np

from germane.log.base import arrays_from_chunks, chunks
from germane.log.chain import recorded_at
from germane.log.checkpoint import Arrays
from germane.log.runs import Begun, Columns, Single, signal_runs
from germane.model.times import Micros
from germane.people.pairs import SHIFT, FloatArray, IntArray, LatestWeights, Pairs, Progress, moved_up
from germane.people.texts import texts_from_arrays, texts_to_arrays

BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

COMPLETION = "completion"
"""The signal whose weight is how far a user came with an item."""
COMPLETE = 0.9
"""From this weight on nothing is in progress."""

PART = "people"
"""The part of a log's base that holds what was seen."""

_ROWS = 20
"""Bits for the row of an event within its record."""


class Marks(NamedTuple):
    """Events of users, as columns.

    Parameters
    ----------
    users, items : int64[n]
        By number.
    at, order : int64[n]
        When it happened, and its place in the log.
    weights : float64[n]
    is_completion : bool[n]
    """

    users: IntArray
    items: IntArray
    at: IntArray
    order: IntArray
    weights: FloatArray
    is_completion: BoolArray

    def chosen(self, which: BoolArray) -> Marks:
        """Return some of the events."""
        return Marks._make(column[which] for column in self)

    def progress(self) -> Progress:
        """Return the latest weights of those that say how far a user came."""
        which = self.is_completion
        return Progress.of(
            self.users[which], self.items[which], self.at[which], self.order[which], self.weights[which]
        )


_NONE = Marks._make(np.zeros(0, kind) for kind in (*(np.int64,) * 4, np.float64, np.bool_))


class Seen:
    """What all users have seen, at one position of the log; a function of the log alone.

    Events ahead of the time at which they were recorded wait, and count as soon as a reader's time, or the
    log, reaches them.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.applied = 0
        """Events that were applied since this was begun or loaded."""
        self._users: dict[str, int] = {}
        self._signals: IntArray = np.zeros(0, np.int64)
        self._pairs = Pairs()
        self._weights = LatestWeights()
        self._waiting = _NONE

    @property
    def size(self) -> int:
        """Pairs of a user and an item that are held."""
        return len(self._pairs)

    def signals(self, user: str) -> int:
        """Return how many signals of a user were recorded."""
        number = self._users.get(user)
        return 0 if number is None else int(self._signals[number])

    def items(self, user: str, now: Micros) -> IntArray:
        """Return the ordinals of the items that a user has seen, ascending."""
        number = self._users.get(user)
        if number is None:
            return np.zeros(0, np.int64)
        due = self._due(number, now)
        seen = self._pairs.of(number)
        return np.union1d(seen, due.items) if len(due.users) else seen

    def in_progress(self, user: str, now: Micros) -> IntArray:
        """Return the ordinals of the items that a user has begun and not completed, ascending."""
        number = self._users.get(user)
        if number is None:
            return np.zeros(0, np.int64)
        last = Progress.joined([self._weights.of(number), self._due(number, now).progress()])
        return last.items[(last.weights > 0) & (last.weights < COMPLETE)]

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        for part in signal_runs(connection, self.seq, seq):
            if isinstance(part, Columns):
                self._apply_columns(part)
            elif isinstance(part, Begun):
                told = arrays_from_chunks(chunks(connection, part.event, PART))
                self.__dict__.update(Seen.from_arrays(part.seq, told).__dict__)
            else:
                self._apply_run(part)
        self._release(recorded_at(connection, seq))
        self.seq = seq

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone."""
        arrays: Arrays = {
            **texts_to_arrays("users", self._users),
            "signals": self._signals[: len(self._users)],
            "pairs": self._pairs.keys(),
        }
        for name, column in self._weights.whole()._asdict().items():
            arrays[f"progress_{name}"] = column
        by_place = np.argsort(self._waiting.order, kind="stable")
        for name, column in self._waiting._asdict().items():
            arrays[f"waiting_{name}"] = column[by_place]
        return arrays

    @classmethod
    def from_arrays(cls, seq: int, arrays: Arrays) -> Seen:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        KeyError, ValueError
            The arrays are not of that form.
        """
        made, users = cls(), texts_from_arrays("users", arrays)
        made._users = {user: number for number, user in enumerate(users)}
        if len(made._users) != len(arrays["signals"]):
            raise ValueError("users and their counts differ in number")
        made._signals = arrays["signals"].copy()
        made._pairs = Pairs(arrays["pairs"])
        made._weights = LatestWeights(Progress._make(arrays[f"progress_{name}"] for name in Progress._fields))
        made._waiting = Marks._make(arrays[f"waiting_{name}"] for name in Marks._fields)
        made.seq = seq
        return made

    def without(self, user: str) -> Seen:
        """Return the state without a user: what the log comes to when the user's events are nobody's."""
        number = self._users[user]
        made = Seen()
        made.seq = self.seq
        made._users = {name: place for place, name in enumerate(name for name in self._users if name != user)}
        made._signals = np.delete(self._signals[: len(self._users)], number)
        keys, progress = self._pairs.keys(), self._weights.whole()
        made._pairs = Pairs(moved_up(keys[keys >> SHIFT != number], number))
        kept = Progress._make(column[progress.keys >> SHIFT != number] for column in progress)
        made._weights = LatestWeights(kept._replace(keys=moved_up(kept.keys, number)))
        waiting = self._waiting.chosen(self._waiting.users != number)
        made._waiting = waiting._replace(users=waiting.users - (waiting.users > number))
        return made

    def ever(self, user: str) -> IntArray:
        """Return the ordinals of all items that signals of a user were on, now or ahead of their time."""
        number = self._users[user]
        return np.union1d(self._pairs.of(number), self._waiting.items[self._waiting.users == number])

    def __contains__(self, user: object) -> bool:
        """Tell whether a user is known."""
        return user in self._users

    def _number(self, user: str) -> int:
        return self._users.setdefault(user, len(self._users))

    def _apply_run(self, run: list[Single]) -> None:
        rows = [
            (self._number(user), item, at, seq << _ROWS, weight, name == COMPLETION, when)
            for seq, at, when, name, item, weight, user, _ in run
            if user is not None
        ]
        if rows:
            *columns, recorded = zip(*rows, strict=True)
            arrays = (np.array(column, like.dtype) for column, like in zip(columns, _NONE, strict=True))
            self._apply(Marks._make(arrays), np.array(recorded, np.int64))

    def _apply_columns(self, columns: Columns) -> None:
        seq, when, event = columns
        if not event.user:
            return
        user = np.frombuffer(event.user, "<i4")
        rows = np.flatnonzero(user >= 0)
        numbers = np.fromiter(map(self._number, event.users), np.int64, len(event.users))
        names = np.array([name == COMPLETION for name in event.names], np.bool_)
        at = np.frombuffer(event.at, "<i8")[rows]
        marks = Marks(
            numbers[user[rows]],
            np.frombuffer(event.item, "<i8")[rows],
            at,
            seq << _ROWS | rows,
            np.frombuffer(event.weight, "<f8")[rows],
            names[np.frombuffer(event.name, "<u2")[rows]],
        )
        self._apply(marks, np.full(len(at), when))

    def _apply(self, marks: Marks, recorded: IntArray) -> None:
        missing = len(self._users) - len(self._signals)
        if missing > 0:  # at least doubled, so that users who come one by one cost nothing much
            grown = np.zeros(max(missing, len(self._signals)), np.int64)
            self._signals = np.append(self._signals, grown)
        np.add.at(self._signals, marks.users, 1)
        self.applied += len(marks.users)
        ahead = marks.at > recorded
        if ahead.any():
            self._waiting = _joined(self._waiting, marks.chosen(ahead))
            marks = marks.chosen(~ahead)
        self._enter(marks)

    def _release(self, reached: Micros) -> None:
        """Let what waited until the time of the last record enter."""
        due = self._waiting.at <= reached
        if due.any():
            self._enter(self._waiting.chosen(due))
            self._waiting = self._waiting.chosen(~due)

    def _enter(self, marks: Marks) -> None:
        self._pairs.add(marks.users, marks.items)
        self._weights.add(marks.progress())

    def _due(self, user: int, now: Micros) -> Marks:
        if not len(self._waiting.at):
            return self._waiting
        return self._waiting.chosen((self._waiting.users == user) & (self._waiting.at <= now))


def _joined(first: Marks, second: Marks) -> Marks:
    return Marks._make(np.append(*columns) for columns in zip(first, second, strict=True))
