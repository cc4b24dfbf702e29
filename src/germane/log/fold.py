"""Folding events into the tables: one function per type, each a pure step of the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import apsw
import msgspec

from germane.log.base import tables_from_parts
from germane.log.chain import Told, events
from germane.log.events import (
    AddRoot,
    Base,
    DeclareSchema,
    DeleteDocument,
    DeleteItem,
    Event,
    ForgetUser,
    Forgotten,
    PutDocument,
    PutItem,
    RecordSignal,
    RecordSignals,
    Relate,
    Unrelate,
    UpdateItem,
    plain,
)
from germane.log.fold_sessions import fold_session
from germane.log.tables import DIMENSION, FOLDED, FOLDED_NAMES
from germane.model.embeddings import dimension_of
from germane.model.errors import Corruption

MARKED = 256
"""Every how many events a single signal moves the watermark."""


def fold(connection: apsw.Connection, told: Told) -> None:
    """Apply one event to the tables of a connection, inside its transaction."""
    seq, _, _, event = told
    step = _FOLDS.get(type(event))
    if step is not None:
        step(connection, seq, event)
    if not isinstance(event, RecordSignal) or event.session is not None:
        fold_session(connection, told)


def is_marked(seq: int, event: Event) -> bool:
    """Tell whether the watermark moves to an event once it is folded.

    It moves with every event, but only with every 256th of the single signals: moving it takes as long as
    writing one of them, and it is only there to show that a log lost its end.
    """
    return seq % MARKED == 0 or not isinstance(event, RecordSignal)


def mark(connection: apsw.Connection, seq: int) -> None:
    """Set the watermark of the tables."""
    connection.execute("UPDATE view SET seq = ? WHERE name = 'tables'", (seq,))


def refold(source: apsw.Connection, target: apsw.Connection, known: int | None = None) -> int:
    """Drop the tables of `target` and fold the whole log of `source` into new ones.

    Parameters
    ----------
    source, target : apsw.Connection
    known : int, optional
        The position that the tables of `target` are known to reflect at least, when they cannot be read,
        and so not be dropped either.

    Returns
    -------
    int
        The position reached.

    Raises
    ------
    Corruption
        The log is damaged; what was folded from it before is worth more than what it gives now.
    """
    reached = int(source.execute("SELECT coalesce(max(seq), 0) FROM log").get)
    if (folded(target) if known is None else known) > reached:
        raise Corruption(
            f"the log ends at event {reached}, and the tables were folded from more: restore a backup, "
            "or save what the tables hold"
        )
    if known is not None:
        _strike(target)
    for name in FOLDED_NAMES:
        target.execute(f"DROP TABLE IF EXISTS {name}")
    target.execute(FOLDED)
    return fold_all(source, target, events(source))


def fold_all(source: apsw.Connection, target: apsw.Connection, told: Iterable[Told]) -> int:
    """Fold events of the log of `source` into the tables of `target`, and return the position reached."""
    seq = marked = 0
    for each in told:
        seq, _, _, event = each
        if isinstance(event, Base):
            tables_from_parts(source, target, event)  # its chunks lie beside the log
        else:
            fold(target, each)
        if is_marked(seq, event):
            marked = seq
    mark(target, marked)
    return seq


def know_types(source: apsw.Connection, target: apsw.Connection) -> None:
    """Let `target` know the types of the contents of `source`, which is all of them that folding asks for.

    They stand before the table `content` of `target` until ``temp.content`` is dropped.
    """
    target.execute("CREATE TEMP TABLE content (rev TEXT PRIMARY KEY, type TEXT NOT NULL) WITHOUT ROWID")
    target.executemany(
        "INSERT INTO temp.content VALUES (?, ?)", source.execute("SELECT rev, type FROM content")
    )


def folded(connection: apsw.Connection) -> int:
    """Return the position that the tables reflect at least, 0 when they do not say."""
    try:
        return int(connection.execute("SELECT seq FROM view WHERE name = 'tables'").get or 0)
    except (apsw.SQLError, apsw.CorruptError):
        return 0


def _strike(connection: apsw.Connection) -> None:
    """Take the tables off the schema without reading them, inside a transaction.

    A damaged table cannot be dropped, and once it was read not be struck off in the same transaction. Its
    pages lie idle until the file is written anew.
    """
    names = ", ".join(f"'{name}'" for name in FOLDED_NAMES)
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute(f"DELETE FROM sqlite_schema WHERE tbl_name IN ({names})")
    finally:
        connection.execute("PRAGMA writable_schema = RESET")


_PUT = (
    "INSERT INTO item (ordinal, id, rev, type, creator, metadata, tags, collection, kind, created_at,"
    " seq, live) VALUES (?1, ?2, ?3, coalesce(?11, (SELECT type FROM content WHERE rev = ?3), ''),"
    " ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)"
    " ON CONFLICT (ordinal) DO UPDATE SET rev = excluded.rev, type = excluded.type,"
    " creator = excluded.creator, metadata = excluded.metadata, tags = excluded.tags,"
    " collection = excluded.collection, kind = excluded.kind, created_at = excluded.created_at,"
    " seq = excluded.seq, live = 1"
)


Known = dict[str, tuple[int, str]]
"""The ordinals and revisions of items that have a row."""


def put_items(
    connection: apsw.Connection,
    puts: Sequence[tuple[int, PutItem]],
    known: Known | None = None,
    types: Mapping[str, str] | None = None,
) -> None:
    """Fold puts of items, each with its position: as one by one, but with a statement for all of a table.

    Parameters
    ----------
    connection : apsw.Connection
    puts : sequence of (int, PutItem)
    known : dict, optional
        Those of the items that have a row, where they were looked up already; it may hold others.
    types : mapping of str to str, optional
        Types of contents by revision, as far as they are known.
    """
    known = _known(connection, [event.id for _, event in puts]) if known is None else dict(known)
    types = types or {}
    following = next_ordinal(connection)
    heard = {known[event.id][0] for _, event in puts if event.id in known} if known else set()
    versions = []
    latest: dict[int, tuple[int, PutItem]] = {}
    for seq, event in puts:
        ordinal, rev = known.get(event.id) or (following, None)
        if ordinal == following:
            following += 1
        if rev != event.rev:
            versions.append((ordinal, seq, event.rev))
            known[event.id] = ordinal, event.rev
        latest[ordinal] = seq, event
    connection.executemany(
        _PUT,
        [
            (ordinal, event.id, event.rev, event.creator, plain(event.metadata) if event.metadata else "{}",
             plain(event.tags) if event.tags else "[]", event.collection, event.kind, event.created_at, seq,
             types.get(event.rev))
            for ordinal, (seq, event) in latest.items()
        ],
    )  # fmt: skip
    connection.executemany("INSERT INTO version VALUES (?, ?, ?)", versions)
    if heard:
        connection.executemany("DELETE FROM tag WHERE ordinal = ?", [(ordinal,) for ordinal in heard])
    for ordinal, (_, event) in latest.items():
        if event.tags:
            _tag(connection, ordinal, event.tags)
        if event.embedding is not None or ordinal in heard:
            _embed(connection, ordinal, event.embedding)


def _known(connection: apsw.Connection, ids: Sequence[str]) -> Known:
    """Return the ordinals and revisions of those of the items that have a row."""
    return {
        id: (ordinal, rev)
        for id, ordinal, rev in connection.execute(
            "SELECT item.id, ordinal, rev FROM json_each(?) CROSS JOIN item ON item.id = value",
            (plain(sorted(ids)),),
        )
    }


def _put_item(connection: apsw.Connection, seq: int, event: PutItem) -> None:
    put_items(connection, ((seq, event),))


def next_ordinal(connection: apsw.Connection) -> int:
    """Return the ordinal that the next new item gets."""
    return int(connection.execute("SELECT coalesce(max(ordinal), 0) + 1 FROM item").get)


def _hear_of(connection: apsw.Connection, ids: Iterable[str]) -> None:
    """Give items that were never put an ordinal for what is signalled on them.

    Their rows are of no revision, not live, and of no position: they are content to nobody.
    """
    for id in ids:
        connection.execute(
            "INSERT INTO item VALUES (?, ?, '', '', NULL, '{}', '[]', '', '', 0, 0, 0)",
            (next_ordinal(connection), id),
        )


def _tag(connection: apsw.Connection, ordinal: int, tags: tuple[str, ...]) -> None:
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(tag, ordinal) for tag in tags])


def _embed(connection: apsw.Connection, ordinal: int, embedding: bytes | None) -> None:
    if embedding is None:
        connection.execute("DELETE FROM vector WHERE ordinal = ?", (ordinal,))
        return
    connection.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (ordinal, embedding))
    # The first one decides how many numbers all have, for good: preferences are made of them.
    connection.execute(
        "INSERT OR IGNORE INTO declared VALUES (?, ?)", (DIMENSION, str(dimension_of(embedding)))
    )


def _update_item(connection: apsw.Connection, seq: int, event: UpdateItem) -> None:
    ordinal = _ordinal(connection, event.id)
    connection.execute("UPDATE item SET seq = ? WHERE ordinal = ?", (seq, ordinal))
    for column in ("creator", "metadata", "tags", "collection", "created_at"):
        value = getattr(event, column)
        if value is msgspec.UNSET:
            continue
        if column == "tags":
            connection.execute("DELETE FROM tag WHERE ordinal = ?", (ordinal,))
            _tag(connection, ordinal, value)
        stored = plain(value) if column in ("metadata", "tags") else value
        connection.execute(f"UPDATE item SET {column} = ? WHERE ordinal = ?", (stored, ordinal))
    if event.embedding is not msgspec.UNSET:
        _embed(connection, ordinal, event.embedding)


def _retire(connection: apsw.Connection, seq: int, ids: tuple[str, ...]) -> None:
    for id in ids:
        connection.execute("UPDATE item SET live = 0, seq = ? WHERE id = ?", (seq, id))


def _delete_item(connection: apsw.Connection, seq: int, event: DeleteItem) -> None:
    _retire(connection, seq, (event.id,))


def _put_document(connection: apsw.Connection, seq: int, event: PutDocument) -> None:
    if event.items:
        put_items(connection, [(seq, item) for item in event.items])
    connection.execute(
        "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)",
        (event.docid, event.title, event.root, event.source, event.digest, plain(event.metadata),
         plain(event.tags), event.collection, seq),
    )  # fmt: skip
    connection.execute("DELETE FROM section WHERE docid = ?", (event.docid,))
    for position, place in enumerate(event.sections):
        first, last = place.lines or (None, None)
        connection.execute(
            "INSERT INTO section VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (event.docid, position, _ordinal(connection, place.id), place.level, place.parent,
             plain(place.heading_path), first, last),
        )  # fmt: skip
    _retire(connection, seq, event.retired)


def _delete_document(connection: apsw.Connection, seq: int, event: DeleteDocument) -> None:
    connection.execute(
        "UPDATE document SET live = 0, digest = NULL, seq = ? WHERE docid = ?", (seq, event.docid)
    )
    connection.execute("DELETE FROM section WHERE docid = ?", (event.docid,))
    _retire(connection, seq, event.retired)


def _add_root(connection: apsw.Connection, seq: int, event: AddRoot) -> None:
    connection.execute("INSERT INTO root VALUES (?, ?)", (event.name, event.location))


def _record_signal(connection: apsw.Connection, seq: int, event: RecordSignal) -> None:
    # First of all: under an id that was used, nothing is changed.
    if event.event_id is not None:
        connection.execute("INSERT INTO event_id VALUES (?, ?, 0)", (event.event_id, seq))
    if event.is_first:
        _hear_of(connection, (event.item,))


def _record_signals(connection: apsw.Connection, seq: int, event: RecordSignals) -> None:
    _hear_of(connection, event.first)
    if event.event_ids:
        # One statement, and in the order of the table: faster than one for each, in no order.
        connection.execute(
            "INSERT INTO event_id SELECT value, ?, key FROM json_each(?) WHERE value IS NOT NULL"
            " ORDER BY value",
            (seq, plain(event.event_ids)),
        )


def _relate(connection: apsw.Connection, seq: int, event: Relate) -> None:
    connection.execute(
        "INSERT INTO relation VALUES (?, ?, ?, ?)", (event.user, event.relation, event.target, seq)
    )


def _unrelate(connection: apsw.Connection, seq: int, event: Unrelate) -> None:
    connection.execute(
        "DELETE FROM relation WHERE user = ? AND relation = ? AND target = ?",
        (event.user, event.relation, event.target),
    )


def _forgotten(connection: apsw.Connection, seq: int, event: Forgotten) -> None:
    _hear_of(connection, event.first)


def _forget(connection: apsw.Connection, seq: int, event: ForgetUser) -> None:
    """The events before it say nothing of the user any more: there is nothing left to do."""


def _declare(connection: apsw.Connection, seq: int, event: DeclareSchema) -> None:
    connection.execute("INSERT OR REPLACE INTO declared VALUES ('schema', ?)", (plain(event.schema),))
    connection.execute("INSERT OR REPLACE INTO declared VALUES ('schema_seq', ?)", (str(seq),))
    # Every version that was ever declared stays callable.
    for profile in event.schema.get("profiles", ()):
        key = f"profile {profile['name']}@{profile['version']}"
        connection.execute("INSERT OR REPLACE INTO declared VALUES (?, ?)", (key, plain(profile)))


def _take_base(connection: apsw.Connection, seq: int, event: Base) -> None:
    tables_from_parts(connection, connection, event)


def _ordinal(connection: apsw.Connection, id: str) -> int:
    return int(connection.execute("SELECT ordinal FROM item WHERE id = ?", (id,)).get)


_FOLDS: dict[type[Event], Callable[[apsw.Connection, int, Any], None]] = {
    PutItem: _put_item,
    UpdateItem: _update_item,
    DeleteItem: _delete_item,
    PutDocument: _put_document,
    DeleteDocument: _delete_document,
    AddRoot: _add_root,
    DeclareSchema: _declare,
    RecordSignal: _record_signal,
    RecordSignals: _record_signals,
    Base: _take_base,
    Relate: _relate,
    Unrelate: _unrelate,
    Forgotten: _forgotten,
    ForgetUser: _forget,
}
