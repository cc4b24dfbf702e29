"""Finding the files below a path, whatever lies there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from germane.model.reports import Skipped

MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx"))
PLAIN = frozenset((".txt", ".text"))
PLAIN_NAMES = frozenset(
    (
        "readme",
        "license",
        "licence",
        "copying",
        "notice",
        "changelog",
        "changes",
        "authors",
        "contributing",
        "todo",
    )
)


@dataclass
class Found:
    """What a walk came upon.

    Parameters
    ----------
    files : list of Path
        Files to learn, absolute, in order.
    skipped, errors : list of Skipped
    unseen : list of Path
        Folders and files that could not be looked into; what was learned from there stays.
    """

    files: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)
    unseen: list[Path] = field(default_factory=list)


def find(path: Path, store: Path | None) -> Found:
    """Find the files to learn below a folder, or the file itself.

    Hidden files and folders are left out, and so is the store. A folder is entered once, however many
    links lead to it.

    Parameters
    ----------
    path : Path
        Absolute.
    store : Path or None
        The store's own folder.
    """
    found = Found()
    if path.is_dir():
        _walk(path, found, set(), store)
    else:
        _take(path, found, is_asked_for=True)
    return found


def shown(path: Path | str) -> str:
    r"""Return a path as text that can be stored and printed: bytes that are no UTF-8 as ``\xNN``.

    Examples
    --------
    >>> shown(os.fsdecode(b"caf\xe9.md"))
    'caf\\xe9.md'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def decode(data: bytes) -> tuple[str | None, str | None]:
    """Return a file's text, and what had to be assumed of it; no text for binary data."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), None
            except UnicodeDecodeError:
                return None, None
    if b"\0" in data:
        return None, None
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        return data.decode("latin-1"), f"is no UTF-8 (at byte {error.start}): read as Latin-1"


def _walk(folder: Path, found: Found, entered: set[tuple[int, int]], store: Path | None) -> None:
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            status = here.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in entered:
                found.skipped.append(
                    Skipped(shown(here), "a second way to a folder that was entered already")
                )
                continue
            entered.add(identity)
            entries = sorted(os.scandir(here), key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            found.errors.append(Skipped(shown(here), f"cannot be opened: {error.strerror}"))
            found.unseen.append(here)
            continue
        folders = []
        for entry in entries:
            path = here / entry.name
            if entry.name.startswith(".") or path == store:
                continue
            try:
                is_folder = entry.is_dir()
            except OSError as error:
                found.errors.append(Skipped(shown(path), f"cannot be opened: {error.strerror}"))
                found.unseen.append(path)
                continue
            if is_folder:
                folders.append(path)
            else:
                _take(path, found, is_asked_for=False)
        # A real folder before a link to it, so that its files are known under their own path.
        pending += sorted(folders, key=lambda path: (path.is_symlink(), os.fsencode(path)), reverse=True)


def _take(path: Path, found: Found, is_asked_for: bool) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        found.errors.append(Skipped(shown(path), f"cannot be opened: {error.strerror}"))
        found.unseen.append(path)
        return
    if not stat.S_ISREG(mode):
        found.skipped.append(Skipped(shown(path), "is no regular file"))
    elif is_markdown(path) or is_plain(path):
        found.files.append(path)
    else:
        suffix = shown(path.suffix) or "without a suffix"
        entry = Skipped(shown(path), f"a format that is not learned ({suffix})")
        (found.errors if is_asked_for else found.skipped).append(entry)


def is_markdown(path: Path) -> bool:
    """Tell whether a file is Markdown, by its suffix."""
    return path.suffix.lower() in MARKDOWN


def is_plain(path: Path) -> bool:
    """Tell whether a file is plain text, by its suffix or its well-known name."""
    return path.suffix.lower() in PLAIN or (
        not path.suffix and path.name.lower().split("-")[0] in PLAIN_NAMES
    )


def parents(path: Path) -> Iterator[Path]:
    """Yield a folder and those that contain it, innermost first."""
    yield path
    yield from path.parents
