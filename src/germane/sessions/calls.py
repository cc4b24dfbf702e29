"""What a database offers of sessions: beginning one, finding one, and the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from germane.log.journal import Journal
from germane.model.errors import InvalidArgument, NotFound
from germane.model.policies import check_agent
from germane.model.sessions import AuditEntry
from germane.model.values import Value, check_id, check_metadata
from germane.sessions import lifecycle
from germane.sessions.audit import audit
from germane.sessions.rows import session_row
from germane.sessions.session import Session
from germane.sessions.view import SessionView


class SessionCalls:
    """The part of a database that knows sessions of agents."""

    _journal: Journal
    _sessions: SessionView

    def start_session(
        self,
        *,
        user: str | None = None,
        agent: str,
        policy: str = "default",
        metadata: Mapping[str, Value] | None = None,
    ) -> Session:
        """Begin a session of an agent.

        Parameters
        ----------
        user : str, optional
            For whom the agent works: its signals are the user's as well.
        agent : str
            ``[a-z0-9][a-z0-9._-]{0,63}``.
        policy : str
            One that the schema declares, or ``default``. The session keeps it as it is declared now.
        metadata : mapping, optional

        Returns
        -------
        Session

        Raises
        ------
        InvalidArgument
            A value cannot be used; the error names it.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> session = db.start_session(user="ann", agent="helper-1")
        >>> session.snapshot().state
        'open'
        """
        who = None if user is None else check_id(user, "user")
        checked_agent, named = check_agent(agent), check_id(policy, "policy")
        told = dict(check_metadata({} if metadata is None else metadata))
        row = self._journal.transact(lifecycle.start, who, checked_agent, named, told)
        return Session(self._journal, self._sessions, row)

    def session(self, id: str) -> Session:
        """Return a session, open or ended, begun by whatever process.

        Raises
        ------
        NotFound
            There never was one of this id, or its user was forgotten.
        """
        check_id(id, "id")
        with self._journal.read() as connection:
            row = session_row(connection, id)
        if row is None:
            raise NotFound(f"there is no session {id!r}")
        return Session(self._journal, self._sessions, row)

    def audit(self, session: Session | str | None = None) -> tuple[AuditEntry, ...]:
        """Return the audit log of one session or of all, by time.

        Every write, every refusal and every end is an entry. Refusals of one kind within a minute are one.
        Of an archive that has expired its beginning, its end and its refusals are left.

        Parameters
        ----------
        session : Session or str, optional

        Raises
        ------
        NotFound
            There never was one of this id.
        """
        if session is not None and not isinstance(session, (str, Session)):
            raise InvalidArgument("session", f"must be a session or its id, not {type(session).__name__}")
        id = session.id if isinstance(session, Session) else session
        with self._journal.read() as connection:
            if id is not None and session_row(connection, check_id(id, "session")) is None:
                raise NotFound(f"there is no session {id!r}")
            return audit(connection, self._journal.now(connection), id)
