"""Probe: what each term of a profile says at each case, so that any weights can be tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from germane.evaluation.cases import Case
from germane.evaluation.metrics import NAMES, values
from germane.evaluation.replay import Progress, Store
from germane.evaluation.story import Story
from germane.model.profiles import Profile, Weighted
from germane.people.pairs import FloatArray

LISTED = 1_000
"""Candidates of a case that are weighed again; more are not looked at."""


@dataclass(frozen=True)
class Probed:
    """The candidates of one case, and what each term says of them: float64[items, terms]."""

    case: Case
    ids: Sequence[str]
    terms: FloatArray

    def worth(self, weights: FloatArray, k: int) -> dict[str, float]:
        """Return what the best k by some weights are worth, by metric; equals are ordered by id."""
        order = np.argsort(-(self.terms @ weights), kind="stable")[:k]
        found = values([self.ids[number] for number in order.tolist()], self.case, k)
        return dict(zip(NAMES, found, strict=True))


def probe(
    story: Story, profile: Profile, cases: list[Case], progress: Progress | None = None
) -> list[Probed]:
    """Ask a profile at each case with all weights one: its boosts, then its penalties, are the terms."""
    parts = [*profile.boosts, *profile.penalties]
    boosts = [Weighted(each.form, 1.0) for each in parts]
    asked = Profile("probe", candidates=profile.candidates, boosts=boosts, gates=profile.gates)
    store = Store(story, [asked])
    probed = []
    for number, case in enumerate(cases):
        if progress is not None:
            progress(number, len(cases))
        store.move(story, case.upto, case)
        page = store.database.retrieve("probe", user=case.user, limit=LISTED)
        # Sorted by id, as equal sums are.
        items = sorted(page.items, key=lambda result: str(result.id))
        terms = np.array([list(result.contributions.values()) for result in items])
        probed.append(Probed(case, [str(result.id) for result in items], terms.reshape(-1, len(parts))))
    return probed


def worth(probed: list[Probed], weights: FloatArray, k: int, metric: str) -> float:
    """Return the mean of a metric over the cases, by some weights."""
    return sum(each.worth(weights, k)[metric] for each in probed) / len(probed)
