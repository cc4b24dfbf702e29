"""Columns: the typed values that items have for one field, as flat arrays."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from germane.text.segment import BoolArray, IntArray

KindArray = np.ndarray[Any, np.dtype[np.int8]]

STRING, INT, FLOAT, BOOL, TIME = range(5)
"""The kinds of values; values of different kinds are never compared, but for numbers."""

_double = struct.Struct("=d")
_long = struct.Struct("=q")


class Texts:
    """The strings of a column, numbered as they first appear; it only ever grows."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.values: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a string, a new one if need be."""
        number = self.numbers.setdefault(text, len(self.values))
        if number == len(self.values):
            self.values.append(text)
        return number


class Draft:
    """Values on their way into a column.

    Parameters
    ----------
    texts : Texts
        Of the column that they go into.
    """

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._rows: list[tuple[int, int, bool, int]] = []

    def add(self, ordinal: int, value: Any) -> None:
        """Add the value of an item, in the plain form of metadata; of a list each element is one."""
        if isinstance(value, list):
            self._rows += [(ordinal, *self._encoded(each, True)) for each in value]
        else:
            self._rows.append((ordinal, *self._encoded(value, False)))

    def column(self) -> Column:
        """Return these values as a column, by ordinal."""
        rows = np.array(self._rows, np.int64).reshape(-1, 4)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return Column(
            ordinals=rows[:, 0].copy(),
            kinds=rows[:, 1].astype(np.int8),
            in_list=rows[:, 2].astype(np.bool_),
            bits=rows[:, 3].copy(),
            texts=self.texts,
        )

    def _encoded(self, value: Any, in_list: bool) -> tuple[int, bool, int]:
        if isinstance(value, str):
            return STRING, in_list, self.texts.number(value)
        if isinstance(value, bool):
            return BOOL, in_list, int(value)
        if isinstance(value, float):
            return FLOAT, in_list, _long.unpack(_double.pack(value))[0]
        if isinstance(value, dict):
            return TIME, in_list, value["time"]
        return INT, in_list, value


@dataclass(frozen=True)
class Column:
    """What items have for one field; an item may have several values, or none.

    Parameters
    ----------
    ordinals : int64[values]
        Ascending.
    kinds : int8[values]
        What each value is.
    in_list : bool[values]
        Whether it is an element of a list.
    bits : int64[values]
        The integer, the microseconds, 0 or 1, the bits of the float64, or the string's number.
    texts : Texts
        The strings; later columns share and extend them.
    """

    ordinals: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    kinds: KindArray = field(default_factory=lambda: np.zeros(0, np.int8))
    in_list: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))
    bits: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    texts: Texts = field(default_factory=Texts)

    def __len__(self) -> int:
        return len(self.ordinals)

    def at(self, ordinals: IntArray) -> BoolArray:
        """Return which values belong to some items, given ascending."""
        if not len(self) or not len(ordinals):
            return np.zeros(len(self), np.bool_)
        if len(ordinals) < 64:
            mask = np.zeros(len(self), np.bool_)
            first = np.searchsorted(self.ordinals, ordinals, side="left").tolist()
            last = np.searchsorted(self.ordinals, ordinals, side="right").tolist()
            for low, high in zip(first, last, strict=True):
                mask[low:high] = True
            return mask
        place = np.minimum(np.searchsorted(ordinals, self.ordinals), len(ordinals) - 1)
        found: BoolArray = ordinals[place] == self.ordinals
        return found

    def without(self, gone: BoolArray) -> Column:
        """Return the column without some of its values."""
        return self if not gone.any() else self._taken(np.flatnonzero(~gone))

    def joined(self, more: Column) -> Column:
        """Return the column with more values, whose strings have the same numbers."""
        if not len(more):
            return self
        ordinals = np.concatenate([self.ordinals, more.ordinals])
        both = Column(
            ordinals,
            np.concatenate([self.kinds, more.kinds]),
            np.concatenate([self.in_list, more.in_list]),
            np.concatenate([self.bits, more.bits]),
            self.texts,
        )
        if not len(self) or self.ordinals[-1] <= more.ordinals[0]:
            return both
        return both._taken(np.argsort(ordinals, kind="stable"))

    def replaced(self, changed: IntArray, values: Column) -> Column:
        """Return the column with these values for some items instead of what they had."""
        had = self.at(changed)
        if not len(values) and not had.any():
            return self
        if np.count_nonzero(had) == len(values) and self._taken(np.flatnonzero(had)).equals(values):
            return self
        return self.without(had).joined(values)

    def compacted(self) -> Column:
        """Return the column with only those strings that it holds, if most are of the past."""
        if len(self.texts.values) <= 2 * len(self) + 1024:
            return self
        is_text = self.kinds == STRING
        held, places = np.unique(self.bits[is_text], return_inverse=True)
        texts = Texts()
        for number in held.tolist():
            texts.number(self.texts.values[number])
        bits = self.bits.copy()
        bits[is_text] = places
        return Column(self.ordinals, self.kinds, self.in_list, bits, texts)

    def equals(self, other: Column) -> bool:
        """Tell whether two columns with the same numbers of strings are equal."""
        return (
            np.array_equal(self.ordinals, other.ordinals)
            and np.array_equal(self.kinds, other.kinds)
            and np.array_equal(self.in_list, other.in_list)
            and np.array_equal(self.bits, other.bits)
        )

    def rows(self) -> set[tuple[int, int, bool, int | str]]:
        """Return the values as plain data that does not depend on the numbers of strings."""
        return {
            (ordinal, kind, in_list, self.texts.values[bits] if kind == STRING else bits)
            for ordinal, kind, in_list, bits in zip(
                self.ordinals.tolist(),
                self.kinds.tolist(),
                self.in_list.tolist(),
                self.bits.tolist(),
                strict=True,
            )
        }

    def _taken(self, places: IntArray) -> Column:
        return Column(
            self.ordinals[places], self.kinds[places], self.in_list[places], self.bits[places], self.texts
        )


def drafts(columns: dict[str, Column], values: Iterable[tuple[str, int, Any]]) -> dict[str, Column]:
    """Return columns of values given as name, ordinal and value, numbered as the existing ones are."""
    made: dict[str, Draft] = {}
    for name, ordinal, value in values:
        draft = made.get(name)
        if draft is None:
            texts = columns[name].texts if name in columns else Texts()
            draft = made[name] = Draft(texts)
        draft.add(ordinal, value)
    return {name: draft.column() for name, draft in made.items()}
