"""Metrics: what lists are worth, by what people then did and by what they hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.evaluation.cases import Case
from germane.people.pairs import FloatArray

NAMES = ("hr", "recall", "ndcg", "mrr", "first")
BANDS = ((0, 0), (1, 4), (5, 19), (20, 99), (100, None))
"""By how many events of the user came before."""


@dataclass(frozen=True)
class Measured:
    """What the lists of one recommender were worth.

    Parameters
    ----------
    by_case : dict of str to float64[cases]
        ``hr``: whether any wanted item was among the first k. ``recall``: the share of the wanted items that
        was, of as many as k has room for. ``ndcg``: with a gain of one for each wanted item. ``mrr``: one
        over the place of the first wanted one within k, 0 without any. ``first``: whether the item that the
        case began with was among the first k.
    coverage : float
        The share of the items that were there at the end which anybody was shown.
    diversity : float or None
        How many of a list's items have a creator of their own, as a share, on average; None without creators.
    novelty : float
        The mean of ``-log2`` of the share of all events so far that were on a shown item: bits.
    by_history : dict of str to (int, float)
        For users with so many events before: cases, and the mean nDCG.
    """

    by_case: dict[str, FloatArray]
    coverage: float
    diversity: float | None
    novelty: float
    by_history: dict[str, tuple[int, float]]

    def mean(self, name: str) -> float:
        """Return the mean over all cases."""
        values = self.by_case[name]
        return float(values.mean()) if len(values) else 0.0

    def plain(self) -> dict[str, Any]:
        """Return the figures as JSON takes them."""
        return {
            **{name: self.mean(name) for name in NAMES},
            "coverage": self.coverage,
            "diversity": self.diversity,
            "novelty": self.novelty,
            "by_history": {
                band: {"cases": count, "ndcg": value} for band, (count, value) in self.by_history.items()
            },
        }


def values(shown: Sequence[str], case: Case, k: int) -> tuple[float, ...]:
    """Return what one list is worth, in the order of `NAMES`.

    Examples
    --------
    >>> case = Case(0, "u", ("a", "b"), 0, 0, None)
    >>> [round(value, 3) for value in values(["x", "a"], case, 10)]
    [1.0, 0.5, 0.387, 0.5, 1.0]
    """
    wanted = set(case.wanted)
    places = [place for place, id in enumerate(shown[:k]) if id in wanted]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(wanted))))
    return (
        float(bool(places)),
        len(places) / min(k, len(wanted)),
        sum(1 / math.log2(place + 2) for place in places) / ideal,
        1 / (places[0] + 1) if places else 0.0,
        float(case.wanted[0] in shown[:k]),
    )


def band_of(before: int) -> str:
    """Return the band that a number of events lies in.

    Examples
    --------
    >>> band_of(0), band_of(7), band_of(1000)
    ('0', '5-19', '100+')
    """
    least, greatest = next(band for band in BANDS if band[1] is None or before <= band[1])
    if greatest is None:
        return f"{least}+"
    return str(least) if least == greatest else f"{least}-{greatest}"


class Tally:
    """Gathers the lists of one recommender as it is asked."""

    def __init__(self, k: int, creators: Mapping[str, str]) -> None:
        self._k = k
        self._creators = creators
        self._rows: list[tuple[float, ...]] = []
        self._bands: list[str] = []
        self._shown: set[str] = set()
        self._diversity: list[float] = []
        self._bits: list[float] = []

    def add(self, shown: Sequence[str], case: Case, counts: Counter[str]) -> None:
        """Add a list; `counts` says how many events so far were on each item."""
        shown = shown[: self._k]
        self._rows.append(values(shown, case, self._k))
        self._bands.append(band_of(case.before))
        self._shown.update(shown)
        makers = [self._creators[id] for id in shown if id in self._creators]
        if makers:
            self._diversity.append(len(set(makers)) / len(makers))
        total = case.upto + 1
        self._bits += [math.log2(total / (counts[id] + 1)) for id in shown]

    def measured(self, items: int) -> Measured:
        """Return the figures, for so many items that could have been shown."""
        rows = np.array(self._rows).reshape(-1, len(NAMES))
        ndcg, bands = rows[:, NAMES.index("ndcg")], np.array(self._bands)
        by_history = {}
        for least, _ in BANDS:
            inside = bands == band_of(least)
            if inside.any():
                by_history[band_of(least)] = (int(inside.sum()), float(ndcg[inside].mean()))
        return Measured(
            by_case={name: rows[:, place] for place, name in enumerate(NAMES)},
            coverage=len(self._shown) / items if items else 0.0,
            diversity=float(np.mean(self._diversity)) if self._diversity else None,
            novelty=float(np.mean(self._bits)) if self._bits else 0.0,
            by_history=by_history,
        )


def events_to_adapt(ours: Measured, theirs: Measured) -> int | None:
    """Return from how many events of a user on one recommender is worth more than another, by mean nDCG.

    The least number of the first band from which on it is in every band; None when it never is.
    """
    found: int | None = None
    for least, _ in BANDS:
        band = band_of(least)
        if band in ours.by_history and band in theirs.by_history:
            if ours.by_history[band][1] <= theirs.by_history[band][1]:
                found = None
            elif found is None:
                found = least
    return found
