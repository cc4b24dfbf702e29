"""The loops over postings: finding rows and positions, and what standing together is worth.

As `kernels`, whose module describes what they are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

wide: Any = np.int64
"""Unsigned numbers are made signed before they are reckoned with: of both kinds, numba makes floats."""

COUNT = 11
"""Where a query's numbers say how many words count."""


def tf_of(codes: Array, large_at: Array, large_tf: Array, posting: int) -> Any:
    """Return the occurrences of a posting."""
    count = wide(codes[posting]) >> 5
    if count < 7:
        return count
    low, high = 0, len(large_at)
    while low < high:
        middle = (low + high) >> 1
        if large_at[middle] < posting:
            low = middle + 1
        else:
            high = middle
    return wide(large_tf[low])


def found_from(rows: Array, low: int, high: int, row: int) -> int:
    """Return the first posting of a list from `low` on whose row is not below one."""
    step = 1
    at = low
    while at < high and rows[at] < row:
        low = at + 1
        at += step
        step += step
    high = min(at, high)
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


def read_positions(
    codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    posting: int, into: Array, filled: int,
) -> int:  # fmt: skip
    """Write the positions of a posting behind what is filled, and return how much is."""
    at = wide(marks[posting >> 6])
    begin = posting & ~63
    end = min(begin + 64, len(codes))
    passed = 0
    behind = 0
    greatest = 0
    for other in range(begin, posting):
        passed += wide(codes[other]) >> 5
        greatest = max(greatest, wide(codes[other]))
    for other in range(posting, end):
        behind += wide(codes[other]) >> 5
        greatest = max(greatest, wide(codes[other]))
    if greatest < 0xE0 and wide(marks[(posting >> 6) + 1]) - at == passed + behind:
        at += passed  # each number of the block is one byte
    else:
        if greatest >= 0xE0:
            passed = 0
            for other in range(begin, posting):
                passed += tf_of(codes, large_at, large_tf, other)
        while passed > 0:
            if positions[at] < 128:
                passed -= 1
            at += 1
    position = 0
    for _ in range(tf_of(codes, large_at, large_tf, posting)):
        shift = 0
        gap = 0
        while True:
            byte = wide(positions[at])
            at += 1
            gap |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        position += gap
        into[filled] = position
        filled += 1
    return filled


def nearness(positions: Array, starts: Array, present: int, count: int, scratch: Array) -> float:
    """Return the proximity of words by their positions.

    Parameters
    ----------
    positions : int64[...]
        Of each word that occurs its positions, ascending.
    starts : int64[present + 1]
        Where those of each word begin.
    present, count : int
        How many words occur, and how many there are.
    scratch : int64[4, n]
        To be written to; n is not below `present`, nor how many positions there are.
    """
    size = starts[present]
    stream, owner, cursor, inside = scratch[0], scratch[1], scratch[2], scratch[3]
    for word in range(present):
        cursor[word] = starts[word]
    for at in range(size):
        least = -1
        for word in range(present):
            if cursor[word] < starts[word + 1] and (
                least < 0 or positions[cursor[word]] < positions[cursor[least]]
            ):
                least = word
        stream[at] = positions[cursor[least]]
        owner[at] = least
        cursor[least] += 1
    best = 0.0
    for wanted in range(present, 1, -1):
        ceiling = wanted / count
        if best >= ceiling:
            break
        inside[:present] = 0
        distinct = 0
        left = 0
        span = stream[size - 1] - stream[0]
        for at in range(size):
            if inside[owner[at]] == 0:
                distinct += 1
            inside[owner[at]] += 1
            while distinct == wanted:
                span = min(span, stream[at] - stream[left])
                inside[owner[left]] -= 1
                if inside[owner[left]] == 0:
                    distinct -= 1
                left += 1
        best = max(best, ((wanted - 1) / max(span, wanted - 1)) * ceiling)
    return best


def proximity_of(
    codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    hits: Array, list_words: Array, words: Array, numbers: Array, scratch: Array,
) -> float:  # fmt: skip
    """Return the proximity of the words whose postings in one row are given, -1 for none, by list."""
    size = 0
    for at in range(len(hits)):
        if hits[at] >= 0:
            size += tf_of(codes, large_at, large_tf, hits[at])
    if size > scratch.shape[1]:
        scratch = np.empty((6, size), np.int64)
    buffer, starts = scratch[4], scratch[5]
    starts[0] = 0
    present = 0
    filled = 0
    at = 0
    while at < len(hits):
        word = list_words[at]
        begin = filled
        several = 0
        while at < len(hits) and list_words[at] == word:
            if hits[at] >= 0 and words[word, 1] == 1:
                filled = read_positions(codes, large_at, large_tf, marks, positions, hits[at], buffer, filled)
                several += 1
            at += 1
        if several > 1:
            buffer[begin:filled] = np.sort(buffer[begin:filled])
        if filled > begin:
            present += 1
            starts[present] = filled
    if present < 2:
        return 0.0
    return nearness(buffer, starts, present, int(numbers[COUNT]), scratch)


def lists_of(spans: Array, terms: Array, words: Array) -> tuple[Array, Array, Array, Array]:
    """Return the lists of a query in a segment, by word: where each begins and ends, its word, and its field.

    The field is three times the place of the term, and the field's number.
    """
    most = len(terms) * 3
    begins, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    list_words, list_fields = np.empty(most, np.int64), np.empty(most, np.int64)
    found = 0
    for at in range(len(terms)):
        slot = terms[at, 0]
        if slot < 0:
            continue
        for field in range(3):
            if spans[slot, field] < spans[slot, field + 1] and (words[terms[at, 1], 0] >> field) & 1:
                begins[found] = spans[slot, field]
                ends[found] = spans[slot, field + 1]
                list_words[found] = terms[at, 1]
                list_fields[found] = slot * 3 + field
                found += 1
    return begins[:found], ends[:found], list_words[:found], list_fields[:found]


def hits_in(rows: Array, begins: Array, ends: Array, row: int, hits: Array) -> None:
    """Write the posting of a row in each list, -1 without one; rows must come ascending.

    Where the lists begin moves on to it.
    """
    for at in range(len(begins)):
        begins[at] = found_from(rows, begins[at], ends[at], row)
        is_here = begins[at] < ends[at] and rows[begins[at]] == row
        hits[at] = begins[at] if is_here else -1


def mark_any(spans: Array, rows: Array, terms: Array, words: Array, allowed: Array, marked: Array) -> int:
    """Mark the rows that hold any of the words, and return how many there are."""
    found = 0
    is_everything = len(allowed) == 0
    for at in range(len(terms)):
        slot = terms[at, 0]
        if slot < 0:
            continue
        for field in range(3):
            if (words[terms[at, 1], 0] >> field) & 1:
                for posting in range(wide(spans[slot, field]), wide(spans[slot, field + 1])):
                    row = rows[posting]
                    if not marked[row] and (is_everything or allowed[row]):
                        marked[row] = True
                        found += 1
    return found


def mark_phrase(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    places: Array, fields: int, marked: Array,
) -> None:  # fmt: skip
    """Mark the rows that hold words at given distances within one field.

    Parameters
    ----------
    places : int64[terms, 3]
        A term's place in the segment, the number of its word, and the word's distance from the first; by
        word. Any of a word's terms will do.
    fields : int
        The fields in which to look: bit 0 heading, 1 body, 2 code.
    """
    count = len(places)
    wanted = places[count - 1, 1] + 1
    scratch = np.empty((2, 256), np.int64)
    begins, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    held = np.zeros(wanted, np.int64)
    for field in range(3):
        if not (fields >> field) & 1:
            continue
        held[:] = 0
        for at in range(count):
            slot = places[at, 0]
            begins[at] = ends[at] = 0
            if slot >= 0:
                begins[at], ends[at] = spans[slot, field], spans[slot, field + 1]
                held[places[at, 1]] += ends[at] - begins[at]
        rarest = 0
        for word in range(wanted):
            if held[word] < held[rarest]:
                rarest = word
        if held[rarest] == 0:
            continue
        for driver in range(count):
            if places[driver, 1] != rarest:
                continue
            cursors = begins.copy()
            for posting in range(begins[driver], ends[driver]):
                row = rows[posting]
                cursors[driver] = posting
                # Most rows lack a word, which its list alone tells.
                size = tf_of(codes, large_at, large_tf, posting)
                at = 0
                while at < count:
                    word = places[at, 1]
                    is_here = word == rarest
                    while at < count and places[at, 1] == word:
                        if at != driver:
                            cursors[at] = found_from(rows, cursors[at], ends[at], row)
                            if cursors[at] < ends[at] and rows[cursors[at]] == row:
                                is_here = True
                                size += tf_of(codes, large_at, large_tf, cursors[at])
                        at += 1
                    if not is_here:
                        size = 0
                        break
                if size == 0 or marked[row]:
                    continue
                if size > scratch.shape[1]:
                    scratch = np.empty((2, size), np.int64)
                begun, others = scratch[0], scratch[1]
                left = 0
                at = 0
                while at < count:
                    word = places[at, 1]
                    filled = 0
                    several = 0
                    while at < count and places[at, 1] == word:
                        if cursors[at] < ends[at] and rows[cursors[at]] == row:
                            before = filled
                            filled = read_positions(
                                codes, large_at, large_tf, marks, positions, cursors[at], others, filled
                            )
                            for each in range(before, filled):
                                others[each] -= places[at, 2]
                            several += 1
                        at += 1
                    if several > 1:
                        others[:filled] = np.sort(others[:filled])
                    if word == 0:
                        begun[:filled] = others[:filled]
                        left = filled
                        continue
                    # What both have: they ascend.
                    still = other = 0
                    for each in range(left):
                        while other < filled and others[other] < begun[each]:
                            other += 1
                        if other < filled and others[other] == begun[each]:
                            begun[still] = begun[each]
                            still += 1
                    left = still
                    if left == 0:
                        break
                if left > 0:
                    marked[row] = True
