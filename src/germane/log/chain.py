"""The chain of the log: each event's checksum covers all that came before it.

SQLite keeps no checksum of its pages. The chain shows that an event is what was written, and its value at a
position names the whole history up to there: two histories of one store part where their chains do.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import apsw

from germane.log.base import is_sealed
from germane.log.events import Base, Event, decode
from germane.log.reader import last
from germane.model.errors import Corruption

BEFORE_ALL_TIMES = -(2**63)


class End(NamedTuple):
    """The last event of a log.

    Parameters
    ----------
    seq : int
        Its position, 0 without any.
    recorded_at : int
        When it was recorded, in microseconds.
    checksum : int
        The chain's value.
    """

    seq: int
    recorded_at: int
    checksum: int


class Told(NamedTuple):
    """An event as the log holds it: where it stands, when it happened and was recorded, what it says."""

    seq: int
    at: int
    recorded_at: int
    event: Event


def end(connection: apsw.Connection) -> End:
    """Return where a log ends."""
    found = last(connection)
    return End(*found) if found else End(0, BEFORE_ALL_TIMES, 0)


def start(connection: apsw.Connection) -> End:
    """Return the event that a log starts after: its base, or none, which has position 0."""
    found = connection.execute(
        "SELECT seq, recorded_at, checksum, type FROM log ORDER BY seq LIMIT 1"
    ).fetchone()
    return End(*found[:3]) if found and found[3] == "base" else End(0, BEFORE_ALL_TIMES, 0)


def checksum_at(connection: apsw.Connection, seq: int) -> int:
    """Return the chain's value at a position, 0 when there is no such event."""
    return int(connection.execute("SELECT checksum FROM log WHERE seq = ?", (seq,)).get or 0)


def recorded_at(connection: apsw.Connection, seq: int) -> int:
    """Return when the event at a position was recorded; before all times when there is none."""
    found = connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (seq,)).get
    return BEFORE_ALL_TIMES if found is None else int(found)


def chained(before: int, seq: int, at: int, recorded_at: int, type: str, data: str | bytes) -> int:
    """Return the chain's value after an event: a CRC-32 that goes on from the one before."""
    told = data.encode() if isinstance(data, str) else data
    return zlib.crc32(b"%d %d %d %b %d %b" % (seq, at, recorded_at, type.encode(), len(told), told), before)


def events(connection: apsw.Connection, until: int | None = None, after: int = 0) -> Iterator[Told]:
    """Yield every event of a log with its position and times, in order, up to a position or after one.

    Raises
    ------
    Corruption
        Events are missing, or one is not what was written, or it does not decode.
    """
    expected, before = after + 1, checksum_at(connection, after)
    for seq, at, recorded_at, type, data, checksum in connection.execute(
        "SELECT seq, at, recorded_at, type, data, checksum FROM log WHERE seq > ? AND seq <= ? ORDER BY seq",
        (after, 1 << 62 if until is None else until),
    ):
        if type == "base" and expected == 1:
            base = decode(seq, type, data)
            if not (isinstance(base, Base) and is_sealed(base, seq, at, recorded_at, checksum)):
                raise Corruption(
                    f"the base of the log, event {seq}, is not what was written: restore a backup"
                )
            expected, before = seq + 1, checksum
            yield Told(seq, at, recorded_at, base)
            continue
        if seq != expected:
            raise Corruption(f"events {expected} to {seq - 1} of the log are missing: restore a backup")
        event = decode(seq, type, data)
        if chained(before, seq, at, recorded_at, type, data) != checksum:
            raise Corruption(f"event {seq} of the log is not what was written: restore a backup")
        expected, before = seq + 1, checksum
        yield Told(seq, at, recorded_at, event)
