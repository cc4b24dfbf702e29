"""SEARCH: the pipeline from a request to a page, over one snapshot of the store."""

from __future__ import annotations

import time
import uuid

import apsw

from germane.knowledge.catalog import CatalogView
from germane.model.pages import Page, Result, SearchStats
from germane.model.times import Micros
from germane.ranking.audience import Audience
from germane.ranking.candidates import find_candidates
from germane.ranking.order import Ordered, best
from germane.ranking.page import results, search_stats
from germane.ranking.request import SearchRequest
from germane.ranking.score import Scorer
from germane.text.index import Index


def search(
    index: Index,
    catalogs: CatalogView,
    connection: apsw.Connection,
    request: SearchRequest,
    now: Micros,
    audience: Audience,
) -> Page:
    """Answer a search.

    Parameters
    ----------
    index : Index
        At the position that the connection sees.
    catalogs : CatalogView
        Asked for a catalogue if the request has a filter.
    connection : apsw.Connection
        Inside a read transaction.
    request : SearchRequest
    now : int
        Microseconds since the epoch.
    audience : Audience
        Whom the request is for.
    """
    began = time.perf_counter()
    candidates = find_candidates(index, catalogs, connection, request, audience)
    scorer = Scorer(index, candidates, request.weights, now)
    total = len(candidates.matches.rows)
    items: tuple[Result, ...] = ()
    stats: SearchStats | None = None
    if request.mode == "stats":
        stats = search_stats(scorer, request.text, _milliseconds(began))
    else:
        ordered = best(scorer, request.offset + request.limit, audience.muted)
        shown = Ordered(ordered.rows[request.offset :], ordered.scores[request.offset :])
        items = results(connection, scorer, request, shown)
    return Page(
        id=uuid.uuid4().hex,
        items=items,
        total=total,
        offset=request.offset,
        limit=request.limit,
        has_more=request.mode != "stats" and request.offset + len(items) < total,
        took_ms=_milliseconds(began),
        as_of=index.seq,
        loosened=candidates.loosened,
        stats=stats,
    )


def top(
    index: Index,
    catalogs: CatalogView,
    connection: apsw.Connection,
    request: SearchRequest,
    now: Micros,
    audience: Audience,
) -> tuple[list[str], list[float]]:
    """Answer a search with ids and scores alone."""
    candidates = find_candidates(index, catalogs, connection, request, audience)
    scorer = Scorer(index, candidates, request.weights, now)
    ordered = best(scorer, request.offset + request.limit, audience.muted)
    rows = ordered.rows[request.offset :].tolist()
    return [index.id(row) for row in rows], ordered.scores[request.offset :].tolist()


def _milliseconds(began: float) -> float:
    return (time.perf_counter() - began) * 1000
