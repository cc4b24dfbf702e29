"""Learning: what the end of a session says of its user's taste."""

from __future__ import annotations

import apsw

from germane.log.events import Learned
from germane.model.times import Micros
from germane.sessions.rows import SessionRow, all_rows
from germane.sessions.state import SessionState
from germane.sessions.view import signals_of


def learned(connection: apsw.Connection, row: SessionRow, end: Micros) -> Learned:
    """Return the items that a session ends with and their net weights; nothing if it is not to be learned."""
    if row.user is None or not row.policy.learn:
        return ()
    state = SessionState.of(connection, row)
    items, net = state.net(signals_of(connection), end)
    weights = dict(zip(items.tolist(), net.tolist(), strict=True))
    query = "SELECT id FROM item WHERE ordinal = ?"
    # In the order in which they first came: a preference depends on it.
    return tuple(
        (str(connection.execute(query, (ordinal,)).get), weights[ordinal])
        for ordinal in dict.fromkeys(state.items.tolist())
        if weights.get(ordinal)
    )


def pending(connection: apsw.Connection, user: str, now: Micros) -> list[tuple[Micros, Learned]]:
    """Return what is to be learned of sessions of a user whose end no process has written down yet."""
    ended = all_rows(connection, "due <= ? AND user = ? AND ended_at IS NULL", now, user)
    told = [(row.ends_at or 0, row.id, learned(connection, row, row.ends_at or 0)) for row in ended]
    return [(at, items) for at, _, items in sorted(told) if items]
