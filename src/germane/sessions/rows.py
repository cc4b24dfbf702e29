"""The row of a session, and what it says at a moment: open, closed, or swept."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from germane.log.fold_sessions import policy_of
from germane.model.policies import Policy
from germane.model.times import Micros

_COLUMNS = (
    "id, user, agent, policy, metadata, started_at, ends_at, ended_at, ended_by, retention, swept, signals,"
    " annotations, refused, tokens, filled_at, seq"
)


class SessionRow(NamedTuple):
    """A session as the tables hold it; times in microseconds.

    Parameters
    ----------
    ends_at : int or None
        When it ends at the latest.
    ended_at : int or None
        When it ended, once that was written; a session may have ended without.
    retention : int or None
        How long its archive is kept.
    tokens : float
        What its bucket held at `filled_at`.
    seq : int
        The last event of it.
    """

    id: str
    user: str | None
    agent: str
    declared: str
    metadata: str
    started_at: Micros
    ends_at: Micros | None
    ended_at: Micros | None
    ended_by: str | None
    retention: Micros | None
    swept: int
    signals: int
    annotations: int
    refused: int
    tokens: float
    filled_at: Micros
    seq: int

    @property
    def policy(self) -> Policy:
        """The policy that it began with."""
        return policy_of(self.declared)

    def end(self, now: Micros) -> Micros | None:
        """Return when it ended, None while it is open."""
        if self.ended_at is not None:
            return self.ended_at if self.ended_at <= now else None
        return self.ends_at if self.ends_at is not None and self.ends_at <= now else None

    def expiry(self, now: Micros) -> Micros | None:
        """Return when its archive expires, None while it is open or if it never does."""
        end = self.end(now)
        return None if end is None or self.retention is None else end + self.retention

    def state(self, now: Micros) -> str:
        """Return ``open``, ``closed`` or ``swept``."""
        if self.end(now) is None:
            return "open"
        expiry = self.expiry(now)
        return "swept" if expiry is not None and expiry <= now else "closed"


def session_row(connection: apsw.Connection, id: str) -> SessionRow | None:
    """Return the row of a session, None if there never was one."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM session WHERE id = ?", (id,)).fetchone()
    return None if found is None else SessionRow._make(found)


def all_rows(connection: apsw.Connection, where: str = "1", *given: object) -> list[SessionRow]:
    """Return the rows of all sessions that meet a condition, by id: which is by time."""
    query = f"SELECT {_COLUMNS} FROM session WHERE {where} ORDER BY id"
    return [SessionRow._make(found) for found in connection.execute(query, given)]
