"""Checking the journal: the file, the log, the content it points to, and the tables folded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import apsw

from germane.log.base import chunks, is_sealed, tables_from_parts
from germane.log.chain import chained
from germane.log.events import Base, PutDocument, PutItem, decode
from germane.log.failures import translated
from germane.log.fold import folded, know_types, refold
from germane.log.forget import check_forgotten
from germane.log.tables import FOLDED, FOLDED_NAMES
from germane.model.errors import Corruption
from germane.model.items import rev_of
from germane.model.reports import Finding

_MOST = 20
"""Findings of one kind that are listed."""


def check_journal(connection: apsw.Connection) -> Iterator[Finding]:
    """Yield what is wrong with a journal, inside a read transaction."""
    for part, look in (
        ("journal", _pages),
        ("log", _log),
        ("log", check_forgotten),
        ("content", _content),
        ("tables", _tables),
    ):
        yield from guarded(part, look, connection)


def guarded(
    part: str, look: Callable[[apsw.Connection], Iterator[Finding]], connection: apsw.Connection
) -> Iterator[Finding]:
    """Yield the first findings of a look at one part, also when it comes upon what cannot be read."""
    try:
        with translated(None):
            for count, finding in enumerate(look(connection)):
                if count == _MOST:
                    yield Finding(finding.part, "and more of this kind")
                    return
                yield finding
    except Corruption as error:
        yield Finding(part, f"cannot be read: {error.__context__ or error}")
    except (TypeError, ValueError, OverflowError) as error:  # a damaged page gave a row of other types
        yield Finding(part, f"cannot be read: {error}")


def _pages(connection: apsw.Connection) -> Iterator[Finding]:
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if message != "ok":
            yield Finding("journal", message)


def _log(connection: apsw.Connection) -> Iterator[Finding]:
    expected, last, before = 1, None, 0
    revs = "SELECT 1 FROM content WHERE rev = ?"
    for seq, at, recorded_at, kind, data, checksum in connection.execute(
        "SELECT seq, at, recorded_at, type, data, checksum FROM log ORDER BY seq"
    ):
        if kind == "base" and expected == 1:
            yield from _base(connection, seq, at, recorded_at, data, checksum)
            expected, last, before = seq + 1, recorded_at, checksum
            continue
        is_next = seq == expected
        if not is_next:
            yield Finding("log", f"events {expected} to {seq - 1} are missing")
        if is_next and chained(before, seq, at, recorded_at, kind, data) != checksum:
            yield Finding("log", f"event {seq} is not what was written")
        if last is not None and recorded_at < last:
            yield Finding("log", f"event {seq} was recorded before the one ahead of it")
        expected, last, before = seq + 1, recorded_at, checksum
        try:
            event = decode(seq, kind, data)
        except Corruption as error:
            yield Finding("log", error.message)
            continue
        items = (
            event.items if isinstance(event, PutDocument) else (event,) if isinstance(event, PutItem) else ()
        )
        for item in items:
            if connection.execute(revs, (item.rev,)).fetchone() is None:
                yield Finding(
                    "content", f"the content of item {item.id!r} at event {seq} (rev {item.rev}) is missing"
                )
    reached = folded(connection)
    if reached >= expected:
        yield Finding("log", f"events {expected} to {reached}, its last ones, are missing")


def _base(
    connection: apsw.Connection, seq: int, at: int, recorded_at: int, data: str, checksum: int
) -> Iterator[Finding]:
    try:
        base = decode(seq, "base", data)
        if not (isinstance(base, Base) and is_sealed(base, seq, at, recorded_at, checksum)):
            yield Finding("log", f"the base of the log, event {seq}, is not what was written")
            return
        for part in base.parts:
            for _ in chunks(connection, base, part):
                pass
    except Corruption as error:
        yield Finding("log", error.message)
        return
    with closing(apsw.Connection(":memory:")) as memory:
        memory.execute(FOLDED)
        tables_from_parts(connection, memory, base)
        for id, rev in memory.execute("SELECT id, rev FROM item WHERE live = 1"):
            if connection.execute("SELECT 1 FROM content WHERE rev = ?", (rev,)).fetchone() is None:
                yield Finding("content", f"the content of item {id!r} in the base (rev {rev}) is missing")


def _content(connection: apsw.Connection) -> Iterator[Finding]:
    for rev, *content in connection.execute("SELECT rev, type, lang, title, description, body FROM content"):
        if rev_of(*content) != rev:
            yield Finding("content", f"the content under rev {rev} is not what was put")


def _tables(connection: apsw.Connection) -> Iterator[Finding]:
    rebuilt = apsw.Connection(":memory:")
    try:
        know_types(connection, rebuilt)
        try:
            refold(connection, rebuilt)
        except Corruption:
            return  # said already: the log is damaged, and says nothing of the tables
        for name in FOLDED_NAMES:
            query = f"SELECT * FROM {name} ORDER BY 1, 2"
            ours = connection.execute(query)
            for wanted in rebuilt.execute(query):
                found = ours.fetchone()
                if found != wanted:
                    yield Finding(
                        "tables", f"table {name} differs from the log: {found!r} instead of {wanted!r}"[:300]
                    )
                    break
            else:
                if (extra := ours.fetchone()) is not None:
                    yield Finding("tables", f"table {name} holds what the log does not: {extra!r}"[:300])
    except apsw.SQLError as error:
        yield Finding("tables", str(error))
    finally:
        rebuilt.close()
