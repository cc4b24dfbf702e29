"""What both ways of asking have in common: the filter, and the profile."""

from __future__ import annotations

import apsw

from germane.log.content import profile as declared_profile
from germane.log.content import schema
from germane.model.builtin import COLD_START, FOR_YOU, NAMES, built_in
from germane.model.errors import InvalidArgument, NotFound, quoted
from germane.model.filter_text import parse_filter
from germane.model.filters import OF_SESSION, Filter, states_of
from germane.model.profiles import Profile
from germane.model.values import check_id
from germane.model.weights import SessionWeights
from germane.ranking.audience import Audience
from germane.sessions.session import Session


def check_where(where: object) -> Filter | None:
    """Return a filter, from its text too."""
    if where is None or isinstance(where, Filter):
        return where
    if isinstance(where, str):
        return parse_filter(where)
    raise InvalidArgument(
        "where",
        f"must be a string or a filter made with germane.where, as in where.meta.price < 10, "
        f"not {type(where).__name__}",
    )


def check_state(where: Filter | None, user: str | None, session: str | None = None) -> Filter | None:
    """Return a filter, unless it asks something of the user or the session in a query without one.

    A session may bring its user with it.

    Raises
    ------
    InvalidArgument
        The field is ``where``.
    """
    if where is not None and OF_SESSION in states_of(where) and session is None:
        raise InvalidArgument(
            "where", f"{OF_SESSION!r} is about a session: say which, as in session=session, or leave it out"
        )
    if where is not None and where.state is not None and user is None and session is None:
        raise InvalidArgument(
            "where", f"{quoted(where.state)} is about a user: say which, as in user='ann', or leave it out"
        )
    return where


def check_session(session: object) -> str | None:
    """Return the id of a session, given as one or as its id; any string will do.

    Raises
    ------
    InvalidArgument
        It is neither.
    """
    if session is None or isinstance(session, str):
        return None if session is None else str.__str__(session)
    if isinstance(session, Session):
        return session.id
    raise InvalidArgument("session", f"must be a session or its id, not {type(session).__name__}")


def check_session_weights(weights: object) -> SessionWeights:
    """Return weights, or those that hold when a query gives none."""
    if weights is None:
        return SessionWeights()
    if not isinstance(weights, SessionWeights):
        raise InvalidArgument("session_weights", f"must be a SessionWeights, not {type(weights).__name__}")
    return weights


def check_profile(name: object) -> str:
    """Return a profile's name, which may hold an id after a colon."""
    base, colon, given = name.partition(":") if isinstance(name, str) else ("", "", "")
    if base == "related" and colon and given:
        return f"related:{check_id(given, 'profile')}"
    return check_id(name, "profile")


def find_profile(
    connection: apsw.Connection, name: str, audience: Audience, has_begun: bool = False
) -> Profile:
    """Return the profile of a name: a built-in one, or one that the store declares or has declared.

    ``for_you`` is another one for those of whom no signal was recorded. A feed that has begun goes on without
    the item that it started from.

    Raises
    ------
    InvalidArgument
        There is none.
    NotFound
        There is no item that it starts from.
    """
    found = built_in(name) or declared_profile(connection, name)
    if found is not None:
        if found.name == "related" and not has_begun and not is_live(connection, str(found.origin)):
            raise NotFound(f"there is no item {found.origin!r} that anything could be related to")
        return COLD_START if found is FOR_YOU and not audience.has_history else found
    if name.partition(":")[0] in NAMES:
        raise InvalidArgument("profile", f"{quoted(name)} is not available in this version of retrieve")
    declared = ", ".join(sorted({each.name for each in schema(connection).profiles})) or "none"
    raise InvalidArgument(
        "profile",
        f"{quoted(name)} is no profile: built in are {', '.join(_listed())}; this store declares {declared}",
    )


def _listed() -> list[str]:
    given = {"top": "top:24h", "related": "related:ID"}
    return [given.get(name, name) for name in NAMES if name in given or built_in(name)]


def is_live(connection: apsw.Connection, id: str) -> bool:
    """Tell whether there is a live item of an id."""
    return connection.execute("SELECT 1 FROM item WHERE id = ? AND live = 1", (id,)).get is not None
