"""The base of a log: what its oldest events came to, in their place.

A log that keeps all begins with event 1. One with a retention may begin with a base: an event of that type
that stands at the position of the last event that it replaces, and carries the chain's value there, so that
the chain goes on from it. What the events came to lies beside the log in chunks, in parts: ``tables/...`` are
rows of the folded tables, other parts belong to the views that derive from the log.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import apsw
import msgspec
import numpy as np

from germane.log.checkpoint import Arrays
from germane.log.events import Base, decode
from germane.log.tables import FOLDED_NAMES
from germane.model.errors import Corruption

Parts = Mapping[str, list[bytes]]
"""For each part its chunks."""

SCHEMAS = "schemas"
"""The part that holds all declarations, with the positions of their events."""

_TABLES = tuple(name for name in FOLDED_NAMES if name != "view")
OF_TABLE = "tables/"
"""What the names of the parts begin with that hold rows of tables."""
OF_RELATIONS = f"{OF_TABLE}relation"
"""The part that holds the relations that stood: user, relation, target and position."""
_ROWS = 10_000
"""Rows of a table that are a chunk."""


def base_of(connection: apsw.Connection) -> tuple[int, Base] | None:
    """Return the base that a log begins with, and its position; None without one."""
    found = connection.execute("SELECT seq, type, data FROM log ORDER BY seq LIMIT 1").fetchone()
    if found is None or found[1] != "base":
        return None
    event = decode(*found)
    assert isinstance(event, Base)
    return int(found[0]), event


def make(parts: Parts, seq: int, at: int, recorded_at: int, checksum: int) -> Base:
    """Return the event that stands for parts at a position of the log."""
    checksums = {name: tuple(map(zlib.crc32, chunks)) for name, chunks in sorted(parts.items())}
    return Base(parts=checksums, seal=_seal(checksums, seq, at, recorded_at, checksum))


def remade(event: Base, changed: Parts, seq: int, at: int, recorded_at: int, checksum: int) -> Base:
    """Return the event that stands for a base some of whose parts have changed."""
    made = make(changed, seq, at, recorded_at, checksum)
    checksums = {**event.parts, **made.parts}
    return Base(parts=checksums, seal=_seal(checksums, seq, at, recorded_at, checksum))


def is_sealed(event: Base, seq: int, at: int, recorded_at: int, checksum: int) -> bool:
    """Tell whether a base, its position, its times and the chain's value there are what was written."""
    return event.seal == _seal(event.parts, seq, at, recorded_at, checksum)


def chunks(connection: apsw.Connection, event: Base, part: str) -> Iterator[bytes]:
    """Yield the chunks of a part, none when the base does not have it.

    Raises
    ------
    Corruption
        A chunk is missing, or not what was written.
    """
    for number, checksum in enumerate(event.parts.get(part, ())):
        data = connection.execute("SELECT data FROM base WHERE part = ? AND number = ?", (part, number)).get
        if not isinstance(data, bytes) or zlib.crc32(data) != checksum:
            raise Corruption(f"the base of the log is not what was written ({part}): restore a backup")
        yield data


def tables_to_parts(connection: apsw.Connection) -> dict[str, list[bytes]]:
    """Return the folded tables as parts."""
    parts = {}
    for name in _TABLES:
        parts[OF_TABLE + name] = rows_to_chunks(connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2"))
    return parts


def rows_to_chunks(rows: Iterable[Any]) -> list[bytes]:
    """Return rows of a table as chunks."""
    left, told = iter(rows), list[bytes]()
    while block := list(islice(left, _ROWS)):
        told.append(msgspec.msgpack.encode(block))
    return told


def tables_from_parts(source: apsw.Connection, target: apsw.Connection, event: Base) -> None:
    """Fill the empty tables of `target` with what the base of `source` holds."""
    for name in _TABLES:
        for chunk in chunks(source, event, OF_TABLE + name):
            rows: list[list[Any]] = msgspec.msgpack.decode(chunk)
            marks = ", ".join("?" * len(rows[0]))
            target.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def arrays_to_chunks(arrays: Arrays) -> list[bytes]:
    """Return arrays as chunks, one an array."""
    return [
        msgspec.msgpack.encode((name, array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()))
        for name, array in arrays.items()
    ]


def arrays_from_chunks(told: Iterable[bytes]) -> Arrays:
    """Return arrays that can be written to, from chunks."""
    arrays: Arrays = {}
    for chunk in told:
        name, dtype, shape, data = msgspec.msgpack.decode(chunk, type=tuple[str, str, tuple[int, ...], bytes])
        arrays[name] = np.frombuffer(data, dtype).reshape(shape).copy()
    return arrays


def _seal(parts: Mapping[str, tuple[int, ...]], seq: int, at: int, recorded_at: int, checksum: int) -> int:
    return zlib.crc32(msgspec.json.encode((seq, at, recorded_at, checksum, sorted(parts.items()))))
