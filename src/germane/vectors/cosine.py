"""Cosines whose bits depend on the two vectors alone, not on how many are computed at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
VectorArray = np.ndarray[Any, np.dtype[np.float32]]

_ROWS = 2_048
"""Vectors that are widened to float64 at a time."""
_LONG = 32
"""Numbers of a row from which on it is added up as a row."""


def cosines(matrix: VectorArray, norms: FloatArray, vector: VectorArray) -> FloatArray:
    """Return the cosine of each row and a vector, 0 where either is zero: float64[rows].

    Products of float32 are exact in float64, and are summed in the order of `sums`.

    Parameters
    ----------
    matrix : float32[rows, dimension]
    norms : float64[rows]
        What `lengths` returned for it.
    vector : float32[dimension]

    Examples
    --------
    >>> rows = np.array([[3, 4], [0, 0], [-1, 0]], np.float32)
    >>> cosines(rows, lengths(rows), np.array([1, 0], np.float32)).tolist()
    [0.6, 0.0, -1.0]
    """
    found = np.zeros(len(matrix))
    for start in range(0, len(matrix), _ROWS):
        part = slice(start, start + _ROWS)
        # The vector itself is the last row: its product is the square of its length.
        products = sums(np.concatenate((matrix[part], vector[None]), dtype=np.float64) * vector)
        scale = norms[part] * np.sqrt(products[-1])
        np.divide(products[:-1], scale, out=found[part], where=scale > 0)
    return np.minimum(np.maximum(found, -1.0, out=found), 1.0, out=found)  # np.clip itself is slow for few


def lengths(matrix: VectorArray) -> FloatArray:
    """Return the Euclidean length of each row: float64[rows]."""
    found = np.zeros(len(matrix))
    for start in range(0, len(matrix), _ROWS):
        wide = matrix[start : start + _ROWS].astype(np.float64)
        found[start : start + _ROWS] = np.sqrt(sums(wide * wide))
    return found


def sums(rows: FloatArray) -> FloatArray:
    """Return the sum of each row: halves are added to each other until one number is left.

    Examples
    --------
    >>> sums(np.array([[1.0, 2.0, 3.0]])).tolist()
    [6.0]
    """
    # What is added lies side by side: in rows while they are long, then in columns.
    while (width := rows.shape[1]) > _LONG:
        half = (width + 1) // 2
        folded = rows[:, :half] + rows[:, -half:] if width % 2 == 0 else rows[:, :half].copy()
        if width % 2:
            folded[:, : half - 1] += rows[:, half:]
        rows = folded
    columns = rows.T.copy()
    while (width := len(columns)) > 1:
        half = (width + 1) // 2
        columns[: width - half] += columns[half:]
        columns = columns[:half]
    found: FloatArray = columns[0]
    return found
