"""A story: what a log tells of items and of what people did, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import apsw
import msgspec
import numpy as np

from germane.database import Database
from germane.log.base import OF_RELATIONS, base_of, chunks
from germane.log.chain import BEFORE_ALL_TIMES
from germane.log.events import RecordSignal, RecordSignals, Relate, Unrelate, decode, metadata_from_plain
from germane.model.embeddings import from_bytes
from germane.model.errors import InvalidArgument
from germane.model.items import Item
from germane.model.schema import Schema
from germane.model.signals import Signal
from germane.model.times import SECOND, Micros, to_micros
from germane.people.pairs import FloatArray, IntArray

_SIGNALS = "SELECT seq, at, type, data FROM log WHERE type IN ('signal', 'signals') ORDER BY seq"
_RELATIONS = "SELECT seq, at, type, data FROM log WHERE type IN ('relate', 'unrelate') ORDER BY at, seq"


class Related(NamedTuple):
    """A relation that begins to stand at a time, or ends."""

    at: Micros
    user: str
    relation: str
    target: str
    stands: bool


@dataclass(frozen=True)
class Story:
    """Events in order of time, the items that they are on, and the declarations that hold.

    Parameters
    ----------
    items : tuple of Item
        Each is there from when it was created, or from its first event if that is earlier.
    names, on : list of str
        The signal of each event, and the id of its item.
    users : list of (str or None)
    weights : float64[events]
    at : int64[events]
        Microseconds since the epoch, ascending.
    schema : Schema
    relations : tuple of Related
    """

    items: tuple[Item, ...]
    names: list[str]
    on: list[str]
    users: list[str | None]
    weights: FloatArray
    at: IntArray
    schema: Schema
    relations: tuple[Related, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.on)

    @classmethod
    def of_store(cls, database: Database) -> Story:
        """Return what the log of a store tells.

        Items are taken as they are now, without their texts; those that are gone, and events on them, are
        left out. Where retention has replaced older events, the story begins after them, with the relations
        that stood then.
        """
        with database._journal.read() as connection:
            rows = list(
                connection.execute(
                    "SELECT ordinal, id, creator, metadata, tags, collection, kind, created_at, vector.data"
                    " FROM item LEFT JOIN vector USING (ordinal) WHERE live = 1 ORDER BY ordinal"
                )
            )
            ids = {ordinal: id for ordinal, id, *_ in rows}
            told: list[tuple[int, str, str, str | None, float]] = []
            for seq, at, kind, data in connection.execute(_SIGNALS):
                event = decode(seq, kind, data)
                if isinstance(event, RecordSignal):
                    told.append((at, event.name, event.item, event.user, event.weight))
                elif isinstance(event, RecordSignals):
                    told += _rows(event, ids)
            relations = (*_standing(connection), *(
                Related(at, event.user, event.relation, event.target, isinstance(event, Relate))
                for seq, at, kind, data in connection.execute(_RELATIONS)
                if isinstance(event := decode(seq, kind, data), (Relate, Unrelate))
            ))  # fmt: skip
        items = tuple(
            Item(
                id=id, title=id, creator=creator, metadata=metadata_from_plain(msgspec.json.decode(metadata)),
                tags=tuple(msgspec.json.decode(tags)), collection=collection, kind=kind,
                created_at=created_at / SECOND, embedding=None if vector is None else from_bytes(vector),
            )
            for _, id, creator, metadata, tags, collection, kind, created_at, vector in rows
        )  # fmt: skip
        known = {item.id for item in items}
        return _in_order(items, [row for row in told if row[2] in known], database.schema, relations)

    @classmethod
    def of_rows(
        cls,
        columns: Mapping[str, Sequence[Any]],
        items: Iterable[Item] | None = None,
        schema: Schema | None = None,
    ) -> Story:
        """Return the story of events given as columns, as `Database.signal_many` takes them.

        Parameters
        ----------
        columns : mapping
            ``name``, ``item`` and ``at``, and if there are any ``user`` and ``weight``.
        items : iterable of Item, optional
            Without them each item is there from its first event.
        schema : Schema, optional
            Without one, a signal of a half-life of 30 days for each name.

        Examples
        --------
        >>> columns = {"name": ["view", "view"], "item": ["a", "b"], "at": [20.0, 10.0], "user": ["u", None]}
        >>> story = Story.of_rows(columns)
        >>> story.on, [item.id for item in story.items]
        (['b', 'a'], ['b', 'a'])
        """
        for name in ("name", "item", "at"):
            if name not in columns:
                raise InvalidArgument("columns", f"has no {name!r}: each event needs name, item and at")
        count = len(columns["item"])
        at = _micros(columns["at"])
        users: Sequence[Any] = columns.get("user", [None] * count)
        weights = columns.get("weight", [1.0] * count)
        told = list(zip(at, columns["name"], columns["item"], users, _plain(weights), strict=True))
        told.sort(key=lambda row: row[0])
        if items is None:
            first: dict[str, int] = {}
            for row in told:
                first.setdefault(row[2], row[0])
            items = [Item(id=id, title=id, created_at=each / SECOND) for id, each in first.items()]
        if schema is None:
            schema = Schema([Signal(name, half_life="30d") for name in sorted({row[1] for row in told})])
        return _in_order(tuple(items), told, schema, ())

    def limited(self, names: Iterable[str]) -> Story:
        """Return the story with only the events of some signals."""
        kept = frozenset(names)
        rows = [place for place, name in enumerate(self.names) if name in kept]
        return replace(
            self,
            names=[self.names[row] for row in rows],
            on=[self.on[row] for row in rows],
            users=[self.users[row] for row in rows],
            weights=self.weights[rows],
            at=self.at[rows],
        )

    def since(self) -> IntArray:
        """Return from when each item is there: int64[items]."""
        first: dict[str, Micros] = {}
        for id, at in zip(self.on, self.at.tolist(), strict=True):
            first.setdefault(id, at)
        never = np.iinfo(np.int64).max
        created = (
            0 if item.created_at is None else to_micros(item.created_at, "created_at") for item in self.items
        )
        return np.array(
            [min(at, first.get(str(item.id), never)) for item, at in zip(self.items, created, strict=True)],
            np.int64,
        )


def _standing(connection: apsw.Connection) -> Iterator[Related]:
    """Yield the relations that stood where the log begins: those that a base holds."""
    base = base_of(connection)
    if base is not None:
        for rows in map(msgspec.msgpack.decode, chunks(connection, base[1], OF_RELATIONS)):
            for user, relation, target, _ in rows:
                yield Related(BEFORE_ALL_TIMES, user, relation, target, True)


def _in_order(
    items: tuple[Item, ...],
    told: list[tuple[int, str, str, str | None, float]],
    schema: Schema,
    relations: tuple[Related, ...],
) -> Story:
    told = sorted(told, key=lambda row: row[0])
    at, names, on, users, weights = zip(*told, strict=True) if told else ((), (), (), (), ())
    return Story(
        items,
        list(names),
        list(on),
        list(users),
        np.array(weights, np.float64),
        np.array(at, np.int64),
        schema,
        relations,
    )


def _rows(event: RecordSignals, ids: Mapping[int, str]) -> Iterable[tuple[int, str, str, str | None, float]]:
    items, at = np.frombuffer(event.item, "<i8").tolist(), np.frombuffer(event.at, "<i8").tolist()
    users = np.frombuffer(event.user, "<i4").tolist() if event.user else [-1] * len(items)
    names, weights = np.frombuffer(event.name, "<u2").tolist(), np.frombuffer(event.weight, "<f8").tolist()
    for time, name, item, user, weight in zip(at, names, items, users, weights, strict=True):
        if item in ids:
            yield time, event.names[name], ids[item], event.users[user] if user >= 0 else None, weight


def _micros(at: Any) -> list[int]:
    if isinstance(at, np.ndarray) and at.dtype.kind == "M":
        told: list[int] = at.astype("datetime64[us]").astype(np.int64).tolist()
        return told
    return [
        int(each.astype("datetime64[us]").astype(np.int64))
        if isinstance(each, np.datetime64)
        else to_micros(each, "at")
        for each in _plain(at)
    ]


def _plain(values: Any) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values
