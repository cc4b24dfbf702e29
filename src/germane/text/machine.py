"""A query over all segments at once, as machine code alone: it is imported when numba is.

Handing over the arrays of each segment would take as long as scoring a few rows of it, so they are handed
over as addresses. What is done with each is the kernel `best`; what is left is to put together what it finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic

from germane.text.segment import Segment

Array = np.ndarray[Any, Any]

COLUMNS = 2 + 2 * 16
"""Of a segment's row in the table: its rows and ranges, then address and length of each array."""

_ENDS, _TEXT = 30, 32

best: Any = None
"""The compiled kernel; set before `best_of_all` is compiled."""


def _typed(typing: Any, address: Any) -> Any:
    """Take a number for an address."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), make


_pointer: Any = intrinsic(_typed)


def table_of(segments: list[Segment]) -> Array:
    """Return where the arrays of segments lie; it is good for as long as they are kept."""
    return np.array([segment.addresses for segment in segments], np.int64).reshape(-1, COLUMNS)


def comes_before(table: Array, part: int, row: int, other: int, other_row: int) -> bool:
    """Compare the ids of two rows, by bytes."""
    ends = carray(_pointer(table[part, _ENDS]), table[part, _ENDS + 1], np.int64)
    text = carray(_pointer(table[part, _TEXT]), table[part, _TEXT + 1], np.uint8)
    other_ends = carray(_pointer(table[other, _ENDS]), table[other, _ENDS + 1], np.int64)
    other_text = carray(_pointer(table[other, _TEXT]), table[other, _TEXT + 1], np.uint8)
    at, end = ends[row], ends[row + 1]
    other_at, other_end = other_ends[other_row], other_ends[other_row + 1]
    while at < end and other_at < other_end:
        if text[at] != other_text[other_at]:
            return bool(text[at] < other_text[other_at])
        at += 1
        other_at += 1
    return bool(other_at < other_end)


def best_of_all(
    table: Array, terms: Array, words: Array, rarity: Array, numbers: Array, allowed: Array,
    has_allowed: bool, kept_rows: Array, kept_scores: Array,
) -> int:  # fmt: skip
    """Find the rows of all segments with the greatest scores, in order, and return how many there are.

    Parameters
    ----------
    table : int64[parts, 34]
        As `table_of` returns it.
    terms : int32[parts, terms, 2]
        As the kernels take them.
    allowed : bool[rows]
        Over the rows of all segments.
    has_allowed : bool
        Whether it says anything.
    kept_rows : int64[k]
    kept_scores : float64[k]
    """
    parts, wanted = len(table), len(kept_rows)
    rows, scores = np.empty((parts, wanted), np.int64), np.empty((parts, wanted), np.float64)
    counts = np.zeros(parts, np.int64)
    greatest = np.empty(0, np.float64)
    floor = -np.inf
    base = 0
    nothing = np.empty(0, np.bool_)
    for part in range(parts):
        here = table[part]
        size, ranges = here[0], here[1]
        counts[part] = best(
            carray(_pointer(here[2]), (here[3], 4), np.uint32),
            carray(_pointer(here[4]), here[5], np.uint16),
            carray(_pointer(here[6]), here[7], np.uint8),
            carray(_pointer(here[8]), here[9], np.uint32),
            carray(_pointer(here[10]), here[11], np.uint32),
            carray(_pointer(here[12]), here[13], np.uint32),
            carray(_pointer(here[14]), here[15], np.uint8),
            carray(_pointer(here[16]), here[17], np.int32),
            carray(_pointer(here[18]), (here[19], ranges), np.uint8),
            carray(_pointer(here[20]), (here[21], ranges), np.uint16),
            carray(_pointer(here[22]), (size, 3), np.int32),
            carray(_pointer(here[24]), (3, 17), np.int32),
            carray(_pointer(here[26]), here[27], np.uint16),
            carray(_pointer(here[28]), here[29], np.int64),
            terms[part], words, rarity, numbers,
            allowed[base : base + size] if has_allowed else nothing,
            floor, rows[part], scores[part],
        )  # fmt: skip
        base += size
        if part + 1 < parts:
            greatest = np.sort(np.append(greatest, scores[part, : counts[part]]))[-wanted:]
            if len(greatest) == wanted:
                floor = greatest[0]
    # The best of what is left of each part, again and again.
    cursors = np.zeros(parts, np.int64)
    filled = 0
    while filled < wanted:
        chosen = -1
        for part in range(parts):
            if cursors[part] == counts[part]:
                continue
            if chosen < 0:
                chosen = part
                continue
            score, than = scores[part, cursors[part]], scores[chosen, cursors[chosen]]
            if score > than or (
                score == than
                and comes_before(
                    table, part, rows[part, cursors[part]], chosen, rows[chosen, cursors[chosen]]
                )
            ):
                chosen = part
        if chosen < 0:
            break
        before = 0
        for part in range(chosen):
            before += table[part, 0]
        kept_rows[filled] = before + rows[chosen, cursors[chosen]]
        kept_scores[filled] = scores[chosen, cursors[chosen]]
        cursors[chosen] += 1
        filled += 1
    return filled


def best_of_words(
    table: Array, slots: Array, rarities: Array, chosen: Array, words: Array, numbers: Array, allowed: Array,
    has_allowed: bool, kept_scores: Array, ids: Array,
) -> tuple[int, int]:  # fmt: skip
    """Find the best rows for some words of a term each, and write their ids; return how many, and the bytes.

    Parameters
    ----------
    table, words, numbers, allowed, has_allowed
        As `best_of_all` takes them.
    slots : int32[known, parts]
        Place of a word's term in each part.
    rarities : float64[known]
    chosen : int64[words]
        The words of the query among them.
    kept_scores : float64[k]
    ids : uint8[...]
        Where to write the ids in UTF-8, a zero behind each; with room for the longest ones.
    """
    parts, count = len(table), len(chosen)
    terms = np.empty((parts, count, 2), np.int32)
    rarity = np.empty(count, np.float64)
    for at in range(count):
        rarity[at] = rarities[chosen[at]]
        for part in range(parts):
            terms[part, at, 0] = slots[chosen[at], part]
            terms[part, at, 1] = at
    kept_rows = np.empty(len(kept_scores), np.int64)
    found = best_of_all(table, terms, words, rarity, numbers, allowed, has_allowed, kept_rows, kept_scores)
    size = 0
    for at in range(found):
        row, part = kept_rows[at], 0
        while row >= table[part, 0]:
            row -= table[part, 0]
            part += 1
        ends = carray(_pointer(table[part, _ENDS]), table[part, _ENDS + 1], np.int64)
        text = carray(_pointer(table[part, _TEXT]), table[part, _TEXT + 1], np.uint8)
        for place in range(ends[row], ends[row + 1]):
            ids[size] = text[place]
            size += 1
        ids[size] = 0
        size += 1
    return found, size
