"""The arrays of an index, and walking over runs of them."""

from __future__ import annotations

from typing import Any

import numpy as np

IntArray = np.ndarray[Any, np.dtype[np.int64]]
SmallArray = np.ndarray[Any, np.dtype[np.int32]]
CountArray = np.ndarray[Any, np.dtype[np.uint32]]
ShortArray = np.ndarray[Any, np.dtype[np.uint16]]
ByteArray = np.ndarray[Any, np.dtype[np.uint8]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def offsets(counts: np.ndarray[Any, np.dtype[Any]]) -> IntArray:
    """Return where each of several runs begins, and where the last ends.

    Examples
    --------
    >>> offsets(np.array([2, 3])).tolist()
    [0, 2, 5]
    """
    made = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=made[1:])
    return made


def spread(starts: np.ndarray[Any, np.dtype[Any]], counts: np.ndarray[Any, np.dtype[Any]]) -> IntArray:
    """Return the indices of several runs, one after the other.

    Examples
    --------
    >>> spread(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    begins = offsets(counts)
    found: IntArray = np.repeat(starts - begins[:-1], counts)
    found += np.arange(int(begins[-1]))
    return found
