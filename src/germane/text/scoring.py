"""Scoring a query on an index: each part by the kernels, what they find joined."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from germane.model.times import Micros
from germane.model.weights import SearchWeights
from germane.text.arrays import BoolArray, ByteArray, FloatArray, IntArray, SmallArray
from germane.text.bm25f import idf
from germane.text.compiled import KERNEL
from germane.text.index import Index
from germane.text.kernels import HAS_PROXIMITY, NOW
from germane.text.plan import Plan
from germane.text.postings import COUNT

ALL_FIELDS = 7
FEW = 2_048
"""Rows that are all scored, where a query selects no more."""


class Details(NamedTuple):
    """What the scores of some rows are made of.

    Parameters
    ----------
    tf : int32[rows, words, 3]
        Occurrences in heading, body, code.
    early : uint8[rows, words]
        Whether a word stands in the first fifth.
    near : float64[rows]
        Proximity.
    """

    tf: SmallArray
    early: ByteArray
    near: FloatArray


class Scoring:
    """A query whose words were looked up in an index.

    Parameters
    ----------
    index : Index
    plan : Plan
    weights : SearchWeights
    now : int
        Microseconds since the epoch.
    allowed : bool[rows], or None
        The rows of the index to select from, none of them dead; None for all that are alive.
    """

    __slots__ = ("_marks", "_numbers", "_terms", "_words", "allowed", "df", "index",
                 "now", "plan", "rarity", "weights")  # fmt: skip

    def __init__(
        self, index: Index, plan: Plan, weights: SearchWeights, now: Micros, allowed: BoolArray | None = None
    ) -> None:
        self.index, self.plan, self.weights, self.now, self.allowed = index, plan, weights, now, allowed
        words = [index.word(word.terms) for word in plan.words]
        self.df = [word.df for word in words]
        """For each word of the plan, the live sections of the whole store that hold it in any field."""
        sections = index.statistics.sections
        self.rarity: FloatArray = np.array([idf(sections, df) for df in self.df], np.float64)
        """The idf of each."""
        counted = len(words)
        if plan.is_plain:
            self._words = plain_words(counted)
        else:
            counted = len(plan.counted)
            self._words = np.array([(fields_mask(w.fields), not w.is_whole) for w in plan.words], np.int64)
        has_proximity = weights.proximity > 0 and counted > 1 and not plan.is_one_compound
        flat = [
            number
            for part in range(len(index.parts))
            for at, word in enumerate(words)
            for slot in word.slots[part]
            for number in (slot, at)
        ]
        self._terms: SmallArray = np.array(flat, np.int32).reshape(
            len(index.parts), len(flat) // (2 * max(len(index.parts), 1)), 2
        )
        self._numbers: FloatArray = index.numbers(weights).copy()
        numbers = self._numbers  # one by one, which is faster than as a slice
        numbers[COUNT], numbers[HAS_PROXIMITY], numbers[NOW] = counted, has_proximity, now
        self._marks: tuple[BoolArray, int] | None = None

    def best(self, wanted: int, allowed: BoolArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the matches with the greatest scores, in order, and their scores.

        Parameters
        ----------
        wanted, allowed
            As for `best_pairs`.
        """
        pairs = self.best_pairs(wanted, allowed)
        return np.array([row for _, row in pairs], np.int64), np.array([score for score, _ in pairs])

    def best_pairs(self, wanted: int, allowed: BoolArray | None = None) -> list[tuple[float, int]]:
        """Return scores and rows of the matches with the greatest scores, in order.

        Parameters
        ----------
        wanted : int
            How many, at most.
        allowed : bool[rows], optional
            Select from these instead.
        """
        allowed = self.allowed if allowed is None else allowed
        if not self.plan.words:
            return self._by_id(wanted, allowed)
        if not self._terms.size:
            return []
        if allowed is not None and np.count_nonzero(allowed) <= FEW:
            # Each is scored, and no bound is asked.
            marked = self._marked() if allowed is self.allowed else self._marking(allowed)
            rows = np.flatnonzero(marked[0])
            return self._joined(rows.tolist(), self.scores(rows).tolist(), wanted)
        work = KERNEL.ready(sum(self.df))
        kept_rows = np.empty(min(wanted, self.index.size), np.int64)
        if work.best_of_all is not None:
            kept_scores = np.empty(len(kept_rows))
            living = self.index.living if allowed is None else allowed
            count = work.best_of_all(
                self.index.table(work.table_of), self._terms, self._words, self.rarity, self._numbers,
                living, len(living) > 0, kept_rows, kept_scores,
            )  # fmt: skip
            return list(zip(kept_scores[:count].tolist(), kept_rows[:count].tolist(), strict=True))
        found: list[int] = []
        scores: list[float] = []
        floor = -np.inf
        for number, part in enumerate(self.index.parts):
            kept_scores = np.empty(len(kept_rows))
            count = work.best(
                *part.segment.for_kernels, self._terms[number], self._words, self.rarity, self._numbers,
                self._allowed_in(number, allowed), floor, kept_rows, kept_scores,
            )  # fmt: skip
            if len(self.index.parts) == 1:
                return list(zip(kept_scores[:count].tolist(), kept_rows[:count].tolist(), strict=True))
            base = self.index.bases[number]
            found += [row + base for row in kept_rows[:count].tolist()]
            scores += kept_scores[:count].tolist()
            if len(scores) >= len(kept_rows):
                floor = sorted(scores, reverse=True)[len(kept_rows) - 1]
        return self._joined(found, scores, wanted)

    def scores(self, rows: IntArray, is_exact: bool = True) -> FloatArray:
        """Return the scores of rows, or what they are with the ceiling of proximity: no score exceeds it.

        Parameters
        ----------
        rows : int64[n]
            Ascending.
        is_exact : bool
        """
        into = np.zeros(len(rows))
        if not self._terms.size:
            return into
        work = KERNEL.ready(sum(self.df))
        for number, local, at in self._local(rows):
            here = np.zeros(len(local))
            work.scores(
                *self.index.parts[number].segment.for_kernels, self._terms[number], self._words,
                self.rarity, self._numbers, local, is_exact, here,
            )  # fmt: skip
            into[at] = here
        return into

    def details(self, rows: IntArray) -> Details:
        """Return what the scores of rows are made of; rows in any order."""
        order = np.argsort(rows, kind="stable")
        count = len(self.plan.words)
        made = Details(
            np.zeros((len(rows), count, 3), np.int32),
            np.zeros((len(rows), count), np.uint8),
            np.zeros(len(rows)),
        )
        if not self._terms.size:
            return made
        work = KERNEL.ready(len(rows) * count)
        for number, local, at in self._local(rows[order]):
            here = Details(*(np.zeros((len(local), *each.shape[1:]), each.dtype) for each in made))
            work.details(
                *self.index.parts[number].segment.for_kernels[:7], self._terms[number], self._words,
                self._numbers, local, *here,
            )  # fmt: skip
            places = order[at]
            made.tf[places], made.early[places], made.near[places] = here
        return made

    @property
    def total(self) -> int:
        """How many sections match."""
        if not self.plan.words:
            return int(np.count_nonzero(self._or_alive))
        if len(self.plan.words) == 1 and self.allowed is None and self.plan.words[0].fields is None:
            return self.df[0]
        return self._marked()[1]

    @property
    def rows(self) -> IntArray:
        """The rows that match, ascending."""
        return np.flatnonzero(self._marked()[0] if self.plan.words else self._or_alive)

    @property
    def _or_alive(self) -> BoolArray:
        return self.index.alive if self.allowed is None else self.allowed

    def _marked(self) -> tuple[BoolArray, int]:
        if self._marks is None:
            self._marks = self._marking(self.allowed)
        return self._marks

    def _marking(self, allowed: BoolArray | None) -> tuple[BoolArray, int]:
        """Return which allowed rows hold any of the words, and how many they are."""
        marked, count = np.zeros(self.index.size, np.bool_), 0
        if not self._terms.size:
            return marked, count
        work = KERNEL.ready(sum(self.df))
        for number, part in enumerate(self.index.parts):
            here = marked[self.index.bases[number] : self.index.bases[number + 1]]
            count += work.mark_any(
                part.segment.spans, part.segment.rows, self._terms[number], self._words,
                self._allowed_in(number, allowed), here,
            )  # fmt: skip
        return marked, count

    def _allowed_in(self, number: int, allowed: BoolArray | None) -> BoolArray:
        if allowed is None:
            return self.index.parts[number].living
        return allowed[self.index.bases[number] : self.index.bases[number + 1]]

    def _local(self, rows: IntArray) -> list[tuple[int, IntArray, slice]]:
        """Return for each part that ascending rows lie in: its number, the rows within it, their places."""
        bases = self.index.bases
        if len(bases) == 2:
            return [(0, np.ascontiguousarray(rows, np.int64), slice(None))]
        ends = np.searchsorted(rows, bases)
        return [
            (
                number,
                rows[ends[number] : ends[number + 1]] - bases[number],
                slice(ends[number], ends[number + 1]),
            )
            for number in range(len(bases) - 1)
            if ends[number] < ends[number + 1]
        ]

    def _joined(self, rows: list[int], scores: list[float], wanted: int) -> list[tuple[float, int]]:
        """Return the best of what the parts found; ids are read only to tell equals apart."""
        pairs = sorted(zip(scores, rows, strict=True), reverse=True)
        if len(pairs) > wanted and pairs[wanted - 1][0] > pairs[wanted][0]:
            del pairs[wanted:]
        if any(before[0] == after[0] for before, after in pairwise(pairs)):
            id_of = self.index.id_bytes
            ordered: list[tuple[float, int]] = []
            for _, equals in groupby(pairs, key=itemgetter(0)):
                tied = list(equals)
                ordered += sorted(tied, key=lambda pair: id_of(pair[1])) if len(tied) > 1 else tied
                if len(ordered) >= wanted:
                    break
            pairs = ordered
        return pairs[:wanted]

    def _by_id(self, wanted: int, allowed: BoolArray | None) -> list[tuple[float, int]]:
        """Return the first by id of what is selected without a word: all have the score 0."""
        mask, found = self._or_alive if allowed is None else allowed, []
        for number, part in enumerate(self.index.parts):
            held = np.flatnonzero(mask[self.index.bases[number] : self.index.bases[number + 1]])
            first = held[np.argsort(part.segment.id_order[held])[:wanted]]
            found.append(first + self.index.bases[number])
        rows = [row for each in found for row in each.tolist()]
        return self._joined(rows, [0.0] * len(rows), wanted)


@lru_cache(maxsize=64)
def plain_words(count: int) -> IntArray:
    """Return what kernels are told of words that count everywhere."""
    return np.array([(ALL_FIELDS, 1)] * count, np.int64)


def fields_mask(fields: frozenset[int] | None) -> int:
    """Return fields as bits: 0 heading, 1 body, 2 code."""
    return ALL_FIELDS if fields is None else sum(1 << which for which in fields)
