"""Embeddings: the vectors that callers give items, as float32."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from numbers import Real
from typing import Any

from germane.model.errors import InvalidArgument, quoted

MOST = 4_096
"""Numbers that a vector may have."""
_BYTES = 4


def check_embedding(value: object, field: str = "embedding") -> tuple[float, ...]:
    """Return a vector: 1 to 4,096 finite numbers, each rounded to float32.

    Parameters
    ----------
    value : object
        A list, a tuple, or an array of one dimension.
    field : str
        What errors name.

    Raises
    ------
    InvalidArgument
        It is no vector.

    Examples
    --------
    >>> check_embedding([1, 0.1])
    (1.0, 0.10000000149011612)
    """
    given: Any = value
    if getattr(given, "ndim", None) == 1:
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes, bytearray, memoryview)):
        raise InvalidArgument(field, f"must be a list of numbers, not {type(value).__name__}")
    if not 1 <= len(given) <= MOST:
        raise InvalidArgument(field, f"has {len(given):,} numbers: a vector has 1 to {MOST:,}")
    for number, each in enumerate(given):
        if type(each) is not float and (isinstance(each, bool) or not isinstance(each, Real)):
            raise InvalidArgument(f"{field}[{number}]", f"must be a number, not {quoted(each)}")
    try:
        rounded = from_bytes(to_bytes(given))
    except OverflowError:
        raise InvalidArgument(field, "holds a number that is too great for float32") from None
    # A sum of finite numbers of float32 is finite, and any other one is not.
    if not sum(map(abs, rounded)) < float("inf"):
        raise InvalidArgument(field, "holds a number that is not finite")
    return rounded


def to_bytes(embedding: Sequence[float]) -> bytes:
    """Return a vector as it is kept: float32, little-endian."""
    return struct.pack(f"<{len(embedding)}f", *embedding)


def from_bytes(data: bytes) -> tuple[float, ...]:
    """Return the vector that is kept as these bytes."""
    return struct.unpack(f"<{dimension_of(data)}f", data)


def dimension_of(data: bytes) -> int:
    """Return how many numbers are kept as these bytes."""
    return len(data) // _BYTES
