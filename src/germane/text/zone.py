"""Zone: how many of a query's words stand in the first fifth of a section."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.text.arrays import BoolArray, ByteArray, FloatArray, IntArray


def is_early(first: np.ndarray[Any, Any], token_count: IntArray) -> BoolArray:
    """Return whether first positions lie in the first fifth: ``5 * first < token_count``.

    Examples
    --------
    >>> is_early(np.array([1, 2]), np.array([10, 10])).tolist()
    [True, False]
    """
    found: BoolArray = first.astype(np.int64) * 5 < token_count
    return found


def zone(early: ByteArray) -> FloatArray:
    """Return the share of the words that stand in the first fifth of each section.

    Parameters
    ----------
    early : uint8[n, words]
        Whether they do.

    Returns
    -------
    float64[n]
        In [0, 1]; 0 without words.

    Examples
    --------
    >>> zone(np.array([[1, 0], [1, 1]], np.uint8)).tolist()
    [0.5, 1.0]
    """
    count = early.sum(axis=1, dtype=np.int64)
    share: FloatArray = count / max(early.shape[1], 1)
    return share
