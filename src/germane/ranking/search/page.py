"""Stage 4: the page that people receive: results, snippets, contributions, reasons."""

from __future__ import annotations

from typing import Any

import apsw
import numpy as np

from germane.log.content import Row, item_by_ordinal, readable
from germane.model.pages import Reason, Result, SearchStats, TermStat
from germane.ranking.result import added, result
from germane.ranking.search.order import Ordered
from germane.ranking.search.request import SearchRequest
from germane.ranking.search.rerank import AFFINITY, PREFERENCE
from germane.ranking.search.score import Scorer
from germane.ranking.session import TERMS, Boost
from germane.ranking.session import reasons as reasons_of_session
from germane.text.arrays import SmallArray
from germane.text.bm25f import idf
from germane.text.fields import FIELDS, field_texts
from germane.text.snippet import snippet

_CODES = {PREFERENCE: "PreferenceMatch", AFFINITY: "CreatorAffinity"}
"""What the taste of the user added, as reasons."""


def results(
    connection: apsw.Connection,
    scorer: Scorer,
    request: SearchRequest,
    ordered: Ordered,
    boost: Boost | None = None,
) -> tuple[Result, ...]:
    """Return the results of some ordered rows."""
    details = scorer.matches.details(ordered.rows)
    columns = scorer.columns(ordered.rows, details)
    lengths = scorer.index.lengths_of(ordered.rows)
    ordinals = scorer.index.ordinals_of(ordered.rows).tolist()
    made = []
    for at, ordinal in enumerate(ordinals):
        contributions = {
            column.name: float(column.values[at])
            for column in columns
            if column.applies is None or column.applies[at]
        }
        text_score = added(contributions)
        counts = details.tf[at]
        item = item_by_ordinal(connection, ordinal)
        why = [_text_match(scorer, lengths[at], counts)] if request.explain and scorer.plan.words else []
        for column in ordered.behaviour:
            if column.applies is None or column.applies[at]:
                added_by = contributions[column.name] = float(column.values[at])
                if column.name in TERMS:
                    continue
                if request.explain and (added_by or column.name not in _CODES):
                    code = _CODES.get(column.name, "SignalBoost")
                    why.append(Reason(code, {"term": column.name, "contribution": added_by}))
        if request.explain:
            why += reasons_of_session(contributions, boost, item.ordinal)
        with readable(item.id):
            made.append(_result(connection, scorer, item, contributions, text_score, counts, tuple(why)))
    return tuple(made)


def search_stats(scorer: Scorer, text: str, took_ms: float) -> SearchStats:
    """Return what mode ``stats`` says of the matches."""
    matches = scorer.matches
    tf = matches.details(matches.rows).tf.sum(axis=2, dtype=np.int64)
    terms = [
        TermStat(word.name, int(count.sum()), int(np.count_nonzero(count)))
        for word, count in zip(scorer.plan.words, tf.T, strict=True)
    ]
    terms.sort(key=lambda stat: (-stat.frequency, stat.term))
    return SearchStats(matches.total, took_ms, tuple(terms), text)


def _result(
    connection: apsw.Connection,
    scorer: Scorer,
    item: Row,
    contributions: dict[str, float],
    text_score: float,
    counts: SmallArray,
    reasons: tuple[Reason, ...],
) -> Result:
    words = scorer.plan.words
    texts = field_texts(item.type, item.title, item.description, item.body)
    best, field = _best(scorer, contributions)
    shown, highlights = snippet(texts, item.lang or scorer.index.lang, [w.terms for w in words], best, field)
    raw = added(contributions)
    return result(
        connection,
        item,
        snippet=shown,
        highlights=highlights,
        matched_terms=tuple(word.surface for word, count in zip(words, counts, strict=True) if count.any()),
        score=raw,
        raw=raw,
        text_score=text_score,
        contributions=contributions,
        reasons=reasons,
    )


def _best(scorer: Scorer, contributions: dict[str, float]) -> tuple[int | None, int]:
    """Return which word scores highest here, and in which field; the first of equals."""
    best: int | None = None
    field, most = 0, -1.0
    for number, word in enumerate(scorer.plan.words):
        for which, name in enumerate(FIELDS):
            value = contributions.get(f"text.{word.name}.{name}", -1.0)
            if value > most:
                best, field, most = number, which, value
    return best, field


def _text_match(scorer: Scorer, lengths: SmallArray, counts: SmallArray) -> Reason:
    statistics = scorer.index.statistics
    detail: dict[str, Any] = {
        "sections": statistics.sections,
        "lengths": dict(zip(FIELDS, lengths.tolist(), strict=True)),
        "average_lengths": {field: statistics.average_length(which) for which, field in enumerate(FIELDS)},
        "words": {
            word.name: {
                "df": df,
                "idf": idf(statistics.sections, df),
                "tf": dict(zip(FIELDS, count.tolist(), strict=True)),
            }
            for word, df, count in zip(scorer.plan.words, scorer.matches.df, counts, strict=True)
            if count.any()
        },
    }
    return Reason("TextMatch", detail)
