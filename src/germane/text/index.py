"""The index at one position of the log: immutable, so that readers need no lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.model.weights import SearchWeights
from germane.text.arrays import BoolArray, FloatArray, IntArray, SmallArray
from germane.text.build import Sections
from germane.text.segment import Segment
from germane.text.vocabulary import Vocabulary

REMEMBERED = 16
"""Weights whose numbers are kept."""
WORDS = 10_000
"""Words whose places are kept."""
EVERYTHING: BoolArray = np.zeros(0, np.bool_)
"""To kernels: every row is allowed."""


@dataclass(frozen=True)
class Part:
    """A segment and which of its rows are alive.

    Parameters
    ----------
    segment : Segment
    alive : bool[rows]
    """

    segment: Segment
    alive: BoolArray

    @cached_property
    def count(self) -> int:
        """Rows that are alive."""
        return int(np.count_nonzero(self.alive))

    @cached_property
    def living(self) -> BoolArray:
        """Which rows are alive, as kernels take it."""
        return EVERYTHING if self.count == len(self.segment) else self.alive

    def holding(self, slots: Iterable[int], fields: int = 7) -> BoolArray:
        """Return which live rows hold any of some terms in given fields (bit 0 heading, 1 body, 2 code)."""
        segment = self.segment
        marked = np.zeros(len(segment), np.bool_)
        for slot in slots:
            if slot < 0:
                continue
            begins = segment.spans[slot].tolist()
            for which in range(3):
                if fields >> which & 1 and begins[which] < begins[which + 1]:
                    marked[segment.rows[begins[which] : begins[which + 1]]] = True
        if len(self.living):
            marked &= self.alive
        return marked

    def df(self, slots: Sequence[int]) -> int:
        """Return how many live rows hold any of some terms."""
        held = [slot for slot in slots if slot >= 0]
        if len(held) == 1 and not len(self.living):
            sizes = self.segment.sizes(held[0])
            if sizes.count(0) == 2:
                return sum(sizes)
        return int(np.count_nonzero(self.holding(held))) if held else 0


@dataclass(frozen=True)
class Statistics:
    """Exact counts over the live sections with at least one indexed term.

    Parameters
    ----------
    sections : int
        N in the formulas.
    tokens : tuple of int
        Tokens of heading, body, code, summed.
    filled : tuple of int
        Sections whose heading, body, code is not empty.
    shelves : mapping of int to int
        Sections on each shelf that holds any.
    """

    sections: int = 0
    tokens: tuple[int, int, int] = (0, 0, 0)
    filled: tuple[int, int, int] = (0, 0, 0)
    shelves: Mapping[int, int] = field(default_factory=dict)

    def average_length(self, which: int) -> float:
        """Return avgdl of a field over the sections where it is not empty; 0.0 where there are none."""
        return self.tokens[which] / self.filled[which] if self.filled[which] else 0.0

    def changed_by(self, segment: Segment | Sections, rows: IntArray | slice, sign: int) -> Statistics:
        """Return the statistics after rows came (+1) or went (-1)."""
        lengths = segment.lengths[rows]
        tokens = lengths.sum(axis=0, dtype=np.int64)
        filled = np.count_nonzero(lengths, axis=0)
        shelves = dict(self.shelves)
        for number, count in enumerate(np.bincount(segment.shelves[rows]).tolist()):
            if count:
                shelves[number] = shelves.get(number, 0) + sign * count
                if not shelves[number]:
                    del shelves[number]
        return Statistics(
            self.sections + sign * len(lengths),
            _add(self.tokens, tokens, sign),
            _add(self.filled, filled, sign),
            shelves,
        )


@dataclass(frozen=True)
class Word:
    """Where a word of a query stands: any of its terms will do.

    Parameters
    ----------
    df : int
        Live sections that hold it in any field.
    slots : tuple of tuple of int
        For each part the places of its terms there, -1 where a term does not stand.
    """

    df: int
    slots: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Index:
    """Everything that a text query reads.

    A row of the index is a row of a part plus the part's base, in the order of the parts.

    Parameters
    ----------
    seq, epoch : int
        The position of the log that it reflects.
    lang : str
        The store's default language.
    parts : tuple of Part
    statistics : Statistics
    vocabulary : Vocabulary
        It may know more terms than live sections hold.
    shelves : sequence of (str, str)
        Collection and language of each shelf.
    """

    seq: int
    epoch: int
    lang: str
    parts: tuple[Part, ...]
    statistics: Statistics
    vocabulary: Vocabulary
    shelves: tuple[tuple[str, str], ...]
    _found: dict[frozenset[str], Word] = field(default_factory=dict, repr=False, compare=False)
    _numbers: dict[SearchWeights, FloatArray] = field(default_factory=dict, repr=False, compare=False)
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What queries of a kind keep from one to the next, by its name."""

    def moved_to(self, seq: int) -> Index:
        """Return the same index at a later position of the log, with all that was derived from its parts."""
        moved = replace(self, seq=seq)
        moved.__dict__.update(vars(self) | {"seq": seq})
        return moved

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """First row of each part, and the number of rows."""
        bases = [0]
        for part in self.parts:
            bases.append(bases[-1] + len(part.segment))
        return tuple(bases)

    @property
    def size(self) -> int:
        """Rows, the dead ones included."""
        return self.bases[-1]

    @cached_property
    def alive(self) -> BoolArray:
        """Which rows are alive: bool[rows]."""
        joined: BoolArray = _joined([part.alive for part in self.parts], np.zeros(0, np.bool_))
        return joined

    @cached_property
    def ordinals(self) -> IntArray:
        """Ordinal of each row: int64[rows]."""
        joined: IntArray = _joined([part.segment.ordinals for part in self.parts], np.zeros(0, np.int64))
        return joined

    @cached_property
    def row_shelves(self) -> SmallArray:
        """Shelf of each row: int32[rows]."""
        joined: SmallArray = _joined([part.segment.shelves for part in self.parts], np.zeros(0, np.int32))
        return joined

    @cached_property
    def langs(self) -> tuple[str, ...]:
        """The languages that live sections hold, sorted."""
        return self.languages()

    def languages(self, collections: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the languages that live sections (of some collections) hold, sorted."""
        wanted = None if collections is None else set(collections)
        held = {
            self.shelves[number][1]
            for number in self.statistics.shelves
            if wanted is None or self.shelves[number][0] in wanted
        }
        return tuple(sorted(held))

    def word(self, terms: frozenset[str]) -> Word:
        """Return where a word stands; what was found is remembered."""
        found = self._found.get(terms)
        if found is None:
            known = [self.vocabulary.find(term) for term in sorted(terms)]
            numbers = [number for number in known if number is not None]
            slots = [tuple([part.segment.slot(number) for number in numbers]) for part in self.parts]
            df = sum([part.df(here) for part, here in zip(self.parts, slots, strict=True)])
            if len(self._found) >= WORDS:
                self._found.clear()
            found = self._found[terms] = Word(df, tuple(slots))
        return found

    @cached_property
    def living(self) -> BoolArray:
        """Which rows are alive, as kernels take it."""
        return EVERYTHING if all(not len(part.living) for part in self.parts) else self.alive

    def table(self, table_of: Callable[[list[Segment]], IntArray]) -> IntArray:
        """Return where the arrays of the segments lie, as machine code takes it."""
        found: IntArray | None = self.__dict__.get("_table")
        if found is None:
            found = self.__dict__["_table"] = table_of([part.segment for part in self.parts])
        return found

    def numbers(self, weights: SearchWeights) -> FloatArray:
        """Return what kernels are told beside a query's words (see `kernels`); the query fills in its own."""
        found = self._numbers.get(weights)
        if found is None:
            mean = self.statistics.average_length
            found = self._numbers[weights] = np.array(
                [
                    weights.k1, weights.b, weights.heading, weights.body, weights.code,
                    mean(0) or 1.0, mean(1) or 1.0, mean(2) or 1.0,  # a field that no live section fills
                    weights.proximity, weights.zone, weights.freshness, 0, 0, 0, weights.half_life_days, 2.0,
                ]
            )  # fmt: skip
            while len(self._numbers) > REMEMBERED:
                self._numbers.pop(next(iter(self._numbers)), None)
        return found

    def place(self, row: int) -> tuple[Segment, int]:
        """Return the segment of a row, and the row within it."""
        at = 0
        while row >= self.bases[at + 1]:
            at += 1
        return self.parts[at].segment, row - self.bases[at]

    def ids(self, rows: Iterable[int]) -> list[str]:
        """Return the ids of rows."""
        found = []
        for row in rows:
            segment, local = self.place(row)
            ids, places = segment.ids
            found.append(str(ids[places[local] : places[local + 1]], "utf-8"))
        return found

    def id_bytes(self, row: int) -> bytes:
        """Return the id of a row in UTF-8, which sorts by code point."""
        segment, local = self.place(row)
        return segment.id(local)

    def ordinals_of(self, rows: IntArray) -> IntArray:
        """Return the ordinals of rows."""
        ordinals = np.empty(len(rows), np.int64)
        for segment, local, at in self.by_part(rows):
            ordinals[at] = segment.ordinals[local]
        return ordinals

    def lengths_of(self, rows: IntArray) -> SmallArray:
        """Return the tokens of heading, body and code of rows: int32[n, 3]."""
        lengths = np.empty((len(rows), 3), np.int32)
        for segment, local, at in self.by_part(rows):
            lengths[at] = segment.lengths[local]
        return lengths

    def created_at_of(self, rows: IntArray) -> IntArray:
        """Return when rows were created: int64[n], microseconds since the epoch."""
        created = np.empty(len(rows), np.int64)
        for segment, local, at in self.by_part(rows):
            created[at] = segment.created_at[local]
        return created

    def by_part(self, rows: IntArray) -> Iterator[tuple[Segment, IntArray, Any]]:
        """Yield for each part that some rows lie in: its segment, the rows within it, and their places."""
        if len(self.parts) == 1:
            yield self.parts[0].segment, rows, slice(None)
            return
        for number, part in enumerate(self.parts):
            at = np.flatnonzero((rows >= self.bases[number]) & (rows < self.bases[number + 1]))
            if len(at):
                yield part.segment, rows[at] - self.bases[number], at

    def masked(self, mask: Callable[[Part, int], BoolArray]) -> BoolArray:
        """Return one mask over all rows of what a function says of each part and its number."""
        joined: BoolArray = _joined(
            [mask(part, number) for number, part in enumerate(self.parts)], np.zeros(0, np.bool_)
        )
        return joined

    def total_terms(self) -> int:
        """Return how many distinct terms live rows hold."""
        numbers = [np.zeros(0, np.int32)]
        for part in self.parts:
            segment = part.segment
            if not len(part.living):
                numbers.append(segment.terms)
                continue
            before = np.concatenate([[0], np.cumsum(part.alive[segment.rows])])
            held = before[segment.spans[:, 3]] > before[segment.spans[:, 0]]
            numbers.append(segment.terms[held])
        return len(np.unique(np.concatenate(numbers)))


def _joined(arrays: list[Any], empty: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate([empty, *arrays])


def _add(counts: tuple[int, int, int], change: IntArray, sign: int) -> tuple[int, int, int]:
    first, second, third = (count + sign * int(by) for count, by in zip(counts, change, strict=True))
    return first, second, third
