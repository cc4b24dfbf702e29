"""The past: where a position or a time lies in the log, and the store folded up to there."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from typing import NamedTuple

import apsw

from germane.log.base import base_of
from germane.log.chain import end, events, start
from germane.log.fold import fold_all, know_types
from germane.log.tables import FOLDED, TRUTH
from germane.model.errors import BeyondRetention, InvalidArgument
from germane.model.times import Micros, to_datetime, to_micros


class Place(NamedTuple):
    """A point of the past.

    Parameters
    ----------
    seq : int
        The last event that counts.
    now : int
        The time there, in microseconds.
    """

    seq: int
    now: Micros


def check_as_of(value: object) -> int | datetime | None:
    """Return a point of the past as people give it: a position, or a time.

    Raises
    ------
    InvalidArgument
        A float, which could be either; a naive datetime; anything else.

    Examples
    --------
    >>> check_as_of(12)
    12
    """
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if not isinstance(value, datetime):
        raise InvalidArgument(
            "as_of", f"must be a position of the log or an aware datetime, not {type(value).__name__}"
        )
    to_micros(value, "as_of")
    return value


def locate(connection: apsw.Connection, as_of: int | datetime, now: Micros) -> Place:
    """Return where a position or a time lies.

    Parameters
    ----------
    connection : apsw.Connection
    as_of : int or datetime
        A position means the moment at which its event was recorded.
    now : int
        The database's time.

    Raises
    ------
    InvalidArgument
        It lies in the future, or before the store began.
    BeyondRetention
        The events there were replaced by what they came to.
    """
    first, last = start(connection), end(connection)
    if isinstance(as_of, datetime):
        moment = to_micros(as_of, "as_of")
        if moment > now:
            raise InvalidArgument("as_of", "lies in the future")
        seq = position_at(connection, moment, "as_of")
        if not seq:
            began = to_datetime(_recorded_at(connection, 1)).isoformat()
            raise InvalidArgument("as_of", f"lies before the store began, at {began}")
        return Place(seq, moment)
    if as_of > last.seq:
        raise InvalidArgument("as_of", f"{as_of} lies beyond the last event, which is {last.seq}")
    if as_of < 1:
        raise InvalidArgument("as_of", f"{as_of} is no position: the first event is 1")
    if as_of < first.seq:
        raise _beyond(connection, "as_of")
    return Place(as_of, _recorded_at(connection, as_of))


def position_at(connection: apsw.Connection, moment: Micros, field: str) -> int:
    """Return the last event recorded at or before a time, 0 when the store began later.

    Raises
    ------
    BeyondRetention
        The events there were replaced by what they came to.
    """
    base, last = start(connection).seq, end(connection).seq
    first = max(base, 1)
    # Times of recording never decrease, and no position is left out.
    behind = range(first, last + 1)
    found = first - 1 + bisect_right(behind, moment, key=lambda seq: _recorded_at(connection, seq))
    if found < base:
        raise _beyond(connection, field)
    return found


def store_at(source: apsw.Connection, seq: int) -> apsw.Connection:
    """Return a store in memory that is what a store was after an event.

    It has the log up to there, the tables folded from it, and the content of the items that were live. All
    that reads a store reads it.

    Parameters
    ----------
    source : apsw.Connection
        Inside a read transaction.
    seq : int
        One that `locate` gave.

    Raises
    ------
    Corruption
        The log is damaged.
    """
    target = apsw.Connection(":memory:")
    try:
        target.execute("PRAGMA temp_store = MEMORY")
        target.execute("BEGIN")
        target.execute(TRUTH + FOLDED)
        target.executemany("INSERT INTO store VALUES (?, ?)", source.execute("SELECT key, value FROM store"))
        target.executemany(
            "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)",
            source.execute("SELECT * FROM log WHERE seq <= ? ORDER BY seq", (seq,)),
        )
        if base_of(source) is not None:
            # What it holds of tables is folded; what views take from it, they look for here.
            target.executemany(
                "INSERT INTO base VALUES (?, ?, ?)",
                source.execute("SELECT part, number, data FROM base WHERE part NOT LIKE 'tables/%'"),
            )
        know_types(source, target)
        fold_all(source, target, events(source, seq))
        target.execute("DROP TABLE temp.content")
        for (rev,) in target.execute("SELECT DISTINCT rev FROM item WHERE live = 1").fetchall():
            target.executemany(
                "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?)",
                source.execute(
                    "SELECT rev, type, lang, title, description, body FROM content WHERE rev = ?", (rev,)
                ),
            )
        target.execute("COMMIT")
    except BaseException:
        target.close()
        raise
    return target


def _recorded_at(connection: apsw.Connection, seq: int) -> Micros:
    return int(connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (seq,)).get)


def _beyond(connection: apsw.Connection, field: str) -> BeyondRetention:
    base = start(connection)
    return BeyondRetention(
        field,
        f"lies beyond retention: the earliest that can be read is position {base.seq}, recorded at "
        f"{to_datetime(base.recorded_at).isoformat()}",
        base.seq,
    )
