"""A connection that reads, and what it remembers from one read transaction to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import apsw

Told = TypeVar("Told")

_END = "SELECT seq, recorded_at, checksum FROM log ORDER BY seq DESC LIMIT 1"


class Reader(apsw.Connection):
    """A connection of a store's file, for one reader at a time.

    SQLite numbers the states of the file that a connection has seen (its data version), and another's commit
    changes the number with the first statement of the next transaction. What was read under a number holds
    as long as the number does, so that queries between two writes ask the small tables once.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._run = self.cursor().execute  # one that is there already
        self._version = -1
        self._is_inside = self._is_current = False
        self._remembered: dict[str, Any] = {}

    def begin(self) -> None:
        """Begin a read transaction: everything in it is of one state of the file."""
        self._run("BEGIN")
        self._is_inside, self._is_current = True, False

    def leave(self) -> None:
        """End the transaction."""
        self._is_inside = False
        self._run("ROLLBACK")

    def still(self, name: str) -> Any:
        """Return what was remembered, None if anything was written since; outside a transaction."""
        if name in self._remembered:
            self._run("PRAGMA data_version").fetchall()  # looks at the file; the number is told after it
            if self.data_version() == self._version:
                return self._remembered[name]
        return None

    def remember(self, name: str, read: Callable[[apsw.Connection], Told]) -> Told:
        """Return what a function reads of this state of the file, reading it once."""
        if not self._is_inside:
            return read(self)
        if not self._is_current:
            # A transaction sees the file as of its first statement, which may be this one: it reads, too.
            self._run("PRAGMA data_version").fetchall()
            version = self.data_version()
            if version != self._version:
                self._remembered, self._version = {}, version
            self._is_current = True
        found: Told
        if name in self._remembered:
            found = self._remembered[name]
        else:
            found = self._remembered[name] = read(self)
        return found


def remembered(connection: apsw.Connection, name: str, read: Callable[[apsw.Connection], Told]) -> Told:
    """Return what a function reads, which a reader does once for each state of the file."""
    return connection.remember(name, read) if isinstance(connection, Reader) else read(connection)


def last(connection: apsw.Connection) -> tuple[int, int, int] | None:
    """Return the position, time and checksum of the last event of a log, None without any."""
    return remembered(connection, "last", _last)


def _last(connection: apsw.Connection) -> tuple[int, int, int] | None:
    found: tuple[int, int, int] | None = connection.execute(_END).fetchone()
    return found
