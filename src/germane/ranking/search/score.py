"""Stage 2: scores, as named contributions that are summed from left to right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.ranking.search.candidates import Candidates
from germane.text.arrays import BoolArray, FloatArray, IntArray
from germane.text.bm25f import field_score
from germane.text.fields import FIELDS
from germane.text.freshness import freshness
from germane.text.index import Index
from germane.text.plan import Plan
from germane.text.scoring import Details, Scoring
from germane.text.zone import zone


@dataclass(frozen=True)
class Column:
    """One contribution to the scores of some rows.

    Parameters
    ----------
    name : str
        As people read it.
    values : float64[rows]
    applies : bool[rows], or None
        Which rows it is listed for; None for all. Elsewhere its value is 0.
    """

    name: str
    values: FloatArray
    applies: BoolArray | None = None

    def taken(self, rows: slice | list[int]) -> Column:
        """Return it for some of the rows."""
        return Column(self.name, self.values[rows], None if self.applies is None else self.applies[rows])


@dataclass(frozen=True)
class Scorer:
    """The canonical function from rows to contributions, whose sums are the scores that kernels return.

    Parameters
    ----------
    candidates : Candidates
    """

    candidates: Candidates

    @property
    def matches(self) -> Scoring:
        """The matches and their scores."""
        return self.candidates.matches

    @property
    def index(self) -> Index:
        """What is searched."""
        return self.candidates.matches.index

    @property
    def plan(self) -> Plan:
        """What is searched for."""
        return self.candidates.plan

    def columns(self, rows: IntArray, details: Details) -> list[Column]:
        """Return all contributions of rows, in order: BM25F by word, then field; then the others.

        Parameters
        ----------
        rows : int64[n]
        details : Details
            Of these rows.
        """
        return [*self._text(rows, details), *self._supplements(rows, details)]

    def _text(self, rows: IntArray, details: Details) -> Iterator[Column]:
        lengths, weights = self.index.lengths_of(rows), self.matches.weights
        by_field = (weights.heading, weights.body, weights.code)
        statistics = self.index.statistics
        held: BoolArray = np.any(details.tf, axis=0)
        for number, word in enumerate(self.plan.words):
            for which, field in enumerate(FIELDS):
                if not held[number, which]:
                    continue
                count, average = details.tf[:, number, which], statistics.average_length(which)
                rarity = float(self.matches.rarity[number])
                score = field_score(count, lengths[:, which], average, rarity, weights)
                yield Column(f"text.{word.name}.{field}", by_field[which] * score, count > 0)

    def _supplements(self, rows: IntArray, details: Details) -> Iterator[Column]:
        weights = self.matches.weights
        if not self.plan.words:
            return
        if weights.proximity > 0:
            yield Column("proximity", weights.proximity * details.near)
        if weights.zone > 0:
            yield Column("zone", weights.zone * zone(details.early[:, self._counted]))
        if weights.freshness > 0:
            created_at = self.index.created_at_of(rows)
            fresh = freshness(created_at, self.matches.now, weights.half_life_days)
            yield Column("freshness", weights.freshness * fresh)

    @cached_property
    def _counted(self) -> BoolArray:
        return np.array([not word.is_whole for word in self.plan.words], np.bool_)
