"""The index at one position of the log: immutable, so that readers need no lock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.text.segment import BoolArray, IntArray, Segment, SmallArray, fields_of, spread


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

    def changed_by(self, part: Part | Segment, rows: IntArray, sign: int) -> Statistics:
        """Return the statistics after rows came (+1) or went (-1)."""
        segment = part.segment if isinstance(part, Part) else part
        lengths = segment.lengths[rows]
        tokens = lengths.sum(axis=0, dtype=np.int64)
        filled = np.count_nonzero(lengths, axis=0)
        shelves = dict(self.shelves)
        numbers, counts = np.unique(segment.shelves[rows], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            shelves[number] = shelves.get(number, 0) + sign * count
            if not shelves[number]:
                del shelves[number]
        return Statistics(
            self.sections + sign * len(rows),
            _add(self.tokens, tokens, sign),
            _add(self.filled, filled, sign),
            shelves,
        )


@dataclass(frozen=True)
class Postings:
    """Where one word stands: rows of the index, ascending, and in each its occurrences.

    Parameters
    ----------
    rows : int64[n]
    tf : int32[n, 3]
        Occurrences in heading, body, code.
    first : int64[n]
        Least position.
    """

    rows: IntArray
    tf: SmallArray
    first: IntArray

    def at(self, rows: IntArray) -> tuple[SmallArray, IntArray]:
        """Return tf and first at the given rows; tf 0 and first -1 where the word does not stand."""
        tf = np.zeros((len(rows), 3), np.int32)
        first = np.full(len(rows), -1, np.int64)
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            held = self.rows[place] == rows
            tf[held] = self.tf[place[held]]
            first[held] = self.first[place[held]]
        return tf, first


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
    vocabulary : mapping of str to int
        Numbers of the terms; it may know more terms than live sections hold.
    shelves : sequence of (str, str)
        Collection and language of each shelf.
    """

    seq: int
    epoch: int
    lang: str
    parts: tuple[Part, ...]
    statistics: Statistics
    vocabulary: Mapping[str, int]
    shelves: tuple[tuple[str, str], ...]

    def moved_to(self, seq: int) -> Index:
        """Return the same index at a later position of the log, with all that was derived from its parts."""
        moved = replace(self, seq=seq)
        moved.__dict__.update(vars(self) | {"seq": seq})
        return moved

    @cached_property
    def bases(self) -> IntArray:
        """First row of each part, and the number of rows: int64[parts + 1]."""
        sizes = [len(part.segment) for part in self.parts]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)

    @property
    def size(self) -> int:
        """Rows, the dead ones included."""
        return int(self.bases[-1])

    @cached_property
    def alive(self) -> BoolArray:
        """Which rows are alive: bool[rows]."""
        joined: BoolArray = _joined([part.alive for part in self.parts], np.zeros(0, np.bool_))
        return joined

    @cached_property
    def lengths(self) -> SmallArray:
        """Tokens of heading, body, code: int32[rows, 3]."""
        joined: SmallArray = _joined(
            [part.segment.lengths for part in self.parts], np.zeros((0, 3), np.int32)
        )
        return joined

    @cached_property
    def ordinals(self) -> IntArray:
        """Ordinal of each row: int64[rows]."""
        joined: IntArray = _joined([part.segment.ordinals for part in self.parts], np.zeros(0, np.int64))
        return joined

    @cached_property
    def created_at(self) -> IntArray:
        """Microseconds since the epoch of each row: int64[rows]."""
        joined: IntArray = _joined([part.segment.created_at for part in self.parts], np.zeros(0, np.int64))
        return joined

    @cached_property
    def row_shelves(self) -> SmallArray:
        """Shelf of each row: int32[rows]."""
        joined: SmallArray = _joined([part.segment.shelves for part in self.parts], np.zeros(0, np.int32))
        return joined

    def languages(self, collections: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the languages that live sections (of some collections) hold, sorted."""
        wanted = None if collections is None else set(collections)
        held = {
            self.shelves[number][1]
            for number in self.statistics.shelves
            if wanted is None or self.shelves[number][0] in wanted
        }
        return tuple(sorted(held))

    def id(self, row: int) -> str:
        """Return the id of a row."""
        return self.id_bytes(row).decode()

    def id_bytes(self, row: int) -> bytes:
        """Return the id of a row in UTF-8, which sorts by code point."""
        at = int(np.searchsorted(self.bases, row, side="right")) - 1
        return self.parts[at].segment.id(row - int(self.bases[at]))

    def postings(self, terms: Iterable[int], fields: frozenset[int] | None = None) -> Postings:
        """Return where any of some terms stands in live rows, as one word.

        Parameters
        ----------
        terms : iterable of int
            Numbers of terms.
        fields : frozenset of int, optional
            Count only occurrences in these fields.
        """
        rows, tf, first = [], [], []
        for part, base in zip(self.parts, self.bases, strict=False):
            segment = part.segment
            for term in terms:
                at = segment.postings(term)
                if at.start == at.stop:
                    continue
                held = np.flatnonzero(part.alive[segment.rows[at]])
                rows.append(segment.rows[at][held].astype(np.int64) + base)
                tf.append(segment.tf[at][held])
                first.append(segment.positions[segment.position_offsets[at][held]].astype(np.int64))
        if not rows:
            return Postings(np.zeros(0, np.int64), np.zeros((0, 3), np.int32), np.zeros(0, np.int64))
        found = _union(np.concatenate(rows), np.concatenate(tf), np.concatenate(first))
        return found if fields is None else self._restricted(found, terms, fields)

    def occurrences(
        self, terms: Iterable[int], fields: frozenset[int] | None = None
    ) -> tuple[IntArray, IntArray]:
        """Return the rows and positions of every live occurrence, unordered: int64[n], int64[n]."""
        rows, positions = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part, base in zip(self.parts, self.bases, strict=False):
            segment = part.segment
            for term in terms:
                at = segment.postings(term)
                held = np.flatnonzero(part.alive[segment.rows[at]]) + at.start
                counts = segment.position_offsets[held + 1] - segment.position_offsets[held]
                rows.append(np.repeat(segment.rows[held].astype(np.int64) + base, counts))
                positions.append(
                    segment.positions[spread(segment.position_offsets[held], counts)].astype(np.int64)
                )
        row, position = np.concatenate(rows), np.concatenate(positions)
        if fields is not None:
            keep = np.isin(fields_of(position, self.lengths[row]), list(fields))
            row, position = row[keep], position[keep]
        return row, position

    def positions(self, terms: Iterable[int], row: int, fields: frozenset[int] | None = None) -> list[int]:
        """Return the positions of some terms in one row, ascending."""
        at = int(np.searchsorted(self.bases, row, side="right")) - 1
        segment, local = self.parts[at].segment, row - int(self.bases[at])
        found: list[int] = []
        for term in terms:
            span = segment.postings(term)
            posting = span.start + int(np.searchsorted(segment.rows[span], local))
            if posting < span.stop and segment.rows[posting] == local:
                low, high = segment.position_offsets[posting : posting + 2]
                found += segment.positions[low:high].tolist()
        if fields is not None:
            heading, body, _ = segment.lengths[local].tolist()
            found = [p for p in found if (p >= heading) + (p >= heading + body) in fields]
        return sorted(found)

    def total_terms(self) -> int:
        """Return how many distinct terms live rows hold."""
        numbers = [
            np.repeat(part.segment.terms, np.diff(part.segment.term_offsets))[part.alive[part.segment.rows]]
            for part in self.parts
        ]
        return len(np.unique(np.concatenate(numbers))) if numbers else 0

    def _restricted(self, found: Postings, terms: Iterable[int], fields: frozenset[int]) -> Postings:
        others = [which for which in range(3) if which not in fields]
        tf = found.tf.copy()
        tf[:, others] = 0
        keep = tf.sum(axis=1) > 0
        rows, positions = self.occurrences(terms, fields)
        first = np.full(self.size, np.iinfo(np.int64).max)
        np.minimum.at(first, rows, positions)
        return Postings(found.rows[keep], tf[keep], first[found.rows[keep]])


def _union(rows: IntArray, tf: SmallArray, first: IntArray) -> Postings:
    if len(rows) < 2 or bool((rows[1:] > rows[:-1]).all()):
        return Postings(rows, tf, first)
    order = np.argsort(rows, kind="stable")
    rows, tf, first = rows[order], tf[order], first[order]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return Postings(rows[starts], np.add.reduceat(tf, starts, axis=0), np.minimum.reduceat(first, starts))


def _joined(arrays: list[Any], empty: Any) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate([empty, *arrays])


def _add(counts: tuple[int, int, int], change: IntArray, sign: int) -> tuple[int, int, int]:
    first, second, third = (count + sign * int(by) for count, by in zip(counts, change, strict=True))
    return first, second, third
