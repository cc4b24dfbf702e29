"""SEARCH: the pipeline from a request to a page, over one snapshot of the store."""

from __future__ import annotations

import time
import uuid

from germane.model.pages import Page, Result, SearchStats
from germane.model.weights import SearchWeights
from germane.ranking.asked import find_profile
from germane.ranking.audience import Audience
from germane.ranking.behaviour.readings import Readings
from germane.ranking.moment import Moment
from germane.ranking.search.boosted import boosted
from germane.ranking.search.candidates import find_candidates
from germane.ranking.search.order import Ordered
from germane.ranking.search.page import results, search_stats
from germane.ranking.search.request import SearchRequest
from germane.ranking.search.rerank import (
    Behaviour,
    of_profile_named,
    of_taste,
    personalised,
    reranked,
)
from germane.ranking.search.score import Scorer
from germane.ranking.session import Boost, missing
from germane.sessions.context import Context
from germane.text.index import Index
from germane.text.match import conditions
from germane.text.plan import make_plan
from germane.text.scoring import Scoring
from germane.text.top import top_of_words

_WEIGHTS = SearchWeights()


def search(
    moment: Moment,
    request: SearchRequest,
    audience: Audience,
    readings: Readings | None = None,
    context: Context | None = None,
) -> Page:
    """Answer a search.

    Parameters
    ----------
    moment : Moment
        The store, now or in the past; its catalogue is asked only by a filter.
    request : SearchRequest
    audience : Audience
        Whom the request is for.
    readings : Readings, optional
        Needed by a request with a profile of behaviour.
    context : Context, optional
        The request's session.

    Raises
    ------
    InvalidArgument
        There is no such profile.
    """
    began = time.perf_counter()
    index = moment.index
    candidates = find_candidates(moment, request, audience)
    scorer, total = Scorer(candidates), candidates.matches.total
    items: tuple[Result, ...] = ()
    stats: SearchStats | None = None
    scale: float | None = None
    if request.mode == "stats":
        stats = search_stats(scorer, request.text, _milliseconds(began))
    else:
        boost = moment.boost(context, request.session_weights)
        found = ordered(scorer, request, audience, readings, request.offset + request.limit, boost)
        items, scale = (
            results(moment.connection, scorer, request, found.after(request.offset), boost),
            found.scale,
        )
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
        scale=scale,
        session=None if context is None else context.summary,
        degraded=missing(request, context),
    )


def top(
    moment: Moment,
    request: SearchRequest,
    audience: Audience,
    readings: Readings | None = None,
    context: Context | None = None,
) -> tuple[list[str], list[float]]:
    """Answer a search with ids and scores alone."""
    index = moment.index
    scorer = Scorer(find_candidates(moment, request, audience))
    boost = moment.boost(context, request.session_weights)
    found = ordered(scorer, request, audience, readings, request.offset + request.limit, boost)
    found = found.after(request.offset)
    return index.ids(found.rows.tolist()), found.scores.tolist()


def top_by_text(index: Index, text: str, wanted: int) -> tuple[list[str], list[float]] | None:
    """Answer a search that is for nobody and gives nothing but a text, as `top` does, from the index alone.

    Returns
    -------
    tuple of (list of str, list of float), or None
        None when the text asks for what the tables know: tags, types, documents.
    """
    found = top_of_words(index, text, wanted)
    if found is not None:
        return found
    plan = make_plan(text, index.langs or (index.lang,))
    if plan.filters or plan.excluded:
        return None
    allowed = None if plan.words and not plan.must and not plan.must_not else conditions(index, plan)
    best = Scoring(index, plan, _WEIGHTS, 0, allowed).best_pairs(wanted)
    return index.ids([row for _, row in best]), [score for score, _ in best]


def ordered(
    scorer: Scorer,
    request: SearchRequest,
    audience: Audience,
    readings: Readings | None,
    wanted: int,
    boost: Boost | None = None,
) -> Ordered:
    """Return the best matches, in order."""
    if boost is not None:
        behaviour = _behaviour(request, audience, readings)
        return boosted(scorer, wanted, boost, audience.muted, behaviour, request.rerank)
    if readings is None:
        return personalised(scorer, wanted, audience, request.personalization, request.rerank)
    profile = find_profile(readings.connection, request.profile, readings.audience)
    return reranked(
        scorer, wanted, readings, profile, request.profile, request.personalization, request.rerank
    )


def _behaviour(request: SearchRequest, audience: Audience, readings: Readings | None) -> Behaviour | None:
    """Return what a search adds of behaviour."""
    if readings is None:
        return of_taste(audience, request.personalization)
    profile = find_profile(readings.connection, request.profile, readings.audience)
    return of_profile_named(readings, profile, request.profile, request.personalization)


def _milliseconds(began: float) -> float:
    return (time.perf_counter() - began) * 1000
