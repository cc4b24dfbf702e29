"""Stage 4: behaviour: what a profile sums, brought to the size of the scores, for the best by text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from germane.model.profiles import Profile
from germane.ranking.audience import Audience
from germane.ranking.behaviour.evaluation import of_profile
from germane.ranking.behaviour.readings import Readings, Scores
from germane.ranking.search.order import Ordered, are_of, best, best_of_each, sorted_by_id
from germane.ranking.search.score import Column, Scorer
from germane.text.arrays import FloatArray, IntArray

Behaviour = Callable[[IntArray, FloatArray, float], dict[str, FloatArray]]
"""Gives what is added to items, by name: of their ordinals, scores by text, and the greatest of these."""

SHARE = 0.5
"""Of the greatest score by text: what behaviour adds at most, at full personalization."""
HALF = 0.5
"""What preference and affinity each count in a search for a user."""
PREFERENCE, AFFINITY = "behaviour.preference", "behaviour.affinity"
"""What they are called in the contributions."""


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
    behaviour = of_profile_named(readings, profile, label, personalization)
    return _with(behaviour, scorer, wanted, readings.audience.muted, among)


def of_profile_named(readings: Readings, profile: Profile, label: str, personalization: float) -> Behaviour:
    """Return what a profile adds: ``M * 0.5 * p * B``."""

    def behaviour(ordinals: IntArray, scores: FloatArray, greatest: float) -> dict[str, FloatArray]:
        share = _share(readings, profile, ordinals, scores)
        return {f"behaviour.{label}": greatest * SHARE * personalization * share}

    return behaviour


def personalised(
    scorer: Scorer, wanted: int, audience: Audience, personalization: float, among: int
) -> Ordered:
    """Return the best matches after the user's taste is added to those that are best by text.

    As `reranked`, with ``B = 0.5 preference + 0.5 affinity``; without a taste that is the order by text.
    """
    behaviour = of_taste(audience, personalization)
    if behaviour is None:
        return best(scorer, wanted, audience.muted)
    return _with(behaviour, scorer, wanted, audience.muted, among)


def of_taste(audience: Audience, personalization: float) -> Behaviour | None:
    """Return what the user's taste adds; None without one."""
    if not personalization or audience.taste.is_empty:
        return None

    def behaviour(ordinals: IntArray, scores: FloatArray, greatest: float) -> dict[str, FloatArray]:
        taste, scale = audience.taste, greatest * SHARE * personalization
        return {
            PREFERENCE: scale * (HALF * taste.likeness(ordinals)),
            AFFINITY: scale * (HALF * taste.liking(ordinals)),
        }

    return behaviour


def _with(
    behaviour: Behaviour,
    scorer: Scorer,
    wanted: int,
    muted: IntArray,
    among: int,
) -> Ordered:
    """Return the best matches after named parts of B are added to the best by text."""
    # Beyond those that are reranked no more than `wanted` can come to stand before them.
    ordered = _by_text(scorer, among + wanted, muted)
    if not len(ordered.rows):
        return ordered
    first = scorer.index.ordinals_of(ordered.rows[:among])
    rest = np.zeros(len(ordered.rows) - len(first))
    applies = np.arange(len(ordered.rows)) < len(first)
    columns, raw = [], ordered.scores
    for name, values in behaviour(first, ordered.scores[:among], float(ordered.scores[0])).items():
        columns.append(Column(name, np.append(values, rest), applies))
        raw = raw + columns[-1].values
    kept = sorted_by_id(scorer, ordered.rows, raw, are_of(scorer, ordered.rows, muted))[:wanted]
    return Ordered(ordered.rows[kept], raw[kept], tuple(column.taken(kept) for column in columns))


def _by_text(scorer: Scorer, wanted: int, muted: IntArray) -> Ordered:
    """Return the best matches by text alone: so many of those that are muted, and of the others."""
    parts = best_of_each(scorer, wanted, muted)
    rows = np.concatenate([part.rows for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    order = sorted_by_id(scorer, rows, scores) if len(parts) > 1 else slice(None)
    return Ordered(rows[order], scores[order])


def _share(readings: Readings, profile: Profile, ordinals: IntArray, scores: FloatArray) -> FloatArray:
    """Return where the base of each item lies between the least and the greatest."""
    ascending = np.argsort(ordinals)
    readings.text = Scores(ordinals[ascending], scores[ascending], readings.blocks)
    evaluation = of_profile(readings, profile)
    if evaluation.is_over_candidates:
        evaluation.settle(ordinals)
    base = evaluation.sums(ordinals)
    least, greatest = base.min(), base.max()
    if least == greatest:
        return np.zeros(len(base))
    share: FloatArray = (base - least) / (greatest - least)
    return share
