"""What SQLite and the operating system report, as this package's errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from germane.model.errors import Busy, Corruption, InvalidArgument, ReadOnly


def damaged(where: str, error: Exception) -> Corruption:
    """Return the error for a journal in which something cannot be read."""
    return Corruption(
        f"{where} is damaged ({error}): restore a backup if there is one. 'germane check --repair' mends "
        "tables that are derived from the log; of the tables log and content, any SQLite tool can copy "
        "out the rows that are still readable"
    )


REPORTED = (apsw.Error, UnicodeDecodeError, msgspec.DecodeError)
"""What goes wrong with a journal."""


@contextmanager
def translated(path: Path | None) -> Iterator[None]:
    """Raise this package's error for whatever goes wrong with the journal inside."""
    where = "the store in memory" if path is None else str(path)
    try:
        yield
    except (apsw.BusyError, apsw.LockedError):
        raise Busy(f"{where} is locked by another process: try again when it has finished") from None
    except apsw.ReadOnlyError:
        raise _read_only(where) from None
    except apsw.FullError:
        raise Busy(
            f"{where}: the disk is full; nothing of this write was kept. Free some space and try again"
        ) from None
    except apsw.CantOpenError as error:
        if path is not None and path.exists() and not os.access(path.parent, os.W_OK):
            raise _read_only(where) from None
        raise Busy(
            f"{where} cannot be opened: {error}. Check that the folder exists and may be written"
        ) from None
    except apsw.NotADBError:
        raise Corruption(
            f"{where} is not a journal of this package, or its first page is damaged: move it away, "
            "or restore it from a backup"
        ) from None
    except (apsw.CorruptError, apsw.FormatError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise damaged(where, error) from None
    except (apsw.SQLError, apsw.ConstraintError, apsw.MismatchError) as error:
        # The statements are this package's own: what they do not find, or find twice, others changed.
        raise damaged(where, error) from None
    except apsw.IOError as error:
        raise Busy(f"{where}: input or output failed ({error}); nothing of this write was kept") from None
    except apsw.TooBigError:
        raise InvalidArgument("body", "is too large: one item holds at most 1,000,000,000 bytes") from None


def _read_only(where: str) -> ReadOnly:
    return ReadOnly(f"{where} cannot be written: open it with read_only=True, or change its permissions")
