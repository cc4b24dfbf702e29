"""The torn tail: what a process that died left behind the last complete write.

SQLite leaves it out by itself, and the next write goes over it. Here it is found, so that it can be told.
The layout of a write-ahead log is described at https://www.sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import struct
from pathlib import Path

import apsw

_HEADER = struct.Struct(">8I")
"""Magic number, version, page size, sequence, two salts, two checksums."""
_FRAME = struct.Struct(">6I")
"""Page, size after a commit, two salts, two checksums; the page itself follows."""
_LOOK = getattr(apsw, "SQLITE_CHECKPOINT_NOOP", apsw.SQLITE_CHECKPOINT_PASSIVE)


def unfinished(connection: apsw.Connection, wal: Path) -> int:
    """Return how many bytes lie behind the last complete write without belonging to one.

    Parameters
    ----------
    connection : apsw.Connection
        Outside of any transaction, and with no busy timeout.
    wal : Path
        Its write-ahead log.

    Returns
    -------
    int
        0 when there is nothing, and when another process is at work, whose write may yet be finished.
    """
    try:
        before = connection.data_version()
        frames, _ = connection.wal_checkpoint(mode=_LOOK)
        connection.execute("BEGIN IMMEDIATE")
        try:
            return _behind(wal, frames) if connection.data_version() == before else 0
        finally:
            connection.execute("ROLLBACK")
    except (apsw.BusyError, apsw.LockedError):
        return 0


def _behind(wal: Path, frames: int) -> int:
    with wal.open("rb") as file:
        header = file.read(_HEADER.size)
        size = file.seek(0, 2)
        if len(header) < _HEADER.size:
            return size
        _, _, page_size, _, *salts, _, _ = map(int, _HEADER.unpack(header))
        end = _HEADER.size + frames * (_FRAME.size + page_size)
        file.seek(end)
        frame = file.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return max(size - end, 0)
    # Frames with other salts are older than the header: what was there before the log began anew.
    return size - end if list(_FRAME.unpack(frame)[2:4]) == salts else 0
