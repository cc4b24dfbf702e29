"""Making segments: of sections that were analysed, and of smaller segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.text.arrays import (
    BoolArray,
    ByteArray,
    CountArray,
    IntArray,
    ShortArray,
    SmallArray,
    lengths_of_runs,
    offsets,
    spread,
    steps,
)
from germane.text.segment import BLOCK, CLASSES, DENSE, LARGE, RANGE, ROWS, Segment, byte_spans, sizes
from germane.text.varint import encode
from germane.text.zone import is_early


@dataclass(frozen=True)
class Sections:
    """Sections as the index takes them.

    Parameters
    ----------
    ordinals, created_at : int64[rows]
    ids : sequence of bytes
        In UTF-8.
    shelves : int32[rows]
    lengths : int32[rows, 3]
        Tokens of heading, body, code.
    counts : int64[rows]
        Occurrences of each.
    terms, positions : int32[occurrences]
        The term of each occurrence, and where it stands in the section; by section.
    """

    ordinals: IntArray
    created_at: IntArray
    ids: Sequence[bytes]
    shelves: SmallArray
    lengths: SmallArray
    counts: IntArray
    terms: SmallArray
    positions: SmallArray


def build(sections: Sections) -> Segment:
    """Build a segment."""
    lengths = sections.lengths
    row = np.repeat(np.arange(len(lengths), dtype=np.uint16), sections.counts)
    position = sections.positions
    heading_end = lengths[:, 0]
    body_end = heading_end + lengths[:, 1]
    key = sections.terms.astype(np.int64) * 3
    if heading_end.any():
        key += position >= np.repeat(heading_end, sections.counts)
    else:
        key += 1
    if lengths[:, 2].any():
        key += position >= np.repeat(body_end, sections.counts)
    # One sort of keys with their places in the lower half is several times as fast as a stable argsort.
    key = key << 32 | np.arange(len(key))
    key.sort()
    order = key & 0xFFFFFFFF
    key >>= 32
    row, position = row[order], position[order]
    is_first = np.ones(len(key), np.bool_)
    np.logical_or(key[1:] != key[:-1], row[1:] != row[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    gaps = steps(position, 0)
    gaps[starts] = position[starts]
    encoded, byte_starts = encode(gaps)
    terms, spans = _spans(key[starts])
    return _segment(
        (sections.ordinals, sections.created_at, sections.shelves, lengths),
        sections.ids,
        terms,
        spans,
        row[starts],
        lengths_of_runs(starts, len(key)),
        is_early(position[starts], lengths.sum(axis=1, dtype=np.int64)[row[starts]]).astype(np.uint8),
        byte_starts[:-1][starts],
        encoded,
    )


def joined(first: Sections, kept: IntArray, second: Sections) -> Sections:
    """Return some of the first sections, and all of the second."""
    begins = offsets(first.counts)
    by = spread(begins[kept], first.counts[kept])

    def both(name: str, taken: Any) -> Any:
        return np.concatenate([getattr(first, name)[taken], getattr(second, name)])

    return Sections(
        both("ordinals", kept), both("created_at", kept),
        [*(first.ids[at] for at in kept.tolist()), *second.ids],
        both("shelves", kept), both("lengths", kept), both("counts", kept),
        both("terms", by), both("positions", by),
    )  # fmt: skip


def merge(parts: Sequence[tuple[Segment, BoolArray]]) -> Segment:
    """Merge segments, leaving out the rows that are not alive."""
    segments = [segment for segment, _ in parts]
    kept = [np.flatnonzero(live) for _, live in parts]
    bases = offsets(np.array([len(rows) for rows in kept]))
    terms = np.unique(np.concatenate([segment.terms for segment in segments]))

    lists, begins, counts, rows, tf, early, byte_begins, byte_counts = [], [], [], [], [], [], [], []
    postings = bytes_before = 0
    for (segment, live), base, alive in zip(parts, bases.tolist(), kept, strict=False):
        number = np.searchsorted(terms, segment.terms)
        lists.append((number[:, None] * 3 + np.arange(3)).ravel())
        begins.append(segment.spans[:, :3].astype(np.int64).ravel() + postings)
        counts.append(sizes(segment.spans))
        moved = np.full(len(segment), -1, np.int64)
        moved[alive] = np.arange(base, base + len(alive))
        rows.append(moved[segment.rows])
        tf.append(segment.tf())
        early.append(segment.codes & 1)
        spans = byte_spans(segment)
        byte_begins.append(spans[:-1] + bytes_before)
        byte_counts.append(spans[1:] - spans[:-1])
        postings += len(segment.rows)
        bytes_before += len(segment.positions)
        del live
    joined = np.concatenate(lists)
    order = np.argsort(joined, kind="stable")  # lists of one term and field stay in the order of the parts
    count = np.concatenate(counts)[order]
    by = spread(np.concatenate(begins)[order], count)
    key = np.repeat(joined[order], count)
    row = np.concatenate(rows)[by]
    if any(len(alive) < len(segment) for alive, segment in zip(kept, segments, strict=True)):
        held = np.flatnonzero(row >= 0)
        by, key, row = by[held], key[held], row[held]
    widths = np.concatenate(byte_counts)[by]
    encoded = np.concatenate([segment.positions for segment in segments])
    if len(widths):
        encoded = encoded[spread(np.concatenate(byte_begins)[by], widths)]
    slots, spans32 = _spans(key)
    ids = [s.id(at) for s, alive in zip(segments, kept, strict=True) for at in alive.tolist()]

    def taken(name: str) -> Any:
        return np.concatenate([getattr(s, name)[alive] for s, alive in zip(segments, kept, strict=True)])

    return _segment(
        (taken("ordinals"), taken("created_at"), taken("shelves"), taken("lengths")),
        ids,
        terms[slots],
        spans32,
        row.astype(np.uint16),
        np.concatenate(tf)[by],
        np.concatenate(early)[by],
        offsets(widths)[:-1],
        encoded,
    )


def _segment(
    columns: tuple[IntArray, IntArray, SmallArray, SmallArray],
    ids: Sequence[bytes],
    terms: SmallArray,
    spans: CountArray,
    rows: ShortArray,
    tf: np.ndarray[Any, Any],
    early: ByteArray,
    byte_starts: IntArray,
    positions: ByteArray,
) -> Segment:
    """Return a segment of its postings, with all that follows from them."""
    ordinals, created_at, shelves, lengths = columns
    assert len(ordinals) <= ROWS, "a row is 16 bits"
    field = np.repeat(np.tile(np.arange(3, dtype=np.uint8), len(terms)), sizes(spans))
    edges = _edges(lengths, field, tf)
    codes = np.minimum(tf, LARGE).astype(np.uint8) << 5 | early
    for which in range(3):
        classes = (np.searchsorted(edges[which, :CLASSES], lengths[:, which], "right") - 1).clip(0)
        if not lengths[:, which].any():
            continue
        held = slice(None) if (field == which).all() else field == which
        codes[held] |= classes.astype(np.uint8)[rows[held]] << 1
    large = np.flatnonzero(tf >= LARGE)
    ids_sorted = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    id_order = np.empty(len(ids), np.uint16)
    id_order[ids_sorted] = np.arange(len(ids), dtype=np.uint16)
    dense, range_codes, range_starts = _ranges(spans, rows, codes, len(lengths))
    return Segment(
        ordinals=ordinals,
        created_at=created_at,
        shelves=shelves,
        lengths=lengths,
        id_offsets=offsets(np.array([len(id) for id in ids], np.int64)),
        id_bytes=np.frombuffer(b"".join(ids), np.uint8),
        id_order=id_order,
        edges=edges,
        terms=terms.astype(np.int32),
        spans=spans,
        rows=rows,
        codes=codes,
        large_at=large.astype(np.uint32),
        large_tf=tf[large].astype(np.uint32),
        marks=np.append(byte_starts[::BLOCK], len(positions)).astype(np.uint32),
        positions=positions,
        dense=dense,
        range_codes=range_codes,
        range_starts=range_starts,
    )


def _spans(key: IntArray) -> tuple[SmallArray, CountArray]:
    """Return the terms of postings by three times term plus field, and the spans of their lists."""
    if not len(key):
        return np.zeros(0, np.int32), np.zeros((0, 4), np.uint32)
    starts = np.flatnonzero(steps(key, -1))
    lists = key[starts]
    term = lists // 3
    is_new = steps(term, -1) != 0
    terms = term[is_new]
    counts = np.zeros(len(terms) * 3, np.int64)
    counts[(np.cumsum(is_new) - 1) * 3 + lists - term * 3] = lengths_of_runs(starts, len(key))
    ends = offsets(counts)
    spans = np.empty((len(terms), 4), np.uint32)
    spans[:, :3] = ends[:-1].reshape(-1, 3)
    spans[:, 3] = ends[3::3]
    return terms.astype(np.int32), spans


def _edges(lengths: SmallArray, field: ByteArray, tf: np.ndarray[Any, Any]) -> SmallArray:
    """Return for each field the least length of each class, and the most occurrences."""
    edges = np.zeros((3, CLASSES + 1), np.int32)
    for which in range(3):
        held = np.sort(lengths[:, which][lengths[:, which] > 0])
        if not len(held):
            continue
        distinct = np.unique(held)
        if len(distinct) > CLASSES:
            distinct = np.unique(held[np.arange(CLASSES) * len(held) // CLASSES])
        edges[which, :CLASSES] = distinct[-1]
        edges[which, : len(distinct)] = distinct
        counts = tf if (field == which).all() else tf[field == which]
        edges[which, CLASSES] = counts.max(initial=0)
    return edges


def _ranges(
    spans: CountArray, rows: ShortArray, codes: ByteArray, size: int
) -> tuple[SmallArray, ByteArray, ShortArray]:
    """Return the lists that have bounds by ranges, their bounds, and where each range of each begins."""
    counts = sizes(spans)
    dense = np.flatnonzero(counts >= DENSE)
    ranges = -(-size // RANGE)
    if not len(dense):
        return np.zeros(0, np.int32), np.zeros((0, ranges), np.uint8), np.zeros((0, ranges), np.uint16)
    begins = spans[:, :3].astype(np.int64).ravel()[dense]
    by = spread(begins, counts[dense])
    cell = np.repeat(np.arange(len(dense)) * ranges, counts[dense]) + (rows[by] // RANGE)
    code = codes[by]
    starts = np.flatnonzero(steps(cell, -1))
    most = np.maximum.reduceat(code >> 5, starts)
    shortest = np.minimum.reduceat(code >> 1 & 15, starts)
    early = np.maximum.reduceat(code & 1, starts)
    bounds = np.zeros(len(dense) * ranges, np.uint8)
    bounds[cell[starts]] = most << 5 | shortest << 1 | early
    held = np.zeros(len(dense) * ranges, np.int64)
    held[cell[starts]] = lengths_of_runs(starts, len(cell))
    table = held.reshape(len(dense), ranges)
    before = np.cumsum(table, axis=1) - table
    return dense.astype(np.int32), bounds.reshape(len(dense), ranges), before.astype(np.uint16)
