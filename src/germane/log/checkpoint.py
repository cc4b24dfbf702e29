"""Checkpoints of views: plain NumPy files with checksums, written whole and put in place at once.

A checkpoint is a folder ``<view>-<position>`` beside the journal that holds one ``.npy`` file an array
and a manifest. It belongs to one store, epoch and position; anything else about it is the view's business.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]

MANIFEST = "manifest.json"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a checkpoint is of.

    Parameters
    ----------
    store : str
        The store's id.
    epoch, seq : int
        How often its tables had been folded anew, and the last event applied.
    recorded_at : int
        When that event was recorded: tells two histories of one store apart.
    format : str
        The view's own version of its arrays and of how they are derived.
    checksums : dict
        CRC-32 of each array's file.
    """

    store: str
    epoch: int
    seq: int
    recorded_at: int
    format: str
    checksums: dict[str, int] = {}


class Damaged(Exception):
    """A checkpoint's files are not what was written; it has been set aside."""


def write(folder: Path, view: str, manifest: Manifest, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Path:
    """Write a checkpoint and drop those that it replaces.

    Raises
    ------
    OSError
        It could not be written; nothing changed.
    """
    folder.mkdir(exist_ok=True)
    target = folder / f"{view}-{manifest.epoch}-{manifest.seq}"
    if target.exists():
        shutil.rmtree(target)
    staging = Path(tempfile.mkdtemp(prefix=f"{view}.", suffix=".tmp", dir=folder))
    try:
        checksums = {}
        for name, array in arrays.items():
            path = staging / f"{name}.npy"
            with path.open("wb") as file:
                np.save(file, np.ascontiguousarray(array), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            checksums[name] = _checksum(path)
        data = msgspec.json.encode(msgspec.structs.replace(manifest, checksums=checksums))
        (staging / MANIFEST).write_bytes(data)
        with suppress(OSError):  # another process has just put the same one in place
            staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    for other in folder.glob(f"{view}-*"):
        if other != target and _position(other) < (manifest.epoch, manifest.seq):
            shutil.rmtree(other, ignore_errors=True)
    return target


def load(folder: Path, view: str, wanted: Manifest) -> tuple[Manifest, Arrays] | None:
    """Load the newest checkpoint of a view that belongs to the wanted store, epoch and format.

    Returns
    -------
    tuple or None
        Its manifest and its arrays, mapped from their files; None when there is none.

    Raises
    ------
    Damaged
        One was there and its files are damaged; it has been renamed to ``*.damaged``.
    """
    for path in sorted(folder.glob(f"{view}-*"), key=_position, reverse=True):
        if path.suffix:
            continue
        try:
            manifest = msgspec.json.decode((path / MANIFEST).read_bytes(), type=Manifest)
            if (manifest.store, manifest.epoch, manifest.format) != (
                wanted.store,
                wanted.epoch,
                wanted.format,
            ):
                continue
            if manifest.seq > wanted.seq:
                continue
            arrays = {
                name: _read(path / f"{name}.npy", checksum) for name, checksum in manifest.checksums.items()
            }
        except FileNotFoundError:
            if not path.exists():
                continue  # another process has just replaced it
            raise _set_aside(path, "a file is missing") from None
        except (OSError, ValueError, EOFError, msgspec.MsgspecError) as error:
            raise _set_aside(path, str(error)) from None
        return manifest, arrays
    return None


def newest(folder: Path, view: str, epoch: int) -> int:
    """Return the position of the newest checkpoint of an epoch, 0 without any."""
    positions = (_position(path) for path in folder.glob(f"{view}-*")) if folder.is_dir() else ()
    return max((seq for at, seq in positions if at == epoch), default=0)


def clear(folder: Path, view: str) -> None:
    """Drop every checkpoint of a view."""
    for path in folder.glob(f"{view}[-.]*"):
        shutil.rmtree(path, ignore_errors=True)


def _read(path: Path, checksum: int) -> np.ndarray[Any, Any]:
    if _checksum(path) != checksum:
        raise ValueError(f"{path.name} does not match its checksum")
    empty = np.load(path, mmap_mode=None, allow_pickle=False) if path.stat().st_size <= 256 else None
    if empty is not None:  # an empty array cannot be mapped
        return np.asarray(empty)
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


def _position(path: Path) -> tuple[int, int]:
    try:
        _, epoch, seq = path.name.split("-")
        return int(epoch), int(seq)
    except ValueError:
        return -1, -1


def _set_aside(path: Path, why: str) -> Damaged:
    aside = path.with_name(path.name + ".damaged")
    shutil.rmtree(aside, ignore_errors=True)
    with suppress(OSError):
        path.rename(aside)
    return Damaged(f"{path.name}: {why}")
