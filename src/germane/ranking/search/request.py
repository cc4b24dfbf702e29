"""Stage 0: what was asked for, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from germane.log.past import check_as_of
from germane.model.errors import InvalidArgument, quoted
from germane.model.filters import Filter
from germane.model.items import check_lang
from germane.model.values import check_choice, check_count, check_id, check_names, check_share, neutral
from germane.model.weights import SearchWeights, SessionWeights
from germane.ranking.asked import (
    check_profile,
    check_session,
    check_session_weights,
    check_state,
    check_where,
)
from germane.ranking.session import Asked
from germane.sessions.session import Session

BY_TEXT = "search"
"""The profile that ranks by text alone."""
PERSONALIZATION = 0.3
"""How much behaviour counts when a query does not say."""
MODES = ("sections", "stats")


class SearchRequest(Asked, frozen=True, kw_only=True):
    """A checked SEARCH.

    Parameters
    ----------
    text : str
        The query; characters that cannot be encoded are replaced.
    mode : {"sections", "stats"}
    where : Filter or None
    collections : tuple of str, or None
    needs_all : bool
        Whether ``match="all"`` was asked for.
    weights : SearchWeights
    lang : str or None
        The only language to analyse the query in.
    offset, limit : int
    explain : bool
    user, session, session_weights
        As in `Asked`.
    as_of : int, datetime or None
        The point of the past to answer at.
    profile : str
        ``search``, or the profile whose base is added to the best by text.
    personalization : float
        How much of it, 0 to 1.
    rerank : int
        How many of the best by text it is added to.
    """

    text: str
    mode: str
    where: Filter | None
    collections: tuple[str, ...] | None
    needs_all: bool
    weights: SearchWeights
    lang: str | None
    offset: int
    limit: int
    explain: bool
    as_of: int | datetime | None = None
    profile: str = BY_TEXT
    personalization: float = PERSONALIZATION
    rerank: int = 1000


def search_request(
    text: str,
    *,
    mode: str,
    where: str | Filter | None,
    collections: Sequence[str] | None,
    match: str,
    weights: SearchWeights | None,
    lang: str | None,
    offset: int,
    limit: int,
    explain: bool,
    user: str | None,
    session: Session | str | None,
    session_weights: SessionWeights | None,
    as_of: int | datetime | None,
    algo: str,
    scorer: str,
    aggregate: str,
    typos: bool,
    profile: str,
    personalization: float | None,
    rerank: int,
    **later: Any,
) -> SearchRequest:
    """Check the arguments of a search.

    Raises
    ------
    InvalidArgument
        The error names the parameter.
    QuerySyntaxError
        `where` does not parse.
    """
    if not isinstance(text, str):
        raise InvalidArgument("text", f"must be a string, not {type(text).__name__}")
    if mode == "documents":
        neutral(mode=(mode, "sections"))
    if weights is not None and not isinstance(weights, SearchWeights):
        raise InvalidArgument("weights", f"must be SearchWeights, not {type(weights).__name__}")
    for name, flag in (("explain", explain), ("typos", typos)):
        if not isinstance(flag, bool):
            raise InvalidArgument(name, f"must be True or False, not {quoted(flag)}")
    neutral(
        algo=(algo, "text"),
        scorer=(scorer, "bm25f"),
        aggregate=(aggregate, "sum"),
        **{name: (value, NEUTRAL[name]) for name, value in later.items()},
    )
    user, who = None if user is None else check_id(user, "user"), check_session(session)
    return SearchRequest(
        text=encodable(text),
        mode=check_choice(mode, "mode", MODES),
        where=check_state(check_where(where), user, who),
        collections=None if collections is None else check_names(collections, "collections"),
        needs_all=check_choice(match, "match", ("any", "all")) == "all",
        weights=weights or SearchWeights(),
        lang=check_lang(lang),
        offset=check_count(offset, "offset", 0),
        limit=check_count(limit, "limit", 1, 1000),
        explain=explain,
        user=user,
        session=who,
        session_weights=check_session_weights(session_weights),
        as_of=check_as_of(as_of),
        profile=check_profile(profile),
        personalization=check_share(personalization, "personalization", PERSONALIZATION),
        rerank=check_count(rerank, "rerank", 1, 10_000),
    )


def encodable(text: str) -> str:
    """Return a text with what cannot be encoded replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


NEUTRAL: dict[str, Any] = {
    "facets": (),
    "sort_by": None,
    "vector": None,
}
"""Parameters of a search whose feature does not exist yet, and the only value that they take."""
