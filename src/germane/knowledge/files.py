"""Finding the files below a path, whatever lies there."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote_to_bytes

from germane.model.errors import InvalidArgument, NotFound, quoted
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
LARGEST = 256 << 20
"""Bytes of the largest file that is learned."""


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
    again : list of Path
        Second ways to folders; what was learned under these names is known under others.
    """

    files: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)
    unseen: list[Path] = field(default_factory=list)
    again: list[Path] = field(default_factory=list)


def check_paths(path_or_paths: object) -> list[Path]:
    """Return the paths to learn, absolute.

    Raises
    ------
    InvalidArgument
        One of them is no path.
    NotFound
        There is nothing at one of them.
    """
    field = "path_or_paths"
    given = [path_or_paths] if isinstance(path_or_paths, (str, Path)) else path_or_paths
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InvalidArgument(field, f"must be a path or a list of paths, not {type(given).__name__}")
    paths = []
    for path in given:
        if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
            raise InvalidArgument(field, f"{quoted(path)} is no path")
        # Not resolved: a link keeps the name under which it is known.
        try:
            absolute = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
        except FileNotFoundError:
            raise NotFound(f"{quoted(str(path))} is relative, and the working directory is gone") from None
        if not os.path.exists(absolute):  # noqa: PTH110 - a name that no file can have is not there either
            raise NotFound(f"there is no file or folder {quoted(str(path))}")
        paths.append(Path(absolute))
    return paths


def check_folder(path: object) -> Path:
    """Return the path of a store's folder, absolute; it may not be there yet.

    Raises
    ------
    InvalidArgument
        It is no path, or no folder can have it.
    """
    if not isinstance(path, (str, Path)):
        raise InvalidArgument("path", f"must be a string or a Path, not {type(path).__name__}")
    if not str(path) or "\0" in str(path):
        raise InvalidArgument("path", "must name a folder")
    try:
        folder = Path(path).expanduser().absolute()
        folder.stat()
    except RuntimeError:
        raise InvalidArgument("path", f"{quoted(str(path))}: there is no such user") from None
    except UnicodeEncodeError:
        raise InvalidArgument("path", f"{quoted(str(path))} cannot be the name of a folder") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidArgument("path", f"{quoted(str(path))} is too long a name") from None
        if not Path(path).expanduser().is_absolute() and not _has_working_directory():
            raise InvalidArgument("path", "is relative, and the working directory is gone") from None
        folder = Path(path).expanduser().absolute()
    return folder


def _has_working_directory() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def find(path: Path, store: Path | None) -> Found:
    """Find the files to learn below a folder, or the file itself.

    Hidden files and folders are left out, and so is the store. A folder is entered once, however many
    links lead to it, and under its own name if it has one here.

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
        _drop_links(found)
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


def location(path: Path) -> str:
    """Return an absolute path as text that `from_location` turns back into it."""
    try:
        os.fsencode(path).decode()
    except UnicodeDecodeError:
        return path.as_uri()
    return str(path)


def from_location(text: str) -> Path:
    r"""Return the path that a location stands for.

    Examples
    --------
    >>> path = Path(os.fsdecode(b"/caf\xe9"))
    >>> location(path), from_location(location(path)) == path
    ('file:///caf%E9', True)
    """
    if text.startswith("file://"):
        return Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://"))))
    return Path(text)


def decode(data: bytes) -> tuple[str | None, str | None]:
    """Return a file's text, and what had to be assumed of it; no text for binary data."""
    for mark, encoding in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32-le"),
        (b"\0\0\xfe\xff", "utf-32-be"),
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
    barred = None if store is None else _identity(store)
    pending, links = [folder], deque[Path]()
    while pending or links:
        # Links come last, so that a folder is known under its own name.
        here = pending.pop() if pending else links.popleft()
        try:
            identity = _identity(here)
            if identity == barred:
                if here == folder:
                    found.skipped.append(Skipped(shown(here), "is the store's own folder"))
                continue
            if identity in entered:
                found.again.append(here)
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
            if entry.name.startswith("."):
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
        links += [path for path in folders if path.is_symlink()]
        pending += [path for path in reversed(folders) if not path.is_symlink()]


def _drop_links(found: Found) -> None:
    """Leave out links to files that were found under their own name."""
    links = {path for path in found.files if path.is_symlink()}
    if links:
        own = {_identity(path) for path in found.files if path not in links}
        again = {path for path in links if _identity(path) in own}
        found.files = [path for path in found.files if path not in again]
        found.again += sorted(again)
        found.skipped += [
            Skipped(shown(path), "a link to a file that was found already") for path in sorted(again)
        ]


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _take(path: Path, found: Found, is_asked_for: bool) -> None:
    try:
        status = path.stat()
    except OSError as error:
        found.errors.append(Skipped(shown(path), f"cannot be opened: {error.strerror}"))
        found.unseen.append(path)
        return
    if not stat.S_ISREG(status.st_mode):
        found.skipped.append(Skipped(shown(path), "is no regular file"))
    elif not is_markdown(path) and not is_plain(path):
        suffix = shown(path.suffix) or "without a suffix"
        entry = Skipped(shown(path), f"a format that is not learned ({suffix})")
        (found.errors if is_asked_for else found.skipped).append(entry)
    elif status.st_size > LARGEST:
        found.errors.append(Skipped(shown(path), f"is larger than {LARGEST >> 20} MiB: split it"))
        found.unseen.append(path)
    else:
        found.files.append(path)


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
