"""Stage 3, for a user: what they muted comes after everything else, each part in order."""

from __future__ import annotations

import numpy as np

from germane.ranking.behaviour.evaluation import Evaluation
from germane.ranking.retrieve.candidates import Candidates
from germane.ranking.retrieve.order import Ordered, best, best_and_least


def muted_among(evaluation: Evaluation, candidates: Candidates) -> Candidates | None:
    """Return those of the candidates that the user muted, None when there are none."""
    muted = evaluation.readings.audience.muted
    if not len(muted):
        return None
    found = candidates.among(muted)
    return found if found.count else None


def in_order(evaluation: Evaluation, candidates: Candidates, wanted: int) -> tuple[Ordered, float, float]:
    """Return the first of the order (muted, -sum, id), and the least and greatest sum of all candidates.

    Parameters
    ----------
    evaluation : Evaluation
        Settled, if it looks at all candidates.
    candidates : Candidates
    wanted : int
        How many, at least one.
    """
    muted = muted_among(evaluation, candidates)
    if muted is None:
        ordered, least = best_and_least(evaluation, candidates, wanted)
        return ordered, least, float(ordered.sums[0]) if len(ordered.sums) else 0.0
    greatest, least = best_and_least(evaluation, candidates, 1)
    first = best(evaluation, candidates.without(muted.ordinals), wanted)
    last = best(evaluation, muted, max(1, wanted - len(first.sums)))
    ordinals, sums = np.append(first.ordinals, last.ordinals), np.append(first.sums, last.sums)
    return Ordered(ordinals[:wanted], sums[:wanted]), least, float(greatest.sums[0])
