"""A segment: an immutable part of the index as flat arrays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.text.arrays import (
    ByteArray,
    CountArray,
    IntArray,
    ShortArray,
    SmallArray,
    offsets,
)
from germane.text.varint import decode

ROWS = 65_536
"""Rows of a segment at most, so that a row is 16 bits."""
RANGE = 64
"""Rows that share one bound."""
BLOCK = 64
"""Postings that share one mark into the positions."""
DENSE = 512
"""Postings of a list from which on it has bounds by ranges."""
CLASSES = 16
"""Classes of lengths."""
LARGE = 7
"""Occurrences that a code does not tell from more."""


@dataclass(frozen=True)
class Segment:
    """Sections, and for every term the sections and positions where it stands.

    A row is a section. A posting is one term in one field of one row; a list is all postings of a term in a
    field, by row. Lists lie by term, then field. The code of a posting holds, from the highest bit, its
    occurrences (3 bits, 7 for that many or more), the class of the field's length (4 bits), and whether it
    is early: whether the first of its positions lies in the first fifth of the section. Nothing in a code
    depends on parameters of a query, and a list's codes over a range of rows have a bound that is a code too:
    most occurrences, least length, early if any is.

    Parameters
    ----------
    ordinals, created_at : int64[rows]
    shelves : int32[rows]
        Numbers of their collections and languages.
    lengths : int32[rows, 3]
        Tokens of heading, body, code.
    id_offsets : int64[rows + 1]
    id_bytes : uint8[...]
        Ids in UTF-8, whose byte order is the order of code points.
    id_order : uint16[rows]
        Place of each id among the ids of the segment.
    edges : int32[3, 17]
        For each field the least length of each class, ascending, and the most occurrences of any term.
    terms : int32[terms]
        Numbers of the terms, ascending.
    spans : uint32[terms, 4]
        Where a term's lists in heading, body and code begin, and where the last ends.
    rows : uint16[postings]
    codes : uint8[postings]
    large_at, large_tf : uint32[...]
        Postings with 7 occurrences or more, and how many they are.
    marks : uint32[postings / 64 + 1]
        Where the positions of every 64th posting begin.
    positions : uint8[...]
        For each posting its first position and the gaps to the next ones, as `varint.encode` writes them.
    dense : int32[dense]
        Three times the place of the term plus field of the lists that have bounds by ranges, ascending.
    range_codes : uint8[dense, ranges]
        Bounds; 0 where the list has no posting.
    range_starts : uint16[dense, ranges]
        Postings of the list before each range.
    """

    ordinals: IntArray
    created_at: IntArray
    shelves: SmallArray
    lengths: SmallArray
    id_offsets: IntArray
    id_bytes: ByteArray
    id_order: ShortArray
    edges: SmallArray
    terms: SmallArray
    spans: CountArray
    rows: ShortArray
    codes: ByteArray
    large_at: CountArray
    large_tf: CountArray
    marks: CountArray
    positions: ByteArray
    dense: SmallArray
    range_codes: ByteArray
    range_starts: ShortArray

    def __len__(self) -> int:
        return len(self.ordinals)

    def arrays(self) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Yield each array with its name."""
        for each in fields(self):
            yield each.name, getattr(self, each.name)

    @cached_property
    def for_kernels(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The arrays that kernels are given, in their order."""
        return (
            self.spans, self.rows, self.codes, self.large_at, self.large_tf, self.marks, self.positions,
            self.dense, self.range_codes, self.range_starts, self.lengths, self.edges, self.id_order,
            self.created_at,
        )  # fmt: skip

    @cached_property
    def addresses(self) -> list[int]:
        """Rows and ranges, then address and length of each array that machine code reads."""
        found = [len(self), -(-len(self) // RANGE)]
        for array in (*self.for_kernels, self.id_offsets, self.id_bytes):
            found += [array.__array_interface__["data"][0], len(array)]
        return found

    @cached_property
    def _terms(self) -> memoryview:
        return self.terms.data  # its elements are read ten times as fast as the array's

    def slot(self, term: int) -> int:
        """Return the place of a term among the segment's, -1 when it does not stand here."""
        found = bisect_left(self._terms, term)
        return found if found < len(self._terms) and self._terms[found] == term else -1

    def sizes(self, slot: int) -> tuple[int, int, int]:
        """Return how many rows hold a term in heading, in body and in code."""
        ends = self._spans
        heading, body, code, end = ends[slot, 0], ends[slot, 1], ends[slot, 2], ends[slot, 3]
        return body - heading, code - body, end - code

    @cached_property
    def _spans(self) -> Any:
        return self.spans.data

    def id(self, row: int) -> bytes:
        """Return an id in UTF-8."""
        ids, places = self.ids
        return bytes(ids[places[row] : places[row + 1]])

    @cached_property
    def ids(self) -> tuple[memoryview, memoryview]:
        """Ids and where each begins, as what single elements are read of fastest."""
        return self.id_bytes.data, self.id_offsets.data

    @cached_property
    def longest_id(self) -> int:
        """Bytes of the longest id."""
        return int(np.diff(self.id_offsets).max(initial=0))

    @cached_property
    def _by_ordinal(self) -> tuple[IntArray, IntArray | None]:
        """The ordinals ascending, and their rows if that is another order."""
        if (self.ordinals[1:] > self.ordinals[:-1]).all():
            return self.ordinals, None
        order = np.argsort(self.ordinals, kind="stable")
        return self.ordinals[order], order

    @cached_property
    def greatest_ordinal(self) -> int:
        """The greatest of the ordinals."""
        return int(self.ordinals.max())

    def rows_of(self, ordinals: IntArray) -> IntArray:
        """Return the rows of those of some items that are here, ascending ordinals given."""
        held, order = self._by_ordinal
        place = np.minimum(np.searchsorted(held, ordinals), len(held) - 1)
        found = place[held[place] == ordinals]
        rows: IntArray = found if order is None else order[found]
        return rows

    def tf(self) -> SmallArray:
        """Return the occurrences of every posting: int32[postings]."""
        counts = (self.codes >> 5).astype(np.int32)
        counts[self.large_at] = self.large_tf
        return counts


def sizes(spans: CountArray) -> IntArray:
    """Return how many postings each list has: int64[3 * terms]."""
    ends = spans.astype(np.int64)
    counts: IntArray = (ends[:, 1:] - ends[:, :-1]).ravel()
    return counts


class Occurrences(NamedTuple):
    """Where every term stands in a segment: one entry an occurrence, by list, row and position.

    Parameters
    ----------
    slots, field, rows, positions : int64[n]
    """

    slots: IntArray
    fields: IntArray
    rows: IntArray
    positions: IntArray


def occurrences(segment: Segment) -> Occurrences:
    """Return every occurrence of every term."""
    lists = sizes(segment.spans)
    number = np.repeat(np.arange(len(lists)), lists)
    tf = segment.tf().astype(np.int64)
    starts = offsets(tf)
    positions = decode(segment.positions)
    # Gaps since the first position of each posting: a sum from the beginning, less what came before.
    summed = np.cumsum(positions)
    before = summed[starts[:-1]] - positions[starts[:-1]]
    positions = summed - np.repeat(before, tf)
    return Occurrences(
        np.repeat(number // 3, tf),
        np.repeat(number % 3, tf),
        np.repeat(segment.rows.astype(np.int64), tf),
        positions,
    )


def byte_spans(segment: Segment) -> IntArray:
    """Return where the positions of each posting begin, and the last ends: int64[postings + 1]."""
    ends = np.flatnonzero(segment.positions < 128) + 1
    return np.concatenate([[0], ends])[offsets(segment.tf())]
