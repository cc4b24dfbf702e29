"""Recording what was done with items: the verdict, inside the exclusive transaction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import apsw
import msgspec
import numpy as np

from germane.log.events import Event, RecordSignal, RecordSignals, decode
from germane.log.journal import Writer
from germane.log.tip import Target
from germane.model.errors import Conflict, InvalidArgument, quoted
from germane.model.items import Receipt
from germane.model.times import SECOND, Micros, to_micros
from germane.model.values import check_count, check_id

AHEAD = 5 * 60 * SECOND
"""How far ahead of the database's time an event may be."""
GREATEST_WEIGHT = 1e12

FIELDS = ("name", "item", "user", "weight", "at", "event_id", "page", "position")


class Row(msgspec.Struct, frozen=True):
    """One event, checked.

    Parameters
    ----------
    name, item : str
    user : str or None
    weight : float
    at : int or None
        Microseconds; None for the time of recording.
    event_id : str or None
    page : str or None
    position : int or None
    session : str or None
    """

    name: str
    item: str
    user: str | None = None
    weight: float = 1.0
    at: Micros | None = None
    event_id: str | None = None
    page: str | None = None
    position: int | None = None
    session: str | None = None


def checked(
    name: object,
    item: object,
    user: object = None,
    weight: object = None,
    at: datetime | float | None = None,
    event_id: object = None,
    page: object = None,
    position: object = None,
) -> Row:
    """Return an event, checked.

    Raises
    ------
    InvalidArgument
        The error names the field.
    """
    return Row(
        check_id(name, "name"),
        check_id(item, "item"),
        None if user is None else check_id(user, "user"),
        1.0 if weight is None else check_weight(weight, "weight"),
        None if at is None else to_micros(at, "at"),
        None if event_id is None else check_id(event_id, "event_id"),
        None if page is None else check_id(page, "page"),
        None if position is None else check_count(position, "position", 0),
    )


def check_row(data: Mapping[str, Any], where: str) -> Row:
    """Return an event that is given as a mapping, checked; `where` goes before the fields in errors."""
    for field in data:
        if field not in FIELDS:
            raise InvalidArgument(f"{where}{field}", f"is nothing an event has: it has {', '.join(FIELDS)}")
    for field in ("name", "item"):
        if field not in data:
            raise InvalidArgument(f"{where}{field}", "is missing")
    try:
        return checked(**data)
    except InvalidArgument as error:
        raise InvalidArgument(f"{where}{error.field}", error.message.partition(": ")[2]) from None


def check_weight(value: object, field: str) -> float:
    """Return a weight: a finite number of at most 1e12 either way."""
    if type(value) is float and -GREATEST_WEIGHT <= value <= GREATEST_WEIGHT:
        return value
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    usable = is_number and abs(value) <= GREATEST_WEIGHT  # type: ignore[arg-type]
    if not usable or not math.isfinite(value):  # type: ignore[arg-type]
        raise InvalidArgument(field, f"must be a number from -1e12 to 1e12, not {quoted(value)}")
    return float(value)  # type: ignore[arg-type]


def record(writer: Writer, row: Row) -> Receipt:
    """Record one event, once.

    Raises
    ------
    NotFound
        There is no such item, and the schema does not accept what it does not know; or it was deleted.
    Conflict
        The event id was used for another event.
    InvalidArgument
        The signal is not declared, or the time lies too far ahead.
    """
    tip = writer.tip
    target = check_recordable(writer, row)
    rev = target.rev or None
    event = RecordSignal(
        name=row.name, item=row.item, weight=row.weight, user=row.user, event_id=row.event_id, page=row.page,
        position=row.position, is_timed=row.at is not None, is_first=target.ordinal is None,
        session=row.session,
    )  # fmt: skip
    try:
        seq = writer.append(event, row.at)
    except apsw.ConstraintError:
        # Asked first, the table would be looked through twice for every new id.
        before = None if row.event_id is None else Earlier(writer.connection).row(row.event_id)
        if before is None:
            raise
        check_same(row, before)
        return Receipt(row.item, rev, tip.head, changed=False, duplicate=True)
    return Receipt(row.item, rev, seq, changed=True)


def check_recordable(writer: Writer, row: Row) -> Target:
    """Return the item that an event is on, if it may be recorded as far as signals go.

    Raises
    ------
    NotFound, InvalidArgument
        As for `record`.
    """
    tip = writer.tip
    if row.name not in tip.signals:
        tip.schema.signal(row.name)  # says which are declared
    target = tip.target(row.item)
    check_ahead(row.at, writer.now, "at")
    return target


def earlier(writer: Writer, row: Row) -> Receipt | None:
    """Return the receipt of an event that was recorded before under its id, None if it was not.

    Raises
    ------
    Conflict
        The event id was used for another event.
    """
    before = None if row.event_id is None else Earlier(writer.connection).row(row.event_id)
    if before is None:
        return None
    check_same(row, before)
    rev = writer.connection.execute("SELECT rev FROM item WHERE id = ? AND rev <> ''", (row.item,)).get
    return Receipt(row.item, rev, writer.head, changed=False, duplicate=True)


class Earlier:
    """The events that were recorded under event ids.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a transaction.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._last: tuple[int, Micros, Event] | None = None

    def row(self, event_id: str) -> Row | None:
        """Return the event of an id; its time is None unless the caller had given it."""
        found = self._connection.execute("SELECT seq, row FROM event_id WHERE id = ?", (event_id,)).fetchone()
        if found is None:
            return None
        seq, row = int(str(found[0])), int(str(found[1]))
        at, event = self._record(seq)
        if isinstance(event, RecordSignal):
            time = at if event.is_timed else None
            return Row(
                event.name, event.item, event.user, event.weight, time, event_id, session=event.session
            )
        assert isinstance(event, RecordSignals)
        ordinal = int(np.frombuffer(event.item, "<i8")[row])
        user = int(np.frombuffer(event.user, "<i4")[row]) if event.user else -1
        return Row(
            name=event.names[int(np.frombuffer(event.name, "<u2")[row])],
            item=str(self._connection.execute("SELECT id FROM item WHERE ordinal = ?", (ordinal,)).get),
            user=None if user < 0 else event.users[user],
            weight=float(np.frombuffer(event.weight, "<f8")[row]),
            at=int(np.frombuffer(event.at, "<i8")[row]) if event.is_timed else None,
            event_id=event_id,
        )

    def _record(self, seq: int) -> tuple[Micros, Event]:
        # Sent again, many events lie in one record of the log: it is decoded once.
        if self._last is None or self._last[0] != seq:
            at, kind, data = self._connection.execute(
                "SELECT at, type, data FROM log WHERE seq = ?", (seq,)
            ).get
            self._last = seq, at, decode(seq, kind, data)
        return self._last[1:]


def check_ahead(at: Micros | None, now: Micros, field: str) -> None:
    """Refuse a time that lies too far ahead."""
    if at is not None and at > now + AHEAD:
        raise InvalidArgument(field, "lies more than 5 minutes ahead of the database's time")


def check_same(row: Row, before: Row) -> None:
    """Refuse another event under an id that was used; a time counts only when both calls gave one."""
    same_time = row.at is None or before.at is None or row.at == before.at
    ours, theirs = (
        (row.name, row.item, row.user, row.weight, row.session),
        (before.name, before.item, before.user, before.weight, before.session),
    )
    if ours != theirs or not same_time:
        raise Conflict(
            f"event id {row.event_id!r} was used for another event ({before.name} on {before.item!r}): "
            "an id names one event for good"
        )
