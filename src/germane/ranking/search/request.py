"""Stage 0: what was asked for, checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from germane.log.past import check_as_of
from germane.model.errors import InvalidArgument, quoted
from germane.model.filters import Filter
from germane.model.items import check_lang
from germane.model.values import check_choice, check_count, check_id, check_names, check_share, neutral
from germane.model.weights import SearchWeights
from germane.ranking.asked import (
    check_profile,
    check_session,
    check_session_weights,
    check_state,
    check_where,
)
from germane.ranking.session import Asked

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

    text: str = ""
    mode: str = "sections"
    where: Filter | None = None
    collections: tuple[str, ...] | None = None
    needs_all: bool = False
    weights: SearchWeights = SearchWeights()
    lang: str | None = None
    offset: int = 0
    limit: int = 20
    explain: bool = False
    as_of: int | datetime | None = None
    profile: str = BY_TEXT
    personalization: float = PERSONALIZATION
    rerank: int = 1000


def search_request(text: str, **given: Any) -> SearchRequest:
    """Check the arguments of a search.

    Parameters
    ----------
    text : str
    **given
        The others, as `Database.search` names them; what is left out has its default, which takes no time.

    Raises
    ------
    InvalidArgument
        The error names the parameter.
    QuerySyntaxError
        `where` does not parse.
    """
    if not isinstance(text, str):
        raise InvalidArgument("text", f"must be a string, not {type(text).__name__}")
    asked: dict[str, Any] = {}
    for name, value in given.items():
        if name in NEUTRAL:
            neutral(**{name: (value, NEUTRAL[name])})
        else:
            field, check = _CHECKS[name]
            asked[field] = check(value)
    asked.pop("typos", None)
    if "where" in asked:
        check_state(asked["where"], asked.get("user"), asked.get("session"))
    return replace(_DEFAULT, text=encodable(text), **asked)


def _check_mode(mode: object) -> str:
    if mode == "documents":
        neutral(mode=(mode, "sections"))
    return check_choice(mode, "mode", MODES)


def _check_weights(weights: object) -> SearchWeights:
    if weights is not None and not isinstance(weights, SearchWeights):
        raise InvalidArgument("weights", f"must be SearchWeights, not {type(weights).__name__}")
    return weights or SearchWeights()


def _check_flag(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(field, f"must be True or False, not {quoted(value)}")
    return value


def encodable(text: str) -> str:
    """Return a text with what cannot be encoded replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


NEUTRAL: dict[str, Any] = {
    "algo": "text",
    "scorer": "bm25f",
    "aggregate": "sum",
    "facets": (),
    "sort_by": None,
    "vector": None,
}
"""Parameters of a search whose feature does not exist yet, and the only value that they take."""

_CHECKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "mode": ("mode", _check_mode),
    "user": ("user", lambda user: None if user is None else check_id(user, "user")),
    "session": ("session", check_session),
    "profile": ("profile", check_profile),
    "personalization": (
        "personalization",
        lambda share: check_share(share, "personalization", PERSONALIZATION),
    ),
    "where": ("where", check_where),
    "collections": (
        "collections",
        lambda names: None if names is None else check_names(names, "collections"),
    ),
    "match": ("needs_all", lambda match: check_choice(match, "match", ("any", "all")) == "all"),
    "weights": ("weights", _check_weights),
    "session_weights": ("session_weights", check_session_weights),
    "rerank": ("rerank", lambda rerank: check_count(rerank, "rerank", 1, 10_000)),
    "typos": ("typos", lambda typos: _check_flag(typos, "typos")),
    "lang": ("lang", check_lang),
    "offset": ("offset", lambda offset: check_count(offset, "offset", 0)),
    "limit": ("limit", lambda limit: check_count(limit, "limit", 1, 1000)),
    "explain": ("explain", lambda explain: _check_flag(explain, "explain")),
    "as_of": ("as_of", check_as_of),
}
"""For each other parameter the field of a request that it becomes, and what checks it."""

_DEFAULT = SearchRequest()
