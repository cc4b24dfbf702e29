"""What was shown: the rest of each feed for a while, and what the latest pages held.

This is no truth and no view of it: it may be deleted at any time, at which feeds begin anew. It lies in a
file of its own beside the journal, so that a query writes nothing to the log.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw

from germane.model.times import SECOND, Micros

FILE = "shown.sqlite"
KEPT_FOR = 15 * 60 * SECOND
"""How long the rest of a feed is kept, in microseconds."""
KEPT_BYTES = 64 << 20
"""How much is kept of feeds, at most: the oldest go first."""
PAGES = 10_000
"""Pages whose impressions are kept."""

_TABLES = """
CREATE TABLE IF NOT EXISTS feed (
  n INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, expires INTEGER NOT NULL, state BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS page (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS secret (value BLOB NOT NULL) STRICT;
"""
_SWEEP_EVERY = 256
_WAL_PAGES = 4_096
"""Pages of write-ahead log that are copied back at a time: a page that is shown waits for it rarely."""
_BUSY_MS = 1_000

T = TypeVar("T")


class Shown:
    """Keeps feeds and impressions.

    A failure to keep them, as on a full disk or in a folder that cannot be written, is no error: what asks
    gets None and says so on its page. A damaged file is thrown away.

    Parameters
    ----------
    folder : Path or None
        The store's; None keeps everything in memory.
    read_only : bool
        Whether the folder must not be written; then memory has to do, too.
    """

    def __init__(self, folder: Path | None, read_only: bool) -> None:
        self._path = None if folder is None or read_only else folder / FILE
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None
        self._process = os.getpid()
        self._writes = 0
        self._secret: bytes | None = None

    def keep(
        self, key: bytes | None, state: bytes, now: Micros, page: str | None, data: bytes | None
    ) -> bool:
        """Keep the rest of a feed under a key, and what a page showed; tell whether it worked.

        Parameters
        ----------
        key : bytes or None
            None when nothing is left of the feed.
        state : bytes
        now : int
            Microseconds since the epoch.
        page : str or None
            The page's id; None when impressions are switched off.
        data : bytes or None
        """

        def write(connection: apsw.Connection) -> bool:
            execute = connection.cursor().execute
            execute("BEGIN IMMEDIATE")
            try:
                if key is not None:
                    execute(
                        "INSERT OR REPLACE INTO feed (key, expires, state) VALUES (?, ?, ?)",
                        (key, now + KEPT_FOR, state),
                    )
                if page is not None:
                    execute("INSERT OR REPLACE INTO page (id, data) VALUES (?, ?)", (page, data))
                if self._writes % _SWEEP_EVERY == 0:
                    _sweep(connection, now)
                execute("COMMIT")
            except BaseException:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                raise
            self._writes += 1
            return True

        return (key is None and page is None) or bool(self._try(write))

    def state(self, key: bytes, now: Micros) -> bytes | None:
        """Return the rest of the feed under a key; None when it is not there any more."""

        def read(connection: apsw.Connection) -> bytes | None:
            found = connection.execute("SELECT state FROM feed WHERE key = ? AND expires > ?", (key, now)).get
            return None if found is None else bytes(found)

        return self._try(read)

    def page(self, id: str) -> bytes | None:
        """Return what a page showed, None when that is not known any more."""

        def read(connection: apsw.Connection) -> bytes | None:
            found = connection.execute("SELECT data FROM page WHERE id = ?", (id,)).get
            return None if found is None else bytes(found)

        return self._try(read)

    def forget(self, user: str | None) -> int | None:
        """Drop what speaks of a user, or everything, without a byte left; return how many files that changed.

        None says that it did not work.

        What has the user's name anywhere in it goes: names are short, and what is kept here is no loss.
        """
        if self._path is not None and not self._path.exists():
            return 0

        def drop(connection: apsw.Connection) -> int | None:
            name, before = b"" if user is None else user.encode(), connection.total_changes()
            with connection:
                connection.execute("DELETE FROM feed WHERE instr(state, ?)", (name,))
                connection.execute("DELETE FROM page WHERE instr(data, ?)", (name,))
            has_changed = connection.total_changes() != before
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("VACUUM")
            return None if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0] else int(has_changed)

        return self._try(drop)

    def secret(self) -> bytes | None:
        """Return what cursors of this store are signed with."""

        def read(connection: apsw.Connection) -> bytes:
            if self._secret is not None:
                return self._secret
            found = connection.execute("SELECT value FROM secret").get
            if found is None:
                with connection:
                    connection.execute(
                        "INSERT INTO secret SELECT ? WHERE NOT EXISTS (SELECT 1 FROM secret)",
                        (secrets.token_bytes(32),),
                    )
                found = connection.execute("SELECT value FROM secret").get
            self._secret = bytes(found)
            return self._secret

        return self._try(read)

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _try(self, use: Callable[[apsw.Connection], T]) -> T | None:
        with self._turn:
            for attempt in range(2):
                try:
                    return use(self._opened())
                except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.ConstraintError):
                    if attempt or self._path is None:
                        return None
                    self._throw_away()
                except (apsw.Error, OSError):
                    return None
        return None

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            connection = apsw.Connection(":memory:" if self._path is None else str(self._path))
            try:
                connection.set_busy_timeout(_BUSY_MS)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = OFF")
                connection.wal_autocheckpoint(_WAL_PAGES)
                connection.execute(_TABLES)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _throw_away(self) -> None:
        assert self._path is not None
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._secret = None
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self._path.with_name(FILE + suffix).unlink()


def _sweep(connection: apsw.Connection, now: Micros) -> None:
    # What is newer expires later: the oldest are looked at until one has not expired.
    kept = "SELECT coalesce(min(n), (SELECT max(n) + 1 FROM feed)) FROM"
    kept = f"{kept} (SELECT n FROM feed WHERE expires > ? ORDER BY n LIMIT 1)"
    connection.execute(f"DELETE FROM feed WHERE n < ({kept})", (now,))
    connection.execute("DELETE FROM page WHERE n <= (SELECT max(n) FROM page) - ?", (PAGES,))
    used, free, size = (
        int(connection.execute(f"PRAGMA {name}").get)
        for name in ("page_count", "freelist_count", "page_size")
    )
    if (used - free) * size > KEPT_BYTES:
        connection.execute("DELETE FROM feed WHERE n <= (SELECT (min(n) + max(n)) / 2 FROM feed)")
