"""What a query returns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from germane.model.frozen import FrozenDict, frozen
from germane.model.sessions import SessionSummary
from germane.model.values import Value


class Degradation(msgspec.Struct, frozen=True):
    """Something that a page had to do without.

    Parameters
    ----------
    code : str
        What, in one word.
    detail : str
        Why, and what would help.
    """

    code: str
    detail: str


class Reason(msgspec.Struct, frozen=True):
    """Why an item stands where it stands.

    Parameters
    ----------
    code : str
        The kind of reason, such as ``TextMatch``.
    detail : mapping
        Its numbers.
    """

    code: str
    detail: Mapping[str, Any]

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "detail", frozen(self.detail))


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One ranked item.

    Parameters
    ----------
    id, rev : str
        The item and its current revision.
    docids : tuple of str
        The documents that list it.
    kind, type : str
        Its kind, and the MIME type of its body.
    title, heading : str or None
        Its title, under both its names; None without one.
    level : int or None
        Depth of its heading in its first document.
    path : str or None
        Source of its first document.
    heading_path : tuple of str
        Its heading there and those that enclose it, outermost first.
    lines : tuple of (int, int), or None
        First and last line there, counted from 1.
    creator, collection, tags, metadata, created_at
        As put.
    snippet : str
        About 150 characters around the best match.
    highlights : tuple of (int, int)
        Offsets of matched words in the snippet: start, and end (exclusive).
    matched_terms : tuple of str
        The query's words that it holds, in query order.
    score, raw, text_score : float
        `raw` is what orders. For SEARCH `score` is the same; for RETRIEVE it says where `raw` lies among all
        candidates, 0 to 1, and there is no text to score.
    contributions : dict
        Name to number, in order; `raw` is their left-to-right sum.
    reasons : tuple of Reason
        Only with ``explain=True``.
    references : tuple
        Empty in this version.
    """

    id: str
    rev: str
    docids: tuple[str, ...]
    kind: str
    type: str
    title: str | None
    heading: str | None
    level: int | None
    path: str | None
    heading_path: tuple[str, ...]
    lines: tuple[int, int] | None
    creator: str | None
    collection: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Value]
    created_at: datetime
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    matched_terms: tuple[str, ...]
    score: float
    raw: float
    text_score: float
    contributions: dict[str, float]
    reasons: tuple[Reason, ...] = ()
    references: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if type(self.metadata) is not FrozenDict:
            msgspec.structs.force_setattr(self, "metadata", frozen(self.metadata))
        if type(self.contributions) is not FrozenDict:
            msgspec.structs.force_setattr(self, "contributions", FrozenDict(self.contributions))


class TermStat(msgspec.Struct, frozen=True):
    """One word of a query in mode ``stats``.

    Parameters
    ----------
    term : str
        The folded word.
    frequency : int
        Its occurrences in the matching sections.
    sections_matched : int
        How many of these hold it.
    """

    term: str
    frequency: int
    sections_matched: int


class SearchStats(msgspec.Struct, frozen=True):
    """What mode ``stats`` returns in place of items.

    Parameters
    ----------
    total_matches : int
        Sections that match.
    query_time_ms : float
        Time the query took, in milliseconds.
    top_terms : tuple of TermStat
        The query's words by frequency, then by term.
    query : str
        The query as given.
    """

    total_matches: int
    query_time_ms: float
    top_terms: tuple[TermStat, ...]
    query: str


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page of ranked results.

    Parameters
    ----------
    id : str
        Names the page, for feedback on what it showed.
    items : tuple of Result
        The results, best first.
    total : int
        Exact number of matches.
    offset, limit : int
        As asked for.
    has_more : bool
        Whether anything follows.
    cursor : str or None
        Names what is left of a feed; None at its end, and for SEARCH.
    took_ms : float
        Time it took, in milliseconds.
    as_of : int
        Position in the log that it reflects.
    scale : float or None
        What the terms of the session were multiplied by; None without a session.
    loosened : bool
        Whether ``match="all"`` found nothing and any word had to do.
    constraints_satisfied : bool
        Whether no limit had to be relaxed to fill the page.
    held_back : dict
        For each limit of diversity how many items it kept off the page; they are first in line for the next.
    session : SessionSummary or None
        The session that it was ranked for.
    corrections, suggestions, facets, references, retrieval_verdict
        Neutral in this version.
    stats : SearchStats or None
        In mode ``stats``.
    degraded : tuple of Degradation
        What the page had to do without.
    """

    id: str
    items: tuple[Result, ...]
    total: int
    offset: int
    limit: int
    has_more: bool
    took_ms: float
    as_of: int
    cursor: str | None = None
    scale: float | None = None
    loosened: bool = False
    corrections: dict[str, tuple[str, ...]] = msgspec.field(default_factory=FrozenDict)
    suggestions: tuple[str, ...] = ()
    facets: dict[str, dict[str, int]] = msgspec.field(default_factory=FrozenDict)
    stats: SearchStats | None = None
    constraints_satisfied: bool = True
    held_back: dict[str, int] = msgspec.field(default_factory=FrozenDict)
    degraded: tuple[Degradation, ...] = ()
    session: SessionSummary | None = None
    references: tuple[Any, ...] = ()
    retrieval_verdict: str | None = None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why an item stands where it stands in a ranking, or why it is not there.

    Parameters
    ----------
    id : str
        The item.
    ranked : bool
        Whether it is among what is ranked at all.
    rank : int or None
        From 1; None when it is not ranked.
    total : int
        How many are ranked.
    raw, score : float or None
        As in a result.
    contributions : dict
        Name to number, in order; `raw` is their left-to-right sum. Also of an item that is left out, where it
        can be computed.
    reasons : tuple of Reason
        Of its sum.
    absence : tuple of Reason
        Why it is not on the page: ``NotLive``, ``NotACandidate``, ``Filter``, ``Gate``, ``NoMatch``,
        ``BeyondPage``, with what was asked and what the item has.
    token_count : int or None
        Of a text's ranking: tokens of the item.
    field_token_counts : dict
        The same by field.
    """

    id: str
    ranked: bool
    rank: int | None
    total: int
    raw: float | None
    score: float | None
    contributions: dict[str, float] = msgspec.field(default_factory=FrozenDict)
    reasons: tuple[Reason, ...] = ()
    absence: tuple[Reason, ...] = ()
    token_count: int | None = None
    field_token_counts: dict[str, int] = msgspec.field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "contributions", FrozenDict(self.contributions))
        msgspec.structs.force_setattr(self, "field_token_counts", FrozenDict(self.field_token_counts))
