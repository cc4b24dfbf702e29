"""Folding the events of sessions into their tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import apsw
import msgspec

from germane.log.chain import Told
from germane.log.events import (
    AnnotateSession,
    CloseSession,
    Event,
    RecordSignal,
    RefuseWrite,
    StartSession,
    SweepSessions,
    plain,
)
from germane.model.policies import Policy, tokens_at
from germane.model.times import SECOND, Micros, to_duration

MINUTE = 60 * SECOND
OF_SESSIONS = ("session", "session_signal", "annotation", "refusal")
"""The tables."""


def fold_session(connection: apsw.Connection, told: Told) -> None:
    """Apply what an event says of a session, if it says anything of one."""
    step = _FOLDS.get(type(told.event))
    if step is not None:
        step(connection, told)


@lru_cache(maxsize=256)
def policy_of(declared: str) -> Policy:
    """Return the policy that a session keeps."""
    return Policy.from_declaration(msgspec.json.decode(declared))


def drop_session(connection: apsw.Connection, session: str) -> None:
    """Take all rows of a session away."""
    for name in OF_SESSIONS:
        connection.execute(
            f"DELETE FROM {name} WHERE {'id' if name == 'session' else 'session'} = ?", (session,)
        )


def _start(connection: apsw.Connection, told: Told) -> None:
    event: StartSession = told.event  # type: ignore[assignment]
    policy, at = Policy.from_declaration(event.policy), told.at
    ends_at = None if policy.max_duration is None else at + to_duration(policy.max_duration, "max_duration")
    kept = None if policy.retention is None else to_duration(policy.retention, "retention")
    connection.execute(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, 0, ?, 0, 0, 0, ?, ?, ?)",
        (event.session, event.user, event.agent, plain(event.policy), plain(event.metadata), at, ends_at,
         kept, ends_at, float(policy.rate_per_minute or 0), at, told.seq),
    )  # fmt: skip


def _signal(connection: apsw.Connection, told: Told) -> None:
    event: RecordSignal = told.event  # type: ignore[assignment]
    assert event.session is not None
    ordinal = connection.execute("SELECT ordinal FROM item WHERE id = ?", (event.item,)).get
    connection.execute(
        "INSERT INTO session_signal VALUES (?, ?, ?, ?, ?, ?, ?)",
        (event.session, told.seq, event.name, ordinal, event.weight, told.at, told.recorded_at),
    )
    _accepted(connection, event.session, "signals", told)


def _annotate(connection: apsw.Connection, told: Told) -> None:
    event: AnnotateSession = told.event  # type: ignore[assignment]
    connection.execute(
        "INSERT INTO annotation VALUES (?, ?, ?, ?)", (event.session, told.seq, event.text, told.at)
    )
    _accepted(connection, event.session, "annotations", told)


def _accepted(connection: apsw.Connection, session: str, what: str, told: Told) -> None:
    declared, tokens, filled_at = connection.execute(
        "SELECT policy, tokens, filled_at FROM session WHERE id = ?", (session,)
    ).get
    rate = policy_of(declared).rate_per_minute if "rate_per_minute" in declared else None
    if rate is not None:
        tokens, filled_at = tokens_at(tokens, filled_at, told.recorded_at, rate) - 1.0, told.recorded_at
    connection.execute(
        f"UPDATE session SET {what} = {what} + 1, tokens = ?, filled_at = ?, seq = ? WHERE id = ?",
        (tokens, filled_at, told.seq, session),
    )


def _refuse(connection: apsw.Connection, told: Told) -> None:
    event: RefuseWrite = told.event  # type: ignore[assignment]
    connection.execute(
        "INSERT INTO refusal VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE"
        " SET count = count + 1, last_at = excluded.last_at",
        (event.session, told.at // MINUTE, event.action, event.cause, told.at, told.at),
    )
    connection.execute(
        "UPDATE session SET refused = refused + 1, seq = ? WHERE id = ?", (told.seq, event.session)
    )


def _close(connection: apsw.Connection, told: Told) -> None:
    event: CloseSession = told.event  # type: ignore[assignment]
    _end(connection, event.session, told.at, "close", told.seq)


def _end(connection: apsw.Connection, session: str, at: Micros, cause: str, seq: int) -> None:
    connection.execute(
        "UPDATE session SET ended_at = ?, ended_by = ?, due = ? + retention, seq = ? WHERE id = ?",
        (at, cause, at, seq, session),
    )


def _sweep(connection: apsw.Connection, told: Told) -> None:
    event: SweepSessions = told.event  # type: ignore[assignment]
    for each in event.ended:
        _end(connection, each.session, each.at, "max_duration", told.seq)
    for session in event.expired:
        connection.execute(
            "UPDATE session SET swept = 1, due = NULL, metadata = '{}', seq = ? WHERE id = ?",
            (told.seq, session),
        )
        for name in ("session_signal", "annotation"):
            connection.execute(f"DELETE FROM {name} WHERE session = ?", (session,))


_FOLDS: dict[type[Event], Callable[[apsw.Connection, Told], Any]] = {
    StartSession: _start,
    RecordSignal: _signal,
    AnnotateSession: _annotate,
    RefuseWrite: _refuse,
    CloseSession: _close,
    SweepSessions: _sweep,
}
