"""Deciding what a write of items comes to, inside the exclusive transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apsw
import msgspec

from germane.log.content import Row, dimension, item_by_id
from germane.log.events import DeleteItem, PutItem, UpdateItem, metadata_from_plain, metadata_to_plain, plain
from germane.log.journal import Content, Journal, Writer
from germane.model.embeddings import check_embedding, dimension_of, to_bytes
from germane.model.errors import InvalidArgument, NotFound
from germane.model.items import Item, Receipt
from germane.model.times import to_micros
from germane.model.values import check_id, check_metadata, check_names

IN_PLACE = ("metadata", "tags", "creator", "created_at", "embedding", "collection")
"""Fields that `update` takes; the others are content, and changing them makes a new revision."""

BATCH = 10_000
"""Items of `put_many` that are kept whole or not at all."""


_CURRENT = (
    "SELECT item.id, ordinal, rev, creator, metadata, tags, collection, kind, created_at, live,"
    " (SELECT data FROM vector WHERE vector.ordinal = item.ordinal)"
    " FROM json_each(?) CROSS JOIN item ON item.id = json_each.value"
)
"""The ids come sorted, in the order of the index: a look-up costs a fraction of one by itself."""


class Current(NamedTuple):
    """What the tables hold of an item, its content left aside; no revision if it was only heard of."""

    ordinal: int
    rev: str
    creator: str | None
    metadata: str
    tags: str
    collection: str
    kind: str
    created_at: int
    live: int
    embedding: bytes | None


def current(writer: Writer, id: str) -> Current | None:
    """Return the state of an item, live or not; None for one that was never put."""
    found = current_of(writer, [id]).get(id)
    return found if found is not None and found.rev else None


def current_of(writer: Writer, ids: Iterable[str]) -> dict[str, Current]:
    """Return the states of those of the items that have a row, by id."""
    found = writer.connection.execute(_CURRENT, (plain(sorted(ids)),))
    return {id: Current(*state) for id, *state in found}


def check_item(item: object, field: str) -> Item:
    """Return an item."""
    if not isinstance(item, Item):
        raise InvalidArgument(field, f"must be an Item, not {type(item).__name__}")
    return item


def put_many(journal: Journal, iterable: object) -> list[str]:
    """Put items batch by batch, and return their ids."""
    if not isinstance(iterable, Iterable):
        raise InvalidArgument("iterable", f"must give items, and {type(iterable).__name__} gives nothing")
    ids: list[str] = []
    given = iter(iterable)
    while batch := list(islice(given, BATCH)):
        checked = [check_item(item, f"iterable[{number}]") for number, item in enumerate(batch, len(ids))]
        with journal.write() as writer:
            ids += put_all(writer, checked)
    return ids


def put(writer: Writer, item: Item) -> str:
    """Make this the current version of the item, and return its id; write nothing if it is that already."""
    return put_all(writer, [item])[0]


def put_all(writer: Writer, items: Sequence[Item]) -> list[str]:
    """Put items as `put` does with one after the other, and return their ids."""
    ids = [item.id if item.id is not None else item.rev for item in items]
    known = current_of(writer, ids)
    events: dict[str, PutItem] = {}
    contents: list[Content] = []
    wanted: int | None = None
    for id, item in zip(ids, items, strict=True):
        if id in events:  # put again: what it came to before is looked up as it is then
            _append(writer, events, contents, known)
            known |= current_of(writer, events)
            contents, events = [], {}
        was = known.get(id)
        if was is not None and not was.rev:
            was = None
        event = as_event(writer, item, id, was)
        if event.embedding is not None:
            wanted = wanted or dimension_of(event.embedding)
            check_dimension(event.embedding, wanted)
        if was is None or not was.live or not is_same(event, was):
            contents.append(content_of(item))
            events[id] = event
    _append(writer, events, contents, known)
    return ids


def _append(
    writer: Writer, events: Mapping[str, PutItem], contents: Sequence[Content], known: Mapping[str, Current]
) -> None:
    """Append puts of items with their contents; no statement asks for what is known of them."""
    writer.keep_all(contents)
    writer.append_puts(
        list(events.values()),
        {id: (was.ordinal, was.rev) for id, was in known.items()},
        {content[0]: content[1] for content in contents},
    )


def as_event(writer: Writer, item: Item, id: str, was: Current | None) -> PutItem:
    """Return the event that makes an item the current version under an id."""
    given = item.created_at
    if given is not None:
        created_at = to_micros(given, "created_at")
    else:
        created_at = was.created_at if was else writer.now
    embedding = None if item.embedding is None else to_bytes(item.embedding)
    check_dimension(embedding, dimension(writer.connection) if embedding else None)
    return PutItem(
        id=id,
        rev=item.rev,
        created_at=created_at,
        creator=item.creator,
        metadata=metadata_to_plain(dict(item.metadata)) if item.metadata else {},
        tags=tuple(item.tags),
        collection=item.collection,
        kind=item.kind,
        embedding=embedding,
    )


def check_dimension(embedding: bytes | None, wanted: int | None) -> None:
    """Refuse a vector that has more or fewer numbers than those of the store."""
    if embedding is not None and wanted is not None and dimension_of(embedding) != wanted:
        has = f"has {dimension_of(embedding):,} numbers"
        raise InvalidArgument("embedding", f"{has}, and the vectors of this store have {wanted:,}")


def keep(writer: Writer, item: Item) -> None:
    """Keep an item's content under its rev."""
    writer.keep(*content_of(item))


def content_of(item: Item) -> Content:
    """Return an item's content as the journal keeps it."""
    return item.rev, item.type, item.lang, item.title, item.description, item.body


def check_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of an update, checked.

    Raises
    ------
    InvalidArgument
        A field that cannot change in place, or a value that cannot be used.
    """
    checked: dict[str, Any] = {}
    for field, value in changes.items():
        if field not in IN_PLACE:
            takes = f"update takes {', '.join(IN_PLACE)}; for the rest revise the item, or put it again"
            is_known = field in Item.__struct_fields__
            raise InvalidArgument(
                field, f"{'cannot be changed in place' if is_known else 'is no field of an item'}: {takes}"
            )
        if field == "metadata":
            if not isinstance(value, Mapping):
                raise InvalidArgument(field, f"must be a mapping, not {type(value).__name__}")
            removed = {check_id(key, "metadata key"): None for key, each in value.items() if each is None}
            checked[field] = removed | check_metadata({k: v for k, v in value.items() if v is not None})
        elif field == "tags":
            checked[field] = check_names(value, field)
        elif field == "embedding":
            checked[field] = None if value is None else to_bytes(check_embedding(value))
        elif field == "created_at":
            checked[field] = to_micros(value, field)
        else:
            checked[field] = None if value is None and field == "creator" else check_id(value, field)
    return checked


def update(writer: Writer, id: str, changes: dict[str, Any]) -> Receipt:
    """Change fields of a live item in place.

    Raises
    ------
    NotFound
        There is no such item.
    """
    was = current(writer, id)
    if was is None or not was.live:
        raise NotFound(f"there is no item {id!r} to update")
    before: dict[str, Any] = {
        "creator": was.creator,
        "metadata": was.metadata,
        "tags": tuple(msgspec.json.decode(was.tags)),
        "collection": was.collection,
        "created_at": was.created_at,
        "embedding": was.embedding,
    }
    after = dict(changes)
    check_dimension(changes.get("embedding"), dimension(writer.connection))
    if "metadata" in changes:
        merged = {**metadata_from_plain(msgspec.json.decode(was.metadata)), **changes["metadata"]}
        after["metadata"] = metadata_to_plain({k: v for k, v in merged.items() if v is not None})
    # Metadata is compared as it is written: to Python 1, 1.0 and True are equal.
    changed = {
        field: value
        for field, value in after.items()
        if (plain(value) if field == "metadata" else value) != before[field]
    }
    if not changed:
        return Receipt(id, was.rev, writer.head, changed=False)
    return Receipt(id, was.rev, writer.append(UpdateItem(id=id, **changed)), changed=True)


def delete(writer: Writer, id: str) -> Receipt:
    """Take a live item out of every answer; a receipt without change when there is none."""
    was = current(writer, id)
    if was is None or not was.live:
        return Receipt(id, None, writer.head, changed=False)
    return Receipt(id, None, writer.append(DeleteItem(id=id)), changed=True)


def read(connection: apsw.Connection, id: str) -> Row:
    """Return the live item with this id.

    Raises
    ------
    NotFound
        There is none, or it was deleted.
    """
    row = item_by_id(connection, id)
    if row is None or not row.rev:
        raise NotFound(f"there is no item {id!r}")
    if not row.live:
        raise NotFound(f"item {id!r} was deleted: put it again to bring it back")
    return row


def is_same(event: PutItem, was: Current) -> bool:
    """Tell whether an event would leave a live item as it is."""
    return (
        event.rev == was.rev
        and event.creator == was.creator
        and event.collection == was.collection
        and event.kind == was.kind
        and event.created_at == was.created_at
        and event.embedding == was.embedding
        and list(event.tags) == msgspec.json.decode(was.tags)
        and plain(event.metadata) == was.metadata
    )
