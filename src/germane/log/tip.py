"""The tip of the log, and what was looked up there: what a writer remembers between its transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import filterfalse
from typing import NamedTuple

import apsw

from germane.log.chain import BEFORE_ALL_TIMES, end
from germane.log.content import schema
from germane.log.events import (
    AnnotateSession,
    CloseSession,
    Event,
    ForgetUser,
    RecordSignal,
    RecordSignals,
    RefuseWrite,
    Relate,
    StartSession,
    SweepSessions,
    Unrelate,
    plain,
)
from germane.model.errors import NotFound
from germane.model.schema import Schema
from germane.model.times import Micros

TARGETS = 32_768
"""Items that are remembered: about 10 MB."""
ORDINALS = 131_072
"""Ordinals that are remembered: about 20 MB."""


_ENDS = (StartSession, CloseSession, SweepSessions)
"""Events that change when a session ends or expires next."""
_OF_NO_ITEM = (
    RecordSignal,
    RecordSignals,
    Relate,
    Unrelate,
    ForgetUser,
    AnnotateSession,
    RefuseWrite,
    *_ENDS,
)
"""Events that leave items and declarations as they are."""


class Target(NamedTuple):
    """The item that a signal is on.

    Parameters
    ----------
    ordinal : int or None
        None when the store has not heard of it.
    rev : str
        Its current revision; empty for one that was never put.
    """

    ordinal: int | None
    rev: str


class Tip:
    """Where the log ends, and what the tables say there; read again when the file is not as it was left.

    SQLite numbers the states of a file that a connection has seen (its data version), and another's commit
    changes the number no later than the next transaction begins. So whatever was read under a number holds
    while the number does. Everything here is used inside an exclusive transaction only.

    Parameters
    ----------
    connection : apsw.Connection
        The one that writes.
    check : callable
        Refuses a file that this version cannot write; called when the file is not as it was left.
    """

    def __init__(self, connection: apsw.Connection, check: Callable[[apsw.Connection], None]) -> None:
        self._connection = connection
        self._check = check
        self._is_known = False
        self._version = 0
        self._schema: Schema | None = None
        self._signals: frozenset[str] | None = None
        self._targets: dict[str, Target] = {}
        self._ordinals: dict[str, int] = {}
        self._due: tuple[Micros | None, ...] = ()  # empty: to be looked up
        self.head = 0
        self.recorded_at: Micros = BEFORE_ALL_TIMES
        self.checksum = 0

    def arrive(self) -> None:
        """Begin a transaction here: what is remembered is of this state of the file, or read anew."""
        if self._is_known and self._connection.data_version() == self._version:
            return
        self.forget()
        self._check(self._connection)
        self.head, self.recorded_at, self.checksum = end(self._connection)
        self._is_known = True

    def leave(self) -> None:
        """End a transaction here, committed: what is remembered is of the state that it left."""
        self._version = self._connection.data_version()

    def forget(self) -> None:
        """Remember nothing: a transaction was taken back, or changed more than it appended."""
        self._is_known = False
        self._forget_tables()

    def move(self, event: Event, seq: int, recorded_at: Micros, checksum: int) -> None:
        """Follow an event that was appended and folded."""
        self.head, self.recorded_at, self.checksum = seq, recorded_at, checksum
        if not isinstance(event, _OF_NO_ITEM):
            self._forget_tables()
        if isinstance(event, _ENDS):
            self._due = ()

    @property
    def due(self) -> Micros | None:
        """When the next session ends or its archive expires, None if none does."""
        if not self._due:
            found = self._connection.execute("SELECT min(due) FROM session WHERE due IS NOT NULL").get
            self._due = (None if found is None else int(found),)
        return self._due[0]

    @property
    def schema(self) -> Schema:
        """The store's schema."""
        if self._schema is None:
            self._schema = schema(self._connection)
        return self._schema

    @property
    def signals(self) -> frozenset[str]:
        """Names of the declared signals."""
        if self._signals is None:
            self._signals = frozenset(signal.name for signal in self.schema.signals)
        return self._signals

    def target(self, id: str) -> Target:
        """Return the item that a signal may be recorded on.

        Raises
        ------
        NotFound
            There is none, or it was deleted.
        """
        found = self._targets.get(id)
        if found is None:
            found = self._find(id)
            if found.ordinal is not None:
                if len(self._targets) >= TARGETS:
                    self._targets.clear()
                self._targets[id] = found
        return found

    def ordinals(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return the ordinals of items that are known and may be signalled on, of these ids and others.

        In one statement and in the order of the index, the look-up of an id takes a fifth of the time.
        """
        known = self._ordinals
        new = set(filterfalse(known.__contains__, ids))
        if new:
            if len(known) + len(new) > ORDINALS:
                known.clear()
                new = set(ids)
            known.update(
                self._connection.execute(
                    "SELECT item.id, ordinal FROM json_each(?) CROSS JOIN item ON item.id = value"
                    " WHERE live = 1 OR (rev = '' AND ?)",
                    (plain(sorted(new)), self._accepts_unknown),
                )
            )
        return known

    @property
    def _accepts_unknown(self) -> bool:
        return self.schema.unknown_items == "accept"

    def _find(self, id: str) -> Target:
        found = self._connection.execute("SELECT ordinal, rev, live FROM item WHERE id = ?", (id,)).fetchone()
        if found is None:
            target, may = Target(None, ""), self._accepts_unknown
        else:
            ordinal, rev, live = found
            target, may = Target(int(ordinal), str(rev)), bool(live) or (not rev and self._accepts_unknown)
        if not may:
            raise NotFound(f"there is no item {id!r} to signal on")
        return target

    def _forget_tables(self) -> None:
        self._schema = self._signals = None
        self._due = ()
        self._targets.clear()
        self._ordinals.clear()
