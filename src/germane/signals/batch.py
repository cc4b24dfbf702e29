"""Many events at once, as columns: checked, told apart by event id, and one record of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, filterfalse, islice
from typing import Any

import apsw
import numpy as np

from germane.log.events import RecordSignals, plain
from germane.log.fold import next_ordinal
from germane.log.journal import Writer
from germane.model.errors import Conflict, InvalidArgument, NotFound, quoted
from germane.model.times import SECOND, to_micros
from germane.model.values import are_plain_ids, check_id
from germane.signals.decay import FloatArray, IntArray
from germane.signals.record import (
    AHEAD,
    FIELDS,
    GREATEST_WEIGHT,
    Earlier,
    Row,
    check_row,
    check_same,
    check_weight,
)

BATCH = 100_000
"""Events that are one record of the log."""

_UNTIMED = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Batch:
    """Events as columns, checked; a column of which nothing is given is None.

    Parameters
    ----------
    names, items : list of str
    weights : float64[n]
    at : int64[n]
        Microseconds since the epoch; the least int64 where no time is given.
    users, event_ids, pages : list of (str or None), or None
    positions : list of (int or None), or None
    ordinals : int64[n] or None
        Of the items, once they were looked up.
    """

    names: list[str]
    items: list[str]
    weights: FloatArray
    at: IntArray
    users: list[str | None] | None = None
    event_ids: list[str | None] | None = None
    pages: list[str | None] | None = None
    positions: list[int | None] | None = None
    ordinals: IntArray | None = None

    def __len__(self) -> int:
        return len(self.names)

    def chosen(self, places: list[int]) -> Batch:
        """Return some of the events, in order."""

        def take(column: list[Any] | None) -> list[Any] | None:
            return None if column is None else [column[place] for place in places]

        return Batch(
            [self.names[place] for place in places],
            [self.items[place] for place in places],
            self.weights[places],
            self.at[places],
            take(self.users),
            take(self.event_ids),
            take(self.pages),
            take(self.positions),
            None if self.ordinals is None else self.ordinals[places],
        )

    def row(self, place: int) -> Row:
        """Return one event."""
        at = int(self.at[place])
        return Row(
            name=self.names[place],
            item=self.items[place],
            user=self.users[place] if self.users else None,
            weight=float(self.weights[place]),
            at=None if at == _UNTIMED else at,
            event_id=self.event_ids[place] if self.event_ids else None,
        )


def batches(given: object) -> Iterator[Batch]:
    """Yield events given as rows, or as one mapping of columns, in batches.

    Raises
    ------
    InvalidArgument
        It is neither, a value cannot be used, or the columns differ in length.
    """
    if isinstance(given, Mapping):
        yield from _of_columns(given)
        return
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InvalidArgument("rows", f"must be events, or columns of them, not {type(given).__name__}")
    rows, done = iter(given), 0
    while block := list(islice(rows, BATCH)):
        checked = [_checked(row, number) for number, row in enumerate(block, done)]
        yield Batch(
            names=[row.name for row in checked],
            items=[row.item for row in checked],
            weights=np.array([row.weight for row in checked], np.float64),
            at=np.array([_UNTIMED if row.at is None else row.at for row in checked], np.int64),
            users=_given([row.user for row in checked]),
            event_ids=_given([row.event_id for row in checked]),
            pages=_given([row.page for row in checked]),
            positions=_given([row.position for row in checked]),
        )
        done += len(block)


def record_many(writer: Writer, batch: Batch, where: int) -> int:
    """Record a batch as one record of the log (two, if only some times were given); return how many were new.

    Parameters
    ----------
    writer : Writer
    batch : Batch
    where : int
        Place of its first event in the call, for errors.

    Raises
    ------
    NotFound, Conflict, InvalidArgument
        As for one event; nothing of the batch is recorded.
    """
    names = _declared(writer, batch)
    ordinals, first = _ordinals(writer, batch.items, where)
    batch = replace(batch, ordinals=ordinals)
    ahead = np.flatnonzero(batch.at > writer.now + AHEAD)
    if len(ahead):
        field = f"rows[{where + int(ahead[0])}].at"
        raise InvalidArgument(field, "lies more than 5 minutes ahead of the database's time")
    if batch.event_ids is not None:
        batch = _new(writer.connection, batch, where)
    # Whether the caller gave the time is said once for a record of the log.
    timed = batch.at != _UNTIMED
    parts = [batch] if timed.all() or not timed.any() else [
        batch.chosen(np.flatnonzero(timed).tolist()), batch.chosen(np.flatnonzero(~timed).tolist())
    ]  # fmt: skip
    for part in parts:
        if len(part):
            writer.append(_record(part, names, first, writer.now))
            first = ()
    return len(batch)


def _record(batch: Batch, names: list[str], first: tuple[str, ...], now: int) -> RecordSignals:
    assert batch.ordinals is not None
    users = [user for user in dict.fromkeys(batch.users or ()) if user is not None]
    return RecordSignals(
        names=tuple(names),
        name=_places(batch.names, {name: place for place, name in enumerate(names)}, "<u2"),
        item=batch.ordinals.astype("<i8").tobytes(),
        weight=batch.weights.astype("<f8").tobytes(),
        at=np.where(batch.at == _UNTIMED, now, batch.at).astype("<i8").tobytes(),
        users=tuple(users),
        user=_places(batch.users or (), {None: -1} | {user: n for n, user in enumerate(users)}, "<i4"),
        event_ids=tuple(batch.event_ids or ()),
        pages=tuple(batch.pages or ()),
        positions=tuple(batch.positions or ()),
        is_timed=bool((batch.at != _UNTIMED).all()),
        first=first,
    )


def _places(values: Sequence[Any], places: Mapping[Any, int], kind: str) -> bytes:
    return np.fromiter(map(places.__getitem__, values), kind, len(values)).tobytes()


def _declared(writer: Writer, batch: Batch) -> list[str]:
    """Return the distinct names of a batch."""
    names = list(dict.fromkeys(batch.names))
    for name in names:
        if name not in writer.tip.signals:
            writer.tip.schema.signal(name)
    return names


def _ordinals(writer: Writer, items: list[str], where: int) -> tuple[IntArray, tuple[str, ...]]:
    """Return the ordinals of a batch's items, and those that the store hears of for the first time."""
    ordinals = writer.tip.ordinals(items)
    first = tuple(dict.fromkeys(filterfalse(ordinals.__contains__, items)))
    for item in first:
        try:
            writer.tip.target(item)
        except NotFound as error:
            raise NotFound(f"rows[{where + items.index(item)}]: {error.message}") from None
    if first:
        # Every one of them has an event that is kept: an event id that was used names an item that is known.
        ordinals = {**ordinals, **dict(zip(first, count(next_ordinal(writer.connection)), strict=False))}
    return np.fromiter(map(ordinals.__getitem__, items), np.int64, len(items)), first


def _new(connection: apsw.Connection, batch: Batch, where: int) -> Batch:
    """Return the events that were not recorded before, nor earlier in the batch."""
    named = [event_id for event_id in batch.event_ids or () if event_id is not None]
    used = {
        event_id
        for (event_id,) in connection.execute(
            "SELECT event_id.id FROM json_each(?) CROSS JOIN event_id ON event_id.id = value",
            (plain(sorted(named)),),
        )
    }
    if not used and len(set(named)) == len(named):
        return batch
    kept, seen, recorded = [], dict[str, Row](), Earlier(connection)
    for place, event_id in enumerate(batch.event_ids or ()):
        if event_id is not None:
            row = batch.row(place)
            before = recorded.row(event_id) if event_id in used else seen.get(event_id)
            if before is not None:
                try:
                    check_same(row, before)
                except Conflict as error:
                    raise Conflict(f"rows[{where + place}]: {error.message}") from None
                continue
            seen[event_id] = row
        kept.append(place)
    return batch.chosen(kept)


def _checked(row: object, number: int) -> Row:
    if not isinstance(row, Mapping):
        raise InvalidArgument(f"rows[{number}]", f"must be a mapping, not {type(row).__name__}")
    return check_row(row, f"rows[{number}].")


def _of_columns(given: Mapping[Any, Any]) -> Iterator[Batch]:
    columns = {name: _listed(name, values) for name, values in given.items()}
    for field in ("name", "item"):
        if field not in columns:
            raise InvalidArgument(field, "is missing: events have a column of it")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InvalidArgument("rows", f"columns must be of one length: {told}")
    for start in range(0, lengths["name"], BATCH):
        part = {name: values[start : start + BATCH] for name, values in columns.items()}
        count = len(part["name"])
        yield Batch(
            names=_names("name", part["name"], start, required=True),
            items=_names("item", part["item"], start, required=True),
            weights=_weights(part.get("weight"), count, start),
            at=_times(part.get("at"), count, start),
            users=_given(_names("user", part.get("user", ()), start)),
            event_ids=_given(_names("event_id", part.get("event_id", ()), start)),
            pages=_given(_names("page", part.get("page", ()), start)),
            positions=_given(
                [
                    check_row({"name": "a", "item": "a", "position": each}, f"rows[{number}].").position
                    for number, each in enumerate(part.get("position", ()), start)
                ]
            ),
        )


def _listed(name: object, values: object) -> Any:
    """Return a column as an array of numbers, or as a list."""
    if name not in FIELDS:
        raise InvalidArgument(str(name), f"is nothing an event has: it has {', '.join(FIELDS)}")
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values if values.dtype.kind in "fiuM" else values.tolist()
    # An array without a dimension looks as if it could be iterated over.
    is_scalar = isinstance(values, np.ndarray) and values.ndim == 0
    if isinstance(values, (str, bytes)) or is_scalar or not isinstance(values, Iterable):
        raise InvalidArgument(str(name), f"must be a column of values, not {type(values).__name__}")
    return list(values)


def _names(field: str, values: Any, start: int, required: bool = False) -> list[Any]:
    """Check each distinct value of a column once."""
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else values
    if are_plain_ids(listed if required else [value for value in listed if value is not None]):
        return listed
    try:
        distinct = dict.fromkeys(listed)
    except TypeError:
        distinct = {}
        for number, value in enumerate(listed, start):
            check_id(value, f"rows[{number}].{field}")
    for value in distinct:
        if value is not None or required:
            try:
                check_id(value, field)
            except InvalidArgument as error:
                number = start + listed.index(value)
                raise InvalidArgument(f"rows[{number}].{field}", error.message.partition(": ")[2]) from None
    return listed


def _weights(values: Any, count: int, start: int) -> FloatArray:
    if values is None:
        return np.ones(count)
    numbers = _numbers(values)
    if numbers is None:
        checked = (
            1.0 if w is None else check_weight(w, f"rows[{n}].weight") for n, w in enumerate(values, start)
        )
        return np.fromiter(checked, np.float64, count)
    weights = numbers.astype(np.float64)
    wrong = np.flatnonzero(~(np.abs(weights) <= GREATEST_WEIGHT))
    if len(wrong):
        check_weight(float(weights[wrong[0]]), f"rows[{start + int(wrong[0])}].weight")
    return weights


def _times(values: Any, count: int, start: int) -> IntArray:
    if values is None:
        return np.full(count, _UNTIMED)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return _of_datetimes(values, start)
    numbers = _numbers(values)
    if numbers is None:
        checked = (
            _UNTIMED if at is None else to_micros(at, f"rows[{n}].at") for n, at in enumerate(values, start)
        )
        return np.fromiter(checked, np.int64, count)
    if count:  # the least and the greatest speak for all; of what is not a number, too
        for place in (int(numbers.argmin()), int(numbers.argmax())):
            to_micros(numbers[place].item(), f"rows[{start + place}].at")
    if numbers.dtype.kind == "f":
        micros: IntArray = np.rint(numbers.astype(np.float64) * SECOND).astype(np.int64)
    else:
        micros = numbers.astype(np.int64) * SECOND
    return micros


def _of_datetimes(values: Any, start: int) -> IntArray:
    """Return NumPy's times as microseconds; "not a time" is the least int64, as no time is."""
    # In years, which no unit overflows: as microseconds, far ones would turn up somewhere else.
    years = values.astype("datetime64[Y]").astype(np.int64) + 1970
    wrong = np.flatnonzero(~np.isnat(values) & ((years < 1) | (years > 9999)))
    if len(wrong):
        place = int(wrong[0])
        raise InvalidArgument(
            f"rows[{start + place}].at",
            f"{quoted(str(values[place]))} lies outside the years 1 to 9999 (UTC)",
        )
    micros: IntArray = values.astype("datetime64[us]").astype(np.int64)
    return micros


def _numbers(values: Any) -> np.ndarray[Any, Any] | None:
    """Return a column as an array if it is one of numbers, or a list of only floats or only integers."""
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "fiu" else None
    kinds = set(map(type, values))
    try:
        if kinds == {float}:
            return np.array(values, np.float64)
        return np.array(values, np.int64) if kinds == {int} else None
    except OverflowError:
        return None


def _given(values: list[Any]) -> list[Any] | None:
    return values if any(value is not None for value in values) else None
