"""What SQLite and the operating system report, as this package's errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from germane.model.errors import Busy, Corruption, InvalidArgument, ReadOnly


@contextmanager
def translated(path: Path | None) -> Iterator[None]:
    """Raise this package's error for whatever goes wrong with the journal inside."""
    where = "the store in memory" if path is None else str(path)
    try:
        yield
    except (apsw.BusyError, apsw.LockedError):
        raise Busy(f"{where} is locked by another process: try again when it has finished") from None
    except apsw.ReadOnlyError:
        raise ReadOnly(
            f"{where} cannot be written: open it with read_only=True, or change its permissions"
        ) from None
    except apsw.FullError:
        raise Busy(
            f"{where}: the disk is full; nothing of this write was kept. Free some space and try again"
        ) from None
    except apsw.CantOpenError as error:
        raise Busy(
            f"{where} cannot be opened: {error}. Check that the folder exists and may be written"
        ) from None
    except apsw.NotADBError:
        raise Corruption(
            f"{where} is not a journal of this package, or its first page is damaged: move it away, "
            "or restore it from a backup"
        ) from None
    except apsw.CorruptError as error:
        raise Corruption(
            f"{where} is damaged ({error}): 'sqlite3 FILE .recover' saves the rows of the tables log "
            "and content that can still be read; restore a backup if there is one"
        ) from None
    except apsw.IOError as error:
        raise Busy(f"{where}: input or output failed ({error}); nothing of this write was kept") from None
    except apsw.TooBigError:
        raise InvalidArgument("body", "is too large: one item holds at most 1,000,000,000 bytes") from None
