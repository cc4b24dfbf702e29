"""Retention: events older than the schema keeps are replaced by a base, which holds what they came to.

Everything that takes long happens beside readers and writers: the old events are folded, the base is made of
that and checked against the tables. Then one transaction puts it in their place, so that whatever is killed
when, the log is the old one or the new one. Positions, the chain, and all state stay what they were; event
ids, older revisions and contents that nothing refers to any more go with the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import apsw
import msgspec

from germane.log.base import SCHEMAS, Parts, make, tables_from_parts, tables_to_parts
from germane.log.chain import End, checksum_at, end, events, start
from germane.log.content import schemas
from germane.log.events import Base, PutDocument, PutItem, decode, encode
from germane.log.fold import fold_all, know_types
from germane.log.journal import Journal, epoch
from germane.log.past import position_at
from germane.log.tables import FOLDED, FOLDED_NAMES, TRUTH
from germane.model.errors import Corruption
from germane.model.reports import GcReport
from germane.model.times import Micros

States = Callable[[apsw.Connection, int], Parts]
"""Gives what the views that derive from the log came to at a position, as parts of a base."""

SLACK = 0.1
"""Share of the retention by which the oldest event exceeds it before a store is tidied unasked."""

_GONE = {
    "event_id": "seq <= :seq",
    "version": "seq <= :seq AND EXISTS (SELECT 1 FROM version AS later WHERE later.ordinal = version.ordinal"
    " AND later.seq > version.seq AND later.seq <= :seq)",
}
"""Rows that go with the events: ids by which these were told apart, and revisions that they superseded."""


class Plan(NamedTuple):
    """A base that may be put in place of the events up to a position.

    Parameters
    ----------
    seq : int
    parts : mapping
    event : Base
    live : frozenset of str
        Revisions of the items that were live there.
    began : End
        Where the log started.
    checksum : int
        The chain's value at the position.
    epoch : int
    """

    seq: int
    parts: Parts
    event: Base
    live: frozenset[str]
    began: End
    checksum: int
    epoch: int


def due(connection: apsw.Connection, retention: Micros, slack: float = 0.0) -> int | None:
    """Return the last event that is older than a retention, None when there is none to replace.

    Ages are measured back from the last event that was recorded, not from the clock: one that jumps ahead
    takes nothing away.

    Parameters
    ----------
    connection : apsw.Connection
    retention : int
        Microseconds.
    slack : float
        Share of it by which the oldest event must exceed it.
    """
    last, first = end(connection), start(connection)
    oldest = connection.execute("SELECT recorded_at FROM log WHERE seq = ?", (first.seq + 1,)).get
    if oldest is None or int(oldest) > last.recorded_at - retention - round(slack * retention):
        return None
    return position_at(connection, last.recorded_at - retention, "retention")


def replace_older(journal: Journal, states: States, retention: Micros) -> GcReport:
    """Put a base in place of the events that are older than a retention.

    Raises
    ------
    Corruption
        The log is damaged, or the tables are not what it comes to; nothing changed.
    """
    with journal.read() as connection:
        seq = due(connection, retention)
        if seq is None:
            return GcReport(start(connection).seq, 0, 0)
        plan = make_plan(connection, seq, states)
    with journal.write() as writer:
        connection = writer.connection
        if (start(connection), checksum_at(connection, seq), epoch(connection)) != (
            plan.began,
            plan.checksum,
            plan.epoch,
        ):
            return GcReport(start(connection).seq, 0, 0)  # another process was faster
        replaced, contents = count(connection, plan)
        _put_in_place(connection, plan)
        writer.change()
    return GcReport(seq, replaced, contents)


def preview(journal: Journal, states: States, retention: Micros) -> GcReport:
    """Return what `replace_older` would do."""
    with journal.read() as connection:
        seq = due(connection, retention)
        if seq is None:
            return GcReport(start(connection).seq, 0, 0)
        return GcReport(seq, *count(connection, make_plan(connection, seq, states)))


def make_plan(connection: apsw.Connection, seq: int, states: States) -> Plan:
    """Return a base for the events up to a position, checked against the tables.

    Raises
    ------
    Corruption
        The log is damaged, or the tables are not what it comes to.
    """
    with closing(_emptied(connection)) as memory:
        fold_all(connection, memory, events(connection, until=seq))
        _prune(memory, seq)
        live = frozenset(rev for (rev,) in memory.execute("SELECT rev FROM item WHERE live = 1"))
        parts = tables_to_parts(memory)
    at, recorded_at, checksum = connection.execute(
        "SELECT at, recorded_at, checksum FROM log WHERE seq = ?", (seq,)
    ).get
    made = make(parts, seq, at, recorded_at, checksum)
    _verify(connection, parts, made, seq)
    told = [(at, schema.declaration()) for at, schema in schemas(connection) if at <= seq]
    parts[SCHEMAS] = [msgspec.msgpack.encode(told)]
    parts |= states(connection, seq)
    made = make(parts, seq, at, recorded_at, checksum)
    return Plan(seq, parts, made, live, start(connection), checksum, epoch(connection))


def count(connection: apsw.Connection, plan: Plan) -> tuple[int, int]:
    """Return how many events a plan replaces, and how many contents go with them."""
    kept = _referred_to(connection, plan)
    contents = sum(rev not in kept for (rev,) in connection.execute("SELECT rev FROM content"))
    return plan.seq - plan.began.seq, contents


def _put_in_place(connection: apsw.Connection, plan: Plan) -> None:
    connection.execute(TRUTH)  # a store of an earlier version has no table for it
    kept = _referred_to(connection, plan)
    gone = [(rev,) for (rev,) in connection.execute("SELECT rev FROM content") if rev not in kept]
    kind, data = encode(plan.event)
    connection.execute("DELETE FROM base")
    for part, told in plan.parts.items():
        connection.executemany(
            "INSERT INTO base VALUES (?, ?, ?)", ((part, number, data) for number, data in enumerate(told))
        )
    connection.execute("UPDATE log SET type = ?, data = ? WHERE seq = ?", (kind, data, plan.seq))
    connection.execute("DELETE FROM log WHERE seq < ?", (plan.seq,))
    _prune(connection, plan.seq)
    connection.execute("UPDATE view SET seq = max(seq, ?) WHERE name = 'tables'", (plan.seq,))
    connection.executemany("DELETE FROM content WHERE rev = ?", gone)


def _referred_to(connection: apsw.Connection, plan: Plan) -> set[str]:
    """Return the revisions that the log from a base on refers to."""
    kept = set(plan.live)
    for row in connection.execute(
        "SELECT seq, type, data FROM log WHERE seq > ? AND type IN ('put', 'document')", (plan.seq,)
    ):
        event = decode(*row)
        items = event.items if isinstance(event, PutDocument) else (event,)
        kept.update(item.rev for item in items if isinstance(item, PutItem))
    return kept


def _prune(connection: apsw.Connection, seq: int) -> None:
    for name, condition in _GONE.items():
        connection.execute(f"DELETE FROM {name} WHERE {condition}", {"seq": seq})


def _verify(connection: apsw.Connection, parts: Parts, event: Base, seq: int) -> None:
    """Refuse a base that, with the events behind it, does not come to the tables as they are."""
    with closing(_emptied(connection)) as memory:
        for part, told in parts.items():
            memory.executemany(
                "INSERT INTO base VALUES (?, ?, ?)",
                ((part, number, data) for number, data in enumerate(told)),
            )
        tables_from_parts(memory, memory, event)
        fold_all(connection, memory, events(connection, after=seq))
        for name in FOLDED_NAMES:
            if name == "view":
                continue
            kept = f"WHERE NOT ({_GONE[name]})" if name in _GONE else ""
            query = f"SELECT * FROM {name} {kept} ORDER BY 1, 2"
            ours = connection.execute(query, {"seq": seq})
            if not _are_equal(ours, memory.execute(query, {"seq": seq})):
                raise Corruption(
                    f"table {name} differs from what the log comes to, so no event was replaced: "
                    "'germane check --repair' folds it anew"
                )


def _emptied(connection: apsw.Connection) -> apsw.Connection:
    memory = apsw.Connection(":memory:")
    memory.execute("PRAGMA temp_store = MEMORY")
    memory.execute(TRUTH + FOLDED)
    know_types(connection, memory)
    return memory


def _are_equal(ours: Iterator[Any], wanted: Iterator[Any]) -> bool:
    return all(found == next(ours, None) for found in wanted) and next(ours, None) is None
