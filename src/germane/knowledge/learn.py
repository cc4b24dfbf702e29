"""Learning: files become documents and their sections, again and again under the same ids."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from germane.knowledge.align import Known, align
from germane.knowledge.files import (
    Found,
    decode,
    find,
    from_location,
    is_markdown,
    location,
    parents,
    shown,
)
from germane.knowledge.items import as_event, current, keep
from germane.knowledge.sections import VERSION, Source, cut_markdown, cut_plain
from germane.log.content import only_listed_in, placements
from germane.log.events import AddRoot, DeleteDocument, PutDocument, PutItem, metadata_to_plain
from germane.log.fold import plain
from germane.log.journal import Journal, Writer
from germane.model.documents import Placement
from germane.model.errors import Interrupted, InvalidArgument
from germane.model.items import Item, hash_id
from germane.model.reports import LearnReport, Skipped
from germane.model.values import check_id

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path at hand."""

BATCH_BYTES = 4 << 20
BATCH_FILES = 128
"""A batch of files is one transaction: interrupted, learning keeps the batches before."""


class Origin(NamedTuple):
    """Where a document comes from.

    Parameters
    ----------
    docid : str
    title : str
        For a source that has none of its own.
    root, source : str or None
        The root's name, and the path below it.
    key : tuple of str
        What the ids of its sections are made from.
    """

    docid: str
    title: str
    root: str | None
    source: str | None
    key: tuple[str, ...]


@dataclass
class Tally:
    """Counts of sections, for the report."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    documents: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)


def learn(
    journal: Journal,
    paths: Sequence[Path],
    tags: tuple[str, ...],
    collection: str,
    progress: Progress | None,
) -> LearnReport:
    """Learn files and folders, retire what is gone from them, and report.

    Parameters
    ----------
    journal : Journal
    paths : sequence of Path
        Absolute; they exist.
    tags, collection
        Of every section.
    progress : callable, optional

    Raises
    ------
    Interrupted
        For KeyboardInterrupt; it reports the batches that were committed.
    """
    began = time.perf_counter()
    kept = Tally()
    try:
        for tally in _learn(journal, paths, tags, collection, progress):
            kept = replace(tally, skipped=[*tally.skipped], errors=[*tally.errors])
    except KeyboardInterrupt:
        raise Interrupted(_report(kept, began)) from None
    return _report(kept, began)


def _learn(
    journal: Journal,
    paths: Sequence[Path],
    tags: tuple[str, ...],
    collection: str,
    progress: Progress | None,
) -> Iterator[Tally]:
    """Learn batch by batch, and yield the tally whenever all of it is committed; at last when all is done."""
    tally = Tally()
    found = Found()
    for path in paths:
        below = find(path, None if journal.folder is None else journal.folder.absolute())
        found.files += below.files
        found.unseen += below.unseen
        found.again += below.again
        found.skipped += below.skipped
        found.errors += below.errors
    tally.skipped += dict.fromkeys(found.skipped)
    tally.errors += dict.fromkeys(found.errors)
    files = list(dict.fromkeys(found.files))
    roots = _register(journal, paths)
    seen: set[str] = set()
    batch: list[tuple[Origin, Source, str]] = []
    size = 0
    labels = f"{VERSION}\0{collection}\0" + "\0".join(tags)
    known = _digests(journal)
    for done, path in enumerate(files):
        if progress is not None:
            progress(done, len(files), shown(path))
        origin = _origin(path, roots, known)
        seen.add(origin.docid)
        try:
            data = path.read_bytes()
        except OSError as error:
            tally.errors.append(Skipped(shown(path), f"cannot be read: {error.strerror}"))
            continue
        digest = hashlib.blake2b(labels.encode() + b"\0" + data, digest_size=20).hexdigest()
        state = known.get(origin.docid)
        if state is not None and state.digest == digest:
            tally.unchanged += state.sections
            tally.documents += 1
            continue
        source = _cut(path, data, tally)
        if source is None:
            if state is None or not state.live:
                continue
            source = Source(None, "text/plain", {}, (), None, ())
        batch.append((origin, source, digest))
        size += len(data)
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            _write(journal, batch, tags, collection, tally)
            batch, size = [], 0
            yield tally
    _write(journal, batch, tags, collection, tally)
    _retire_gone(journal, paths, seen, found, tally)
    if progress is not None:
        progress(len(files), len(files), "")
    yield tally


def learn_text(
    journal: Journal, source: Source, docid: str, tags: tuple[str, ...], collection: str
) -> LearnReport:
    """Learn one document given as text."""
    began = time.perf_counter()
    tally = Tally()
    origin = Origin(docid, "untitled", None, None, ("text", docid))
    if not source.sections:
        tally.skipped.append(Skipped(docid, "holds no text"))
    with journal.write() as writer:
        _put(writer, origin, source, None, tags, collection, tally)
    if source.problem:
        tally.errors.append(Skipped(docid, source.problem))
    return _report(tally, began)


class _Known(NamedTuple):
    root: str | None
    digest: str | None
    live: bool
    sections: int


def _digests(journal: Journal) -> dict[str, _Known]:
    with journal.read() as connection:
        return {
            docid: _Known(root, digest, bool(live), sections)
            for docid, root, digest, live, sections in connection.execute(
                "SELECT d.docid, d.root, d.digest, d.live, (SELECT count(*) FROM section s JOIN item i"
                " ON i.ordinal = s.ordinal WHERE s.docid = d.docid AND i.live = 1) FROM document d"
            )
        }


def _register(journal: Journal, paths: Iterable[Path]) -> dict[Path, str]:
    """Return the roots by location, with one for each path: a file belongs to the deepest that holds it."""
    with journal.read() as connection:
        roots = _roots(connection)
    wanted = [path if path.is_dir() else path.parent for path in paths]
    if all(any(parent in roots for parent in parents(folder)) for folder in wanted):
        return roots
    with journal.write() as writer:
        roots = _roots(writer.connection)
        for folder in wanted:
            if any(parent in roots for parent in parents(folder)):
                continue
            base = shown(folder.name)[:150] or "root"
            names = set(roots.values())
            name = next(
                n for n in (base, *(f"{base}-{k}" for k in range(2, len(names) + 3))) if n not in names
            )
            writer.append(AddRoot(name=name, location=location(folder)))
            roots[folder] = name
    return roots


def _roots(connection: apsw.Connection) -> dict[Path, str]:
    found = connection.execute("SELECT name, location FROM root")
    return {from_location(location): name for name, location in found}


def _origin(path: Path, roots: dict[Path, str], known: dict[str, _Known]) -> Origin:
    home = next(parent for parent in path.parents if parent in roots)
    root = roots[home]
    relative = path.relative_to(home).as_posix()
    source = shown(relative)
    docid = f"{root}/{source}"
    try:
        check_id(docid, "docid")
        is_foreign = docid in known and known[docid].root is None
        is_plain = source == relative and not is_foreign
    except InvalidArgument:
        is_plain = False
    if not is_plain:
        docid = hash_id("document", root, relative)
    return Origin(docid, shown(path.stem), root, source, (root, relative))


def _cut(path: Path, data: bytes, tally: Tally) -> Source | None:
    text, assumed = decode(data)
    if assumed:
        tally.errors.append(Skipped(shown(path), assumed))
    if text is None:
        tally.skipped.append(Skipped(shown(path), "is binary, not text"))
        return None
    if not text.strip():
        tally.skipped.append(Skipped(shown(path), "is empty"))
        return None
    source = cut_markdown(text, path.suffix.lower() == ".mdx") if is_markdown(path) else cut_plain(text)
    if source.problem:
        tally.errors.append(Skipped(shown(path), source.problem))
    if not source.sections:
        tally.skipped.append(Skipped(shown(path), "holds no text"))
    return source


def _write(
    journal: Journal,
    batch: Sequence[tuple[Origin, Source, str]],
    tags: tuple[str, ...],
    collection: str,
    tally: Tally,
) -> None:
    if batch:
        with journal.write() as writer:
            for origin, source, digest in batch:
                _put(writer, origin, source, digest, tags, collection, tally)


def _put(
    writer: Writer,
    origin: Origin,
    source: Source,
    digest: str | None,
    tags: tuple[str, ...],
    collection: str,
    tally: Tally,
) -> None:
    """Append the event that brings one document up to date."""
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
        events.append(msgspec.structs.replace(event, creator=was.creator if was else None))
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


def _retire_gone(journal: Journal, paths: Sequence[Path], seen: set[str], found: Found, tally: Tally) -> None:
    """Retire the documents below the folders whose files are gone."""
    folders = [shown(path) for path in paths if path.is_dir()]
    with journal.read() as connection:
        homes = {name: shown(home) for home, name in _roots(connection).items()}
        learned: list[Any] = connection.execute(
            "SELECT docid, root, source FROM document WHERE live = 1 AND root IS NOT NULL"
        ).fetchall()
    unseen, again = ([shown(path) for path in group] for group in (found.unseen, found.again))
    gone = []
    for docid, root, source in learned:
        path = f"{homes[root].rstrip('/')}/{source}"
        if docid in seen or not _is_below(path, folders) or _is_below(path, unseen):
            continue
        # A file that is there was hidden from the walk, or came after it.
        if _is_below(path, again) or not os.path.isfile(path):  # noqa: PTH113 - no error, whatever lies there
            gone.append(docid)
    if not gone:
        return
    with journal.write() as writer:
        for docid in gone:
            listed = dict.fromkeys(place.id for place, live in placements(writer.connection, docid) if live)
            retired = only_listed_in(writer.connection, docid, listed)
            writer.append(DeleteDocument(docid=docid, retired=retired))
            tally.removed += len(retired)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _report(tally: Tally, began: float) -> LearnReport:
    return LearnReport(
        added=tally.added,
        changed=tally.changed,
        unchanged=tally.unchanged,
        removed=tally.removed,
        documents=tally.documents,
        skipped=tuple(tally.skipped),
        errors=tuple(tally.errors),
        took_ms=(time.perf_counter() - began) * 1000,
    )
