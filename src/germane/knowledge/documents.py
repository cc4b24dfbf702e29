"""Deciding what a write of a document comes to, inside the exclusive transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from germane.knowledge.items import as_event, check_dimension, check_item, current, is_same, keep
from germane.log.content import document, only_listed_in, placements
from germane.log.events import DeleteDocument, PutDocument, metadata_to_plain, plain
from germane.log.journal import Writer
from germane.model.documents import Placement
from germane.model.embeddings import dimension_of
from germane.model.errors import InvalidArgument
from germane.model.items import Item, Receipt, hash_id
from germane.model.values import Value


def check_sections(sections: object) -> list[Item]:
    """Return the sections of a document, checked.

    Raises
    ------
    InvalidArgument
        One of them is no item, or an id stands twice and is not the same twice.
    """
    if not isinstance(sections, Iterable):
        raise InvalidArgument("sections", f"must give items, and {type(sections).__name__} gives nothing")
    checked: list[Item] = []
    known: dict[str, Item] = {}
    for number, section in enumerate(sections):
        item = check_item(section, f"sections[{number}]")
        id = item.id or item.rev
        if not _are_same(known.setdefault(id, item), item):
            raise InvalidArgument(f"sections[{number}].id", f"{id!r} stands twice, and not the same twice")
        checked.append(item)
    return checked


def put_document(
    writer: Writer, docid: str | None, title: str, sections: list[Item], metadata: Mapping[str, Value]
) -> str:
    """Make a document list these sections, and return its docid; write nothing if it does already."""
    ids = [section.id or section.rev for section in sections]
    parts = (part for id, section in zip(ids, sections, strict=True) for part in (id, section.rev))
    docid = docid or hash_id("document", title, *parts)
    before = document(writer.connection, docid)
    listed = placements(writer.connection, docid)
    places = [_place(id, section) for id, section in zip(ids, sections, strict=True)]
    events = []
    for id, section in dict(zip(ids, sections, strict=True)).items():
        was = current(writer, id)
        event = as_event(writer, section, id, was)
        if was is None or not was.live or not is_same(event, was):
            keep(writer, section)
            events.append(event)
    embedded = [event.embedding for event in events if event.embedding is not None]
    for embedding in embedded[1:]:
        check_dimension(embedding, dimension_of(embedded[0]))
    event_metadata = metadata_to_plain(dict(metadata))
    if (
        before is not None
        and not events
        and before.title == title
        and [place for place, _ in listed] == places  # also those that were deleted since
        and plain(metadata_to_plain(dict(before.metadata))) == plain(event_metadata)
    ):
        return docid
    kept = set(ids)
    dropped = dict.fromkeys(place.id for place, live in listed if live and place.id not in kept)
    writer.append(
        PutDocument(
            docid=docid,
            title=title,
            metadata=event_metadata,
            sections=tuple(places),
            items=tuple(events),
            retired=only_listed_in(writer.connection, docid, dropped),
        )
    )
    return docid


def delete_document(writer: Writer, docid: str) -> Receipt:
    """Take a document away, and the sections that no other one lists."""
    if document(writer.connection, docid) is None:
        return Receipt(docid, None, writer.head, changed=False)
    listed = dict.fromkeys(place.id for place, live in placements(writer.connection, docid) if live)
    retired = only_listed_in(writer.connection, docid, listed)
    return Receipt(docid, None, writer.append(DeleteDocument(docid=docid, retired=retired)), changed=True)


def _place(id: str, section: Item) -> Placement:
    path = (section.title,) if section.title else ()
    return Placement(id, level=len(path), heading_path=path)


def _are_same(one: Item, other: Item) -> bool:
    fields = [name for name in Item.__struct_fields__ if name != "id"]
    return all(getattr(one, name) == getattr(other, name) for name in fields)
