"""Stage 4: the page that people receive: results, snippets, contributions, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import numpy as np

from germane.log.content import UNREADABLE, items_by_ordinals, unreadable
from germane.model.pages import Reason, Result, SearchStats, TermStat
from germane.ranking.result import added, result
from germane.ranking.search.order import Ordered
from germane.ranking.search.request import SearchRequest
from germane.ranking.search.rerank import AFFINITY, PREFERENCE
from germane.ranking.search.score import Column, Scorer
from germane.ranking.session import TERMS, Boost
from germane.ranking.session import reasons as reasons_of_session
from germane.text.arrays import IntArray, SmallArray
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
    if not len(ordered.rows):
        return ()
    words, lang = scorer.plan.words, scorer.index.lang
    details = scorer.matches.details(ordered.rows)
    terms = tuple(word.terms for word in words)
    surfaces = [word.surface for word in words]
    by_text = [_listed(column) for column in scorer.columns(ordered.rows, details)]
    by_behaviour = [_listed(column) for column in ordered.behaviour]
    places = {
        f"text.{word.name}.{field}": (number, which)
        for number, word in enumerate(words)
        for which, field in enumerate(FIELDS)
    }
    holds: list[list[bool]] = np.any(details.tf, axis=2).tolist()
    made = []
    items = items_by_ordinals(connection, scorer.index.ordinals_of(ordered.rows).tolist())
    for at, (item, listed) in enumerate(items):
        contributions = _contributions(by_text, at)
        best, field = _best(contributions, places)
        raw = text_score = added(contributions)
        if by_behaviour:
            contributions.update(_contributions(by_behaviour, at))
            raw = added(contributions)
        why: tuple[Reason, ...] = ()
        if request.explain:
            why = (
                *([_text_match(scorer, ordered.rows[at : at + 1], details.tf[at])] if words else ()),
                *_of_behaviour(contributions, by_behaviour),
                *reasons_of_session(contributions, boost, item.ordinal),
            )
        try:
            texts = field_texts(item.type, item.title, item.description, item.body)
            shown, highlights = snippet(texts, item.lang or lang, terms, best, field)
            made.append(
                result(
                    item,
                    listed,
                    snippet=shown,
                    highlights=highlights,
                    matched_terms=tuple(
                        surface for surface, has in zip(surfaces, holds[at], strict=True) if has
                    ),
                    score=raw,
                    raw=raw,
                    text_score=text_score,
                    contributions=contributions,
                    reasons=why,
                )
            )
        except UNREADABLE as error:
            raise unreadable(item.id, error) from None
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


class _Listed(NamedTuple):
    """A contribution to some rows, as lists: a number taken out of an array is slow to make."""

    name: str
    values: list[float]
    applies: list[bool] | None


def _listed(column: Column) -> _Listed:
    applies: list[bool] | None = None if column.applies is None else column.applies.tolist()
    return _Listed(column.name, column.values.tolist(), applies)


def _contributions(columns: list[_Listed], at: int) -> dict[str, float]:
    """Return the contributions to one of the rows."""
    return {name: values[at] for name, values, applies in columns if applies is None or applies[at]}


def _best(contributions: dict[str, float], places: dict[str, tuple[int, int]]) -> tuple[int | None, int]:
    """Return which word scores highest here, and in which field; the first of equals."""
    best: tuple[int | None, int] = None, 0
    most = -1.0
    for name, value in contributions.items():
        if value > most and name in places:
            best, most = places[name], value
    return best


def _of_behaviour(contributions: dict[str, float], columns: list[_Listed]) -> Iterator[Reason]:
    """Yield what behaviour has to do with the place of an item."""
    for column in columns:
        added_by = contributions.get(column.name)
        if added_by is None or column.name in TERMS:
            continue
        if added_by or column.name not in _CODES:
            code = _CODES.get(column.name, "SignalBoost")
            yield Reason(code, {"term": column.name, "contribution": added_by})


def _text_match(scorer: Scorer, row: IntArray, counts: SmallArray) -> Reason:
    statistics = scorer.index.statistics
    (lengths,) = scorer.index.lengths_of(row)
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
