"""Stage 2: the gates: below a threshold an item is out, exactly at it it is in."""

from __future__ import annotations

import numpy as np

from germane.model.profiles import Gate
from germane.ranking.behaviour.evaluation import Evaluation, of_term
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.candidates import Candidates
from germane.ranking.retrieve.order import FEW
from germane.signals.decay import BLOCK
from germane.text.arrays import BoolArray


def through_gates(readings: Readings, gates: tuple[Gate, ...], candidates: Candidates) -> Candidates:
    """Return the candidates that reach the threshold of every gate."""
    for gate in gates:
        evaluation = of_term(readings, gate.term)
        if candidates.count <= FEW:
            ordinals = candidates.ordinals
            reached = ordinals[evaluation.sums(ordinals) >= gate.threshold]
            candidates = Candidates(ordinals=reached, size=readings.size)
        else:
            candidates = candidates.only(_reached(evaluation, gate.threshold))
    return candidates


def _reached(evaluation: Evaluation, threshold: float) -> BoolArray:
    """Return which items reach a threshold: whole blocks at once, where their bounds decide."""
    everywhere = evaluation.at_least(threshold)
    if everywhere is not None:
        return everywhere
    bounds = evaluation.bounds()
    inside = np.repeat(bounds.least >= threshold, BLOCK)
    undecided = np.flatnonzero((bounds.least < threshold) & (bounds.greatest >= threshold))
    if not len(undecided):
        return inside
    rough = evaluation.rough(undecided)
    reached = rough.values >= threshold
    ordinals = (undecided[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    if rough.size is not None:
        near = (rough.least <= threshold) & (rough.greatest >= threshold)
        reached[near] = evaluation.sums(ordinals[near]) >= threshold
    inside[ordinals] = reached
    return inside
