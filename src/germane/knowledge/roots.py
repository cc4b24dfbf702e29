"""Roots: the names under which learned folders are known, and where a file's document comes from."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from germane.knowledge.files import from_location, location, parents, shown
from germane.log.events import AddRoot
from germane.log.journal import Journal
from germane.model.errors import InvalidArgument
from germane.model.items import hash_id
from germane.model.values import check_id


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


def register(journal: Journal, paths: Sequence[Path]) -> dict[Path, str]:
    """Return the roots by location, with one for each path: a file belongs to the deepest that holds it."""
    with journal.read() as connection:
        roots = known_roots(connection)
    wanted = [path if path.is_dir() else path.parent for path in paths]
    if all(any(parent in roots for parent in parents(folder)) for folder in wanted):
        return roots
    with journal.write() as writer:
        roots = known_roots(writer.connection)
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


def known_roots(connection: apsw.Connection) -> dict[Path, str]:
    """Return the roots' names by their locations."""
    found = connection.execute("SELECT name, location FROM root")
    return {from_location(location): name for name, location in found}


def origin_of(path: Path, roots: dict[Path, str], foreign: Container[str]) -> Origin:
    """Return where a file's document comes from; docids of other documents than files are foreign to it."""
    home = next(parent for parent in path.parents if parent in roots)
    root = roots[home]
    relative = path.relative_to(home).as_posix()
    source = shown(relative)
    docid = f"{root}/{source}"
    try:
        check_id(docid, "docid")
        is_plain = source == relative and docid not in foreign
    except InvalidArgument:
        is_plain = False
    if not is_plain:
        docid = hash_id("document", root, relative)
    return Origin(docid, shown(path.stem), root, source, (root, relative))
