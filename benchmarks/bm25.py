"""BM25 over one field: bm25s as the rival, and a plain version written from the formula to check it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

K1, B = 1.2, 0.75

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Terms = Sequence[Sequence[str]]


def bm25s_scores(documents: Terms, queries: Terms) -> list[FloatArray]:
    """Score every document for every query with bm25s, method ``lucene``.

    Parameters
    ----------
    documents, queries : sequence of sequence of str
        Analysed terms. A term that a query repeats counts as often, as in bm25s and Lucene.

    Returns
    -------
    list of float64[documents]
    """
    import bm25s

    index = bm25s.BM25(method="lucene", k1=K1, b=B, dtype="float64")
    index.index([list(terms) for terms in documents], show_progress=False)
    known = index.vocab_dict
    scores = []
    for terms in queries:
        held = [term for term in terms if term in known]
        scores.append(index.get_scores(held) if held else np.zeros(len(documents)))
    return scores


def plain_scores(documents: Terms, queries: Terms) -> list[FloatArray]:
    """Score every document for every query from the formula alone, as `bm25s_scores` does.

    Like Lucene it leaves the constant ``k1 + 1`` out, which changes no order.
    """
    counts = [Counter(terms) for terms in documents]
    lengths = np.array([len(terms) for terms in documents], np.float64)
    norm = K1 * (1 - B + B * lengths / lengths.mean())

    @cache
    def weight(term: str) -> FloatArray:
        tf = np.array([count[term] for count in counts], np.float64)
        df = int(np.count_nonzero(tf))
        scored: FloatArray = math.log((len(documents) - df + 0.5) / (df + 0.5) + 1) * tf / (tf + norm)
        return scored

    return [sum((weight(term) for term in terms), np.zeros(len(documents))) for terms in queries]


class Exact:
    """BM25 of the terms of some queries alone, over texts that are read once: what `plain_scores` would give.

    Parameters
    ----------
    documents : iterable of sequence of str
        Analysed terms, one document after the other.
    wanted : iterable of str
        The terms that will be asked for.
    """

    def __init__(self, documents: Iterable[Sequence[str]], wanted: Iterable[str]) -> None:
        sought = frozenset(wanted)
        held: dict[str, tuple[list[int], list[int]]] = {term: ([], []) for term in sought}
        lengths = []
        for number, terms in enumerate(documents):
            lengths.append(len(terms))
            for term in sought.intersection(terms):
                numbers, counts = held[term]
                numbers.append(number)
                counts.append(terms.count(term))
        self._held = held
        self.size = len(lengths)
        of = np.array(lengths, np.float64)
        self._norm = K1 * (1 - B + B * of / of.mean())

    def scores(self, terms: Iterable[str]) -> FloatArray:
        """Score every document; without the constant ``k1 + 1``."""
        scored: FloatArray = np.zeros(self.size)
        for term in terms:
            numbers, counts = (np.array(of, np.int64) for of in self._held[term])
            idf = math.log((self.size - len(numbers) + 0.5) / (len(numbers) + 0.5) + 1)
            scored[numbers] += idf * counts / (counts + self._norm[numbers])
        return scored

    def holds(self, terms: Iterable[str]) -> int:
        """Return how many documents hold one of the terms."""
        return len(set().union(*(self._held[term][0] for term in terms)))


def overlap(scores: FloatArray, found: Sequence[int], limit: int) -> float | None:
    """Return which share of the best is among what was found; None where nothing matches.

    Of documents with equal scores any will do.

    Examples
    --------
    >>> overlap(np.array([3.0, 2.0, 2.0, 1.0]), [0, 2], 2)
    1.0
    """
    best = np.sort(scores[scores > 0])[::-1][:limit]
    if not len(best):
        return None
    least = best[-1] * (1 - 1e-9)
    return sum(bool(scores[number] >= least) for number in found[:limit]) / len(best)


def ranking(scores: FloatArray, limit: int) -> list[int]:
    """Return the documents that match, best first; equal scores in the documents' order."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return [int(number) for number in order if scores[number] > 0]
