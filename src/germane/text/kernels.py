"""The loops of a text query, over the arrays of one segment.

These are plain functions: `compiled` makes machine code of them, and without it they run as they are. A query
is given to them as arrays too:

terms : int32[terms, 2]
    For each term its place in the segment (-1: it does not stand here) and the word that it stands for;
    by word.
words : int64[words, 2]
    For each word the fields in which it counts (bit 0 heading, 1 body, 2 code), and whether it counts in
    proximity and zone.
rarity : float64[words]
    The idf of each.
numbers : float64[16]
    k1, b; weights of heading, body and code; mean lengths of heading, body and code; weights of proximity,
    zone and freshness; how many words count; whether there is proximity; now, the half-life of freshness in
    days, and 2.0 (a constant would let a compiler choose another function than `pow`).
allowed : bool[rows]
    The rows to select from; empty for all.

Scores are sums in the order of the formulas' definition, so that compiled or not, and in NumPy, they are the
same to the last bit. Bounds are sums in any order, hence widened by `WIDER`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from germane.text.heap import is_worse, push, worst_last
from germane.text.postings import (
    COUNT,
    Array,
    hits_in,
    lists_of,
    proximity_of,
    tf_of,
    wide,
)

DAY = 86_400_000_000
WIDER = 1.0 + 1e-9
STEPS = 127
"""Into which the bounds of ranges are told apart."""
SEEDS = 16
"""Ranges that are visited first, about; four times as many come next."""
SCRATCH = 256
"""Positions of the words of a query in one row for which there is room without asking for more."""

K1, B = 0, 1
WEIGHT, MEAN = 2, 5
PROXIMITY, ZONE, FRESHNESS = 8, 9, 10
HAS_PROXIMITY = 12
NOW, HALF_LIFE, TWO = 13, 14, 15


def text_score(
    codes: Array, large_at: Array, large_tf: Array, lengths: Array, row: int,
    hits: Array, list_words: Array, list_fields: Array, rarity: Array, numbers: Array,
) -> float:  # fmt: skip
    """Return the BM25F of a row: by word in query order, then by field."""
    k1, b = numbers[K1], numbers[B]
    total = 0.0
    at = 0
    while at < len(hits):
        word = list_words[at]
        end = at
        heading = body = code = 0
        while end < len(hits) and list_words[end] == word:
            if hits[end] >= 0:
                count = tf_of(codes, large_at, large_tf, hits[end])
                field = list_fields[end] % 3
                if field == 0:
                    heading += count
                elif field == 1:
                    body += count
                else:
                    code += count
            end += 1
        for field in range(3):
            count = heading if field == 0 else body if field == 1 else code
            if count > 0:
                norm = k1 * (1 - b + b * lengths[row, field] / numbers[MEAN + field])
                score = rarity[word] * (count * (k1 + 1)) / (count + norm)
                total += numbers[WEIGHT + field] * score
        at = end
    return total


def supplemented(total: float, near: float, early: int, created_at: int, numbers: Array) -> float:
    """Return a score with proximity, zone and freshness, in this order."""
    if numbers[PROXIMITY] > 0:
        total += numbers[PROXIMITY] * near
    if numbers[ZONE] > 0:
        share = early / numbers[COUNT] if numbers[COUNT] > 0 else 0.0
        total += numbers[ZONE] * share
    if numbers[FRESHNESS] > 0:
        age = max(numbers[NOW] - created_at, 0.0) / DAY
        total += numbers[FRESHNESS] * math.pow(numbers[TWO], -age / numbers[HALF_LIFE])
    return total


def counted_in(codes: Array, hits: Array, list_words: Array, words: Array) -> tuple[int, int]:
    """Return how many of the words that count stand in a row, and how many of them early."""
    present = early = 0
    at = 0
    while at < len(hits):
        word = list_words[at]
        is_here = is_early = 0
        while at < len(hits) and list_words[at] == word:
            if hits[at] >= 0:
                is_here = 1
                is_early |= wide(codes[hits[at]]) & 1
            at += 1
        if words[word, 1] == 1:
            present += is_here
            early += is_early
    return present, early


def fill_bounds(
    table: Array, edges: Array, weight: float, rarity: float, field: int, share: float, early: float,
    range_table: Array, numbers: Array,
) -> None:  # fmt: skip
    """Write the greatest that each code of a list may add to a score.

    Parameters
    ----------
    table : float64[256]
        For a row: to its BM25F alone. Operations are those of `text_score`, whose rounding is monotone: no
        margin is needed while a code tells how many occurrences there are.
    share, early : float
        What a word adds to proximity, and to zone when it is early.
    range_table : float64[256]
        For a range of rows: with these.
    """
    k1, b = numbers[K1], numbers[B]
    range_table[0] = 0.0  # where a list has nothing
    for length in range(16):
        if length < 15 and edges[field, length] == edges[field, length + 1]:
            continue  # no length is of this class
        norm = k1 * (1 - b + b * edges[field, length] / numbers[MEAN + field])
        for count in range(1, 8):
            tf = count if count < 7 else max(edges[field, 16], 7)
            value = weight * (rarity * (tf * (k1 + 1)) / (tf + norm))
            if count == 7:
                value *= WIDER
            code = count << 5 | length << 1
            table[code] = value
            table[code | 1] = value
            range_table[code] = value + share
            range_table[code | 1] = value + share + early


def starts_at(
    at: int, place: int, dense_at: Array, begins: Array, range_starts: Array, own_starts: Array
) -> Any:
    """Return the first posting of a list in a range of rows where it has one."""
    if dense_at[at] >= 0:
        return begins[at] + wide(range_starts[dense_at[at], place])
    return own_starts[-dense_at[at] - 1, place]


def best_of_one(
    codes: Array, rows: Array, large_at: Array, large_tf: Array, lengths: Array, edges: Array,
    id_order: Array, begin: int, end: int, list_words: Array, list_fields: Array, words: Array,
    rarity: Array, numbers: Array, allowed: Array, floor: float, kept_rows: Array, kept_scores: Array,
) -> int:  # fmt: skip
    """Find the best rows of a single list, without freshness, and return how many there are.

    What a code may be worth is known, so the codes that the best ones have are counted out first. Rows with
    these are looked at, then those with others, if any could still matter.
    """
    word, field = list_words[0], list_fields[0] % 3
    is_counted = words[word, 1]
    table, worth = np.zeros(256, np.float64), np.zeros(256, np.float64)
    fill_bounds(table, edges, numbers[WEIGHT + field], rarity[word], field, 0.0, 0.0, worth, numbers)
    held = np.zeros(256, np.int64)
    for posting in range(begin, end):
        held[codes[posting]] += 1
    passed = 0
    least = np.inf
    for code in range(32, 256):
        if held[code] > 0:
            worth[code] = supplemented(table[code], 0.0, code & is_counted, 0, numbers)
    while passed < len(kept_rows):
        next_worth = -np.inf
        for code in range(32, 256):
            if held[code] > 0 and next_worth < worth[code] < least:
                next_worth = worth[code]
        if next_worth == -np.inf:
            break
        least = next_worth
        for code in range(32, 256):
            if held[code] > 0 and worth[code] == least:
                passed += held[code]
    size = 0
    limit = floor
    is_everything = len(allowed) == 0
    hits = np.empty(1, np.int64)
    for turn in range(2):
        if turn == 1:
            next_worth = -np.inf
            for code in range(32, 256):
                if held[code] > 0 and worth[code] < least:
                    next_worth = max(next_worth, worth[code])
            if next_worth == -np.inf or next_worth < limit:
                break
        for posting in range(begin, end):
            bound = worth[codes[posting]]
            if bound < limit or (bound < least) == (turn == 0):
                continue
            row = wide(rows[posting])
            if not is_everything and not allowed[row]:
                continue
            if size == len(kept_rows) and is_worse(
                bound, id_order[row], kept_scores[0], id_order[kept_rows[0]]
            ):
                continue
            hits[0] = posting
            early = wide(codes[posting]) & is_counted
            total = text_score(
                codes, large_at, large_tf, lengths, row, hits, list_words, list_fields, rarity, numbers
            )
            score = supplemented(total, 0.0, early, 0, numbers)
            if score >= limit:
                size = push(kept_scores, kept_rows, id_order, size, score, row)
                if size == len(kept_rows):
                    limit = max(floor, kept_scores[0])
    return size


def best(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    dense: Array, range_codes: Array, range_starts: Array, lengths: Array, edges: Array, id_order: Array,
    created_at: Array, terms: Array, words: Array, rarity: Array, numbers: Array, allowed: Array,
    floor: float, kept_rows: Array, kept_scores: Array,
) -> int:  # fmt: skip
    """Find the rows with the greatest scores, and return how many there are.

    Ranges of 64 rows have a bound: the sum of the greatest that each list may add there. Those with the
    greatest bounds are visited first, so that the least score that is kept rises at once, then all others
    that could hold a better row. In each, a row's own bound decides whether it is scored, and its score
    without proximity whether positions are read.

    Parameters
    ----------
    floor : float
        The least score that is of use.
    kept_rows : int64[k]
    kept_scores : float64[k]
        Where to write them, best first.
    """
    begins, ends, list_words, list_fields = lists_of(spans, terms, words)
    count = len(begins)
    if count == 0 or len(kept_rows) == 0:
        return 0
    if count == 1 and numbers[FRESHNESS] <= 0:
        size = best_of_one(
            codes, rows, large_at, large_tf, lengths, edges, id_order, begins[0], ends[0], list_words,
            list_fields, words, rarity, numbers, allowed, floor, kept_rows, kept_scores,
        )  # fmt: skip
        worst_last(kept_scores, kept_rows, id_order, size)
        return size
    ranges = (len(lengths) + 63) >> 6
    counted = int(numbers[COUNT])
    ceilings = np.zeros(counted + 1, np.float64)
    share = 0.0
    if numbers[HAS_PROXIMITY] > 0 and count > 1:
        share = numbers[PROXIMITY] / counted
        for present in range(2, counted + 1):
            ceilings[present] = present / counted

    bounds = np.zeros(ranges, np.float64)
    todo = np.empty(ranges, np.int64)
    is_dense = False
    tables = np.zeros((count, 256), np.float64)
    range_table = np.empty(256, np.float64)
    dense_at = np.empty(count, np.int64)
    sparse = 0
    margin = 1.0
    for at in range(count):
        low, high = 0, len(dense)
        while low < high:
            middle = (low + high) >> 1
            if dense[middle] < list_fields[at]:
                low = middle + 1
            else:
                high = middle
        dense_at[at] = low
        if low == len(dense) or dense[low] != list_fields[at]:
            sparse += 1
            dense_at[at] = -sparse
        else:
            is_dense = True
        if (
            at > 0
            and list_words[at] == list_words[at - 1]
            and list_fields[at] // 3 != list_fields[at - 1] // 3
        ):
            margin = WIDER  # a word of several terms is not summed list by list
    greatest_of = np.zeros(count, np.float64)
    own_codes = np.zeros((sparse, ranges), np.uint8)
    own_starts = np.empty((sparse, ranges), np.int64)
    left = 0
    if is_dense:
        left = ranges
        for place in range(ranges):
            todo[place] = place
    for at in range(count):
        word, field = list_words[at], list_fields[at] % 3
        is_counted = words[word, 1] == 1
        fill_bounds(
            tables[at], edges, numbers[WEIGHT + field], rarity[word], field, share if is_counted else 0.0,
            numbers[ZONE] / counted if is_counted else 0.0, range_table, numbers,
        )  # fmt: skip
        if dense_at[at] >= 0:
            here_codes = range_codes[dense_at[at]]
            for place in range(ranges):
                bound = range_table[here_codes[place]]
                bounds[place] += bound
                greatest_of[at] = max(greatest_of[at], bound)
            continue
        own = -dense_at[at] - 1
        posting, end = begins[at], ends[at]
        while posting < end:
            place = wide(rows[posting]) >> 6
            own_starts[own, place] = posting
            code = wide(codes[posting])
            posting += 1
            while posting < end and wide(rows[posting]) >> 6 == place:
                other = wide(codes[posting])
                code = max(code & 0xE0, other & 0xE0) | min(code & 0x1E, other & 0x1E) | ((code | other) & 1)
                posting += 1
            own_codes[own, place] = code
            if not is_dense:
                is_new = True
                for before in range(own):
                    if own_codes[before, place] > 0:
                        is_new = False
                if is_new:
                    todo[left] = place
                    left += 1
            bounds[place] += range_table[code]
            greatest_of[at] = max(greatest_of[at], range_table[code])

    fresh = max(numbers[FRESHNESS], 0.0)
    greatest = 0.0
    for each in range(left):
        greatest = max(greatest, bounds[todo[each]])
    held = np.zeros(STEPS + 1, np.int64)
    if greatest > 0:
        scale = STEPS / greatest
        for each in range(left):
            held[min(int(bounds[todo[each]] * scale), STEPS)] += 1

    size = 0
    limit = floor
    is_everything = len(allowed) == 0
    scratch = np.empty((6, max(SCRATCH, count + 1)), np.int64)
    hits = np.full((64, count), -1, np.int64)
    row_bounds = np.zeros(64, np.float64)
    row_presence = np.zeros(64, np.int64)
    row_early = np.zeros(64, np.int64)
    row_word = np.full(64, -1, np.int64)
    touched = np.empty(64, np.int64)
    # What a row's words add to its bound: (words that stand there, words that stand there early).
    extra = np.empty((counted + 1, count + 1), np.float64)
    for present in range(counted + 1):
        for early in range(count + 1):
            extra[present, early] = fresh
            if numbers[PROXIMITY] > 0:
                extra[present, early] += numbers[PROXIMITY] * ceilings[present]
            if counted > 0 and numbers[ZONE] > 0:
                extra[present, early] += numbers[ZONE] * (early / counted)
    # Lists from the one that can add least: what stands in the first of them alone may be too little.
    by_greatest = np.empty(count, np.int64)
    for at in range(count):
        place = at
        while place > 0 and greatest_of[by_greatest[place - 1]] > greatest_of[at]:
            by_greatest[place] = by_greatest[place - 1]
            place -= 1
        by_greatest[place] = at
    idle = 0
    idle_sum = fresh
    for turn in range(3):
        # In the first turns so many of the greatest bounds; what is put off moves to the front of the list.
        least = 0.0
        if turn < 2 and greatest > 0:
            level = STEPS
            passed = held[level]
            while level > 0 and passed < SEEDS << 2 * turn:
                level -= 1
                passed += held[level]
            least = level * (greatest / STEPS)
        put_off = 0
        for number in range(left):
            place = todo[number]
            if bounds[place] < least:
                todo[put_off] = place
                put_off += 1
                continue
            if (bounds[place] + fresh) * WIDER < limit:
                continue
            while idle < count - 1 and (idle_sum + greatest_of[by_greatest[idle]]) * WIDER < limit:
                idle_sum += greatest_of[by_greatest[idle]]
                idle += 1
            base = place << 6
            touch = 0
            for number_of in range(idle, count if idle > 0 else 0):
                at = by_greatest[number_of]
                if dense_at[at] >= 0:
                    if range_codes[dense_at[at], place] == 0:
                        continue
                elif own_codes[-dense_at[at] - 1, place] == 0:
                    continue
                posting = starts_at(at, place, dense_at, begins, range_starts, own_starts)
                while posting < ends[at]:
                    here = wide(rows[posting]) - base
                    if here >= 64:
                        break
                    if row_word[here] == -1:
                        row_word[here] = -2
                        touched[touch] = here
                        touch += 1
                    posting += 1
            if idle > 0 and touch == 0:
                continue
            for at in range(count):
                if dense_at[at] >= 0:
                    if range_codes[dense_at[at], place] == 0:
                        continue
                elif own_codes[-dense_at[at] - 1, place] == 0:
                    continue
                posting = starts_at(at, place, dense_at, begins, range_starts, own_starts)
                table = tables[at]
                word = list_words[at]
                is_counted = words[word, 1]
                end = ends[at]
                while posting < end:
                    here = wide(rows[posting]) - base
                    if here >= 64:
                        break
                    code = wide(codes[posting])
                    if row_word[here] == -1:
                        if idle > 0:
                            posting += 1
                            continue
                        touched[touch] = here
                        touch += 1
                    row_bounds[here] += table[code]
                    row_early[here] += code & is_counted
                    hits[here, at] = posting
                    if row_word[here] != word:
                        row_word[here] = word
                        row_presence[here] += is_counted
                    posting += 1
            for each in range(touch):
                here = touched[each]
                row = base + here
                bound = row_bounds[here] + extra[row_presence[here], row_early[here]]
                if bound * WIDER >= limit and (is_everything or allowed[row]):
                    bound = supplemented(
                        row_bounds[here],
                        ceilings[row_presence[here]],
                        row_early[here],
                        created_at[row],
                        numbers,
                    )
                    bound *= margin
                    if bound < limit or (
                        size == len(kept_rows)
                        and is_worse(bound, id_order[row], kept_scores[0], id_order[kept_rows[0]])
                    ):
                        continue
                    present, early = counted_in(codes, hits[here], list_words, words)
                    total = text_score(
                        codes, large_at, large_tf, lengths, row, hits[here], list_words, list_fields, rarity,
                        numbers,
                    )  # fmt: skip
                    near = ceilings[present]
                    score = supplemented(total, near, early, created_at[row], numbers)
                    if score >= limit and near > 0.0:
                        near = proximity_of(
                            codes, large_at, large_tf, marks, positions, hits[here], list_words, words,
                            numbers, scratch,
                        )  # fmt: skip
                        score = supplemented(total, near, early, created_at[row], numbers)
                    if score >= limit:
                        size = push(kept_scores, kept_rows, id_order, size, score, row)
                        if size == len(kept_rows):
                            limit = max(floor, kept_scores[0])
            for each in range(touch):
                here = touched[each]
                row_bounds[here] = 0.0
                row_presence[here] = 0
                row_early[here] = 0
                row_word[here] = -1
                for at in range(count):
                    hits[here, at] = -1
        left = put_off
    worst_last(kept_scores, kept_rows, id_order, size)
    return size


def scores(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    dense: Array, range_codes: Array, range_starts: Array, lengths: Array, edges: Array, id_order: Array,
    created_at: Array, terms: Array, words: Array, rarity: Array, numbers: Array, wanted: Array,
    is_exact: bool, into: Array,
) -> None:  # fmt: skip
    """Write the scores of some rows, or with the ceiling of proximity in its place.

    Parameters
    ----------
    wanted : int64[n]
        Rows, ascending.
    is_exact : bool
        Whether proximity is computed.
    into : float64[n]
    """
    begins, ends, list_words, list_fields = lists_of(spans, terms, words)
    count = len(begins)
    hits = np.empty(count, np.int64)
    scratch = np.empty((6, max(SCRATCH, count + 1)), np.int64)
    for at in range(len(wanted)):
        row = wanted[at]
        hits_in(rows, begins, ends, row, hits)
        present, early = counted_in(codes, hits, list_words, words)
        total = text_score(
            codes, large_at, large_tf, lengths, row, hits, list_words, list_fields, rarity, numbers
        )
        near = 0.0
        if present > 1 and numbers[HAS_PROXIMITY] > 0:
            near = present / numbers[COUNT]
            if is_exact:
                near = proximity_of(
                    codes, large_at, large_tf, marks, positions, hits, list_words, words, numbers, scratch
                )
        into[at] = supplemented(total, near, early, created_at[row], numbers)


def details(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    terms: Array, words: Array, numbers: Array, wanted: Array, tf: Array, early: Array, near: Array,
) -> None:  # fmt: skip
    """Write what the scores of some rows are made of.

    Parameters
    ----------
    wanted : int64[n]
        Rows, ascending.
    tf : int32[n, words, 3]
        Occurrences in heading, body, code.
    early : uint8[n, words]
        Whether the word stands in the first fifth.
    near : float64[n]
        Proximity.
    """
    begins, ends, list_words, list_fields = lists_of(spans, terms, words)
    count = len(begins)
    hits = np.empty(count, np.int64)
    scratch = np.empty((6, max(SCRATCH, count + 1)), np.int64)
    for at in range(len(wanted)):
        row = wanted[at]
        hits_in(rows, begins, ends, row, hits)
        for each in range(count):
            if hits[each] >= 0:
                word, field = list_words[each], list_fields[each] % 3
                tf[at, word, field] += tf_of(codes, large_at, large_tf, hits[each])
                early[at, word] |= np.uint8(wide(codes[hits[each]]) & 1)
        if numbers[HAS_PROXIMITY] > 0:
            near[at] = proximity_of(
                codes, large_at, large_tf, marks, positions, hits, list_words, words, numbers, scratch
            )
