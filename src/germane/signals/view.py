"""The signal view: keeps the ledgers at the head of the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import numpy as np

from germane.log.content import schema
from germane.log.events import RecordSignal, RecordSignals, decode
from germane.log.journal import epoch, head
from germane.model.schema import Schema
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.blocks import Numbers
from germane.signals.ledger import Events, SignalLedger

_RECORDS = (
    "SELECT seq, at, recorded_at, type, data FROM log"
    " WHERE seq > ? AND seq <= ? AND type IN ('signal', 'signals') ORDER BY seq"
)
RUN = 10_000
"""Single events that are applied at a time."""
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
        self._by_name = {signal.name: SignalLedger(signal) for signal in signals}

    def __getitem__(self, name: str) -> SignalLedger:
        return self._by_name[name]

    def get(self, name: str) -> SignalLedger | None:
        """Return the ledger of a signal, None if it is not declared."""
        return self._by_name.get(name)

    def reach_numbers(self, size: int) -> Numbers | None:
        """Return the distinct users of all items, for ranking; None when there was none at all."""
        return None

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        ordinals: dict[str, int] = {}
        run: list[tuple[str, int, float, int, int]] = []
        for _, at, recorded_at, kind, data in connection.execute(_RECORDS, (self.seq, seq)):
            event = decode(seq, kind, data)
            if isinstance(event, RecordSignal):
                item = ordinals.get(event.item)
                if item is None:
                    found = connection.execute("SELECT ordinal FROM item WHERE id = ?", (event.item,)).get
                    item = ordinals[event.item] = int(found)
                run.append((event.name, item, event.weight, at, recorded_at))
                if len(run) == RUN:
                    self._apply_run(run)
                    run = []
            elif isinstance(event, RecordSignals):
                self._apply_run(run)
                run = []
                self._apply_columns(event, recorded_at)
        self._apply_run(run)
        self.seq = seq

    def _apply_run(self, run: list[tuple[str, int, float, int, int]]) -> None:
        by_name: dict[str, list[tuple[str, int, float, int, int]]] = {}
        for record in run:
            by_name.setdefault(record[0], []).append(record)
        for name, records in by_name.items():
            if name in self._by_name and len(records) <= SHORT:
                for record in records:
                    self._by_name[name].apply_one(*record[1:])
            elif name in self._by_name:
                _, items, weights, at, recorded_at = zip(*records, strict=True)
                events = Events(
                    np.array(items, np.int64), np.array(weights, np.float64), np.array(at, np.int64)
                )
                self._by_name[name].apply_run(events, np.array(recorded_at, np.int64))

    def _apply_columns(self, event: RecordSignals, recorded_at: Micros) -> None:
        names = np.frombuffer(event.name, "<u2")
        events = Events(
            np.frombuffer(event.item, "<i8"),
            np.frombuffer(event.weight, "<f8"),
            np.frombuffer(event.at, "<i8"),
        )
        for number, name in enumerate(event.names):
            if name in self._by_name:
                self._by_name[name].apply(events.chosen(names == number), recorded_at)


class SignalView:
    """Gives the ledgers, caught up, to one reader at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._ledgers: Ledgers | None = None
        self._epoch = -1

    @contextmanager
    def at(
        self, connection: apsw.Connection, clock: Callable[[], Micros]
    ) -> Iterator[tuple[Ledgers, Micros]]:
        """Give the ledgers at the position that a connection sees, and the time to read them at.

        The time is told inside the turn, so that no reader is behind what another one let expire.
        """
        with self._turn:
            signals, turn, seq = schema(connection).signals, epoch(connection), head(connection)
            ledgers = self._ledgers
            if ledgers is None or self._epoch != turn or ledgers.signals != signals:
                ledgers = Ledgers(signals)
            self._ledgers = None  # a failure in between leaves nothing half-applied behind
            if seq > ledgers.seq:
                ledgers.catch_up(connection, seq)
            self._ledgers, self._epoch = ledgers, turn
            yield ledgers, clock()

    def drop(self) -> None:
        """Forget the ledgers; the next reading builds them anew."""
        with self._turn:
            self._ledgers = None


def as_of(connection: apsw.Connection, declared: Schema, moment: Micros) -> Ledgers:
    """Return the ledgers as they were after the last event recorded at or before a time."""
    seq = connection.execute("SELECT max(seq) FROM log WHERE recorded_at <= ?", (moment,)).get
    ledgers = Ledgers(declared.signals)
    ledgers.catch_up(connection, int(seq or 0))
    return ledgers
