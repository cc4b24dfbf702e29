"""BM25F: the sum of each field's BM25, weighted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from germane.model.weights import SearchWeights
from germane.text.arrays import IntArray, SmallArray

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def idf(sections: int, df: int) -> float:
    """Return the weight of a word that `df` of `sections` sections hold.

    Examples
    --------
    >>> round(idf(10, 2), 6)
    1.481605
    """
    return math.log((sections - df + 0.5) / (df + 0.5) + 1)


def field_score(
    tf: SmallArray, lengths: SmallArray | IntArray, average: float, rarity: float, weights: SearchWeights
) -> FloatArray:
    """Return the score of one word in one field, before the field's weight.

    Parameters
    ----------
    tf : int[n]
        Occurrences in the field of each section.
    lengths : int[n]
        Tokens of that field.
    average : float
        Mean tokens of the field over sections where it is not empty.
    rarity : float
        The word's `idf`.
    weights : SearchWeights
        Gives k1 and b.

    Returns
    -------
    float64[n]
        0 where the word does not stand.

    References
    ----------
    S. Robertson, H. Zaragoza. *The Probabilistic Relevance Framework: BM25 and Beyond* (2009).

    Examples
    --------
    >>> field_score(np.array([1, 0]), np.array([4, 4]), 4.0, 1.0, SearchWeights()).tolist()
    [1.0, 0.0]
    """
    score = np.zeros(len(tf))
    held = np.flatnonzero(tf)
    if len(held):
        count = tf[held].astype(np.float64)
        norm = weights.k1 * (1 - weights.b + weights.b * lengths[held] / average)
        score[held] = rarity * (count * (weights.k1 + 1)) / (count + norm)
    return score
