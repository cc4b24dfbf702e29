"""Numbers as bytes: seven bits a byte, the last byte of each below 128."""

from __future__ import annotations

from typing import Any

import numpy as np

from germane.text.arrays import ByteArray, IntArray, offsets


def encode(values: np.ndarray[Any, np.dtype[Any]]) -> tuple[ByteArray, IntArray]:
    """Return numbers as bytes, and where each begins and the last ends.

    Parameters
    ----------
    values : int[n]
        Not negative, below 2^31.

    Returns
    -------
    tuple of (uint8[bytes], int64[n + 1])

    Examples
    --------
    >>> encoded, starts = encode(np.array([5, 300]))
    >>> encoded.tolist(), starts.tolist()
    ([5, 172, 2], [0, 1, 3])
    """
    if not len(values) or values.max() < 128:
        return values.astype(np.uint8), np.arange(len(values) + 1)
    sizes = np.ones(len(values), np.int64)
    for bits in (7, 14, 21, 28):
        sizes += values >> bits > 0
    starts = offsets(sizes)
    encoded = np.empty(int(starts[-1]), np.uint8)
    for byte in range(int(sizes.max())):
        held = np.flatnonzero(sizes > byte)
        more = (sizes[held] > byte + 1).astype(np.uint8) << 7
        encoded[starts[held] + byte] = (values[held] >> 7 * byte & 127).astype(np.uint8) | more
    return encoded, starts


def decode(encoded: ByteArray) -> IntArray:
    """Return the numbers of bytes that `encode` made.

    Examples
    --------
    >>> decode(np.array([5, 172, 2], np.uint8)).tolist()
    [5, 300]
    """
    is_last = encoded < 128
    if is_last.all():
        return encoded.astype(np.int64)
    ends = np.flatnonzero(is_last)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(encoded)) - np.repeat(starts, ends - starts + 1)
    parts = (encoded & 127).astype(np.int64) << 7 * place
    summed: IntArray = np.add.reduceat(parts, starts)
    return summed
