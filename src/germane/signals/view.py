"""The signal view: keeps the ledgers at the head of the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from germane.log.base import Parts, arrays_from_chunks
from germane.log.chain import BEFORE_ALL_TIMES
from germane.log.checkpoint import Arrays
from germane.log.content import schema, schemas
from germane.log.events import Base, RecordSignal, RecordSignals, decode
from germane.log.journal import epoch, head
from germane.log.past import position_at
from germane.log.saved import Checkpoints, differing
from germane.model.errors import Corruption
from germane.model.reports import Finding
from germane.model.schema import Schema
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.base import from_base, part_name, to_chunks
from germane.signals.blocks import Numbers
from germane.signals.decay import BoolArray, IntArray
from germane.signals.ledger import Events, SignalLedger
from germane.signals.reach import Reach, hashes
from germane.signals.sketch import HashArray
from germane.signals.stored import declared_form, from_arrays, to_arrays

_logger = logging.getLogger("germane")

_RECORDS = (
    "SELECT seq, at, recorded_at, type, data FROM log"
    " WHERE seq > ? AND seq <= ? AND type IN ('signal', 'signals', 'base') ORDER BY seq"
)
RUN = 10_000
"""Single events that are applied at a time."""
SHORT = 16
"""Events that are applied one by one, which costs less than arrays of so few."""
NAME = "signals"
WORTH_SAVING = 10_000
"""Events whose applying a checkpoint must save the next process to be worth writing."""
MUCH = 100_000
"""Events, or records of any kind, that are always worth one."""
_SIZES = "SELECT type, octet_length(data) FROM log WHERE seq > ? AND type IN ('signal', 'signals')"
_EVENT_BYTES = 26
"""What an event in columns has at least."""


_Single = tuple[str, int, float, int, int, str | None]
"""Name, item, weight, at, recorded_at and user of an event that is a record of its own."""


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
    def rows(self) -> int:
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
        ordinals: dict[str, int] = {}
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
                    self._apply_run(run)
                    run = []
            elif isinstance(event, RecordSignals):
                self._apply_run(run)
                run = []
                self._apply_columns(event, recorded_at)
            elif isinstance(event, Base):  # the first record: these ledgers have not come as far
                ledgers, self.reach, self.recorded_at = from_base(connection, event, self.signals)
                self._by_name = {ledger.signal.name: ledger for ledger in ledgers}
        self._apply_run(run)
        self.seq = seq
        found = connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (seq,)).get
        self.recorded_at = BEFORE_ALL_TIMES if found is None else int(found)
        self.reach.release(self.recorded_at)

    def _apply_run(self, run: list[_Single]) -> None:
        by_name: dict[str, list[_Single]] = {}
        for record in run:
            by_name.setdefault(record[0], []).append(record)
        for name, records in by_name.items():
            if len(records) <= SHORT:
                for _, item, weight, moment, recorded, _ in records:
                    self._by_name[name].apply_one(item, weight, moment, recorded)
                continue
            _, items, weights, at, recorded_at, _ = zip(*records, strict=True)
            events = Events(np.array(items, np.int64), np.array(weights, np.float64), np.array(at, np.int64))
            self._by_name[name].apply_run(events, np.array(recorded_at, np.int64))
        told = [record for record in run if record[5] is not None]
        if told:
            _, items, _, at, recorded_at, named = zip(*told, strict=True)
            ahead = np.greater(at, recorded_at)
            self._reached(np.array(items, np.int64), hashes(named), np.array(at, np.int64), ahead)
        self.applied += len(run)

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
        if event.user:
            user = np.frombuffer(event.user, "<i4")
            kept = np.flatnonzero(
                (user >= 0) & np.array([name in self._by_name for name in event.names], np.bool_)[names]
            )
            known = hashes(event.users)[user[kept]]
            at = events.at[kept]
            self._reached(events.items[kept], known, at, at > recorded_at)
        self.applied += len(events)

    def _reached(self, items: IntArray, users: HashArray, at: IntArray, ahead: BoolArray) -> None:
        if ahead.any():
            self.reach.wait(items[ahead], users[ahead], at[ahead])
            items, users = items[~ahead], users[~ahead]
        self.reach.add(items, users)


class SignalView:
    """Gives the ledgers, caught up, to one reader at a time.

    They begin with the newest checkpoint that belongs to the store's history and declarations.

    Parameters
    ----------
    store : str
        The store's id.
    folder : Path or None
        Where checkpoints lie; None keeps none.
    is_read_only : bool
        Whether to leave everything there as it is.
    """

    title = "ledgers of signals"

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._checkpoints = Checkpoints(NAME, self.title, store, folder, is_read_only, writable=True)
        self._turn = threading.Lock()
        self._ledgers: Ledgers | None = None
        self._epoch = -1
        self._saved = 0  # the position of the checkpoint that the ledgers began with

    @contextmanager
    def at(
        self, connection: apsw.Connection, clock: Callable[[], Micros]
    ) -> Iterator[tuple[Ledgers, Micros]]:
        """Give the ledgers at the position that a connection sees, and the time to read them at.

        The time is told inside the turn, so that no reader is behind what another one let expire.
        """
        with self._turn:
            yield self._caught_up(connection), clock()

    def save(self, connection: apsw.Connection) -> None:
        """Write a checkpoint, if that spares the next process enough work.

        Raises
        ------
        OSError
            It could not be written; the store is as good without it.
        """
        if not self._checkpoints.are_kept:
            return
        with self._turn:
            if self._ledgers is None and not self._is_behind(connection):
                return
            ledgers = self._caught_up(connection)
            if ledgers.seq != head(connection):
                return  # another thread has gone on: what it applied is not in this snapshot
            # The more there is to write, the more it must spare.
            least = max(WORTH_SAVING, min(MUCH, ledgers.rows // 20))
            if ledgers.applied >= least or ledgers.seq - self._saved >= MUCH:
                self._checkpoints.write(connection, declared_form(ledgers.signals), ledgers.to_arrays())
                ledgers.applied, self._saved = 0, ledgers.seq

    def drop(self) -> None:
        """Forget the ledgers and their checkpoints; the next reading builds them anew."""
        with self._turn:
            self._ledgers = None
            self._checkpoints.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the ledgers or their checkpoint, against ones built from the log alone."""
        signals = schema(connection).signals
        found, is_saved = self._checkpoints.check(connection, declared_form(signals))
        yield from found
        with self._turn:
            if self._ledgers is None and not is_saved:
                return
            ledgers = self._caught_up(connection)
            fresh = Ledgers(signals)
            fresh.catch_up(connection, head(connection))
            if ledgers.seq != fresh.seq:
                return  # another thread has gone on
            names = differing(ledgers.to_arrays(), fresh.to_arrays())
        for name in names:
            yield Finding("signals", f"the ledgers differ from the log in {name!r}")

    def _caught_up(self, connection: apsw.Connection) -> Ledgers:
        signals, turn, seq = schema(connection).signals, epoch(connection), head(connection)
        ledgers = self._ledgers
        if ledgers is None or self._epoch != turn or ledgers.signals != signals:
            ledgers = self._load(connection, signals)
        self._ledgers = None  # a failure in between leaves nothing half-applied behind
        if seq > ledgers.seq:
            ledgers.catch_up(connection, seq)
        self._ledgers, self._epoch = ledgers, turn
        return ledgers

    def _is_behind(self, connection: apsw.Connection) -> bool:
        """Tell whether a process that read nothing should catch up and save what the next one needs."""
        saved = self._checkpoints.newest(connection)
        if head(connection) - saved >= MUCH:
            return True
        events = 0
        for kind, size in connection.execute(_SIZES, (saved,)):
            events += 1 if kind == "signal" else size // _EVENT_BYTES
            if events >= MUCH:
                return True
        return False

    def _load(self, connection: apsw.Connection, signals: tuple[Signal, ...]) -> Ledgers:
        self._saved = 0

        def make(seq: int, arrays: Arrays) -> Ledgers:
            ledgers = Ledgers.from_arrays(signals, seq, arrays)
            self._saved = seq
            return ledgers

        return self._checkpoints.load(connection, declared_form(signals), make) or Ledgers(signals)


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
    declared = schemas(connection)
    in_force = max(at for at, _ in declared if at <= seq)
    variants = list(dict.fromkeys(schema.signals for at, schema in declared if at >= in_force))
    parts = {}
    for number, signals in enumerate(variants):
        ledgers = Ledgers(signals)
        ledgers.catch_up(connection, seq)
        arrays = ledgers.to_arrays()
        parts[part_name(number)] = told = to_chunks(signals, arrays)
        again = Ledgers.from_arrays(signals, seq, arrays_from_chunks(told[1:]))
        for each in (ledgers, again):
            each.catch_up(connection, head(connection))
        if differing(again.to_arrays(), ledgers.to_arrays()):
            raise Corruption("the ledgers of signals do not go on from a base as from the log: report this")
    return parts
