"""The journal's file: how it is opened, and told from the files of others."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw

from germane.log.reader import Reader
from germane.log.tables import APPLICATION_ID
from germane.log.tail import unfinished
from germane.model.errors import Corruption, InvalidArgument, NotFound, ReadOnly
from germane.version import FORMAT

FILE = "journal.sqlite"
BUSY_MS = 30_000
CACHE_KB = 8_000
"""Pages that the writer keeps: those of indexes stay while a batch of items goes through them."""

_logger = logging.getLogger("germane")
_READ = apsw.SQLITE_OPEN_READONLY
_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


class JournalFile:
    """Opens connections to one journal.

    Parameters
    ----------
    folder : Path or None
        The store's folder; None keeps everything in memory.
    read_only : bool
        Whether nothing will be written.
    """

    def __init__(self, folder: Path | None, read_only: bool) -> None:
        self.folder = folder
        self.path = None if folder is None else folder / FILE
        self._read_only = read_only
        self._immutable = False

    @property
    def wal(self) -> Path:
        """The write-ahead log beside the file."""
        assert self.path is not None
        return self.path.with_name(FILE + "-wal")

    def open(self) -> apsw.Connection:
        """Return the first connection: the one that writes, if anything does.

        Raises
        ------
        NotFound
            Nothing will be written, and there is no journal.
        InvalidArgument, ReadOnly, Corruption
            The path cannot be used; the message says why.
        """
        if self.path is None:
            connection = apsw.Connection(":memory:")
            _prepare(connection)
            return connection
        if self._read_only:
            if not self.path.is_file():
                raise NotFound(f"there is no store in {self.folder}: 'germane init' makes one")
            reader = self.reader()
            with _closed_on_error(reader):
                self._refuse_foreign(reader)
            return reader
        self._make_folder()
        self._refuse_emptied()
        has_wal = self._has_wal()
        connection = apsw.Connection(str(self.path), _WRITE)
        with _closed_on_error(connection):
            _prepare(connection)
            self._refuse_foreign(connection)
            _wal_mode(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            if has_wal:
                self._report_tail(connection)
        return connection

    def reader(self) -> Reader:
        """Return one more connection, that cannot write."""
        assert self.path is not None
        if self._immutable:
            uri = f"{self.path.as_uri()}?immutable=1"
            connection = Reader(uri, _READ | apsw.SQLITE_OPEN_URI)
            _prepare(connection)
            return connection
        connection = Reader(str(self.path), _READ)
        with _closed_on_error(connection):
            _prepare(connection)
            try:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                # A folder that cannot be written has no shared memory file; nothing can change in it either.
                if not self._read_only:
                    raise
                if self._has_wal():
                    raise ReadOnly(
                        f"{self.path} cannot be read: its last writes lie in {self.wal.name}, and the folder "
                        "cannot be written. Open the store once where it can be"
                    ) from None
                self._immutable = True
            else:
                connection.execute("PRAGMA query_only = 1")
                return connection
        connection.close()
        return self.reader()

    def copy_back(self) -> None:
        """Copy what is in the write-ahead log into the main file, as far as no reader is in the way."""
        with suppress(apsw.Error), closing(apsw.Connection(str(self.path), _WRITE)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def check_format(self, connection: apsw.Connection) -> None:
        """Refuse a store of another version of the format, or one that is not complete.

        Raises
        ------
        InvalidArgument, Corruption
        """
        version = pragma(connection, "user_version")
        if version == FORMAT:
            return
        if version > FORMAT:
            raise InvalidArgument(
                "path",
                f"{self.path} has format {version} and this version reads up to {FORMAT}: "
                "'pip install --upgrade germane'",
            )
        raise Corruption(f"{self.path} has no complete store in it: move it away and make a new one")

    def _has_wal(self) -> bool:
        return self.wal.is_file() and self.wal.stat().st_size > 0

    def _make_folder(self) -> None:
        assert self.folder is not None
        if self.folder.exists() and not self.folder.is_dir():
            raise InvalidArgument("path", f"{self.folder} is a file: a store is a folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReadOnly(f"{self.folder} cannot be made: {error.strerror}") from None

    def _refuse_emptied(self) -> None:
        """Do not take a journal that lost all of its bytes for a new one; SQLite would drop its log."""
        assert self.path is not None
        # In this order: who makes the store at this moment fills the file before its write-ahead log.
        has_parts = self._has_wal() or any(self.path.parent.glob("views/*-*"))
        is_gone = not self.path.exists() or (self.path.is_file() and not self.path.stat().st_size)
        if has_parts and is_gone:
            raise Corruption(
                f"{self.path} is empty or gone, but parts of a store lie beside it: restore a backup, "
                "or move the folder away to begin anew"
            )

    def _refuse_foreign(self, connection: apsw.Connection) -> None:
        connection.execute("BEGIN")
        try:
            application = pragma(connection, "application_id")
            version = pragma(connection, "user_version")
            tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        finally:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        if application != APPLICATION_ID and (application or version or tables):
            raise InvalidArgument("path", f"{self.path} belongs to another program: choose another folder")

    def _report_tail(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(0)
        tail = unfinished(connection, self.wal)
        connection.set_busy_timeout(BUSY_MS)
        if tail:
            _logger.warning("%s: %d bytes of a write that was never finished are left out", self.path, tail)


def pragma(connection: apsw.Connection, name: str) -> int:
    """Return the value of a numeric pragma."""
    return int(connection.execute(f"PRAGMA {name}").get)


def _prepare(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_MS)
    # Whatever is sorted stays off the disk outside of the folder.
    connection.execute("PRAGMA temp_store = MEMORY")


@contextmanager
def _closed_on_error(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


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
