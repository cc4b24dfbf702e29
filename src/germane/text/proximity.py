"""Proximity: how closely a query's words stand together."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import merge


def proximity(positions: Sequence[Sequence[int]]) -> float:
    """Return the greatest of ``((j-1)/span_j) * (j/n)`` over j = 2..m.

    ``span_j`` is the least extent of a window that holds j distinct words (at least j-1), n the number
    of words and m how many of them occur. Another matching word never lowers it.

    Parameters
    ----------
    positions : sequence of sequence of int
        For each of the n words its positions, ascending; empty where it does not occur.

    Returns
    -------
    float
        In [0, 1]; 1 exactly when all words stand side by side.

    Examples
    --------
    >>> proximity([[3, 9], [4]]), proximity([[3], [5]]), proximity([[3], []])
    (1.0, 0.5, 0.0)
    """
    count = len(positions)
    present = [at for at in positions if at]
    if len(present) < 2:
        return 0.0
    stream = list(merge(*([(position, word) for position in at] for word, at in enumerate(present))))
    best = 0.0
    for wanted in range(len(present), 1, -1):
        ceiling = wanted / count
        if best >= ceiling:
            break
        span = _least_span(stream, len(present), wanted)
        best = max(best, ((wanted - 1) / max(span, wanted - 1)) * ceiling)
    return best


def _least_span(stream: list[tuple[int, int]], words: int, wanted: int) -> int:
    """Return the least extent of a window of the stream that holds so many distinct words."""
    inside = [0] * words
    distinct = 0
    left = 0
    least = stream[-1][0] - stream[0][0]
    for position, word in stream:
        distinct += inside[word] == 0
        inside[word] += 1
        while distinct == wanted:
            start, leaving = stream[left]
            least = min(least, position - start)
            inside[leaving] -= 1
            distinct -= inside[leaving] == 0
            left += 1
    return least
