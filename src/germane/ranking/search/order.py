"""Stage 3: the best matches in order: what is muted last, score descending, then id by code point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from germane.ranking.search.score import Column, Scorer
from germane.text.arrays import BoolArray, FloatArray, IntArray

STEP = 64
"""Rows that are scored exactly before the bound is asked whether any more could matter."""


@dataclass(frozen=True)
class Ordered:
    """The best rows of the index, in order.

    Parameters
    ----------
    rows : int64[n]
    scores : float64[n]
    behaviour : tuple of Column
        What behaviour added to them, then what a session did, in order.
    scale : float or None
        What the terms of a session were multiplied by.
    """

    rows: IntArray
    scores: FloatArray
    behaviour: tuple[Column, ...] = ()
    scale: float | None = None

    def after(self, offset: int) -> Ordered:
        """Return the rows without the first."""
        return self._part(slice(offset, None))

    def first(self, count: int) -> Ordered:
        """Return the first rows alone."""
        return self._part(slice(count))

    def _part(self, part: slice) -> Ordered:
        behaviour = tuple(column.taken(part) for column in self.behaviour)
        return Ordered(self.rows[part], self.scores[part], behaviour, self.scale)


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
    parts = best_of_each(scorer, wanted, muted)
    if len(parts) == 1:
        return parts[0]
    rows, scores = (np.concatenate(each) for each in zip(*((p.rows, p.scores) for p in parts), strict=True))
    return Ordered(rows[:wanted], scores[:wanted])


def best_of_each(scorer: Scorer, wanted: int, muted: IntArray) -> list[Ordered]:
    """Return the best matches that are not muted, and if any are, so many of those too."""
    matches = scorer.matches
    if not len(muted):
        return [Ordered(*matches.best(wanted))]
    is_muted = np.isin(scorer.index.ordinals, muted)
    allowed = scorer.index.alive if matches.allowed is None else matches.allowed
    return [Ordered(*matches.best(wanted, allowed & part)) for part in (~is_muted, is_muted)]


def are_of(scorer: Scorer, rows: IntArray, ordinals: IntArray) -> BoolArray:
    """Return which rows are of some items."""
    if not len(ordinals):
        return np.zeros(len(rows), np.bool_)
    return np.isin(scorer.index.ordinals_of(rows), ordinals)


def best_by_bound(
    bounds: FloatArray, exact: Callable[[IntArray], FloatArray], wanted: int, step: int = STEP
) -> tuple[IntArray, FloatArray]:
    """Return the places that may be among the best, and their exact scores.

    Parameters
    ----------
    bounds : float64[n]
        What no score exceeds.
    exact : callable
        Gives the scores of some places.
    wanted : int
    step : int
        How many are scored before the bound is asked; twice as many each time.
    """
    by_bound = np.argsort(-bounds, kind="stable")
    bounds = bounds[by_bound]
    scores = np.zeros(0)
    done, step = 0, max(wanted, step)
    while done < len(by_bound):
        if done >= wanted and bounds[done] < np.partition(scores, done - wanted)[done - wanted]:
            break
        scores = np.append(scores, exact(by_bound[done : done + step]))
        done, step = len(scores), step * 2
    return by_bound[:done], scores


def sorted_by_id(
    scorer: Scorer, rows: IntArray, scores: FloatArray, last: BoolArray | None = None
) -> list[int]:
    """Return the places of rows in order: what comes last, score descending, then id by code point."""
    id_of = scorer.index.id_bytes
    last = np.zeros(len(rows), np.bool_) if last is None else last
    return sorted(range(len(rows)), key=lambda at: (last[at], -scores[at], id_of(int(rows[at]))))
