"""Kernels as NumPy expressions, for a process that does not have them compiled.

They take what the kernels take and find the same; what goes through all postings is a few expressions a
list, and only rows that may be among the best go through the kernels as they are.
"""

from __future__ import annotations

import numpy as np

from germane.text import kernels
from germane.text.arrays import BoolArray
from germane.text.freshness import freshness
from germane.text.heap import is_worse
from germane.text.postings import COUNT, Array

STEP = 32
"""Rows that are scored before their bounds are asked again; twice as many each time."""


def best(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, marks: Array, positions: Array,
    dense: Array, range_codes: Array, range_starts: Array, lengths: Array, edges: Array, id_order: Array,
    created_at: Array, terms: Array, words: Array, rarity: Array, numbers: Array, allowed: Array,
    floor: float, kept_rows: Array, kept_scores: Array,
) -> int:  # fmt: skip
    """Find the rows with the greatest scores, as `kernels.best` does: by a bound for every row."""
    found, bounds = _bounds(
        spans, rows, codes, large_at, large_tf, lengths, created_at, terms, words, rarity, numbers
    )
    candidates = np.flatnonzero((found & allowed) if len(allowed) else found)
    wanted = len(kept_rows)
    if not len(candidates) or not wanted:
        return 0
    order = np.lexsort((id_order[candidates], -bounds[candidates]))
    candidates = candidates[order]
    bounds = bounds[candidates]
    done, step = 0, max(STEP, wanted)
    kept, scored = np.zeros(0, np.int64), np.zeros(0)
    while done < len(candidates) and bounds[done] >= floor:
        is_full = len(kept) == wanted
        if is_full and is_worse(bounds[done], id_order[candidates[done]], scored[-1], id_order[kept[-1]]):
            break
        some = np.sort(candidates[done : done + step])
        into = np.empty(len(some))
        kernels.scores(
            spans, rows, codes, large_at, large_tf, marks, positions, dense, range_codes, range_starts,
            lengths, edges, id_order, created_at, terms, words, rarity, numbers, some, True, into,
        )  # fmt: skip
        kept, scored = np.append(kept, some), np.append(scored, into)
        first = np.lexsort((id_order[kept], -scored))[:wanted]
        kept, scored = kept[first], scored[first]
        done, step = done + step, step * 2
    useful = int(np.count_nonzero(scored >= floor))
    kept_rows[:useful], kept_scores[:useful] = kept[:useful], scored[:useful]
    return useful


def mark_any(spans: Array, rows: Array, terms: Array, words: Array, allowed: Array, marked: Array) -> int:
    """Mark the rows that hold any of the words, as `postings.mark_any`."""
    for slot, word in terms.tolist():
        for field in range(3):
            if slot >= 0 and words[word, 0] >> field & 1:
                marked[rows[spans[slot, field] : spans[slot, field + 1]]] = True
    if len(allowed):
        marked &= allowed
    return int(np.count_nonzero(marked))


def _bounds(
    spans: Array, rows: Array, codes: Array, large_at: Array, large_tf: Array, lengths: Array,
    created_at: Array, terms: Array, words: Array, rarity: Array, numbers: Array,
) -> tuple[BoolArray, Array]:  # fmt: skip
    """Return which rows hold a word, and their scores with the ceiling of proximity.

    Operations are those of the kernels, in their order, and rounding is monotone: no score exceeds its bound.
    """
    k1, b, counted = numbers[kernels.K1], numbers[kernels.B], int(numbers[COUNT])
    size = len(lengths)
    found = np.zeros(size, np.bool_)
    total, presence, early = np.zeros(size), np.zeros(size, np.int64), np.zeros(size, np.int64)
    for word, (fields, is_counted) in enumerate(words.tolist()):
        tf, is_early = np.zeros((size, 3), np.int64), np.zeros(size, np.bool_)
        for slot in terms[terms[:, 1] == word, 0].tolist():
            for field in range(3):
                begin, end = (spans[slot, field], spans[slot, field + 1]) if slot >= 0 else (0, 0)
                if fields >> field & 1 and begin < end:
                    held, code = rows[begin:end], codes[begin:end]
                    counts = (code >> 5).astype(np.int64)
                    first, last = np.searchsorted(large_at, [begin, end])
                    counts[large_at[first:last].astype(np.int64) - begin] = large_tf[first:last]
                    tf[held, field] += counts
                    is_early[held] |= (code & 1).astype(np.bool_)
        here = tf.any(axis=1)
        for field in range(3):
            held = np.flatnonzero(tf[:, field])
            if len(held):
                count = tf[held, field]
                norm = k1 * (1 - b + b * lengths[held, field] / numbers[kernels.MEAN + field])
                score = rarity[word] * (count * (k1 + 1)) / (count + norm)
                total[held] += numbers[kernels.WEIGHT + field] * score
        found |= here
        if is_counted:
            presence += here
            early += is_early
    if numbers[kernels.PROXIMITY] > 0:
        has_near = numbers[kernels.HAS_PROXIMITY] > 0
        near = np.where(presence > 1, presence / max(counted, 1), 0.0) if has_near else np.zeros(size)
        total += numbers[kernels.PROXIMITY] * near
    if numbers[kernels.ZONE] > 0:
        total += numbers[kernels.ZONE] * (early / max(counted, 1))
    if numbers[kernels.FRESHNESS] > 0:
        now = int(numbers[kernels.NOW])
        total += numbers[kernels.FRESHNESS] * freshness(created_at, now, float(numbers[kernels.HALF_LIFE]))
    return found, total
