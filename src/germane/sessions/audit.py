"""The audit log: who did what in which session, when, and whether it was accepted."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from germane.model.sessions import AuditEntry
from germane.model.times import Micros, to_datetime
from germane.sessions.rows import SessionRow, all_rows

_SIGNALS = (
    "SELECT s.recorded_at, s.seq, s.name, i.id, s.weight FROM session_signal s"
    " JOIN item i ON i.ordinal = s.item WHERE s.session = ? ORDER BY s.seq"
)


def audit(connection: apsw.Connection, now: Micros, session: str | None = None) -> tuple[AuditEntry, ...]:
    """Return the entries of one session, or of all, by time.

    Of an archive that has expired its beginning, its end and its refusals are left.
    """
    rows = all_rows(connection) if session is None else all_rows(connection, "id = ?", session)
    told = [each for row in rows for each in _entries(connection, row, now)]
    told.sort(key=lambda each: each[:2])
    return tuple(entry for _, _, entry in told)


def _entries(
    connection: apsw.Connection, row: SessionRow, now: Micros
) -> Iterator[tuple[Micros, int, AuditEntry]]:
    """Yield the entries of one session, with times and numbers that order those of one time."""

    def entry(
        at: Micros, action: str, accepted: bool, cause: str | None = None, count: int = 1, **detail: object
    ) -> AuditEntry:
        return AuditEntry(
            at=to_datetime(at), session=row.id, agent=row.agent, user=row.user, action=action,
            accepted=accepted, cause=cause, count=count, detail=detail,
        )  # fmt: skip

    yield row.started_at, -1, entry(row.started_at, "start", True, policy=row.policy.name)
    if row.state(now) != "swept":
        for at, seq, name, item, weight in connection.execute(_SIGNALS, (row.id,)):
            yield at, seq, entry(at, "signal", True, name=name, item=item, weight=weight)
        for at, seq, text in connection.execute(
            "SELECT at, seq, text FROM annotation WHERE session = ? ORDER BY seq", (row.id,)
        ):
            yield at, seq, entry(at, "annotate", True, chars=len(text))
    for action, cause, count, at, last in connection.execute(
        "SELECT action, cause, count, first_at, last_at FROM refusal WHERE session = ? ORDER BY minute,"
        " action, cause",
        (row.id,),
    ):
        yield at, _LATE, entry(at, action, False, cause, count, until=to_datetime(last))
    end, expiry = row.end(now), row.expiry(now)
    if end is not None:
        yield end, _LATE + 1, entry(end, "close", True, row.ended_by or "max_duration")
    if expiry is not None and expiry <= now:
        yield expiry, _LATE + 2, entry(expiry, "sweep", True)


_LATE = 1 << 62
"""Behind every position of the log."""
