"""The header of the write-ahead log's index: shared memory that every commit changes.

SQLite tells by these bytes whether a file was written since a connection last looked, without a lock. To ask
it by a statement takes twenty microseconds, for locks that this question does not need; to read the bytes
takes less than one.
"""

from __future__ import annotations

import ctypes

import apsw

SIZE = 48
"""Bytes of the header; SQLite keeps it twice, and writes this copy last."""
_REGION = 32_768
"""Bytes of shared memory that SQLite maps at a time, with the header at the beginning of the first."""


class _Methods(ctypes.Structure):
    """The beginning of `sqlite3_io_methods`, as SQLite documents it for its second version."""

    _fields_ = [
        ("version", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in (
            "close", "read", "write", "truncate", "sync", "size", "lock", "unlock", "is_reserved", "control",
            "sector_size", "characteristics",
        )),
        ("map_shared", ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
            ctypes.POINTER(ctypes.c_void_p),
        )),
    ]  # fmt: skip


class _File(ctypes.Structure):
    _fields_ = [("methods", ctypes.POINTER(_Methods))]


Header = ctypes.Array[ctypes.c_char]


def header_of(connection: apsw.Connection) -> Header | None:
    """Return the header as memory: `raw` is its present bytes. None where there is none.

    It must not be read after the connection was closed.

    Parameters
    ----------
    connection : apsw.Connection
        One that has read from a file in WAL mode.
    """
    address = ctypes.c_void_p()
    if not connection.file_control("main", apsw.SQLITE_FCNTL_FILE_POINTER, ctypes.addressof(address)):
        return None
    if not address.value:
        return None
    file = _File.from_address(address.value)
    if not file.methods or file.methods.contents.version < 2 or not file.methods.contents.map_shared:
        return None
    region = ctypes.c_void_p()
    failed = file.methods.contents.map_shared(address.value, 0, _REGION, 0, ctypes.byref(region))
    if failed or not region.value:
        return None
    return (ctypes.c_char * SIZE).from_address(region.value)
