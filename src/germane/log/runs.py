"""Signals of the log as a view applies them: single ones in runs, columns as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from germane.log.events import Base, Event, RecordSignal, RecordSignals, decode
from germane.model.times import Micros

RUN = 10_000
"""Single signals that are applied at a time."""

SIGNALS = ("signal", "signals", "base")
"""Types of the records that hold signals."""

Single = tuple[int, Micros, Micros, str, int, float, str | None, str | None]
"""Position, at, recorded_at, name, item, weight, user and session of a signal that is a record of its own."""


class Columns(NamedTuple):
    """A record of many signals, its position, and when it was recorded."""

    seq: int
    recorded_at: Micros
    event: RecordSignals


class Begun(NamedTuple):
    """The base that a log begins with: who comes upon it has not come as far."""

    seq: int
    event: Base


class Ordinals(dict[str, int]):
    """The ordinals of items by id, each looked up once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __missing__(self, id: str) -> int:
        found = self._connection.execute("SELECT ordinal FROM item WHERE id = ?", (id,)).get
        self[id] = ordinal = int(found)
        return ordinal


def records(
    connection: apsw.Connection, after: int, until: int, types: tuple[str, ...]
) -> Iterator[tuple[int, Micros, Micros, Event]]:
    """Yield position, at, recorded_at and event of the records of some types behind a position."""
    marks = ", ".join("?" * len(types))
    found = connection.execute(
        "SELECT seq, at, recorded_at, type, data FROM log"
        f" WHERE seq > ? AND seq <= ? AND type IN ({marks}) ORDER BY seq",
        (after, until, *types),
    )
    for seq, at, recorded_at, type, data in found:
        yield seq, at, recorded_at, decode(seq, type, data)


def signal_runs(
    connection: apsw.Connection, after: int, until: int
) -> Iterator[list[Single] | Columns | Begun]:
    """Yield the signals of the log behind a position, in order; a base comes first."""
    ordinals = Ordinals(connection)
    run: list[Single] = []
    for seq, at, recorded_at, event in records(connection, after, until, SIGNALS):
        if isinstance(event, RecordSignal):
            item = ordinals[event.item]
            told = event.name, item, event.weight, event.user, event.session
            run.append((seq, at, recorded_at, *told))
            if len(run) == RUN:
                yield run
                run = []
            continue
        if run:
            yield run
            run = []
        if isinstance(event, RecordSignals):
            yield Columns(seq, recorded_at, event)
        elif isinstance(event, Base):
            yield Begun(seq, event)
    if run:
        yield run
