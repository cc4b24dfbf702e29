"""Stage 3: the best matches in order: what is muted last, score descending, then id by code point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from germane.ranking.score import Scorer
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
    """

    rows: IntArray
    scores: FloatArray


def best(scorer: Scorer, wanted: int, muted: IntArray) -> Ordered:
    """Return the best matches, those that are muted after all others.

    Parameters
    ----------
    scorer : Scorer
    wanted : int
        How many, at most.
    muted : int64[n]
        Ordinals.
    """
    rows = scorer.candidates.matches.rows
    if not len(muted):
        return _best(scorer, rows, wanted)
    is_last = np.isin(scorer.index.ordinals[rows], muted)
    first = _best(scorer, rows[~is_last], wanted)
    last = _best(scorer, rows[is_last], wanted - len(first.rows))
    return Ordered(np.append(first.rows, last.rows), np.append(first.scores, last.scores))


def _best(scorer: Scorer, rows: IntArray, wanted: int) -> Ordered:
    """Return the best of some rows.

    Proximity needs positions, so it is computed only for rows whose bound could still place them:
    rows are taken by bound, until the bound falls below the last score that is kept.
    """
    if not wanted:
        return Ordered(rows[:0], np.zeros(0))
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
    id_of = scorer.index.id_bytes
    order = sorted(range(len(rows)), key=lambda at: (-scores[at], id_of(int(rows[at]))))[:wanted]
    return Ordered(rows[order], scores[order])
