"""The journal: one SQLite file that holds the log, its content and the tables folded from them."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, TypeVarTuple

import apsw

from germane.log.chain import BEFORE_ALL_TIMES, Told, chained
from germane.log.durability import WalSync
from germane.log.events import DeclareSchema, Event, PutItem, encode
from germane.log.failures import REPORTED, translated
from germane.log.file import BUSY_MS, JournalFile, pragma
from germane.log.fold import Known, fold, folded, is_marked, mark, put_items, refold
from germane.log.reader import Reader, last, remembered
from germane.log.tables import APPLICATION_ID, FOLDED, SESSIONS, TRUTH
from germane.log.tip import Tip
from germane.model.errors import Busy, Corruption, InvalidArgument, ReadOnly
from germane.model.schema import Schema
from germane.model.signals import BUILT_IN
from germane.version import FORMAT

WAL_PAGES = 4_096
"""Pages of write-ahead log after which it is copied back into the main file."""

_SCRUB_MS = 50
"""How long one attempt to empty the write-ahead log waits for readers, and until the next."""

_APPEND = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)"

Content = tuple[str, str, str | None, str | None, str | None, str | bytes]
"""A content as the journal keeps it: rev, type, lang, title, description and body."""

_Given = TypeVarTuple("_Given")
_Decided = TypeVar("_Decided")


class Writer:
    """One exclusive transaction: what is appended here is kept whole or not at all.

    Parameters
    ----------
    connection : apsw.Connection
        Inside its transaction.
    execute : callable
        Runs a statement of that connection that returns no rows, on a cursor that is there already.
    tip : Tip
        Where the log ends, and what the tables say there.
    now : int
        The database's time in microseconds, for the whole transaction.
    """

    __slots__ = ("_execute", "connection", "has_changed", "now", "reached", "tip")

    def __init__(self, connection: apsw.Connection, execute: Callable[..., Any], tip: Tip, now: int) -> None:
        self.connection = connection
        self._execute = execute
        self.tip = tip
        self.now = now
        self.has_changed = False
        self.reached = 0

    @property
    def head(self) -> int:
        """The position of the last event."""
        return self.tip.head

    def append(self, event: Event, at: int | None = None) -> int:
        """Append an event that happened at a time (now, without one), and return its position.

        Raises
        ------
        apsw.ConstraintError
            It is a signal under an event id that was used; nothing changed.
        """
        at = self.now if at is None else at
        seq = self.tip.head + 1
        fold(self.connection, Told(seq, at, self.now, event))
        self.has_changed = True
        kind, data = encode(event)
        checksum = chained(self.tip.checksum, seq, at, self.now, kind, data)
        self._execute(_APPEND, (seq, at, self.now, kind, data, checksum))
        self.tip.move(event, seq, self.now, checksum)
        if is_marked(seq, event):
            self.reached = seq
        return seq

    def append_puts(
        self, events: Sequence[PutItem], known: Known | None = None, types: Mapping[str, str] | None = None
    ) -> None:
        """Append puts of items that happen now: as `append` does, in a few statements for all.

        What `put_items` need not look up may be given to it.
        """
        if not events:
            return
        told = list(enumerate(events, self.tip.head + 1))
        put_items(self.connection, told, known, types)
        self.has_changed = True
        checksum, now, rows = self.tip.checksum, self.now, []
        for seq, event in told:
            kind, data = encode(event)
            checksum = chained(checksum, seq, now, now, kind, data)
            rows.append((seq, now, now, kind, data, checksum))
        self.connection.executemany(_APPEND, rows)
        self.reached, last_of_all = told[-1]
        self.tip.move(last_of_all, self.reached, now, checksum)

    def change(self) -> None:
        """Say that something was changed by other means than appending: nothing remembered holds."""
        self.has_changed = True
        self.tip.forget()

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
        self.keep_all(((rev, type, lang, title, description, body),))

    def keep_all(self, contents: Iterable[Content]) -> None:
        """Keep many contents, each given as `keep` takes it."""
        self.connection.executemany("INSERT OR IGNORE INTO content VALUES (?, ?, ?, ?, ?, ?)", contents)


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
    before : callable, optional
        Called first in every transaction that writes.

    Raises
    ------
    NotFound
        `read_only`, and there is no store.
    Busy, Corruption, InvalidArgument, ReadOnly
        The folder cannot be used; the message says why.
    """

    def __init__(
        self,
        folder: Path | None,
        clock: Callable[[], int],
        durability: str,
        read_only: bool,
        before: Callable[[Writer], None] = lambda writer: None,
    ) -> None:
        self.folder = folder
        self._file = JournalFile(folder, read_only)
        self.path = self._file.path
        self.read_only = read_only
        self._clock = clock
        self._before = before
        self._synced = durability == "sync"
        self._write_turn = threading.Lock()
        self._memory_turn = threading.RLock()
        self._turn: AbstractContextManager[Any] = self._memory_turn if folder is None else self._write_turn
        self._time_turn = threading.Lock()
        self._latest = BEFORE_ALL_TIMES
        self._idle: list[Reader] = []
        self._closed = False
        self._process = os.getpid()
        self._wal: WalSync | None = None
        self._wal_pages = 0
        self._copied_at = 0
        with translated(self.path):
            self._writer = self._file.open()
            try:
                if (folder is None or not read_only) and pragma(self._writer, "user_version") == 0:
                    self._create()
                self._file.check_format(self._writer)
                self.id = str(self._writer.execute("SELECT value FROM store WHERE key = 'id'").get)
                if not read_only:
                    self._add_tables()
            except BaseException:
                self._writer.close()
                raise
        self._execute = self._writer.cursor().execute
        self._tip = Tip(self._writer, self._file.check_format)
        if self.path is not None and not read_only:
            self._writer.set_wal_hook(self._count_pages)
            self._wal = WalSync(self._file.wal, in_background=not self._synced)

    @property
    def views(self) -> Path | None:
        """Where checkpoints of views lie; None in memory."""
        return None if self.folder is None else self.folder / "views"

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def read(self) -> AbstractContextManager[apsw.Connection]:
        """Give a connection inside one read transaction: everything in it is of one position."""
        return _Reading(self) if self.path is not None else self._read_memory()

    @contextmanager
    def _read_memory(self) -> Iterator[apsw.Connection]:
        self._refuse_forked()
        with self._memory_turn:
            self._refuse_closed()
            yield self._writer

    def _lend(self) -> Reader:
        """Give a reader inside its transaction, to be given back."""
        self._refuse_forked()
        self._refuse_closed()
        try:
            reader = self._idle.pop()
        except IndexError:
            with translated(self.path):
                reader = self._file.reader()
        try:
            reader.begin()
        except BaseException:
            self._take(reader)
            with translated(self.path):
                raise
        return reader

    def _take(self, reader: Reader) -> None:
        """End the transaction of a reader that was lent."""
        with suppress(apsw.Error):
            reader.leave()
        self._idle.append(reader)
        if self._closed:
            self._let_go()

    def glance(self) -> tuple[int, int] | None:
        """Return the epoch and the position of the last event if nothing was written since they were read.

        It takes no transaction, and says None when one is needed.
        """
        self._refuse_forked()
        if self.path is None or self._closed:
            return None
        try:
            connection = self._idle.pop()
        except IndexError:
            return None
        try:
            seen: tuple[int, int] | None = connection.still("place")
        except apsw.Error:
            seen = None
        finally:
            self._idle.append(connection)
            if self.closed:
                self._let_go()
        return seen

    @contextmanager
    def write(self, is_bare: bool = False) -> Iterator[Writer]:
        """Give a writer inside one exclusive transaction; an exception takes all of it back.

        A bare one does not ask the tables for anything first: they may be damaged.
        """
        self._refuse_writing()
        with self._turn:
            self._refuse_closed()
            try:
                writer = self._begin(is_bare)
                yield writer
                self._commit(writer)
            except BaseException:
                self._take_back()
                with translated(self.path):
                    raise
            self._ask_for_sync(writer)
        self._settle(writer)

    def transact(self, decide: Callable[[Writer, *_Given], _Decided], *given: *_Given) -> _Decided:
        """Return what a function decides inside one exclusive transaction, as `write` gives it.

        A context manager that is a generator costs as much as all that is done here for one signal.
        """
        self._refuse_writing()
        with self._turn:
            self._refuse_closed()
            try:
                writer = self._begin()
                decided = decide(writer, *given)
                self._commit(writer)
            except BaseException:
                self._take_back()
                with translated(self.path):
                    raise
            self._ask_for_sync(writer)
        self._settle(writer)
        return decided

    def now(self, connection: apsw.Connection) -> int:
        """Return the database's time: the clock's, but never before what was logged or returned here."""
        found = last(connection)
        return self._tell(found[1] if found else BEFORE_ALL_TIMES)

    def _tell(self, recorded_at: int) -> int:
        moment = self._clock()
        with self._time_turn:
            if moment > self._latest:
                self._latest = moment
            if recorded_at > self._latest:
                self._latest = recorded_at
            return self._latest

    def _begin(self, is_bare: bool = False) -> Writer:
        self._execute("BEGIN IMMEDIATE")
        self._tip.arrive()
        writer = Writer(self._writer, self._execute, self._tip, self._tell(self._tip.recorded_at))
        if not is_bare:
            self._before(writer)
        return writer

    def _commit(self, writer: Writer) -> None:
        if writer.reached:
            mark(writer.connection, writer.reached)
        self._execute("COMMIT")
        self._tip.leave()

    def _take_back(self) -> None:
        self._tip.forget()
        with suppress(apsw.Error):
            self._execute("ROLLBACK")

    def _refuse_writing(self) -> None:
        if self.read_only:
            raise ReadOnly("the store was opened with read_only=True: open it without, to write")
        self._refuse_forked()

    def refold(self) -> int:
        """Fold the log into new tables and make every process drop what it derived from the old ones.

        Raises
        ------
        Corruption
            The log is damaged; the tables stay as they are.
        """
        try:
            return self._refold()
        except Corruption as error:
            if not isinstance(error.__context__, apsw.CorruptError):
                raise
        with self.read() as connection:
            known = folded(connection)
        seq = self._refold(known)
        # Without the room to write the file anew, the pages of the damaged tables stay in it.
        with self._write_turn, suppress(apsw.Error):
            self._writer.execute("VACUUM")
        return seq

    def _refold(self, known: int | None = None) -> int:
        with self.write(is_bare=True) as writer:
            seq: int = refold(writer.connection, writer.connection, known)
            writer.connection.execute("UPDATE store SET value = value + 1 WHERE key = 'epoch'")
            writer.change()
        return seq

    def scrub(self, wait: float) -> None:
        """Write the file anew and empty its write-ahead log: nothing is left of rows that are gone.

        Readers that began before it must end first.

        Parameters
        ----------
        wait : float
            Seconds to wait for them, and for another writer.

        Raises
        ------
        Busy
            They did not end, or there is no room: nothing else changed, and it may be tried again.
        """
        self._refuse_writing()
        if self.path is None:
            return
        with self._write_turn, translated(self.path):
            self._refuse_closed()
            self._tip.forget()
            try:
                self._writer.set_busy_timeout(round(wait * 1000))
                self._writer.execute("VACUUM")
                self._writer.set_busy_timeout(_SCRUB_MS)
                until = time.monotonic() + wait
                # Tried again and again, so that writers are not kept waiting for readers.
                while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").get[0]:
                    if time.monotonic() > until:
                        raise Busy(
                            f"{self.path} is being read as it was before: bytes of what is gone are left "
                            "until that reader has ended. Try again, or open the store anew then"
                        )
                    time.sleep(_SCRUB_MS / 1000)
            finally:
                self._writer.set_busy_timeout(BUSY_MS)

    def close(self) -> None:
        """Put everything on disk and let go of the file; what a fork inherited is left to the parent."""
        if os.getpid() != self._process:
            return
        with self._write_turn, self._memory_turn:
            if self._closed:
                return
            self._closed = True
            try:
                if self._wal is not None:
                    self._wal.close()
                    with suppress(apsw.Error):
                        self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            except OSError as error:
                raise self._not_synced(error) from None
            finally:
                self._let_go()
                self._writer.close()

    def _let_go(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _refuse_forked(self) -> None:
        if os.getpid() != self._process:
            # Locks, connections and threads do not come through a fork in a state that can be used.
            raise InvalidArgument(
                "database", "was opened before this process was forked: open it in the child"
            )

    def _refuse_closed(self) -> None:
        if self._closed:
            raise InvalidArgument("database", "is closed: open it again")

    def _create(self) -> None:
        connection = self._writer
        connection.execute("BEGIN EXCLUSIVE")
        try:
            if pragma(connection, "user_version") == 0:
                connection.execute(TRUTH + FOLDED)
                connection.execute("INSERT INTO store VALUES ('id', ?), ('epoch', '0')", (uuid.uuid4().hex,))
                tip = Tip(connection, lambda _: None)
                writer = Writer(connection, connection.execute, tip, self.now(connection))
                mark(connection, writer.append(DeclareSchema(schema=Schema(signals=BUILT_IN).declaration())))
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
            raise

    def _add_tables(self) -> None:
        """Give a store of an earlier version the tables that it lacks; its log says nothing of them."""
        query = "SELECT 1 FROM sqlite_schema WHERE name = 'session'"
        if self._writer.execute(query).fetchone() is None:
            with self._writer:  # whoever comes second finds them there
                if self._writer.execute(query).fetchone() is None:
                    self._writer.execute(SESSIONS)

    def _count_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        if pages < self._wal_pages:
            self._copied_at = 0
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def _ask_for_sync(self, writer: Writer) -> None:
        # In sync mode also when nothing had to be written: what the caller asked for may be another's last
        # write. Before the turn is given up, so that `close` waits for it too.
        if self._wal is not None and (self._synced or writer.has_changed):
            try:
                self._wal.ask()
            except OSError as error:
                raise self._not_synced(error) from None

    def _settle(self, writer: Writer) -> None:
        if self._wal is None:
            return
        if self._synced:
            try:
                self._wal.wait()
            except OSError as error:
                raise self._not_synced(error) from None
        # A reader of an old snapshot can keep the log from being copied whole: try again when it has grown.
        if writer.has_changed and self._wal_pages - self._copied_at >= WAL_PAGES:
            self._copied_at = self._wal_pages
            self._file.copy_back()

    def _not_synced(self, error: OSError) -> Busy:
        return Busy(
            f"{self.path}: syncing to disk failed ({error.strerror}); the last writes are in the store, "
            "but a power failure may undo them. Check the disk, and make a backup"
        )


class _Reading:
    """One read transaction of a file; a generator in its place takes longer than SQLite does."""

    __slots__ = ("_journal", "_reader")

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def __enter__(self) -> apsw.Connection:
        self._reader = self._journal._lend()
        return self._reader

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._journal._take(self._reader)
        if isinstance(error, REPORTED):
            try:
                with translated(self._journal.path):
                    raise error
            finally:
                # An error that is held by a frame that it holds keeps its statements open, and they their
                # snapshot.
                del error, trace


def head(connection: apsw.Connection) -> int:
    """Return the position of the last event, 0 without any."""
    found = last(connection)
    return found[0] if found else 0


def epoch(connection: apsw.Connection) -> int:
    """Return how often the tables were folded anew; views derived from another epoch do not count."""
    value = remembered(connection, "epoch", _epoch)
    try:
        return int(value)
    except (TypeError, ValueError):
        raise Corruption(f"the store's epoch is {value!r}, and no number: restore a backup") from None


def place(connection: apsw.Connection) -> tuple[int, int]:
    """Return the epoch, and the position of the last event."""
    return remembered(connection, "place", _place)


def _place(connection: apsw.Connection) -> tuple[int, int]:
    return epoch(connection), head(connection)


def _epoch(connection: apsw.Connection) -> Any:
    return connection.execute("SELECT value FROM store WHERE key = 'epoch'").get
