"""Checkpoints of views: plain NumPy files with checksums, written whole and put in place at once.

A checkpoint is a folder ``<view>-<epoch>-<position>`` beside the journal that holds one ``.npy`` file an
array, and a manifest. One that is not what was written, or is of another store or another history of this
one, is set aside: it is renamed to ``*.damaged`` and goes when the next is written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]

MANIFEST = "manifest.json"
LARGE = 4 << 20
"""Bytes of a file whose checksum a view may have compared later, beside its first answers."""
STALE_SECONDS = 3_600
"""Age at which a folder that was begun counts as left behind by a process that died."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkpoint is of.

    Parameters
    ----------
    store : str
        The store's id.
    epoch, seq : int
        How often its tables had been folded anew, and the last event applied.
    history : int
        The log's chain at that event: tells two histories of one store apart.
    format : str
        The view's own version of its arrays and of how they are derived.
    checksums : dict
        CRC-32 of each array's file.
    """

    store: str
    epoch: int
    seq: int
    history: int
    format: str
    checksums: dict[str, int] = {}


class Loaded(NamedTuple):
    """What loading came upon.

    Parameters
    ----------
    manifest : Manifest or None
        Of the newest checkpoint that can be used; None without any.
    arrays : dict
        Its arrays, mapped from their files.
    damage : tuple of str
        What was wrong with those that were set aside.
    """

    manifest: Manifest | None
    arrays: Arrays
    damage: tuple[str, ...]


def write(
    folder: Path,
    view: str,
    manifest: Manifest,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    are_constant: bool = False,
) -> Path:
    """Write a checkpoint, unless it is there, and drop those that it replaces.

    Parameters
    ----------
    folder : Path
    view : str
    manifest : Manifest
    arrays : mapping of str to array
    are_constant : bool
        Whether arrays that were mapped from an earlier one are what they were: their files are linked to.

    Raises
    ------
    OSError
        It could not be written; nothing changed.
    """
    folder.mkdir(exist_ok=True)
    _sweep(folder, view)
    target = folder / _name(view, manifest)
    if target.exists():
        if _is_sound(target, manifest):
            return target
        _remove(target)
    staging = Path(tempfile.mkdtemp(prefix=f"{view}.", suffix=".tmp", dir=folder))
    try:
        checksums = {}
        for name, array in arrays.items():
            path = staging / f"{name}.npy"
            if are_constant and (known := _linked(array, path)) is not None:
                checksums[name] = known
                continue
            with path.open("wb") as file:
                np.save(file, np.ascontiguousarray(array), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            checksums[name] = _checksum(path)
        data = msgspec.json.encode(msgspec.structs.replace(manifest, checksums=checksums))
        with (staging / MANIFEST).open("wb") as file:
            file.write(b"%s\n%d\n" % (data, zlib.crc32(data)))
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # another process has just put the same one in place
            staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    if target.exists():
        for other in folder.glob(f"{view}-*"):
            if _position(other) < (manifest.epoch, manifest.seq):
                _remove(other)
    return target


def load(
    folder: Path,
    view: str,
    wanted: Manifest,
    history: Callable[[int], int],
    is_read_only: bool = False,
    writable: bool = False,
    largest: int | None = None,
) -> Loaded:
    """Load the newest checkpoint of a view that belongs to the wanted store, epoch and format.

    Parameters
    ----------
    folder : Path
    view : str
    wanted : Manifest
        What it must be of; the greatest position that will do.
    history : callable
        Returns the log's chain at a position, 0 when the log does not have it any more.
    is_read_only : bool
        Whether to leave damaged ones where they are.
    writable : bool
        Whether the arrays can be written to; a page that is becomes the process's own, and no file changes.
    largest : int, optional
        Bytes of the largest file whose checksum is compared; those of others are left to `unsound`.
    """
    damage: list[str] = []
    for path in sorted(folder.glob(f"{view}-*"), key=_position, reverse=True):
        if path.suffix:
            continue
        try:
            manifest = _manifest(path)
            if manifest.store != wanted.store:
                raise ValueError("it belongs to another store")
            if (manifest.epoch, manifest.format) != (wanted.epoch, wanted.format):
                continue  # it was of use before the last rebuild, or to another version of this package
            if manifest.seq > wanted.seq:
                continue  # another process has gone on
            told = history(manifest.seq)
            if not told:
                continue  # its position is behind the base of the log
            if manifest.history != told:
                raise ValueError("it belongs to another history of this store")
            return Loaded(manifest, _arrays(path, manifest, writable, largest), tuple(damage))
        except FileNotFoundError as error:
            if path.exists():  # otherwise another process has just replaced it
                damage.append(_set_aside(path, f"{Path(error.filename).name} is missing", is_read_only))
        except (OSError, ValueError, EOFError, msgspec.MsgspecError) as error:
            damage.append(_set_aside(path, str(error), is_read_only))
    return Loaded(None, {}, tuple(damage))


def set_aside(folder: Path, view: str, manifest: Manifest, why: str, is_read_only: bool = False) -> str:
    """Set a checkpoint aside that a view cannot use, and return what to tell of it."""
    return _set_aside(folder / _name(view, manifest), why, is_read_only)


def newest(folder: Path, view: str, epoch: int, seq: int) -> int:
    """Return the position of the newest checkpoint of an epoch up to a position, 0 without any."""
    positions = (_position(path) for path in folder.glob(f"{view}-*")) if folder.is_dir() else ()
    return max((at for of, at in positions if of == epoch and at <= seq), default=0)


def clear(folder: Path, view: str) -> None:
    """Drop every checkpoint of a view, and what is left of others."""
    for path in folder.glob(f"{view}[-.]*"):
        _remove(path)


def clear_before(folder: Path, epoch: int) -> int:
    """Remove all that is not a checkpoint of an epoch or a later one, and return how much that was.

    Raises
    ------
    OSError
        Something cannot be removed.
    """
    gone = [path for path in folder.iterdir() if _position(path)[0] < epoch] if folder.is_dir() else []
    for path in gone:
        _remove(path)
    for path in folder.iterdir() if folder.is_dir() else ():
        if _position(path)[0] < epoch:  # it could not be moved out of the way, or has been before
            with suppress(FileNotFoundError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return len(gone)


def _manifest(path: Path) -> Manifest:
    data, _, checksum = (path / MANIFEST).read_bytes().partition(b"\n")
    if checksum != b"%d\n" % zlib.crc32(data):
        raise ValueError(f"{MANIFEST} does not match its checksum")
    manifest = msgspec.json.decode(data, type=Manifest)
    if (manifest.epoch, manifest.seq) != _position(path):
        raise ValueError("it is of another position than its name says")
    return manifest


def unsound(folder: Path, view: str, manifest: Manifest) -> str | None:
    """Return what is wrong with the files of a checkpoint, None when they are what was written."""
    path = folder / _name(view, manifest)
    try:
        for name, checksum in manifest.checksums.items():
            if _checksum(path / f"{name}.npy") != checksum:
                return f"{name}.npy does not match its checksum"
    except OSError:  # another process has replaced it: what is mapped stays
        return None
    return None


def _arrays(path: Path, manifest: Manifest, writable: bool = False, largest: int | None = None) -> Arrays:
    return {
        name: _read(path / f"{name}.npy", checksum, writable, largest)
        for name, checksum in manifest.checksums.items()
    }


def _linked(array: np.ndarray[Any, Any], path: Path) -> int | None:
    """Make a file the one that an array was mapped from, and return its checksum; None if that cannot be."""
    base = array.base
    if not isinstance(base, np.memmap) or base.shape != array.shape or base.dtype != array.dtype:
        return None
    source = Path(str(base.filename))
    try:
        known = _manifest(source.parent).checksums[source.stem]
        os.link(source, path)
    except (OSError, ValueError, KeyError, msgspec.MsgspecError):
        return None
    return known


def _read(path: Path, checksum: int, writable: bool, largest: int | None) -> np.ndarray[Any, Any]:
    is_spared = largest is not None and path.stat().st_size > largest
    if not is_spared and _checksum(path) != checksum:
        raise ValueError(f"{path.name} does not match its checksum")
    empty = np.load(path, mmap_mode=None, allow_pickle=False) if path.stat().st_size <= 256 else None
    if empty is not None:  # an empty array cannot be mapped
        return np.asarray(empty)
    return np.asarray(np.load(path, mmap_mode="c" if writable else "r", allow_pickle=False))


def _is_sound(path: Path, wanted: Manifest) -> bool:
    try:
        manifest = _manifest(path)
        _arrays(path, manifest)
    except (OSError, ValueError, EOFError, msgspec.MsgspecError):
        return False
    return msgspec.structs.replace(manifest, checksums={}) == wanted


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


def _name(view: str, manifest: Manifest) -> str:
    return f"{view}-{manifest.epoch}-{manifest.seq}"


def _position(path: Path) -> tuple[int, int]:
    try:
        _, epoch, seq = path.name.split("-")
        return int(epoch), int(seq)
    except ValueError:
        return -1, -1


def _set_aside(path: Path, why: str, is_read_only: bool = False) -> str:
    if is_read_only:
        return f"{path.name}: {why}"
    aside = path.with_name(path.name + ".damaged")
    shutil.rmtree(aside, ignore_errors=True)
    with suppress(OSError):
        path.rename(aside)
    return f"{path.name}: {why}"


def _remove(path: Path) -> None:
    """Take a folder away at once, so that nobody comes upon half of it, then its files."""
    doomed = path.with_name(f"{path.name}.{os.urandom(4).hex()}.tmp")
    with suppress(OSError):
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _sweep(folder: Path, view: str) -> None:
    now = time.time()
    for path in folder.glob(f"{view}*.tmp"):
        with suppress(OSError):
            if now - path.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
