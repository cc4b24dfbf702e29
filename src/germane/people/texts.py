"""Texts as arrays: how a view of people saves names."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from germane.log.checkpoint import Arrays


def texts_to_arrays(name: str, texts: Iterable[str]) -> Arrays:
    """Return texts as two arrays: their bytes, and where each ends.

    Examples
    --------
    >>> {name: array.tolist() for name, array in texts_to_arrays("users", ["ab", "c"]).items()}
    {'users': [97, 98, 99], 'users_ends': [2, 3]}
    """
    told = [text.encode() for text in texts]
    return {
        name: np.frombuffer(b"".join(told), np.uint8),
        f"{name}_ends": np.cumsum([len(each) for each in told], dtype=np.int64),
    }


def texts_from_arrays(name: str, arrays: Arrays) -> list[str]:
    """Return the texts that `texts_to_arrays` made arrays of.

    Raises
    ------
    KeyError, ValueError
        The arrays are not of that form.
    """
    told, start, texts = arrays[name].tobytes(), 0, []
    for end in arrays[f"{name}_ends"].tolist():
        texts.append(told[start:end].decode())
        start = end
    return texts
