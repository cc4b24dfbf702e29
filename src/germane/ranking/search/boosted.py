"""Stage 4, with a session: what it says is added to every match, behaviour to the best by text."""

from __future__ import annotations

import numpy as np

from germane.ranking.search.order import Ordered, are_of, best_by_bound, sorted_by_id
from germane.ranking.search.rerank import Behaviour
from germane.ranking.search.score import Column, Scorer
from germane.ranking.session import Boost
from germane.text.arrays import FloatArray, IntArray


def boosted(
    scorer: Scorer,
    wanted: int,
    boost: Boost,
    muted: IntArray,
    behaviour: Behaviour | None = None,
    among: int = 0,
) -> Ordered:
    """Return the best matches after what a session adds.

    ``raw = text_score + behaviour + scale * (0.3 hint + 0.2 v + 0.3 entity)``, with the weights of the query,
    over all matches: one that is far down by text may be lifted. By ``spread`` the scale is the greatest text
    score.

    Parameters
    ----------
    scorer : Scorer
    wanted : int
        How many, at most.
    boost : Boost
    muted : int64[n]
        Ordinals of what comes after everything else.
    behaviour : callable, optional
        What behaviour adds to the best by text.
    among : int
        How many of them.
    """
    rows = scorer.matches.rows
    bounds, exact = scorer.matches.scores(rows, is_exact=False), _Exact(scorer, rows)
    first = _greatest(bounds, exact) if behaviour is None else _first(scorer, rows, bounds, exact, among)
    greatest = float(exact.at(first[:1])[0]) if len(first) else 0.0
    scale = boost.scale(greatest)
    ordinals = scorer.index.ordinals_of(rows)
    added = boost.at(ordinals, scale)

    def with_session(values: FloatArray, places: IntArray) -> FloatArray:
        for _, column in added:
            values = values + column[places]
        return values

    if behaviour is None:
        first = first[:0]
    everywhere = np.arange(len(rows))
    bounds = with_session(bounds, everywhere)
    is_muted = are_of(scorer, rows, muted)
    is_first = np.isin(everywhere, first)
    chosen = [first]
    for part in (~is_muted & ~is_first, is_muted & ~is_first):
        places = np.flatnonzero(part)
        reached, scores = best_by_bound(
            bounds[places],
            lambda some, places=places: with_session(exact.at(places[some]), places[some]),  # type: ignore[misc]
            wanted,
        )
        if len(scores) > wanted:
            reached = reached[scores >= np.partition(scores, len(scores) - wanted)[len(scores) - wanted]]
        chosen.append(places[reached])
    found = np.concatenate(chosen)
    raw, applies = exact.at(found), np.arange(len(found)) < len(first)
    columns: list[Column] = []
    if behaviour is not None and len(first):
        for name, values in behaviour(ordinals[first], raw[: len(first)], greatest).items():
            columns.append(Column(name, np.append(values, np.zeros(len(found) - len(first))), applies))
            raw = raw + columns[-1].values
    for name, column in added:
        columns.append(Column(name, column[found]))
        raw = raw + columns[-1].values
    kept = sorted_by_id(scorer, rows[found], raw, is_muted[found])[:wanted]
    return Ordered(rows[found][kept], raw[kept], tuple(column.taken(kept) for column in columns), scale)


def _first(scorer: Scorer, rows: IntArray, bounds: FloatArray, exact: _Exact, wanted: int) -> IntArray:
    """Return the places of the best by text, in order."""
    reached, scores = best_by_bound(bounds, exact.at, wanted)
    return reached[sorted_by_id(scorer, rows[reached], scores)[:wanted]]


def _greatest(bounds: FloatArray, exact: _Exact) -> IntArray:
    """Return the place of a match whose score by text is the greatest, if there is a match."""
    reached, scores = best_by_bound(bounds, exact.at, 1)
    return reached[np.argmax(scores)][None] if len(reached) else reached


class _Exact:
    """Exact scores by text of matches, each computed once."""

    def __init__(self, scorer: Scorer, rows: IntArray) -> None:
        self._scorer = scorer
        self._rows = rows
        self._scores = np.full(len(rows), np.nan)

    def at(self, places: IntArray) -> FloatArray:
        """Return the scores of some places."""
        missing = np.sort(places[np.isnan(self._scores[places])])
        if len(missing):
            self._scores[missing] = self._scorer.matches.scores(self._rows[missing])
        return self._scores[places]
