"""Explaining a search: why an item stands where it stands, or why it is not there."""

from __future__ import annotations

import apsw
import numpy as np

from germane.knowledge.catalog import CatalogView
from germane.knowledge.selection import select
from germane.model.errors import NotFound
from germane.model.filters import And, Filter
from germane.model.pages import Explanation, Reason
from germane.model.times import Micros
from germane.ranking.behaviour.readings import Readings
from germane.ranking.candidates import Candidates, find_candidates
from germane.ranking.page import results
from germane.ranking.request import SearchRequest
from germane.ranking.score import Scorer
from germane.ranking.search import ordered
from germane.text.fields import FIELDS
from germane.text.index import Index


def explain_search(
    id: str,
    index: Index,
    catalogs: CatalogView,
    connection: apsw.Connection,
    request: SearchRequest,
    now: Micros,
    readings: Readings | None = None,
) -> Explanation:
    """Return why an item stands where it stands in a search, or what keeps it out.

    Parameters
    ----------
    id : str
    index, catalogs, connection, request, now, readings
        As `search.search` takes them.

    Raises
    ------
    NotFound
        There never was such an item.
    """
    found = connection.execute("SELECT ordinal, live FROM item WHERE id = ?", (id,)).fetchone()
    if found is None:
        raise NotFound(f"there is no item {id!r}")
    ordinal, is_live = found
    candidates = find_candidates(index, catalogs, connection, request)
    total = len(candidates.matches.rows)
    if not is_live:
        return _absent(id, total, Reason("NotLive", {"detail": "the item was deleted, or never put"}))
    scorer = Scorer(index, candidates, request.weights, now)
    everything = ordered(scorer, request, readings, max(total, 1))
    place = np.flatnonzero(index.ordinals[everything.rows] == ordinal)
    if not len(place):
        return _absent(id, total, _why_not(index, catalogs, connection, request, candidates, ordinal))
    rank = int(place[0]) + 1
    (result,) = results(connection, scorer, request, everything.after(rank - 1).first(1))
    lengths = index.lengths[everything.rows[rank - 1]].tolist()
    return Explanation(
        id=id,
        ranked=True,
        rank=rank,
        total=total,
        raw=result.raw,
        score=result.score,
        contributions=result.contributions,
        reasons=result.reasons,
        absence=(Reason("BeyondPage", {"rank": rank, "limit": request.limit}),)
        if rank > request.limit
        else (),
        token_count=sum(lengths),
        field_token_counts=dict(zip(FIELDS, lengths, strict=True)),
    )


def _why_not(
    index: Index,
    catalogs: CatalogView,
    connection: apsw.Connection,
    request: SearchRequest,
    candidates: Candidates,
    ordinal: int,
) -> Reason:
    if request.collections is not None:
        collection = connection.execute("SELECT collection FROM item WHERE ordinal = ?", (ordinal,)).get
        if collection not in request.collections:
            return Reason("Filter", {"collection": str(collection), "collections": request.collections})
    if request.where is not None:
        catalog = catalogs.at(connection)
        for part in _parts(request.where):
            if not select(connection, catalog, part)[ordinal]:
                return Reason("Filter", {"filter": str(part)})
    row = np.flatnonzero(index.ordinals == ordinal)
    if not len(row):
        return Reason("NoMatch", {"detail": "the item has no text that is indexed"})
    words = candidates.plan.words
    held = [len(postings.at(row)[0][0].nonzero()[0]) > 0 for postings in candidates.matches.postings]
    lacks = tuple(word.surface for word, is_held in zip(words, held, strict=True) if not is_held)
    return Reason("NoMatch", {"lacks": lacks, "words": tuple(word.surface for word in words)})


def _parts(condition: Filter) -> tuple[Filter, ...]:
    return condition.parts if isinstance(condition, And) else (condition,)


def _absent(id: str, total: int, why: Reason) -> Explanation:
    return Explanation(id=id, ranked=False, rank=None, total=total, raw=None, score=None, absence=(why,))
