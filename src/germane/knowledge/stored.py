"""The catalogue as files: one canonical form, so that equal content gives equal bits.

Columns by name, values by ordinal, strings numbered by code point; no string that no live item has.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from germane.knowledge.columns import STRING, Column, Texts
from germane.log.checkpoint import Arrays
from germane.text.arrays import BoolArray, IntArray

FORMAT = "1"
"""Of the arrays, and of how they follow from the tables."""

_VALUES = ("ordinals", "kinds", "in_list", "bits")
_UNORDERED = "document"
"""The column in which the order of an item's values means nothing."""


def canonical(name: str, column: Column) -> tuple[Column, list[str]]:
    """Return a column with its strings numbered by code point, and these strings."""
    is_text = column.kinds == STRING
    held = np.unique(column.bits[is_text])
    values = column.texts.values
    texts = [values[number] for number in held.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int64)
    ranks[order] = np.arange(len(texts))
    bits = column.bits.copy()
    bits[is_text] = ranks[np.searchsorted(held, bits[is_text])]
    made = Column(column.ordinals, column.kinds, column.in_list, bits, column.texts)
    if name == _UNORDERED:
        made = made.taken(np.lexsort((bits, column.ordinals)))
    return made, [texts[place] for place in order]


def to_arrays(live: BoolArray, columns: dict[str, Column]) -> Arrays:
    """Return a catalogue in its canonical form."""
    names = sorted(columns)
    made = [canonical(name, columns[name]) for name in names]
    empty = Column()
    arrays: Arrays = {
        part: np.concatenate([getattr(column, part) for column in (empty, *(column for column, _ in made))])
        for part in _VALUES
    }
    blobs = [_blob(texts) for _, texts in made]
    return arrays | {
        "live": live,
        "value_ends": _ends([len(column) for column, _ in made]),
        "text": np.frombuffer(b"".join(blob for blob, _ in blobs), np.uint8),
        "text_ends": _ends([len(blob) for blob, _ in blobs]),
        "string_ends": np.concatenate([np.zeros(0, np.int64), *(ends for _, ends in blobs)]),
        "string_counts": np.array([len(ends) for _, ends in blobs], np.int64),
        "names": np.frombuffer("\n".join(names).encode(), np.uint8),
    }


def from_arrays(arrays: Arrays) -> tuple[BoolArray, dict[str, Column]]:
    """Return the catalogue that `to_arrays` made arrays of; strings are read when they are asked for.

    Raises
    ------
    KeyError, ValueError
        The arrays are not of that form.
    """
    text = arrays["names"].tobytes().decode()
    names = text.split("\n") if text else []
    columns, at = {}, 0
    values, blobs = pairwise(arrays["value_ends"].tolist()), pairwise(arrays["text_ends"].tolist())
    for name, (first, last), (start, end), count in zip(
        names, values, blobs, arrays["string_counts"].tolist(), strict=True
    ):
        read = partial(_strings, arrays["text"][start:end], arrays["string_ends"][at : at + count])
        ordinals, kinds, in_list, bits = (arrays[part][first:last] for part in _VALUES)
        columns[name] = Column(ordinals, kinds, in_list, bits, Texts(count, read))
        at += count
    return arrays["live"], columns


def _blob(texts: list[str]) -> tuple[bytes, IntArray]:
    """Return strings as one text, and where each of them ends in it, in characters."""
    return "".join(texts).encode(), np.cumsum([len(text) for text in texts], dtype=np.int64)


def _strings(blob: IntArray, ends: IntArray) -> list[str]:
    text = blob.tobytes().decode()
    return [text[start:end] for start, end in pairwise([0, *ends.tolist()])]


def _ends(counts: list[int]) -> IntArray:
    return np.cumsum([0, *counts], dtype=np.int64)
