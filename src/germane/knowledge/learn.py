"""Learning: files become documents and their sections, again and again under the same ids."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from germane.knowledge.files import Found, decode, find, is_markdown, shown
from germane.knowledge.renew import renew, retire
from germane.knowledge.roots import Origin, known_roots, origin_of, register
from germane.knowledge.sections import VERSION, Source, cut_markdown, cut_plain
from germane.knowledge.tally import Tally
from germane.log.journal import Journal
from germane.model.errors import Interrupted, InvalidArgument
from germane.model.items import check_type, hash_id
from germane.model.reports import LearnReport, Skipped
from germane.model.values import check_id, check_text

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all, and the path at hand."""

BATCH_BYTES = 4 << 20
BATCH_FILES = 128
"""A batch of files is one transaction: interrupted, learning keeps the batches before."""


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
        raise Interrupted(kept.report(began)) from None
    return kept.report(began)


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
    roots = register(journal, paths)
    seen: set[str] = set()
    batch: list[tuple[Origin, Source, str]] = []
    size = 0
    labels = f"{VERSION}\0{collection}\0" + "\0".join(tags)
    known = _digests(journal)
    foreign = {docid for docid, state in known.items() if state.root is None}
    for done, path in enumerate(files):
        if progress is not None:
            progress(done, len(files), shown(path))
        origin = origin_of(path, roots, foreign)
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


def check_given(text: str, title: str | None, type: str, docid: str | None) -> tuple[str, Source]:
    """Return the docid of a document that is given as text, and its sections.

    Raises
    ------
    InvalidArgument
        One of the arguments cannot be used.
    """
    check_text(text, "text")
    if title is not None:
        check_text(title, "title")
    if docid is not None:
        check_id(docid, "docid")
    mime = check_type(type)
    if mime not in ("text/markdown", "text/plain"):
        raise InvalidArgument("type", f"{type!r} is not learned: text/markdown and text/plain are")
    source = cut_markdown(text, title=title) if mime == "text/markdown" else cut_plain(text, title)
    return docid or hash_id("document", title or "", text), source


def learn_text(
    journal: Journal, given: tuple[str, Source], tags: tuple[str, ...], collection: str
) -> LearnReport:
    """Learn one document given as text, as `check_given` returns it."""
    began = time.perf_counter()
    docid, source = given
    tally = Tally()
    origin = Origin(docid, "untitled", None, None, ("text", docid))
    if not source.sections:
        tally.skipped.append(Skipped(docid, "holds no text"))
    with journal.write() as writer:
        renew(writer, origin, source, None, tags, collection, tally)
    if source.problem:
        tally.errors.append(Skipped(docid, source.problem))
    return tally.report(began)


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
                renew(writer, origin, source, digest, tags, collection, tally)


def _retire_gone(journal: Journal, paths: Sequence[Path], seen: set[str], found: Found, tally: Tally) -> None:
    """Retire the documents below the folders whose files are gone."""
    folders = [shown(path) for path in paths if path.is_dir()]
    with journal.read() as connection:
        homes = {name: shown(home) for home, name in known_roots(connection).items()}
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
            retire(writer, docid, tally)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
