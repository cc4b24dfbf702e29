"""Stage 4: behaviour: what a profile sums, brought to the size of the scores, for the best by text."""

from __future__ import annotations

import numpy as np

from germane.model.profiles import Profile
from germane.ranking.behaviour.evaluation import of_profile
from germane.ranking.behaviour.readings import Readings, Scores
from germane.ranking.search.order import Ordered, are_of, best_of_each, sorted_by_id
from germane.ranking.search.score import Column, Scorer
from germane.text.bm25f import FloatArray
from germane.text.segment import IntArray

SHARE = 0.5
"""Of the greatest score by text: what behaviour adds at most, at full personalization."""


def reranked(
    scorer: Scorer,
    wanted: int,
    readings: Readings,
    profile: Profile,
    label: str,
    personalization: float,
    among: int,
) -> Ordered:
    """Return the best matches after behaviour is added to those that are best by text.

    ``raw = text_score + M * 0.5 * p * B`` with M the greatest score by text, p the personalization, and B
    where the profile's base lies between its least and greatest among these matches, 0 when all are equal.

    Parameters
    ----------
    scorer : Scorer
    wanted : int
        How many, at most.
    readings : Readings
        At the position that the scorer's index reflects.
    profile : Profile
    label : str
        What the profile is called in the contributions.
    personalization : float
        0 to 1.
    among : int
        How many of the best by text behaviour is added to; the others keep their score.
    """
    # Beyond those that are reranked no more than `wanted` can come to stand before them.
    muted = readings.audience.muted
    ordered = _by_text(scorer, among + wanted, muted)
    if not len(ordered.rows):
        return ordered
    first = ordered.rows[:among]
    behaviour = (
        ordered.scores[0] * SHARE * personalization * _share(scorer, readings, profile, ordered, among)
    )
    values = np.append(behaviour, np.zeros(len(ordered.rows) - len(first)))
    raw = ordered.scores + values
    kept = sorted_by_id(scorer, ordered.rows, raw, are_of(scorer, ordered.rows, muted))[:wanted]
    applies = np.arange(len(values)) < len(first)
    column = Column(f"behaviour.{label}", values[kept], applies[kept])
    return Ordered(ordered.rows[kept], raw[kept], column)


def _by_text(scorer: Scorer, wanted: int, muted: IntArray) -> Ordered:
    """Return the best matches by text alone: so many of those that are muted, and of the others."""
    parts = best_of_each(scorer, wanted, muted)
    rows = np.concatenate([part.rows for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = sorted_by_id(scorer, rows, scores) if len(parts) > 1 else slice(None)
    return Ordered(rows[order], scores[order])


def _share(scorer: Scorer, readings: Readings, profile: Profile, ordered: Ordered, among: int) -> FloatArray:
    ordinals = scorer.index.ordinals[ordered.rows[:among]].astype(np.int64)
    readings.text = Scores(ordinals, ordered.scores[:among], readings.blocks)
    evaluation = of_profile(readings, profile)
    if evaluation.is_over_candidates:
        evaluation.settle(ordinals)
    base = evaluation.sums(ordinals)
    least, greatest = base.min(), base.max()
    if least == greatest:
        return np.zeros(len(base))
    share: FloatArray = (base - least) / (greatest - least)
    return share
