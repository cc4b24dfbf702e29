"""A session as whoever holds it sees it: a handle that any process may have."""

from __future__ import annotations

from datetime import datetime
from types import TracebackType

from germane.log.journal import Journal
from germane.model.errors import InvalidArgument, NotFound
from germane.model.items import Receipt
from germane.model.sessions import SessionSnapshot
from germane.model.times import to_micros
from germane.model.values import check_text
from germane.sessions import lifecycle
from germane.sessions.refusal import Refusal
from germane.sessions.rows import SessionRow, session_row
from germane.sessions.view import SessionView, signals_of
from germane.signals.record import checked


class Session:
    """One session of an agent; `Database.start_session` and `Database.session` make it.

    As a context manager it is closed at the end.

    Parameters
    ----------
    journal : Journal
    view : SessionView
    row : SessionRow

    Examples
    --------
    >>> import germane
    >>> db = germane.open()
    >>> lamp = db.put(germane.Item(title="Lamp"))
    >>> with db.start_session(user="ann", agent="helper") as session:
    ...     receipt = session.annotate("likes lamps")
    ...     seq = session.signal("reward", lamp).seq
    >>> session.snapshot().state, session.snapshot().keywords
    ('closed', ('likes', 'lamps'))
    """

    def __init__(self, journal: Journal, view: SessionView, row: SessionRow) -> None:
        self._journal = journal
        self._view = view
        self.id = row.id
        self.user = row.user
        self.agent = row.agent
        self.policy = row.policy

    def signal(
        self,
        name: str,
        item: str,
        weight: float = 1.0,
        at: datetime | float | None = None,
        event_id: str | None = None,
    ) -> Receipt:
        """Record that something was done with an item: `Database.signal` of the session's user, and of it.

        Raises
        ------
        PolicyViolation
            The policy refuses it; `limit` names the limit. Only the refusal is recorded.
        SessionClosed
            The session has ended.
        NotFound, Conflict, InvalidArgument
            As `Database.signal`.
        """
        given = checked(name, item, None, weight, at, event_id)
        return _told(self._journal.transact(lifecycle.signal, self.id, given))

    def annotate(self, text: str) -> Receipt:
        """Note something; its words become keywords.

        Raises
        ------
        PolicyViolation, SessionClosed
            As for `signal`.
        InvalidArgument
            It is no text, or there is nothing in it.
        """
        checked_text = check_text(text, "text")
        if not checked_text.strip():
            raise InvalidArgument("text", "is empty: an annotation has words")
        return _told(self._journal.transact(lifecycle.annotate, self.id, checked_text))

    def snapshot(self, at: datetime | float | None = None) -> SessionSnapshot:
        """Return what the session has come to.

        Parameters
        ----------
        at : datetime or float, optional
            A time since it began: as it was then; now without one.

        Raises
        ------
        InvalidArgument
            The time lies ahead, or before the session began.
        """
        moment = None if at is None else to_micros(at, "at")
        with self._journal.read() as connection:
            now = self._journal.now(connection)
            row = session_row(connection, self.id)
            if row is None:
                raise _gone(self.id)
            if moment is not None and moment > now:
                raise InvalidArgument("at", "lies in the future: a snapshot is of now or of the past")
            if moment is not None and moment < row.started_at:
                raise InvalidArgument("at", "lies before the session began")
            state, refused = self._view.state(connection, row), row.refused
            if moment is not None and row.state(now) != "swept":
                state, now = state.until(moment), moment
                refused = int(
                    connection.execute(
                        "SELECT coalesce(sum(count), 0) FROM refusal WHERE session = ? AND last_at <= ?",
                        (self.id, moment),
                    ).get
                )
            return state.snapshot(connection, signals_of(connection), now, refused)

    def close(self) -> SessionSnapshot:
        """End the session, and return what it came to; a second call returns the same.

        Its values stay what they are now, until the archive expires.
        """
        self._journal.transact(lifecycle.close, self.id)
        return self.snapshot()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id} of {self.agent}>"


def _told(decided: Receipt | Refusal) -> Receipt:
    """Return what was written, or raise what a refusal says, now that it is on record."""
    if isinstance(decided, Refusal):
        raise decided.error
    return decided


def _gone(id: str) -> NotFound:
    return NotFound(f"there is no session {id!r} any more: its user was forgotten")
