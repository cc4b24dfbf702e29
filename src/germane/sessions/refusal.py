"""Refusals: what a session's policy does not let an agent write."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from germane.knowledge.single import meets
from germane.model.errors import Error, PolicyViolation, SessionClosed
from germane.model.policies import tokens_at
from germane.model.times import SECOND, Micros, to_datetime
from germane.sessions.rows import SessionRow


class Refusal(NamedTuple):
    """Why something was not written.

    Parameters
    ----------
    cause : str
        The limit, or ``closed``.
    error : Error
        To be raised once the refusal is on record.
    """

    cause: str
    error: Error


def refused_signal(
    connection: apsw.Connection, row: SessionRow, name: str, item: str, now: Micros
) -> Refusal | None:
    """Return why a signal may not be recorded, None if it may."""
    policy = row.policy
    closed = _closed(row, now)
    if closed is not None:
        return closed
    if policy.allowed_signals is not None and name not in tuple(policy.allowed_signals):
        allowed = ", ".join(policy.allowed_signals) or "none"
        return _never(row, "allowed_signals", f"{name!r} is not among them: allowed are {allowed}")
    condition = policy.condition
    if condition is not None and not meets(connection, condition, item):
        return _never(row, "allowed_items", f"item {item!r} does not meet {str(condition)!r}")
    if policy.max_signals is not None and row.signals >= policy.max_signals:
        return _never(row, "max_signals", f"{policy.max_signals} signals have been recorded")
    return _too_fast(row, now)


def refused_annotation(row: SessionRow, text: str, now: Micros) -> Refusal | None:
    """Return why an annotation may not be written, None if it may."""
    policy = row.policy
    closed = _closed(row, now)
    if closed is not None:
        return closed
    longest = policy.max_annotation_chars
    if longest is not None and len(text) > longest:
        return _never(
            row,
            "max_annotation_chars",
            f"an annotation has at most {longest:,} characters, not {len(text):,}",
        )
    if policy.max_annotations is not None and row.annotations >= policy.max_annotations:
        return _never(row, "max_annotations", f"{policy.max_annotations} annotations have been written")
    return _too_fast(row, now)


def _closed(row: SessionRow, now: Micros) -> Refusal | None:
    end = row.end(now)
    if end is None:
        return None
    message = f"session {row.id} ended at {to_datetime(end).isoformat()}: start another one"
    return Refusal("closed", SessionClosed(message))


def _too_fast(row: SessionRow, now: Micros) -> Refusal | None:
    rate = row.policy.rate_per_minute
    if rate is None:
        return None
    missing = 1.0 - tokens_at(row.tokens, row.filled_at, now, rate)
    if missing <= 0:
        return None
    # To the next microsecond, so that who waits so long is let through.
    wait = (int(missing * 60 * SECOND / rate) + 1) / SECOND
    message = f"rate_per_minute: {rate} writes a minute: try again in {wait:.3f} s"
    return Refusal("rate_per_minute", _violation(row, message, "rate_per_minute", wait))


def _never(row: SessionRow, limit: str, message: str) -> Refusal:
    return Refusal(limit, _violation(row, f"{limit}: {message}", limit, None))


def _violation(row: SessionRow, message: str, limit: str, retry_after: float | None) -> PolicyViolation:
    return PolicyViolation(f"policy {row.policy.name!r}: {message}", limit, retry_after)
