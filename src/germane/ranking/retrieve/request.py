"""Stage 0: what was asked for, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from germane.log.past import check_as_of
from germane.model.diversity import Diversity
from germane.model.errors import InvalidArgument, quoted
from germane.model.filter_text import parse_filter
from germane.model.filters import Filter
from germane.model.values import check_count, check_id, check_names, check_text, neutral
from germane.model.weights import SessionWeights
from germane.ranking.asked import (
    check_profile,
    check_session,
    check_session_weights,
    check_state,
    check_where,
)
from germane.ranking.session import Asked
from germane.sessions.session import Session

MOST_GIVEN = 10_000
"""Candidates that a call may give."""
PAGE_LIMIT = 1000


class RetrieveRequest(Asked, frozen=True, kw_only=True):
    """A checked RETRIEVE.

    Parameters
    ----------
    profile : str
        The profile's name as asked for, with version or parameter.
    user, session, session_weights
        As in `Asked`.
    similar_to : str or None
        The item whose nearest are ranked.
    candidates : tuple of str, or None
        Ids that are given.
    where : Filter or None
    collections : tuple of str, or None
    diversity : Diversity or None
        None for the profile's own.
    seed : str or None
        None for what the log's position makes it.
    limit : int
    cursor : str or None
    explain : bool
    as_of : int, datetime or None
        The point of the past to answer at.
    """

    profile: str = "for_you"
    similar_to: str | None = None
    candidates: tuple[str, ...] | None = None
    where: Filter | None = None
    collections: tuple[str, ...] | None = None
    diversity: Diversity | None = None
    seed: str | None = None
    limit: int = 20
    cursor: str | None = None
    explain: bool = False
    as_of: int | datetime | None = None

    def asked(self) -> dict[str, Any]:
        """Return what makes it this query and no other, as plain data."""
        return {
            "profile": self.profile,
            "user": self.user,
            "session": self.session,
            "session_weights": msgspec.structs.asdict(self.session_weights),
            "similar_to": self.similar_to,
            "candidates": self.candidates,
            "where": None if self.where is None else str(self.where),
            "collections": self.collections,
            "diversity": None if self.diversity is None else self.diversity.declaration(),
            "seed": self.seed,
        }


def retrieve_request(
    profile: str,
    *,
    user: str | None,
    session: Session | str | None,
    session_weights: SessionWeights | None,
    similar_to: str | None,
    candidates: Sequence[str] | None,
    where: str | Filter | None,
    collections: Sequence[str] | None,
    diversity: Diversity | None,
    limit: int,
    cursor: str | None,
    seed: str | int | None,
    explain: bool,
    as_of: int | datetime | None,
    **later: Any,
) -> RetrieveRequest:
    """Check the arguments of a retrieval.

    Raises
    ------
    InvalidArgument
        The error names the parameter.
    QuerySyntaxError
        `where` does not parse.
    """
    neutral(**{name: (value, NEUTRAL[name]) for name, value in later.items()})
    if not isinstance(explain, bool):
        raise InvalidArgument("explain", f"must be True or False, not {quoted(explain)}")
    if cursor is not None and not isinstance(cursor, str):
        raise InvalidArgument("cursor", f"must be the cursor of a page, not {type(cursor).__name__}")
    user, who = None if user is None else check_id(user, "user"), check_session(session)
    condition = check_where(where)
    if similar_to is not None and candidates is not None:
        raise InvalidArgument("similar_to", "names the candidates, and so does candidates: give one of them")
    return RetrieveRequest(
        profile=check_profile(profile),
        user=user,
        session=who,
        session_weights=check_session_weights(session_weights),
        similar_to=None if similar_to is None else check_id(similar_to, "similar_to"),
        candidates=None if candidates is None else _given(candidates),
        # A cursor knows whom its feed is for.
        where=condition if cursor is not None else check_state(condition, user, who),
        collections=None if collections is None else check_names(collections, "collections"),
        diversity=Diversity.of(diversity),
        seed=_seed(seed),
        limit=check_count(limit, "limit", 1, PAGE_LIMIT),
        cursor=cursor,
        explain=explain,
        as_of=check_as_of(as_of),
    )


def restored(asked: dict[str, Any], request: RetrieveRequest) -> RetrieveRequest:
    """Return the request that a feed began with, at the limit of this one.

    Raises
    ------
    InvalidArgument
        This one asks for something else.
    """
    ours, plain = request.asked(), RetrieveRequest().asked()
    for name, value in ours.items():
        before = tuple(asked[name]) if isinstance(asked[name], list) else asked[name]
        if value not in (plain[name], before):
            raise InvalidArgument(
                "cursor",
                f"is of a feed with another {name}: leave it out, or begin a new feed without a cursor",
            )
    return RetrieveRequest(
        profile=asked["profile"],
        user=asked["user"],
        session=asked["session"],
        session_weights=SessionWeights(**asked["session_weights"]),
        similar_to=asked["similar_to"],
        candidates=None if asked["candidates"] is None else tuple(asked["candidates"]),
        where=None if asked["where"] is None else parse_filter(asked["where"]),
        collections=None if asked["collections"] is None else tuple(asked["collections"]),
        diversity=Diversity.of(asked["diversity"]),
        seed=asked["seed"],
        limit=request.limit,
        cursor=request.cursor,
        explain=request.explain,
        as_of=request.as_of,
    )


def _given(candidates: object) -> tuple[str, ...]:
    given = check_names(candidates, "candidates")
    if len(given) > MOST_GIVEN:
        raise InvalidArgument("candidates", f"has {len(given):,} ids: give at most {MOST_GIVEN:,}")
    return given


def _seed(seed: object) -> str | None:
    if seed is None or (isinstance(seed, int) and not isinstance(seed, bool)):
        return None if seed is None else str(seed)
    if isinstance(seed, str):
        return check_text(seed, "seed")
    raise InvalidArgument("seed", f"must be a whole number or a string, not {quoted(seed)}")


NEUTRAL: dict[str, Any] = {
    "facets": (),
}
"""Parameters whose feature does not exist yet, and the only value that they take."""
