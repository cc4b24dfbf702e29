"""Stage 2: scores, as named contributions that are summed from left to right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.model.times import Micros
from germane.model.weights import SearchWeights
from germane.ranking.search.candidates import Candidates
from germane.text.bm25f import FloatArray, field_score, idf
from germane.text.fields import FIELDS
from germane.text.freshness import freshness
from germane.text.index import Index, Postings
from germane.text.match import numbers
from germane.text.plan import Word
from germane.text.proximity import proximity
from germane.text.segment import BoolArray, IntArray, SmallArray
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
    """The canonical function from rows to scores; every score and every explanation comes from it.

    Parameters
    ----------
    index : Index
    candidates : Candidates
    weights : SearchWeights
    now : int
        Microseconds since the epoch.
    """

    index: Index
    candidates: Candidates
    weights: SearchWeights
    now: Micros

    def text_columns(self, rows: IntArray) -> Iterator[Column]:
        """Yield the BM25F contributions of rows: by word in query order, then by field."""
        lengths = self.index.lengths[rows]
        statistics = self.index.statistics
        by_field = (self.weights.heading, self.weights.body, self.weights.code)
        for word, tf, rarity in self._words(rows):
            for which, field in enumerate(FIELDS):
                if word.fields is not None and which not in word.fields:
                    continue
                count = tf[:, which]
                if not count.any():
                    continue
                score = field_score(
                    count, lengths[:, which], statistics.average_length(which), rarity, self.weights
                )
                yield Column(f"text.{word.name}.{field}", by_field[which] * score, count > 0)

    def bound(self, rows: IntArray) -> FloatArray:
        """Return for each row the least score that its exact one is known not to exceed.

        Everything in it is exact but proximity, of which only its ceiling m/n is taken. The operations
        are those of the exact sum in the same order, and rounding is monotone: no margin is needed.
        """
        present = np.zeros(len(rows), np.int64)
        for postings in self._counted_postings:
            present += postings.at(rows)[1] >= 0
        count = len(self._counted_postings)
        ceiling = (
            np.where(present > 1, present / max(count, 1), 0.0)
            if self._has_proximity
            else np.zeros(len(rows))
        )
        return self._total(rows, ceiling)

    def exact(self, rows: IntArray) -> FloatArray:
        """Return the scores of rows."""
        return self._total(rows, self.proximity(rows))

    def columns(self, rows: IntArray) -> list[Column]:
        """Return all contributions of rows, in order."""
        return [*self.text_columns(rows), *self._supplements(rows, self.proximity(rows))]

    def proximity(self, rows: IntArray) -> FloatArray:
        """Return the proximity of rows, before its weight."""
        if not self._has_proximity:
            return np.zeros(len(rows))
        words = [(numbers(self.index, word.terms), word.fields) for word in self.candidates.plan.counted]
        return np.fromiter(
            (
                proximity([self.index.positions(terms, row, fields) for terms, fields in words])
                for row in rows.tolist()
            ),
            np.float64,
            len(rows),
        )

    def held(self, rows: IntArray) -> list[SmallArray]:
        """Return for each word of the plan its occurrences in rows: int32[rows, 3] each."""
        return [postings.at(rows)[0] for postings in self.candidates.matches.postings]

    def _total(self, rows: IntArray, near: FloatArray) -> FloatArray:
        total = np.zeros(len(rows))
        for column in self.text_columns(rows):
            total += column.values
        for column in self._supplements(rows, near):
            total += column.values
        return total

    def _supplements(self, rows: IntArray, near: FloatArray) -> Iterator[Column]:
        weights = self.weights
        if not self.candidates.plan.words:
            return
        if weights.proximity > 0:
            yield Column("proximity", weights.proximity * near)
        if weights.zone > 0:
            first = [postings.at(rows)[1] for postings in self._counted_postings]
            token_count = self.index.lengths[rows].sum(axis=1, dtype=np.int64)
            yield Column("zone", weights.zone * zone(first, token_count))
        if weights.freshness > 0:
            fresh = freshness(self.index.created_at[rows], self.now, weights.half_life_days)
            yield Column("freshness", weights.freshness * fresh)

    def _words(self, rows: IntArray) -> Iterator[tuple[Word, SmallArray, float]]:
        matches = self.candidates.matches
        for word, postings, df in zip(self.candidates.plan.words, matches.postings, matches.df, strict=True):
            yield word, postings.at(rows)[0], idf(self.index.statistics.sections, df)

    @cached_property
    def _counted_postings(self) -> list[Postings]:
        pairs = zip(self.candidates.plan.words, self.candidates.matches.postings, strict=True)
        return [postings for word, postings in pairs if not word.is_whole]

    @cached_property
    def _has_proximity(self) -> bool:
        plan = self.candidates.plan
        return self.weights.proximity > 0 and len(plan.counted) > 1 and not plan.is_one_compound
