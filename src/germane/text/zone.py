"""Zone: how many of a query's words stand in the first fifth of a section."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from germane.text.bm25f import FloatArray
from germane.text.segment import IntArray


def zone(first: Sequence[IntArray], token_count: IntArray) -> FloatArray:
    """Return the share of the words that occur at a position with ``5 * position < token_count``.

    Parameters
    ----------
    first : sequence of int64[n]
        For each word its first position in each section, -1 where it does not occur.
    token_count : int64[n]
        Tokens of each section.

    Returns
    -------
    float64[n]
        In [0, 1]; 0 without words.

    Examples
    --------
    >>> zone([np.array([0, 9]), np.array([-1, 1])], np.array([10, 10])).tolist()
    [0.5, 0.5]
    """
    early = np.zeros(len(token_count), np.int64)
    for at in first:
        early += (at >= 0) & (5 * at < token_count)
    return early / len(first) if len(first) else early.astype(np.float64)
