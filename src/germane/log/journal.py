"""The journal: one SQLite file that holds the log, its content and the tables folded from them."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from germane.log.durability import WalSync
from germane.log.events import DeclareSchema, Event, encode
from germane.log.failures import translated
from germane.log.fold import fold, mark, refold
from germane.log.tables import APPLICATION_ID, FOLDED, TRUTH
from germane.model.errors import Corruption, InvalidArgument, NotFound, ReadOnly
from germane.model.schema import Schema
from germane.version import FORMAT

FILE = "journal.sqlite"
BUSY_MS = 30_000
WAL_PAGES = 4_096
"""Pages of write-ahead log after which it is copied back into the main file."""


class Writer:
    """One exclusive transaction: what is appended here is kept whole or not at all.

    Parameters
    ----------
    connection : apsw.Connection
        Inside its transaction.
    now : int
        The database's time in microseconds, for the whole transaction.
    """

    def __init__(self, connection: apsw.Connection, now: int) -> None:
        self.connection = connection
        self.now = now
        self.head = head(connection)
        self.appended = 0

    def append(self, event: Event) -> int:
        """Append an event, fold it into the tables, and return its position."""
        self.head += 1
        self.appended += 1
        kind, data = encode(event)
        self.connection.execute(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?)", (self.head, self.now, self.now, kind, data)
        )
        fold(self.connection, self.head, event)
        return self.head

    def keep(
        self,
        rev: str,
        type: str,
        lang: str | None,
        title: str | None,
        description: str | None,
        body: str | bytes,
    ) -> None:
        """Keep a content under its rev; the same one is kept once."""
        self.connection.execute(
            "INSERT OR IGNORE INTO content VALUES (?, ?, ?, ?, ?, ?)",
            (rev, type, lang, title, description, body),
        )


class Journal:
    """Opens the file, gives out read and write transactions, and sees to durability.

    Parameters
    ----------
    folder : Path or None
        The store's folder; None keeps everything in memory.
    clock : callable
        Returns the time in microseconds.
    durability : {"batched", "sync"}
        When a committed write is on disk.
    read_only : bool
        Whether to refuse writes.

    Raises
    ------
    NotFound
        `read_only`, and there is no store.
    Busy, Corruption, InvalidArgument, ReadOnly
        The folder cannot be used; the message says why.
    """

    def __init__(
        self, folder: Path | None, clock: Callable[[], int], durability: str, read_only: bool
    ) -> None:
        self.folder = folder
        self.path = None if folder is None else folder / FILE
        self.read_only = read_only
        self._clock = clock
        self._synced = durability == "sync"
        self._write_turn = threading.Lock()
        self._memory_turn = threading.RLock()
        self._idle: list[apsw.Connection] = []
        self._immutable = False
        self._closed = False
        self._wal: WalSync | None = None
        self._wal_pages = 0
        self._copied_at = 0
        with translated(self.path):
            self._writer = self._prepare()
            self._check_format(self._writer)
            self.id = str(self._writer.execute("SELECT value FROM store WHERE key = 'id'").get)
        if self.path is not None and not read_only:
            self._wal = WalSync(self.path.with_name(FILE + "-wal"))

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Give a connection inside one read transaction: everything in it is of one position."""
        if self.path is None:
            with self._memory_turn:
                self._refuse_closed()
                yield self._writer
            return
        self._refuse_closed()
        try:
            connection = self._idle.pop()
        except IndexError:
            with translated(self.path):
                connection = self._connect(read_only=True)
        try:
            with translated(self.path):
                connection.execute("BEGIN")
                yield connection
        finally:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """Give a writer inside one exclusive transaction; an exception takes all of it back."""
        if self.read_only:
            raise ReadOnly("the store was opened with read_only=True: open it without, to write")
        with self._memory_turn if self.path is None else self._write_turn:
            self._refuse_closed()
            connection = self._writer
            with translated(self.path):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    self._check_format(connection)
                    writer = Writer(connection, self.now(connection))
                    yield writer
                    if writer.appended:
                        mark(connection, writer.head)
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(apsw.Error):
                        connection.execute("ROLLBACK")
                    raise
        if self._wal is not None and writer.appended:
            try:
                self._wal.now() if self._synced else self._wal.soon()
            except OSError as error:
                raise Corruption(
                    f"{self.path}: syncing to disk failed ({error.strerror}); check the disk"
                ) from None
            self._copy_back()

    def now(self, connection: apsw.Connection) -> int:
        """Return the database's time: the clock's, but never before anything that is in the log."""
        last = connection.execute("SELECT recorded_at FROM log ORDER BY seq DESC LIMIT 1").fetchone()
        return max(self._clock(), last[0] if last else self._clock())

    def refold(self) -> int:
        """Fold the log into new tables and make every process drop what it derived from the old ones."""
        with self.write() as writer:
            seq = refold(writer.connection, writer.connection)
            writer.connection.execute("UPDATE store SET value = value + 1 WHERE key = 'epoch'")
        if self._wal is not None:
            self._wal.now()
        return seq

    def close(self) -> None:
        """Put everything on disk and let go of the file."""
        with self._write_turn, self._memory_turn:
            if self._closed:
                return
            self._closed = True
            if self._wal is not None:
                with suppress(FileNotFoundError):
                    self._wal.close()
                with suppress(apsw.Error):
                    self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            while self._idle:
                self._idle.pop().close()
            self._writer.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise InvalidArgument("database", "is closed: open it again")

    def _prepare(self) -> apsw.Connection:
        if self.path is None:
            connection = apsw.Connection(":memory:")
            self._create(connection)
            return connection
        if self.read_only:
            if not self.path.is_file():
                raise NotFound(f"there is no store in {self.folder}: 'germane init' makes one")
            return self._connect(read_only=True)
        folder = self.path.parent
        if folder.exists() and not folder.is_dir():
            raise InvalidArgument("path", f"{folder} is a file: a store is a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReadOnly(f"{folder} cannot be made: {error.strerror}") from None
        connection = self._connect(read_only=False)
        if self._pragma(connection, "user_version") == 0:
            self._create(connection)
        return connection

    def _connect(self, read_only: bool) -> apsw.Connection:
        if read_only and self._immutable:
            return apsw.Connection(f"{self.path.as_uri()}?immutable=1", _READ | apsw.SQLITE_OPEN_URI)  # type: ignore[union-attr]
        connection = apsw.Connection(str(self.path), _READ if read_only else _WRITE)
        connection.set_busy_timeout(BUSY_MS)
        if read_only:
            try:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                # A folder that cannot be written has no shared memory file; nothing can change in it either.
                if self._immutable or not self.read_only:
                    raise
                connection.close()
                self._immutable = True
                return self._connect(read_only=True)
            connection.execute("PRAGMA query_only = 1")
            return connection
        foreign = self._pragma(connection, "application_id") not in (0, APPLICATION_ID)
        if not foreign and self._pragma(connection, "user_version") == 0:
            foreign = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name <> 'log'").get > 0
        if not foreign:
            _wal_mode(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.set_wal_hook(self._count_pages)
        return connection

    def _create(self, connection: apsw.Connection) -> None:
        connection.execute("BEGIN EXCLUSIVE")
        try:
            if self._pragma(connection, "user_version") == 0:
                self._check_foreign(connection)
                connection.execute(TRUTH + FOLDED)
                connection.execute("INSERT INTO store VALUES ('id', ?), ('epoch', '0')", (uuid.uuid4().hex,))
                writer = Writer(connection, self.now(connection))
                writer.append(DeclareSchema(schema=Schema().declaration()))
                mark(connection, writer.head)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _check_foreign(self, connection: apsw.Connection) -> None:
        application = self._pragma(connection, "application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if application not in (0, APPLICATION_ID) or (tables and application == 0):
            raise InvalidArgument("path", f"{self.path} belongs to another program: choose another folder")

    def _check_format(self, connection: apsw.Connection) -> None:
        version = self._pragma(connection, "user_version")
        if version == FORMAT:
            return
        self._check_foreign(connection)
        if version > FORMAT:
            raise InvalidArgument(
                "path",
                f"{self.path} has format {version} and this version reads up to {FORMAT}: "
                "'pip install --upgrade germane'",
            )
        raise Corruption(f"{self.path} has no complete store in it: move it away and make a new one")

    def _count_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        if pages < self._wal_pages:
            self._copied_at = 0
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _copy_back(self) -> None:
        # A reader of an old snapshot can keep the log from being copied whole: try again when it has grown.
        if self._wal_pages - self._copied_at < WAL_PAGES:
            return
        self._copied_at = self._wal_pages
        with suppress(apsw.Error):
            connection = apsw.Connection(str(self.path), _WRITE)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            connection.close()

    @staticmethod
    def _pragma(connection: apsw.Connection, name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").get)


_READ = apsw.SQLITE_OPEN_READONLY
_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def head(connection: apsw.Connection) -> int:
    """Return the position of the last event, 0 without any."""
    return int(connection.execute("SELECT max(seq) FROM log").get or 0)


def epoch(connection: apsw.Connection) -> int:
    """Return how often the tables were folded anew; views derived from another epoch do not count."""
    return int(connection.execute("SELECT value FROM store WHERE key = 'epoch'").get)


def _wal_mode(connection: apsw.Connection) -> None:
    # The change of mode does not wait for another process that does the same at this moment.
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
