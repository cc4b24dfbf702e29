"""Explaining a search: why an item stands where it stands, or why it is not there."""

from __future__ import annotations

import numpy as np

from germane.knowledge.selection import select
from germane.model.errors import NotFound
from germane.model.filters import And, Filter
from germane.model.pages import Explanation, Reason
from germane.ranking.audience import MUTED, Audience, filtered, hard_negative
from germane.ranking.behaviour.readings import Readings
from germane.ranking.moment import Moment
from germane.ranking.search.candidates import Candidates, find_candidates
from germane.ranking.search.page import results
from germane.ranking.search.pipeline import ordered
from germane.ranking.search.request import SearchRequest
from germane.ranking.search.score import Scorer
from germane.sessions.context import Context
from germane.text.fields import FIELDS
from germane.text.index import Index


def explain_search(
    id: str,
    moment: Moment,
    request: SearchRequest,
    audience: Audience,
    readings: Readings | None = None,
    context: Context | None = None,
) -> Explanation:
    """Return why an item stands where it stands in a search, or what keeps it out.

    Parameters
    ----------
    id : str
    moment, request, audience, readings, context
        As `pipeline.search` takes them.

    Raises
    ------
    NotFound
        There never was such an item.
    """
    index, connection = moment.index, moment.connection
    found = connection.execute("SELECT ordinal, live, creator FROM item WHERE id = ?", (id,)).fetchone()
    if found is None:
        raise NotFound(f"there is no item {id!r}")
    ordinal, is_live, creator = found
    candidates = find_candidates(moment, request, audience)
    total = candidates.matches.total
    if not is_live:
        return _absent(id, total, Reason("NotLive", {"detail": "the item was deleted, or never put"}))
    scorer = Scorer(candidates)
    boost = moment.boost(context, request.session_weights)
    everything = ordered(scorer, request, audience, readings, max(total, 1), boost)
    place = np.flatnonzero(index.ordinals_of(everything.rows) == ordinal)
    if not len(place):
        why = _kept_out(id, creator, ordinal, moment, request, audience)
        return _absent(id, total, why or _no_match(index, candidates, ordinal))
    rank = int(place[0]) + 1
    (result,) = results(connection, scorer, request, everything.after(rank - 1).first(1), boost)
    lengths = index.lengths_of(everything.rows[rank - 1 : rank])[0].tolist()
    return Explanation(
        id=id,
        ranked=True,
        rank=rank,
        total=total,
        raw=result.raw,
        score=result.score,
        contributions=result.contributions,
        reasons=(*result.reasons, MUTED) if ordinal in audience.muted else result.reasons,
        absence=(Reason("BeyondPage", {"rank": rank, "limit": request.limit}),)
        if rank > request.limit
        else (),
        token_count=sum(lengths),
        field_token_counts=dict(zip(FIELDS, lengths, strict=True)),
    )


def _kept_out(
    id: str,
    creator: str | None,
    ordinal: int,
    moment: Moment,
    request: SearchRequest,
    audience: Audience,
) -> Reason | None:
    """Return what keeps an item out whether it matches or not."""
    connection = moment.connection
    if request.collections is not None:
        collection = connection.execute("SELECT collection FROM item WHERE ordinal = ?", (ordinal,)).get
        if collection not in request.collections:
            return Reason("Filter", {"collection": str(collection), "collections": request.collections})
    if request.where is not None:
        catalog = moment.catalog
        for part in _parts(request.where):
            if not select(connection, catalog, part, audience.state)[ordinal]:
                return filtered(part)
    return hard_negative(audience, id, creator)


def _no_match(index: Index, candidates: Candidates, ordinal: int) -> Reason:
    row = np.flatnonzero((index.ordinals == ordinal) & index.alive)
    if not len(row):
        return Reason("NoMatch", {"detail": "it has no text that is indexed", "lacks": ()})
    held = candidates.matches.details(row).tf[0].any(axis=1).tolist()
    lacks = tuple(
        word.surface for word, is_held in zip(candidates.plan.words, held, strict=True) if not is_held
    )
    detail = (
        f"its text lacks {', '.join(lacks)}" if lacks else "it fails a phrase, sign or field of the query"
    )
    return Reason("NoMatch", {"detail": detail, "lacks": lacks})


def _parts(condition: Filter) -> tuple[Filter, ...]:
    return condition.parts if isinstance(condition, And) else (condition,)


def _absent(id: str, total: int, why: Reason) -> Explanation:
    return Explanation(id=id, ranked=False, rank=None, total=total, raw=None, score=None, absence=(why,))
