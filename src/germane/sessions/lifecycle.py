"""The life of a session: what is decided inside the exclusive transaction of each write."""

from __future__ import annotations

import secrets

from germane.log.events import AnnotateSession, CloseSession, RefuseWrite, StartSession, metadata_to_plain
from germane.log.journal import Writer
from germane.model.errors import NotFound
from germane.model.items import Receipt
from germane.model.values import Value
from germane.sessions.learning import learned
from germane.sessions.refusal import Refusal, refused_annotation, refused_signal
from germane.sessions.rows import SessionRow, session_row
from germane.signals.record import Row, check_recordable, earlier, record


def start(
    writer: Writer, user: str | None, agent: str, policy: str, metadata: dict[str, Value]
) -> SessionRow:
    """Begin a session under a policy of the schema.

    Raises
    ------
    InvalidArgument
        There is no such policy.
    """
    declared = writer.tip.schema.policy(policy).declaration()
    # In order of time, and not to be guessed.
    id = f"{max(writer.now, 0):015x}{secrets.token_hex(12)}"
    writer.append(
        StartSession(
            session=id, agent=agent, user=user, policy=declared, metadata=metadata_to_plain(metadata)
        )
    )
    return _row(writer, id)


def signal(writer: Writer, session: str, given: Row) -> Receipt | Refusal:
    """Record a signal of a session's user, or the refusal of it.

    One that was recorded under the same event id changes nothing, whatever the policy says by now.

    Raises
    ------
    NotFound, Conflict, InvalidArgument
        As for any signal; nothing is written.
    """
    row = _row(writer, session)
    row_of_user = _with(given, row)
    again = earlier(writer, row_of_user)
    if again is not None:
        return again
    check_recordable(writer, row_of_user)
    refusal = refused_signal(writer.connection, row, given.name, given.item, writer.now)
    if refusal is not None:
        return _refused(writer, session, "signal", refusal)
    return record(writer, row_of_user)


def annotate(writer: Writer, session: str, text: str) -> Receipt | Refusal:
    """Write an annotation, or the refusal of it."""
    refusal = refused_annotation(_row(writer, session), text, writer.now)
    if refusal is not None:
        return _refused(writer, session, "annotate", refusal)
    return Receipt(session, None, writer.append(AnnotateSession(session=session, text=text)), changed=True)


def close(writer: Writer, session: str) -> bool:
    """End a session; tell whether it was open."""
    row = _row(writer, session)
    if row.end(writer.now) is not None:
        return False
    told = learned(writer.connection, row, writer.now)
    writer.append(CloseSession(session=session, user=row.user if told else None, learned=told))
    return True


def _with(given: Row, row: SessionRow) -> Row:
    return Row(
        given.name, given.item, row.user, given.weight, given.at, given.event_id, given.page, given.position,
        row.id,
    )  # fmt: skip


def _row(writer: Writer, session: str) -> SessionRow:
    row = session_row(writer.connection, session)
    if row is None:
        raise NotFound(f"there is no session {session!r}")
    return row


def _refused(writer: Writer, session: str, action: str, refusal: Refusal) -> Refusal:
    writer.append(RefuseWrite(session=session, action=action, cause=refusal.cause))
    return refusal
