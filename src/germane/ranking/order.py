"""Stage 3: the best matches in order: score descending, then id by code point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from germane.ranking.score import Column, Scorer
from germane.text.bm25f import FloatArray
from germane.text.segment import IntArray

STEP = 64
"""Rows that are scored exactly before the bound is asked whether any more could matter."""


@dataclass(frozen=True)
class Ordered:
    """The best rows of the index, in order.

    Parameters
    ----------
    rows : int64[n]
    scores : float64[n]
    behaviour : Column or None
        What behaviour added to them, if it was asked.
    """

    rows: IntArray
    scores: FloatArray
    behaviour: Column | None = None

    def after(self, offset: int) -> Ordered:
        """Return the rows without the first."""
        return self._part(slice(offset, None))

    def first(self, count: int) -> Ordered:
        """Return the first rows alone."""
        return self._part(slice(count))

    def _part(self, part: slice) -> Ordered:
        behaviour = self.behaviour
        if behaviour is not None and behaviour.applies is not None:
            behaviour = Column(behaviour.name, behaviour.values[part], behaviour.applies[part])
        return Ordered(self.rows[part], self.scores[part], behaviour)


def best(scorer: Scorer, wanted: int) -> Ordered:
    """Return the best matches.

    Proximity needs positions, so it is computed only for rows whose bound could still place them:
    rows are taken by bound, until the bound falls below the last score that is kept.

    Parameters
    ----------
    scorer : Scorer
    wanted : int
        How many, at most.
    """
    rows = scorer.candidates.matches.rows
    bounds = scorer.bound(rows)
    by_bound = np.argsort(-bounds, kind="stable")
    rows, bounds = rows[by_bound], bounds[by_bound]
    scores = np.zeros(0)
    done, step = 0, max(wanted, STEP)
    while done < len(rows):
        if done >= wanted and bounds[done] < np.partition(scores, done - wanted)[done - wanted]:
            break
        scores = np.append(scores, scorer.exact(rows[done : done + step]))
        done, step = len(scores), step * 2
    return _sorted(scorer, rows[:done], scores, wanted)


def _sorted(scorer: Scorer, rows: IntArray, scores: FloatArray, wanted: int) -> Ordered:
    if len(rows) > wanted:
        threshold = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        keep = scores >= threshold
        rows, scores = rows[keep], scores[keep]
    order = sorted_by_id(scorer, rows, scores)[:wanted]
    return Ordered(rows[order], scores[order])


def sorted_by_id(scorer: Scorer, rows: IntArray, scores: FloatArray) -> list[int]:
    """Return the places of rows in order: score descending, then id by code point."""
    id_of = scorer.index.id_bytes
    return sorted(range(len(rows)), key=lambda at: (-scores[at], id_of(int(rows[at]))))
