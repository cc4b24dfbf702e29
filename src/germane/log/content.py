"""Reading items, documents and revisions from the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import apsw
import msgspec

from germane.log.base import SCHEMAS, base_of, chunks
from germane.log.events import DeclareSchema, decode, metadata_from_plain
from germane.log.reader import remembered
from germane.log.tables import DIMENSION
from germane.model.documents import Document, Placement
from germane.model.embeddings import from_bytes
from germane.model.errors import Corruption, SchemaError
from germane.model.items import Item
from germane.model.profiles import Profile
from germane.model.schema import Schema
from germane.model.times import Micros, to_datetime


class Row(msgspec.Struct, frozen=True):
    """An item as the tables hold it: current state and current content."""

    ordinal: int
    id: str
    rev: str
    creator: str | None
    metadata: str
    tags: str
    collection: str
    kind: str
    created_at: Micros
    live: bool
    seq: int
    type: str
    lang: str | None
    title: str | None
    description: str | None
    body: str | bytes

    def item(self, embedding: bytes | None = None) -> Item:
        """Return it as people receive it, with its vector."""
        with readable(self.id):
            return Item(
                id=self.id,
                title=self.title,
                body=self.body,
                type=self.type,
                description=self.description,
                creator=self.creator,
                metadata=metadata_from_plain(msgspec.json.decode(self.metadata)),
                tags=tuple(msgspec.json.decode(self.tags)),
                collection=self.collection,
                kind=self.kind,
                lang=self.lang,
                created_at=to_datetime(self.created_at),
                embedding=None if embedding is None else from_bytes(embedding),
            )


UNREADABLE = (msgspec.MsgspecError, AttributeError, TypeError, ValueError, OverflowError)
"""What reading a row raises that holds what no write of this package puts there."""


@contextmanager
def readable(id: str) -> Iterator[None]:
    """Raise Corruption for a row of the tables that holds what no write of this package puts there."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(id, error) from None


def unreadable(id: str, error: Exception) -> Corruption:
    """Return the error for a row that cannot be read."""
    return Corruption(
        f"the row of item {id!r} in the tables cannot be read ({error}): 'germane check --repair' folds "
        "the tables anew from the log"
    )


class State(NamedTuple):
    """An item's state, its content left aside; metadata and tags are JSON."""

    ordinal: int
    live: int
    type: str
    collection: str
    kind: str
    creator: str | None
    created_at: Micros
    tags: str
    metadata: str


class Listing(NamedTuple):
    """A document that lists an item, and where the item stands in it; the path of headings is JSON."""

    docid: str
    root: str | None
    source: str | None
    level: int
    heading_path: str
    first_line: int | None
    last_line: int | None

    @property
    def path(self) -> str | None:
        """The path under which people know the document's source."""
        return source_path(self.root, self.source)

    @property
    def lines(self) -> tuple[int, int] | None:
        """First and last line there."""
        return _lines(self.first_line, self.last_line)


_PARTS = (
    "i.ordinal, i.id, i.rev, i.creator, i.metadata, i.tags, i.collection, i.kind, i.created_at,"
    " i.live, i.seq, c.type, c.lang, c.title, c.description, c.body"
)
_ROW = f"SELECT {_PARTS} FROM item i LEFT JOIN content c ON c.rev = i.rev"
_SEVERAL = (
    f"SELECT {_PARTS}, EXISTS (SELECT 1 FROM section s WHERE s.ordinal = i.ordinal)"
    " FROM json_each(?) j CROSS JOIN item i ON i.ordinal = j.value LEFT JOIN content c ON c.rev = i.rev"
)


_LISTINGS = (
    "SELECT s.ordinal, s.docid, d.root, d.source, s.level, s.heading_path, s.first_line, s.last_line"
    " FROM json_each(?) j CROSS JOIN section s ON s.ordinal = j.value"
    " CROSS JOIN document d ON d.docid = s.docid ORDER BY s.docid, s.position"
)


_STRETCH = 1_000
"""Records of the log that are looked through for one of a kind, before a table is."""


def item_by_id(connection: apsw.Connection, id: str) -> Row | None:
    """Return the item with this id, live or not."""
    return _row(connection.execute(f"{_ROW} WHERE i.id = ?", (id,)).fetchone())


def embedding_of(connection: apsw.Connection, ordinal: int) -> bytes | None:
    """Return an item's vector as it is kept, None without one."""
    found: bytes | None = connection.execute("SELECT data FROM vector WHERE ordinal = ?", (ordinal,)).get
    return found


def dimension(connection: apsw.Connection) -> int | None:
    """Return how many numbers the store's vectors have, None before the first."""
    found = connection.execute("SELECT value FROM declared WHERE key = ?", (DIMENSION,)).get
    return None if found is None else int(found)


def items_by_ordinals(
    connection: apsw.Connection, ordinals: list[int]
) -> list[tuple[Row, tuple[Listing, ...]]]:
    """Return the items with these ordinals, in order, each with the documents that list it."""
    found: dict[int, Row] = {}
    listed = []
    for *parts, is_listed in connection.execute(_SEVERAL, (msgspec.json.encode(ordinals).decode(),)):
        row = _row(parts)
        assert row is not None
        found[row.ordinal] = row
        if is_listed:
            listed.append(row.ordinal)
    listings = _listings(connection, listed) if listed else {}
    return [(found[ordinal], tuple(listings.get(ordinal, ()))) for ordinal in ordinals]


def items_changed_since(connection: apsw.Connection, seq: int) -> Iterator[Row]:
    """Yield every item whose state changed after a position, by ordinal."""
    if seq == 0:
        rows: Iterator[Any] = connection.execute(f"{_ROW} ORDER BY i.ordinal")
    else:
        # Ordinals first: sorted together with their bodies, the rows would fill the memory.
        # And by position: left to itself, SQLite goes through all items to spare itself the sorting.
        query = "SELECT ordinal FROM item INDEXED BY item_by_seq WHERE seq > ? ORDER BY ordinal"
        changed = connection.execute(query, (seq,))
        one = f"{_ROW} WHERE i.ordinal = ?"
        rows = (connection.execute(one, key).fetchone() for key in changed.fetchall())
    for found in rows:
        row = _row(found)
        if row is not None:
            yield row


def states_changed_since(connection: apsw.Connection, seq: int) -> Iterator[State]:
    """Yield the state of every item that changed after a position, by ordinal."""
    # Left to itself, SQLite goes through all items by ordinal to spare itself the sorting.
    by = "INDEXED BY item_by_seq" if seq else ""
    query = f"SELECT {', '.join(State._fields)} FROM item {by} WHERE seq > ? ORDER BY ordinal"
    return map(State._make, connection.execute(query, (seq,)))


def titles_changed_since(
    connection: apsw.Connection, seq: int
) -> Iterator[tuple[int, int, str | None, str, str]]:
    """Yield ordinal, live, title, tags and metadata of what changed after a position, by ordinal."""
    by = "INDEXED BY item_by_seq" if seq else ""
    query = (
        "SELECT i.ordinal, i.live, c.title, i.tags, i.metadata"
        f" FROM item i {by} LEFT JOIN content c ON c.rev = i.rev WHERE i.seq > ? ORDER BY i.ordinal"
    )
    yield from connection.execute(query, (seq,))


def documents_changed_since(connection: apsw.Connection, seq: int) -> list[str]:
    """Return the documents that were put or deleted after a position."""
    # The log is asked first: most writes are of items, and documents have no index by position. A long
    # stretch of the log takes longer than all documents.
    last = int(connection.execute("SELECT max(seq) FROM log").get or 0)
    newer = "SELECT 1 FROM log WHERE seq > ? AND type IN ('document', 'delete_document', 'base') LIMIT 1"
    if last - seq < _STRETCH and connection.execute(newer, (seq,)).fetchone() is None:
        return []
    changed = connection.execute("SELECT docid FROM document WHERE seq > ? ORDER BY docid", (seq,))
    return [docid for (docid,) in changed]


def listed(connection: apsw.Connection, docids: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the ordinals of the items that documents list, each once for a document."""
    for docid in docids:
        yield from connection.execute("SELECT DISTINCT ordinal, docid FROM section WHERE docid = ?", (docid,))


def item_with_rev(connection: apsw.Connection, row: Row, rev: str) -> Row | None:
    """Return an item with the content of one of its revisions, None when it never had that one."""
    found = connection.execute(
        "SELECT c.type, c.lang, c.title, c.description, c.body FROM content c"
        " WHERE c.rev = ? AND EXISTS (SELECT 1 FROM version v WHERE v.ordinal = ? AND v.rev = c.rev)",
        (rev, row.ordinal),
    ).fetchone()
    if found is None:
        return None
    type, lang, title, description, body = found
    return msgspec.structs.replace(
        row, rev=rev, type=type, lang=lang, title=title, description=description, body=body
    )


def document(connection: apsw.Connection, docid: str) -> Document | None:
    """Return a live document with its live sections."""
    found = connection.execute(
        "SELECT title, root, source, metadata, seq FROM document WHERE docid = ? AND live = 1", (docid,)
    ).fetchone()
    if found is None:
        return None
    title, root, source, metadata, seq = found
    return Document(
        docid=docid,
        title=title,
        path=source_path(root, source),
        metadata=metadata_from_plain(msgspec.json.decode(metadata)),
        sections=tuple(place for place, live in placements(connection, docid) if live),
        seq=seq,
    )


def placements(connection: apsw.Connection, docid: str) -> list[tuple[Placement, bool]]:
    """Return where a document's sections stand, in order, and whether each is live."""
    found = connection.execute(
        "SELECT i.id, s.level, s.parent, s.heading_path, s.first_line, s.last_line, i.live"
        " FROM section s JOIN item i ON i.ordinal = s.ordinal WHERE s.docid = ? ORDER BY s.position",
        (docid,),
    )
    return [(_placement(*row[:6]), bool(row[6])) for row in found]


def _listings(connection: apsw.Connection, ordinals: list[int]) -> dict[int, list[Listing]]:
    """Return the documents that list some items, of each by docid."""
    found: dict[int, list[Listing]] = {}
    for ordinal, *parts in connection.execute(_LISTINGS, (msgspec.json.encode(ordinals).decode(),)):
        found.setdefault(ordinal, []).append(Listing(*parts))
    return found


def only_listed_in(connection: apsw.Connection, docid: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Return those of the live items that no other document lists."""
    return tuple(
        id
        for id in ids
        if connection.execute(
            "SELECT 1 FROM item i WHERE i.id = ? AND i.live = 1 AND NOT EXISTS"
            " (SELECT 1 FROM section s WHERE s.ordinal = i.ordinal AND s.docid <> ?)",
            (id, docid),
        ).fetchone()
    )


def source_path(root: str | None, source: str | None) -> str | None:
    """Return the path under which people know a source: the root's name, then the path below it."""
    return None if source is None else f"{root}/{source}"


def collections(connection: apsw.Connection) -> dict[str, int]:
    """Return the live items of each collection, by name."""
    query = "SELECT collection, count(*) FROM item WHERE live = 1 GROUP BY collection ORDER BY collection"
    return {str(name): int(count) for name, count in connection.execute(query)}


def schema(connection: apsw.Connection) -> Schema:
    """Return the store's schema."""
    return remembered(connection, "schema", _declared)


def schemas(connection: apsw.Connection) -> list[tuple[int, Schema]]:
    """Return every schema that the store ever declared, with the position of its event, in order."""
    found: list[tuple[int, dict[str, Any]]] = []
    based = base_of(connection)
    if based is not None:
        _, base = based
        for chunk in chunks(connection, base, SCHEMAS):
            found += msgspec.msgpack.decode(chunk, type=list[tuple[int, dict[str, Any]]])
    for seq, type, data in connection.execute(
        "SELECT seq, type, data FROM log WHERE type = 'schema' ORDER BY seq"
    ):
        event = decode(seq, type, data)
        assert isinstance(event, DeclareSchema)
        found.append((seq, event.schema))
    return [(seq, Schema.from_declaration(declared)) for seq, declared in found]


def schemas_from(connection: apsw.Connection, seq: int) -> list[Schema]:
    """Return the schemas that may be asked for from a position on: the one in force there, and later ones."""
    declared = schemas(connection)
    in_force = max(at for at, _ in declared if at <= seq)
    return [schema for at, schema in declared if at >= in_force]


def profile(connection: apsw.Connection, name: str) -> Profile | None:
    """Return the profile of a name: its greatest version in the schema, or any ``name@version`` ever."""
    if "@" in name:
        label = f"profile {name}"
        found = connection.execute("SELECT value FROM declared WHERE key = ?", (label,)).get
        return _profile(found) if found else None
    named = [each for each in schema(connection).profiles if each.name == name]
    return max(named, key=lambda each: each.version, default=None)


def refuse_changed_versions(connection: apsw.Connection, declared: Schema) -> None:
    """Refuse profiles under a name and version that the store has declared otherwise.

    Raises
    ------
    SchemaError
        The error names the profile.
    """
    for number, each in enumerate(declared.profiles):
        before = profile(connection, each.label)
        if before is not None and before.declaration() != each.declaration():
            raise SchemaError(
                f"profiles[{number}].version",
                f"{each.label!r} was declared otherwise before: give the changed profile a new version",
            )


_NO_CONTENT = ("", None, None, None, "")
"""What is left of a deleted item whose content is missing, so that deleting it helps."""


def _declared(connection: apsw.Connection) -> Schema:
    declared = connection.execute("SELECT value FROM declared WHERE key = 'schema'").get
    return _schema(declared) if declared else Schema()


@lru_cache(maxsize=8)
def _schema(declared: str) -> Schema:
    return Schema.from_declaration(msgspec.json.decode(declared))


@lru_cache(maxsize=64)
def _profile(declared: str) -> Profile:
    return Profile.from_declaration(msgspec.json.decode(declared))


def _row(found: Any) -> Row | None:
    if found is None:
        return None
    if found[11] is None and found[9]:
        raise Corruption(
            f"the content of item {found[1]!r} (rev {found[2]}) is missing from the journal: "
            "restore a backup, or delete the item or put it again"
        )
    ordinal, id, rev, creator, metadata, tags, collection, kind, created_at, live, seq, *parts = found
    type, lang, title, description, body = parts if parts[0] is not None else _NO_CONTENT
    return Row(
        ordinal, id, rev, creator, metadata, tags, collection, kind, created_at, bool(live), seq,
        type, lang, title, description, body,
    )  # fmt: skip


def _placement(
    id: str, level: int, parent: str | None, heading_path: str, first: int | None, last: int | None
) -> Placement:
    return Placement(id, level, parent, tuple(msgspec.json.decode(heading_path)), _lines(first, last))


def _lines(first: int | None, last: int | None) -> tuple[int, int] | None:
    return None if first is None or last is None else (first, last)
