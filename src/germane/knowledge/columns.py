"""Columns: the typed values that items have for one field, as flat arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from germane.text.arrays import BoolArray, IntArray

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Made = TypeVar("Made")
KindArray = np.ndarray[Any, np.dtype[np.int8]]

STRING, INT, FLOAT, BOOL, TIME = range(5)
"""The kinds of values; values of different kinds are never compared, but for numbers."""

GREATEST_NUMBER = 1e100
"""Greatest number that a column gives for ranking, either way: sums of such stay finite."""

_KINDS = {str: STRING, int: INT, float: FLOAT, bool: BOOL, dict: TIME}
"""Kinds by the type of a value's plain form."""


class Texts:
    """The strings of a column, numbered as they first appear; it only ever grows.

    Parameters
    ----------
    count : int
        How many there are to begin with.
    read : callable, optional
        Returns them, when they are first asked for.
    """

    def __init__(self, count: int = 0, read: Callable[[], list[str]] | None = None) -> None:
        self._turn = threading.Lock()
        self._count = count
        self._read = read
        self._numbers: dict[str, int] = {}
        self._values: list[str] = []

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each string."""
        if self._read is not None:
            self._fill()
        return self._numbers

    @property
    def values(self) -> list[str]:
        """The strings by their numbers."""
        if self._read is not None:
            self._fill()
        return self._values

    def __len__(self) -> int:
        return self._count if self._read is not None else len(self._values)

    def _fill(self) -> None:
        with self._turn:
            if self._read is not None:
                self._values = self._read()
                self._numbers = {text: number for number, text in enumerate(self._values)}
                self._read = None  # last: until then others come here too, and wait

    def number(self, text: str) -> int:
        """Return the number of a string, a new one if need be."""
        values = self.values
        number = self.numbers.setdefault(text, len(values))
        if number == len(values):
            values.append(text)
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
        self._ordinals: list[int] = []
        self._kinds: list[int] = []
        self._in_list: list[bool] = []
        self._bits: list[int] = []
        self._floats: list[float] = []

    def add(self, ordinal: int, value: Any) -> None:
        """Add the value of an item, in the plain form of metadata; of a list each element is one."""
        if type(value) is list:
            for each in value:
                self._add(ordinal, each, True)
        else:
            self._add(ordinal, value, False)

    def column(self) -> Column:
        """Return these values as a column, by ordinal."""
        kinds, bits = np.array(self._kinds, np.int8), np.array(self._bits, np.int64)
        bits[kinds == FLOAT] = np.array(self._floats, np.float64).view(np.int64)
        ordinals = np.array(self._ordinals, np.int64)
        return Column(ordinals, kinds, np.array(self._in_list, np.bool_), bits, self.texts).ascending()

    def _add(self, ordinal: int, value: Any, in_list: bool) -> None:
        kind = _KINDS[type(value)]
        if kind == STRING:
            value = self.texts.number(value)
        elif kind == FLOAT:
            self._floats.append(value)
            value = 0
        elif kind == TIME:
            value = value["time"]
        self._ordinals.append(ordinal)
        self._kinds.append(kind)
        self._in_list.append(in_list)
        self._bits.append(value)


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
    _kept: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_strings(cls, ordinals: Sequence[int], values: Sequence[str], texts: Texts) -> Column:
        """Return a column of one string for each of some items, given ascending."""
        numbers = {text: texts.number(text) for text in dict.fromkeys(values)}
        return cls._plain(ordinals, STRING, [numbers[text] for text in values], texts)

    @classmethod
    def of_times(cls, ordinals: Sequence[int], values: Sequence[int], texts: Texts) -> Column:
        """Return a column of one time, in microseconds, for each of some items, given ascending."""
        return cls._plain(ordinals, TIME, values, texts)

    @classmethod
    def _plain(cls, ordinals: Sequence[int], kind: int, bits: Sequence[int], texts: Texts) -> Column:
        count = len(ordinals)
        return cls(
            np.array(ordinals, np.int64),
            np.full(count, kind, np.int8),
            np.zeros(count, np.bool_),
            np.array(bits, np.int64),
            texts,
        )

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
        return self if not gone.any() else self.taken(np.flatnonzero(~gone))

    def joined(self, more: Column) -> Column:
        """Return the column with more values, whose strings have the same numbers."""
        if not len(more):
            return self
        return Column(
            np.concatenate([self.ordinals, more.ordinals]),
            np.concatenate([self.kinds, more.kinds]),
            np.concatenate([self.in_list, more.in_list]),
            np.concatenate([self.bits, more.bits]),
            self.texts,
        ).ascending()

    def ascending(self) -> Column:
        """Return the column by ordinal; several values of one item stay in order."""
        if bool((self.ordinals[1:] >= self.ordinals[:-1]).all()):
            return self
        return self.taken(np.argsort(self.ordinals, kind="stable"))

    def replaced(self, changed: IntArray, values: Column) -> Column:
        """Return the column with these values for some items instead of what they had."""
        had = self.at(changed)
        if not len(values) and not had.any():
            return self
        if np.count_nonzero(had) == len(values) and self.taken(np.flatnonzero(had)).equals(values):
            return self
        return self.without(had).joined(values)

    def compacted(self) -> Column:
        """Return the column with only those strings that it holds, if most are of the past."""
        if len(self.texts) <= 2 * len(self) + 1024:
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

    def numbers(self, size: int) -> FloatArray:
        """Return its numbers for all items, 0.0 where there is none: float64[size], not to be changed.

        A list has none, nor has a boolean; what exceeds 1e100 either way counts as that.
        """

        def fill() -> FloatArray:
            dense = np.zeros(size)
            for kind in (INT, FLOAT):
                which = (self.kinds == kind) & ~self.in_list
                bits = self.bits[which]
                dense[self.ordinals[which]] = bits if kind == INT else bits.view(np.float64)
            return np.clip(dense, -GREATEST_NUMBER, GREATEST_NUMBER)

        return self.kept("numbers", size, fill)

    def times(self, size: int) -> IntArray:
        """Return its times for all items, 0 where there is none: int64[size], not to be changed."""
        return self.kept("times", size, lambda: self._filled(TIME, np.zeros(size, np.int64)))

    def strings(self, size: int) -> IntArray:
        """Return the numbers of its strings for all items, -1 for none: int64[size], not to be changed."""
        return self.kept("strings", size, lambda: self._filled(STRING, np.full(size, -1)))

    def kept(self, name: str, size: int, make: Callable[[], Made]) -> Made:
        """Return what was made of the column for so many items, making it once."""
        found = self._kept.get(name)
        if found is None or found[0] != size:
            found = self._kept[name] = (size, make())
        made: Made = found[1]
        return made

    def _filled(self, kind: int, dense: IntArray) -> IntArray:
        which = (self.kinds == kind) & ~self.in_list
        dense[self.ordinals[which]] = self.bits[which]
        return dense

    def taken(self, places: IntArray) -> Column:
        """Return some of the values, by their places."""
        return Column(
            self.ordinals[places], self.kinds[places], self.in_list[places], self.bits[places], self.texts
        )


def drafted(columns: dict[str, Column], values: Iterable[tuple[str, int, Any]]) -> dict[str, Column]:
    """Return columns of values given as name, ordinal and value, numbered as the existing ones are."""
    made: dict[str, Draft] = {}
    for name, ordinal, value in values:
        draft = made.get(name)
        if draft is None:
            draft = made[name] = Draft(texts_of(columns, name))
        draft.add(ordinal, value)
    return {name: draft.column() for name, draft in made.items()}


def texts_of(columns: dict[str, Column], name: str) -> Texts:
    """Return the strings of a column, none yet if it does not exist."""
    return columns[name].texts if name in columns else Texts()
