"""Recording what was done with items: the verdict, inside the exclusive transaction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
BATCH = 100_000
"""Events that are one record of the log."""

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
        There is no such item.
    Conflict
        The event id was used for another event.
    InvalidArgument
        The signal is not declared, or the time lies too far ahead.
    """
    schema(writer.connection).signal(row.name)
    rev = writer.connection.execute("SELECT rev FROM item WHERE id = ? AND live = 1", (row.item,)).get
    if rev is None:
        raise NotFound(f"there is no item {row.item!r} to signal on")
    _check_ahead(row.at, writer.now, "at")
    if row.event_id is not None:
        before = earlier(writer.connection, row.event_id)
        if before is not None:
            _check_same(row, before)
            return Receipt(row.item, rev, writer.head, changed=False, duplicate=True)
    event = RecordSignal(
        name=row.name, item=row.item, weight=row.weight, user=row.user, event_id=row.event_id, page=row.page,
        position=row.position, is_timed=row.at is not None,
    )  # fmt: skip
    return Receipt(row.item, rev, writer.append(event, row.at), changed=True)


def record_many(writer: Writer, rows: Sequence[Row], where: int = 0) -> int:
    """Record many events as one record of the log; return how many were new.

    Parameters
    ----------
    writer : Writer
    rows : sequence of Row
    where : int
        Place of the first one, for errors.
    """
    declared = schema(writer.connection)
    names = list(dict.fromkeys(row.name for row in rows))
    for name in names:
        declared.signal(name)
    ordinals = _ordinals(writer.connection, rows, where)
    kept: list[Row] = []
    seen: dict[str, Row] = {}
    for number, row in enumerate(rows, where):
        _check_ahead(row.at, writer.now, f"rows[{number}].at")
        if row.event_id is not None:
            before = seen.get(row.event_id) or earlier(writer.connection, row.event_id)
            if before is not None:
                _check_same(row, before)
                continue
            seen[row.event_id] = row
        kept.append(row)
    # An event whose time was given says so for the whole record: those without one are told apart.
    for is_timed in (True, False):
        part = [row for row in kept if (row.at is not None) == is_timed]
        if part:
            writer.append(_columns(part, names, ordinals, writer.now, is_timed))
    return len(kept)


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


def rows_of(given: object) -> Iterable[Mapping[str, Any]]:
    """Return events given as rows, or as one mapping of columns, as rows.

    Raises
    ------
    InvalidArgument
        It is neither, or the columns differ in length.
    """
    if not isinstance(given, Mapping):
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InvalidArgument("rows", f"must be events, or columns of them, not {type(given).__name__}")
        return given
    columns = {name: _column(name, values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InvalidArgument("rows", f"columns must be of one length: {told}")
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _column(name: object, values: object) -> list[Any]:
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "M":
            micros = values.astype("datetime64[us]").astype(np.int64).tolist()
            return [micro / SECOND for micro in micros]
        listed: list[Any] = values.tolist()
        return listed
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument(str(name), f"must be a column of values, not {type(values).__name__}")
    return list(values)


def _columns(
    rows: Sequence[Row], names: list[str], ordinals: dict[str, int], now: Micros, is_timed: bool
) -> RecordSignals:
    users = tuple(dict.fromkeys(row.user for row in rows if row.user is not None))
    place = {user: number for number, user in enumerate(users)}
    number = {name: place for place, name in enumerate(names)}
    return RecordSignals(
        names=tuple(names),
        name=np.array([number[row.name] for row in rows], "<u2").tobytes(),
        item=np.array([ordinals[row.item] for row in rows], "<i8").tobytes(),
        weight=np.array([row.weight for row in rows], "<f8").tobytes(),
        at=np.array([now if row.at is None else row.at for row in rows], "<i8").tobytes(),
        users=users,
        user=np.array([-1 if row.user is None else place[row.user] for row in rows], "<i4").tobytes()
        if users
        else b"",
        event_ids=_given(row.event_id for row in rows),
        pages=_given(row.page for row in rows),
        positions=_given(row.position for row in rows),
        is_timed=is_timed,
    )


def _given(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return a column, empty when nothing in it is given."""
    listed = tuple(values)
    return listed if any(value is not None for value in listed) else ()


def _ordinals(connection: apsw.Connection, rows: Sequence[Row], where: int) -> dict[str, int]:
    ordinals: dict[str, int] = {}
    for number, row in enumerate(rows, where):
        if row.item not in ordinals:
            found = connection.execute("SELECT ordinal FROM item WHERE id = ? AND live = 1", (row.item,)).get
            if found is None:
                raise NotFound(f"rows[{number}]: there is no item {row.item!r} to signal on")
            ordinals[row.item] = int(found)
    return ordinals


def _check_ahead(at: Micros | None, now: Micros, field: str) -> None:
    if at is not None and at > now + AHEAD:
        raise InvalidArgument(field, "lies more than 5 minutes ahead of the database's time")


def _check_same(row: Row, before: Row) -> None:
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
