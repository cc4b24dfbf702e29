"""BM25 over one field: bm25s as the rival, and a plain version written from the formula to check it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
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


def ranking(scores: FloatArray, limit: int) -> list[int]:
    """Return the documents that match, best first; equal scores in the documents' order."""
    order = np.argsort(-scores, kind="stable")[:limit]
    return [int(number) for number in order if scores[number] > 0]
