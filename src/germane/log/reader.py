"""A connection that reads, and what it remembers from one read transaction to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import apsw

from germane.log.header import Header, header_of

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
        self._header: Header | None = None
        self._seen: bytes | None = None

    def begin(self) -> None:
        """Begin a read transaction: everything in it is of one state of the file."""
        self._seen = None if self._header is None else self._header.raw
        self._run("BEGIN")
        self._is_inside, self._is_current = True, False

    def close(self, force: bool = False) -> None:
        """Close the connection."""
        self._header = None  # its memory goes with it
        super().close(force)

    def leave(self) -> None:
        """End the transaction."""
        self._is_inside = False
        self._run("ROLLBACK")

    def still(self, name: str) -> Any:
        """Return what was remembered, None if anything was written since; outside a transaction."""
        if self._header is not None and self._header.raw == self._seen:
            return self._remembered.get(name)
        return None

    def remember(self, name: str, read: Callable[[apsw.Connection], Told]) -> Told:
        """Return what a function reads of this state of the file, reading it once."""
        if not self._is_inside:
            return read(self)
        if not self._is_current:
            # A transaction sees the file as of its first statement, which may be this one: it reads, too.
            self._run("PRAGMA data_version").fetchall()
            if self._header is None:
                self._header = header_of(self)
            elif self._header.raw != self._seen:
                self._seen = None
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
