"""The signal view: keeps the ledgers at the head of the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw
import numpy as np

from germane.log.chain import BEFORE_ALL_TIMES
from germane.log.content import schema
from germane.log.events import RecordSignal, RecordSignals, decode
from germane.log.journal import epoch, head
from germane.model.schema import Schema
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.decay import BoolArray, IntArray
from germane.signals.ledger import Events, SignalLedger
from germane.signals.reach import Reach, hashes
from germane.signals.sketch import HashArray

_RECORDS = (
    "SELECT seq, at, recorded_at, type, data FROM log"
    " WHERE seq > ? AND seq <= ? AND type IN ('signal', 'signals') ORDER BY seq"
)
RUN = 10_000
"""Single events that are applied at a time."""
USERS = 1 << 18
"""Users whose hashes are kept while one catches up."""


_Single = tuple[str, int, float, int, int, str | None]
"""Name, item, weight, at, recorded_at and user of an event that is a record of its own."""


class _Users:
    """The hashes of users, kept while one catches up: most users come again."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def hashes(self, users: Sequence[str]) -> HashArray:
        known = self._known
        new = [user for user in dict.fromkeys(users) if user not in known]
        if len(known) + len(new) > USERS:
            known.clear()
            new = list(dict.fromkeys(users))
        known.update(zip(new, hashes(new).tolist(), strict=True))
        return np.fromiter(map(known.__getitem__, users), np.uint64, len(users))


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
        self.recorded_at: Micros = BEFORE_ALL_TIMES
        """When the last record applied was recorded: no reading is of a time before it."""
        self.applied = 0
        """Events that were applied since these ledgers were begun or loaded."""
        self.reach = Reach()
        self._by_name = {signal.name: SignalLedger(signal) for signal in signals}

    def __getitem__(self, name: str) -> SignalLedger:
        return self._by_name[name]

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        ordinals: dict[str, int] = {}
        users = _Users()
        run: list[_Single] = []
        for place, at, recorded_at, kind, data in connection.execute(_RECORDS, (self.seq, seq)):
            event = decode(place, kind, data)
            if isinstance(event, RecordSignal):
                item = ordinals.get(event.item)
                if item is None:
                    found = connection.execute("SELECT ordinal FROM item WHERE id = ?", (event.item,)).get
                    item = ordinals[event.item] = int(found)
                if event.name in self._by_name:
                    run.append((event.name, item, event.weight, at, recorded_at, event.user))
                if len(run) == RUN:
                    self._apply_run(run, users)
                    run = []
            elif isinstance(event, RecordSignals):
                self._apply_run(run, users)
                run = []
                self._apply_columns(event, recorded_at, users)
        self._apply_run(run, users)
        self.seq = seq
        found = connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (seq,)).get
        self.recorded_at = BEFORE_ALL_TIMES if found is None else int(found)
        self.reach.release(self.recorded_at)

    def _apply_run(self, run: list[_Single], users: _Users) -> None:
        by_name: dict[str, list[_Single]] = {}
        for record in run:
            by_name.setdefault(record[0], []).append(record)
        for name, records in by_name.items():
            _, items, weights, at, recorded_at, _ = zip(*records, strict=True)
            events = Events(np.array(items, np.int64), np.array(weights, np.float64), np.array(at, np.int64))
            self._by_name[name].apply_run(events, np.array(recorded_at, np.int64))
        told = [record for record in run if record[5] is not None]
        if told:
            _, items, _, at, recorded_at, named = zip(*told, strict=True)
            ahead = np.greater(at, recorded_at)
            self._reached(np.array(items, np.int64), users.hashes(named), np.array(at, np.int64), ahead)
        self.applied += len(run)

    def _apply_columns(self, event: RecordSignals, recorded_at: Micros, users: _Users) -> None:
        names = np.frombuffer(event.name, "<u2")
        events = Events(
            np.frombuffer(event.item, "<i8"),
            np.frombuffer(event.weight, "<f8"),
            np.frombuffer(event.at, "<i8"),
        )
        for number, name in enumerate(event.names):
            if name in self._by_name:
                self._by_name[name].apply(events.chosen(names == number), recorded_at)
        if event.user:
            user = np.frombuffer(event.user, "<i4")
            kept = np.flatnonzero(
                (user >= 0) & np.array([name in self._by_name for name in event.names], np.bool_)[names]
            )
            known = users.hashes(event.users)[user[kept]]
            at = events.at[kept]
            self._reached(events.items[kept], known, at, at > recorded_at)
        self.applied += len(events)

    def _reached(self, items: IntArray, users: HashArray, at: IntArray, ahead: BoolArray) -> None:
        if ahead.any():
            self.reach.wait(items[ahead], users[ahead], at[ahead])
            items, users = items[~ahead], users[~ahead]
        self.reach.add(items, users)


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
