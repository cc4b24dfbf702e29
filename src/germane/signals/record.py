"""Recording what was done with items: the verdict, inside the exclusive transaction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import apsw
import numpy as np

from germane.log.content import schema
from germane.log.events import RecordSignal, RecordSignals, decode
from germane.log.journal import Writer
from germane.model.errors import Conflict, InvalidArgument, NotFound, quoted
from germane.model.items import Receipt
from germane.model.times import SECOND, Micros, to_micros
from germane.model.values import check_count, check_id

AHEAD = 5 * 60 * SECOND
"""How far ahead of the database's time an event may be."""
GREATEST_WEIGHT = 1e12

FIELDS = ("name", "item", "user", "weight", "at", "event_id", "page", "position")


class Row(NamedTuple):
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
    """

    name: str
    item: str
    user: str | None = None
    weight: float = 1.0
    at: Micros | None = None
    event_id: str | None = None
    page: str | None = None
    position: int | None = None


def check_row(data: Mapping[str, Any], where: str = "") -> Row:
    """Return an event, checked.

    Raises
    ------
    InvalidArgument
        The error names the field, after `where`.
    """
    for field in data:
        if field not in FIELDS:
            raise InvalidArgument(f"{where}{field}", f"is nothing an event has: it has {', '.join(FIELDS)}")
    for field in ("name", "item"):
        if field not in data:
            raise InvalidArgument(f"{where}{field}", "is missing")
    values = {field: value for field, value in data.items() if value is not None}
    for field in ("name", "item", "user", "event_id", "page"):
        if field in values:
            check_id(values[field], f"{where}{field}")
    if "position" in values:
        check_count(values["position"], f"{where}position", 0)
    if "weight" in values:
        values["weight"] = check_weight(values["weight"], f"{where}weight")
    if "at" in values:
        values["at"] = to_micros(values["at"], f"{where}at")
    return Row(**values)


def check_weight(value: object, field: str) -> float:
    """Return a weight: a finite number of at most 1e12 either way."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= GREATEST_WEIGHT
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
    declared = schema(writer.connection)
    declared.signal(row.name)
    target = find_target(writer.connection, row.item, declared.unknown_items == "accept")
    rev = target.rev or None
    check_ahead(row.at, writer.now, "at")
    if row.event_id is not None:
        before = earlier(writer.connection, row.event_id)
        if before is not None:
            check_same(row, before)
            return Receipt(row.item, rev, writer.head, changed=False, duplicate=True)
    event = RecordSignal(
        name=row.name, item=row.item, weight=row.weight, user=row.user, event_id=row.event_id, page=row.page,
        position=row.position, is_timed=row.at is not None, is_first=target.ordinal is None,
    )  # fmt: skip
    return Receipt(row.item, rev, writer.append(event, row.at), changed=True)


class Target(NamedTuple):
    """The item that an event is on.

    Parameters
    ----------
    ordinal : int or None
        None when the store has not heard of it.
    rev : str
        Its current revision; empty for one that was never put.
    """

    ordinal: int | None
    rev: str


def find_target(connection: apsw.Connection, id: str, accepts_unknown: bool) -> Target:
    """Return the item that an event may be recorded on.

    Raises
    ------
    NotFound
        There is none, or it was deleted.
    """
    found = connection.execute("SELECT ordinal, rev, live FROM item WHERE id = ?", (id,)).fetchone()
    if found is None:
        target, may = Target(None, ""), accepts_unknown
    else:
        ordinal, rev, live = found
        target, may = Target(int(ordinal), str(rev)), bool(live) or (accepts_unknown and not rev)
    if not may:
        raise NotFound(f"there is no item {id!r} to signal on")
    return target


def earlier(connection: apsw.Connection, event_id: str) -> Row | None:
    """Return the event that was recorded under an id; its time is None unless the caller had given it."""
    found = connection.execute("SELECT seq, row FROM event_id WHERE id = ?", (event_id,)).fetchone()
    if found is None:
        return None
    seq, row = int(str(found[0])), int(str(found[1]))
    at, kind, data = connection.execute("SELECT at, type, data FROM log WHERE seq = ?", (seq,)).get
    event = decode(seq, kind, data)
    if isinstance(event, RecordSignal):
        time = at if event.is_timed else None
        return Row(event.name, event.item, event.user, event.weight, time, event_id)
    assert isinstance(event, RecordSignals)
    ordinal = int(np.frombuffer(event.item, "<i8")[row])
    user = int(np.frombuffer(event.user, "<i4")[row]) if event.user else -1
    return Row(
        name=event.names[int(np.frombuffer(event.name, "<u2")[row])],
        item=str(connection.execute("SELECT id FROM item WHERE ordinal = ?", (ordinal,)).get),
        user=None if user < 0 else event.users[user],
        weight=float(np.frombuffer(event.weight, "<f8")[row]),
        at=int(np.frombuffer(event.at, "<i8")[row]) if event.is_timed else None,
        event_id=event_id,
    )


def check_ahead(at: Micros | None, now: Micros, field: str) -> None:
    """Refuse a time that lies too far ahead."""
    if at is not None and at > now + AHEAD:
        raise InvalidArgument(field, "lies more than 5 minutes ahead of the database's time")


def check_same(row: Row, before: Row) -> None:
    """Refuse another event under an id that was used; a time counts only when both calls gave one."""
    same_time = row.at is None or before.at is None or row.at == before.at
    ours, theirs = (
        (row.name, row.item, row.user, row.weight),
        (before.name, before.item, before.user, before.weight),
    )
    if ours != theirs or not same_time:
        raise Conflict(
            f"event id {row.event_id!r} was used for another event ({before.name} on {before.item!r}): "
            "an id names one event for good"
        )
