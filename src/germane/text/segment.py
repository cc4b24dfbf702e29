"""A segment: an immutable part of the index as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

IntArray = np.ndarray[Any, np.dtype[np.int64]]
SmallArray = np.ndarray[Any, np.dtype[np.int32]]
ByteArray = np.ndarray[Any, np.dtype[np.uint8]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


class Analyzed(NamedTuple):
    """A section as the index takes it.

    Parameters
    ----------
    ordinal : int
        The item's number in the tables.
    id : str
        The item's id.
    created_at : int
        Microseconds since the epoch.
    shelf : int
        Number of its collection and language.
    lengths : tuple of int
        Tokens of heading, body and code.
    terms, positions : sequence of int
        One entry an occurrence: the term's number, and the position in the section.
    """

    ordinal: int
    id: str
    created_at: int
    shelf: int
    lengths: tuple[int, int, int]
    terms: Sequence[int]
    positions: Sequence[int]


@dataclass(frozen=True)
class Segment:
    """Sections, and for every term the sections and positions where it stands.

    Rows are sections by ascending ordinal. A posting is one term in one row; postings lie by term, then
    row. The positions of a posting ascend.

    Parameters
    ----------
    ordinals, created_at : int64[rows]
    shelves : int32[rows]
    lengths : int32[rows, 3]
        Tokens of heading, body, code.
    id_offsets : int64[rows + 1]
    id_bytes : uint8[...]
        Ids in UTF-8, whose byte order is the order of code points.
    terms : int32[terms]
        Numbers of the terms, ascending.
    term_offsets : int64[terms + 1]
        Where a term's postings begin.
    rows : int32[postings]
    tf : int32[postings, 3]
        Occurrences in heading, body, code.
    position_offsets : int64[postings + 1]
        Where a posting's positions begin.
    positions : int32[occurrences]
    """

    ordinals: IntArray
    created_at: IntArray
    shelves: SmallArray
    lengths: SmallArray
    id_offsets: IntArray
    id_bytes: ByteArray
    terms: SmallArray
    term_offsets: IntArray
    rows: SmallArray
    tf: SmallArray
    position_offsets: IntArray
    positions: SmallArray

    def __len__(self) -> int:
        return len(self.ordinals)

    def postings(self, term: int) -> slice:
        """Return where the postings of a term lie; an empty slice when it has none."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return slice(0, 0)
        return slice(int(self.term_offsets[at]), int(self.term_offsets[at + 1]))

    def id(self, row: int) -> bytes:
        """Return an id in UTF-8."""
        return bytes(self.id_bytes[self.id_offsets[row] : self.id_offsets[row + 1]])


def build(sections: Sequence[Analyzed]) -> Segment:
    """Build a segment from sections, given by ascending ordinal."""
    counts = np.array([len(section.terms) for section in sections], np.int64)
    occurrences = int(counts.sum())
    term = np.fromiter((t for section in sections for t in section.terms), np.int32, occurrences)
    position = np.fromiter((p for section in sections for p in section.positions), np.int32, occurrences)
    lengths = np.array([section.lengths for section in sections], np.int32).reshape(-1, 3)
    row = np.repeat(np.arange(len(sections), dtype=np.int32), counts)

    order = np.lexsort((position, row, term))
    term, row, position = term[order], row[order], position[order]
    starts = _run_starts(term, row)
    posting = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, occurrences)))
    field = fields_of(position, lengths[row])
    tf = np.bincount(posting * 3 + field, minlength=len(starts) * 3).astype(np.int32).reshape(-1, 3)
    ids = [section.id.encode() for section in sections]
    return Segment(
        ordinals=np.array([section.ordinal for section in sections], np.int64),
        created_at=np.array([section.created_at for section in sections], np.int64),
        shelves=np.array([section.shelf for section in sections], np.int32),
        lengths=lengths,
        id_offsets=_offsets(np.array([len(id) for id in ids], np.int64)),
        id_bytes=np.frombuffer(b"".join(ids), np.uint8),
        position_offsets=np.append(starts, occurrences).astype(np.int64),
        positions=position,
        tf=tf,
        **_by_term(term[starts], row[starts]),
    )


def merge(parts: Sequence[tuple[Segment, BoolArray]]) -> Segment:
    """Merge segments, leaving out the rows that are not alive."""
    segments = [segment for segment, _ in parts]
    alive = [np.flatnonzero(live) for _, live in parts]
    ordinals = np.concatenate([s.ordinals[kept] for s, kept in zip(segments, alive, strict=True)])
    order = np.argsort(ordinals, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)

    new_rows, terms, tfs, position_starts, base, rank = [], [], [], [], 0, 0
    for (segment, live), kept in zip(parts, alive, strict=True):
        moved = np.full(len(segment), -1, np.int32)
        moved[kept] = place[rank : rank + len(kept)]
        rank += len(kept)
        held = np.flatnonzero(live[segment.rows])
        new_rows.append(moved[segment.rows[held]])
        terms.append(np.repeat(segment.terms, np.diff(segment.term_offsets))[held])
        tfs.append(segment.tf[held])
        counts = np.diff(segment.position_offsets)[held]
        position_starts.append(np.stack([segment.position_offsets[:-1][held] + base, counts]))
        base += len(segment.positions)

    row, term = np.concatenate(new_rows), np.concatenate(terms)
    by = np.lexsort((row, term))
    row, term = row[by], term[by]
    starts, counts = np.concatenate(position_starts, axis=1)[:, by]
    ids = [s.id(int(at)) for s, kept in zip(segments, alive, strict=True) for at in kept]
    return Segment(
        ordinals=ordinals[order],
        created_at=np.concatenate([s.created_at[kept] for s, kept in zip(segments, alive, strict=True)])[
            order
        ],
        shelves=np.concatenate([s.shelves[kept] for s, kept in zip(segments, alive, strict=True)])[order],
        lengths=np.concatenate([s.lengths[kept] for s, kept in zip(segments, alive, strict=True)])[order],
        id_offsets=_offsets(np.array([len(ids[at]) for at in order], np.int64)),
        id_bytes=np.frombuffer(b"".join(ids[at] for at in order), np.uint8),
        position_offsets=_offsets(counts),
        positions=np.concatenate([s.positions for s in segments])[spread(starts, counts)],
        tf=np.concatenate(tfs)[by],
        **_by_term(term, row),
    )


def fields_of(positions: SmallArray | IntArray, lengths: SmallArray) -> IntArray:
    """Return the field (0 heading, 1 body, 2 code) of positions, given the lengths of their sections."""
    heading_end = lengths[:, 0]
    return (positions >= heading_end).astype(np.int64) + (positions >= heading_end + lengths[:, 1])


def spread(starts: IntArray, counts: IntArray) -> IntArray:
    """Return the indices of several runs, one after the other.

    Examples
    --------
    >>> spread(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    offsets = _offsets(counts)
    return np.repeat(starts - offsets[:-1], counts) + np.arange(int(offsets[-1]))


def _by_term(term: SmallArray, row: SmallArray) -> dict[str, Any]:
    starts = np.flatnonzero(np.diff(term, prepend=-1))
    return {
        "terms": term[starts].astype(np.int32),
        "term_offsets": np.append(starts, len(term)).astype(np.int64),
        "rows": row.astype(np.int32),
    }


def _run_starts(term: SmallArray, row: SmallArray) -> IntArray:
    changed = np.ones(len(term), np.bool_)
    changed[1:] = (term[1:] != term[:-1]) | (row[1:] != row[:-1])
    return np.flatnonzero(changed)


def _offsets(counts: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
