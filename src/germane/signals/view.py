"""The signal view: keeps the ledgers at the head of the log."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

from germane.log.base import Parts
from germane.log.chain import BEFORE_ALL_TIMES, recorded_at
from germane.log.checkpoint import Arrays
from germane.log.content import schema, schemas_from
from germane.log.past import position_at
from germane.log.runs import Begun, Columns, Single, signal_runs
from germane.log.state import StateView
from germane.model.schema import Schema
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.base import declared_chunk, from_base, part_name
from germane.signals.blocks import Numbers
from germane.signals.decay import BoolArray, IntArray
from germane.signals.ledger import Events, SignalLedger
from germane.signals.reach import Reach, hashes
from germane.signals.sketch import HashArray
from germane.signals.stored import declared_form, from_arrays, to_arrays

SHORT = 16
"""Events that are applied one by one, which costs less than arrays of so few."""


class Ledgers:
    """The ledgers of all declared signals, at one position of the log.

    Parameters
    ----------
    signals : tuple of Signal
        As declared; the state is a function of them and of the log alone.
    """

    def __init__(self, signals: tuple[Signal, ...]) -> None:
        self.signals = signals
        self.seq = 0
        self.kept: dict[Any, Any] = {}
        """What was made of these ledgers, by whoever made it."""
        self.recorded_at: Micros = BEFORE_ALL_TIMES
        """When the last record applied was recorded: no reading is of a time before it."""
        self.applied = 0
        """Events that were applied since these ledgers were begun or loaded."""
        self.reach = Reach()
        self._by_name = {signal.name: SignalLedger(signal) for signal in signals}

    @property
    def size(self) -> int:
        """Items that the ledgers have, each counted once for every signal."""
        return sum(len(ledger.totals) for ledger in self._by_name.values())

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone."""
        return to_arrays(list(self._by_name.values()), self.reach, self.recorded_at)

    @classmethod
    def from_arrays(cls, signals: tuple[Signal, ...], seq: int, arrays: Arrays) -> Ledgers:
        """Return the ledgers that `to_arrays` made arrays of.

        Raises
        ------
        KeyError, ValueError
            The arrays are not of that form.
        """
        made = cls(signals)
        ledgers, made.reach, made.recorded_at = from_arrays(arrays, signals)
        made._by_name = {ledger.signal.name: ledger for ledger in ledgers}
        made.seq = seq
        return made

    def __getitem__(self, name: str) -> SignalLedger:
        return self._by_name[name]

    def get(self, name: str) -> SignalLedger | None:
        """Return the ledger of a signal, None if it is not declared."""
        return self._by_name.get(name)

    def reach_numbers(self, size: int, now: Micros) -> Numbers | None:
        """Return the distinct users of all items, for ranking; None when there was none at all."""
        return self.reach.numbers(size, now)

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        for part in signal_runs(connection, self.seq, seq):
            if isinstance(part, Columns):
                self._apply_columns(part)
            elif isinstance(part, Begun):
                ledgers, self.reach, self.recorded_at = from_base(connection, part.event, self.signals)
                self._by_name = {ledger.signal.name: ledger for ledger in ledgers}
            else:
                self._apply_run([single for single in part if single[3] in self._by_name])
        self.seq = seq
        self.recorded_at = recorded_at(connection, seq)
        self.reach.release(self.recorded_at)

    def _apply_run(self, run: list[Single]) -> None:
        by_name: dict[str, list[Single]] = {}
        for single in run:
            by_name.setdefault(single[3], []).append(single)
        for name, records in by_name.items():
            if len(records) <= SHORT:
                for _, moment, recorded, _, item, weight, *_ in records:
                    self._by_name[name].apply_one(item, weight, moment, recorded)
                continue
            _, at, when, _, items, weights, *_ = zip(*records, strict=True)
            events = Events(np.array(items, np.int64), np.array(weights, np.float64), np.array(at, np.int64))
            self._by_name[name].apply_run(events, np.array(when, np.int64))
        told = [single for single in run if single[6] is not None]
        if told:
            _, at, when, _, items, _, users, _ = zip(*told, strict=True)
            ahead = np.greater(at, when)
            self._reached(np.array(items, np.int64), hashes(users), np.array(at, np.int64), ahead)
        self.applied += len(run)

    def _apply_columns(self, columns: Columns) -> None:
        _, when, event = columns
        names = np.frombuffer(event.name, "<u2")
        events = Events(
            np.frombuffer(event.item, "<i8"),
            np.frombuffer(event.weight, "<f8"),
            np.frombuffer(event.at, "<i8"),
        )
        for number, name in enumerate(event.names):
            if name in self._by_name:
                self._by_name[name].apply(events.chosen(names == number), when)
        if event.user:
            user = np.frombuffer(event.user, "<i4")
            kept = np.flatnonzero(
                (user >= 0) & np.array([name in self._by_name for name in event.names], np.bool_)[names]
            )
            known = hashes(event.users)[user[kept]]
            at = events.at[kept]
            self._reached(events.items[kept], known, at, at > when)
        self.applied += len(events)

    def _reached(self, items: IntArray, users: HashArray, at: IntArray, ahead: BoolArray) -> None:
        if ahead.any():
            self.reach.wait(items[ahead], users[ahead], at[ahead])
            items, users = items[~ahead], users[~ahead]
        self.reach.add(items, users)


class SignalView(StateView[Ledgers, tuple[Signal, ...]]):
    """Gives the ledgers, as the present declarations of signals make them.

    Nearly every query that ranks reads them, so a process that only wrote saves a long tail: the next one
    does not wait for it.
    """

    name = "signals"
    title = "ledgers of signals"
    part = "signals"
    writes_arrays = True
    saves_unread = True

    def _how(self, connection: apsw.Connection) -> tuple[Signal, ...]:
        return schema(connection).signals

    def _format(self, how: tuple[Signal, ...]) -> str:
        return declared_form(how)

    def _begun(self, how: tuple[Signal, ...]) -> Ledgers:
        return Ledgers(how)

    def _resumed(self, how: tuple[Signal, ...], seq: int, arrays: Arrays) -> Ledgers:
        return Ledgers.from_arrays(how, seq, arrays)


def as_of(connection: apsw.Connection, declared: Schema, moment: Micros) -> Ledgers:
    """Return the ledgers as they were after the last event recorded at or before a time.

    Raises
    ------
    BeyondRetention
        The events there were replaced by what they came to.
    """
    ledgers = Ledgers(declared.signals)
    ledgers.catch_up(connection, position_at(connection, moment, "at"))
    return ledgers


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what the ledgers came to at a position, under each schema that may be asked for from there on.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    variants = dict.fromkeys(schema.signals for schema in schemas_from(connection, seq))
    view = SignalView()
    return {
        part_name(number): [declared_chunk(signals), *view.chunks(connection, seq, signals)]
        for number, signals in enumerate(variants)
    }
