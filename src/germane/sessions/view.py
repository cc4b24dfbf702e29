"""The view of sessions: keeps the states of those that were asked for last."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import apsw

from germane.log.content import schema
from germane.log.journal import epoch
from germane.log.reader import remembered
from germane.model.reports import Finding
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.sessions.context import Context
from germane.sessions.rows import SessionRow, session_row
from germane.sessions.state import SessionState

MOST_KEPT = 4_096
"""Sessions whose states are kept."""


class SessionView:
    """Gives sessions as they stand in the tables; what is kept of one holds until its next event.

    There is no checkpoint: a session is read from its rows.

    Parameters
    ----------
    store, folder, is_read_only
        As other views take them.
    """

    name = "sessions"
    title = "view of sessions"
    part = "sessions"

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._turn = threading.Lock()
        self._kept: dict[tuple[int, str], SessionState] = {}

    def state(self, connection: apsw.Connection, row: SessionRow) -> SessionState:
        """Return the state of a session, at the position that a connection sees."""
        key = epoch(connection), row.id
        with self._turn:
            kept = self._kept.pop(key, None)
        if kept is None or kept.row != row:
            kept = SessionState.of(connection, row)
        with self._turn:
            self._kept[key] = kept
            while len(self._kept) > MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
        return kept

    def context(self, connection: apsw.Connection, id: str, now: Micros) -> Context | None:
        """Return what a session says to ranking; None if there is none of this id, or not any more."""
        row = session_row(connection, id)
        if row is None or row.state(now) == "swept":
            return None
        return self.state(connection, row).context(signals_of(connection), now)

    def save(self, connection: apsw.Connection) -> None:
        """Write nothing: the rows are all there is."""

    def drop(self) -> None:
        """Forget what is kept."""
        with self._turn:
            self._kept.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield the sessions whose kept state is not what their rows say."""
        with self._turn:
            kept = list(self._kept.items())
        for (turn, id), state in kept:
            row = session_row(connection, id)
            if turn != epoch(connection) or row is None or row != state.row:
                continue
            fresh = SessionState.of(connection, row)
            if any(str(ours) != str(theirs) for ours, theirs in zip(state, fresh, strict=True)):
                yield Finding(self.part, f"session {id} is kept otherwise than its rows say")


def signals_of(connection: apsw.Connection) -> Mapping[str, Signal]:
    """Return the declared signals by name."""
    return remembered(connection, "signals by name", _signals)


def _signals(connection: apsw.Connection) -> Mapping[str, Signal]:
    return {signal.name: signal for signal in schema(connection).signals}
