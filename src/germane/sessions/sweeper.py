"""The sweeper: writes down which sessions have ended and which archives have expired.

Both are functions of time alone, and every write is preceded by a sweep in its own transaction. So the log
says nothing between an end and the sweep that tells of it, and a late sweep changes no answer.
"""

from __future__ import annotations

from germane.log.events import Ended, SweepSessions
from germane.log.journal import Writer
from germane.sessions.learning import learned
from germane.sessions.rows import all_rows


def sweep(writer: Writer) -> None:
    """Write down what is due, if anything is."""
    due = writer.tip.due
    if due is None or due > writer.now:
        return
    connection, now = writer.connection, writer.now
    ended: list[tuple[int, str, Ended]] = []
    expired: list[str] = []
    for row in all_rows(connection, "due <= ?", now):
        if row.ended_at is None and row.ends_at is not None:
            told = learned(connection, row, row.ends_at)
            ended.append((row.ends_at, row.id, Ended(row.id, row.ends_at, row.user if told else None, told)))
        if row.state(now) == "swept":
            expired.append(row.id)
    if ended or expired:
        writer.append(
            SweepSessions(ended=tuple(each for _, _, each in sorted(ended)), expired=tuple(expired))
        )
