"""Bringing a learned document up to date: its sections keep their ids, are new, or are retired."""

from __future__ import annotations

from collections import Counter

import msgspec

from germane.knowledge.align import Known, align
from germane.knowledge.items import as_event, current, keep
from germane.knowledge.roots import Origin
from germane.knowledge.sections import Source
from germane.knowledge.tally import Tally
from germane.log.content import only_listed_in, placements
from germane.log.events import DeleteDocument, PutDocument, PutItem, metadata_to_plain, plain
from germane.log.journal import Writer
from germane.model.documents import Placement
from germane.model.items import Item, hash_id


def renew(
    writer: Writer,
    origin: Origin,
    source: Source,
    digest: str | None,
    tags: tuple[str, ...],
    collection: str,
    tally: Tally,
) -> None:
    """Append the event that brings one document up to date; none when it is.

    Parameters
    ----------
    writer : Writer
    origin : Origin
        Where the document comes from.
    source : Source
        What it says now.
    digest : str or None
        Of its file, by which an unchanged one is known without being read again.
    tags, collection
        Of every section.
    tally : Tally
        Counts what is done.
    """
    labels = tuple(dict.fromkeys((*tags, *source.tags)))
    metadata = metadata_to_plain(source.metadata)
    before = _before(writer, origin.docid)
    if before is None and not source.sections and digest is None:
        return
    items = [
        Item(
            title=cut.title, body=cut.body, type=source.type, description=cut.description,
            metadata=source.metadata, tags=labels, collection=collection, kind="section", lang=source.lang,
        )
        for cut in source.sections
    ]  # fmt: skip
    listed = placements(writer.connection, origin.docid)
    old = [place for place, live in listed if live]
    states = [current(writer, place.id) for place in old]
    continued = align(
        [Known(p.heading_path, s.rev if s else "", p.level) for p, s in zip(old, states, strict=True)],
        [
            Known(cut.heading_path, item.rev, cut.level)
            for cut, item in zip(source.sections, items, strict=True)
        ],
    )
    taken = {old[number].id for number in continued if number is not None}
    same_labels = before is not None and before[2:] == (plain(metadata), plain(labels), collection)
    counts: Counter[tuple[str, ...]] = Counter()
    ids: list[str] = []
    events: list[PutItem] = []
    for cut, item, number in zip(source.sections, items, continued, strict=True):
        occurrence = counts[cut.heading_path]
        counts[cut.heading_path] += 1
        if number is None:
            id = _new_id(writer, origin, cut.heading_path, occurrence, taken)
            taken.add(id)
            tally.added += 1
        else:
            id = old[number].id
        ids.append(id)
        was = current(writer, id)
        if number is not None and same_labels and was is not None and was.rev == item.rev:
            tally.unchanged += 1
            continue
        if number is not None:
            tally.changed += 1
        event = as_event(writer, item, id, was)
        keep(writer, item)
        # A file says nothing of these: what was set stays.
        kept = {"creator": was.creator, "embedding": was.embedding} if was else {}
        events.append(msgspec.structs.replace(event, **kept))
    places = tuple(
        Placement(id, cut.level, None if cut.parent is None else ids[cut.parent], cut.heading_path, cut.lines)
        for id, cut in zip(ids, source.sections, strict=True)
    )
    retired = only_listed_in(writer.connection, origin.docid, [p.id for p in old if p.id not in taken])
    title = source.title or origin.title
    tally.removed += len(retired)
    tally.documents += 1
    is_known = before is not None and before[:2] == (title, digest) and same_labels
    if is_known and not events and [place for place, _ in listed] == list(places):
        return  # a text that was learned before, or a file that another process learned meanwhile
    writer.append(
        PutDocument(
            docid=origin.docid,
            title=title,
            metadata=metadata,
            tags=labels,
            collection=collection,
            root=origin.root,
            source=origin.source,
            digest=digest,
            sections=places,
            items=tuple(events),
            retired=retired,
        )
    )


def retire(writer: Writer, docid: str, tally: Tally) -> None:
    """Append the event that a document is gone, if it is live."""
    if _before(writer, docid) is None:
        return
    listed = dict.fromkeys(place.id for place, live in placements(writer.connection, docid) if live)
    retired = only_listed_in(writer.connection, docid, listed)
    writer.append(DeleteDocument(docid=docid, retired=retired))
    tally.removed += len(retired)


def _before(writer: Writer, docid: str) -> tuple[str, str | None, str, str, str] | None:
    """Return title, digest, metadata, tags and collection of a live document, as the tables hold them."""
    found = writer.connection.execute(
        "SELECT title, digest, metadata, tags, collection FROM document WHERE docid = ? AND live = 1",
        (docid,),
    ).fetchone()
    return None if found is None else (found[0], found[1], found[2], found[3], found[4])


def _new_id(
    writer: Writer, origin: Origin, heading_path: tuple[str, ...], occurrence: int, taken: set[str]
) -> str:
    """Return hash(root, path, heading path, n-th occurrence), n raised past ids that live on elsewhere."""
    while True:
        id = hash_id(*origin.key, len(heading_path), *heading_path, occurrence)
        was = current(writer, id)
        if id not in taken and (was is None or not was.live):
            return id
        occurrence += 1
