"""Hints: the texts of live items in which the keywords of a session are looked for.

Of each item its title, tags and metadata values, lowercased once when it is written, a line each. A keyword
has no white space, so no match runs from one value into the next. Texts lie in parts, each one run of bytes:
what is written comes in a new part, and what was found of a keyword in an older part stays found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import numpy as np

from germane.log.events import metadata_from_plain
from germane.model.values import Value
from germane.text.analysis import Kind, analyzer
from germane.text.arrays import BoolArray, IntArray

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

Weights = tuple[tuple[str, float], ...]

MOST_KEYWORDS = 4_096
"""Keywords of which it is kept where they were found in a part."""
MOST_BYTES = 64_000_000
"""Size of the columns that are kept, of whole sets of keywords."""

_END = b"\xff"
"""Ends a text: no UTF-8 has this byte."""


class Texts(NamedTuple):
    """Texts one after another.

    Parameters
    ----------
    data : bytes
        UTF-8, each text ended by a byte that no UTF-8 has.
    ends : int64[n]
        Where each text ends, behind that byte.
    """

    data: bytes
    ends: IntArray

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Return texts in this form."""
        told = [text.encode("utf-8", "replace") + _END for text in texts]
        return cls(b"".join(told), np.cumsum([len(each) for each in told], dtype=np.int64))

    def holding(self, wanted: bytes) -> IntArray:
        """Return the places of the texts that hold some bytes, ascending."""
        starts = [found.start() for found in re.finditer(re.escape(wanted), self.data)]
        return np.unique(np.searchsorted(self.ends, np.array(starts, np.int64), side="right"))

    def chosen(self, places: IntArray) -> Texts:
        """Return some of the texts, in order."""
        starts = np.append(0, self.ends[:-1])[places].tolist()
        ends = self.ends[places].tolist()
        told = [self.data[start:end] for start, end in zip(starts, ends, strict=True)]
        return Texts(b"".join(told), np.cumsum([len(each) for each in told], dtype=np.int64))

    def joined(self, more: Texts) -> Texts:
        """Return these texts and more."""
        return Texts(self.data + more.data, np.append(self.ends, more.ends + len(self.data)))

    def texts(self) -> list[str]:
        """Return them as strings."""
        return [text.decode() for text in self.data.split(_END)[:-1]]


class Part:
    """The texts of some items, and where keywords were found among them.

    Parameters
    ----------
    ordinals : int64[n]
        Of the items, ascending.
    raw : Texts
    lang : str
        The language in which words are analysed.
    """

    def __init__(self, ordinals: IntArray, raw: Texts, lang: str) -> None:
        self.ordinals = ordinals
        self.raw = raw
        self.lang = lang
        self._words: Texts | None = None
        self._found: dict[tuple[bool, str], IntArray] = {}

    def holding(self, keyword: str, whole: bool) -> IntArray:
        """Return the places of the texts that hold a keyword, or have it as a word."""
        key = whole, keyword
        found = self._found.get(key)
        if found is None:
            if whole:
                found = self.words.holding(f" {keyword} ".encode())
            else:
                found = self.raw.holding(keyword.encode("utf-8", "replace"))
            while len(self._found) >= MOST_KEYWORDS:
                _drop_first(self._found)
            self._found[key] = found
        return found

    @property
    def words(self) -> Texts:
        """The analysed words of the texts, made when they are first asked for."""
        if self._words is None:
            self._words = Texts.of(f" {' '.join(words_of(text, self.lang))} " for text in self.raw.texts())
        return self._words

    def joined(self, more: Part, gone: IntArray) -> Part:
        """Return a part of these items, without some, and of more; what was found in both stays found."""
        kept = np.flatnonzero(~np.isin(self.ordinals, gone))
        both = np.append(self.ordinals[kept], more.ordinals)
        order = np.argsort(both, kind="stable")
        made = Part(both[order], self.raw.chosen(kept).joined(more.raw).chosen(order), self.lang)
        if self._words is not None and more._words is not None:
            made._words = self._words.chosen(kept).joined(more._words).chosen(order)
        place_of = np.empty(len(both), np.int64)
        place_of[order] = np.arange(len(both))
        now_at = np.full(len(self.ordinals), -1)
        now_at[kept] = place_of[: len(kept)]
        for key, ours in self._found.items():
            theirs = more._found.get(key)
            if theirs is not None:
                places = now_at[ours]
                made._found[key] = np.sort(np.append(places[places >= 0], place_of[len(kept) + theirs]))
        return made


@dataclass(frozen=True)
class Hints:
    """The texts of live items at one position of the log; nothing of it changes but what is kept.

    Parameters
    ----------
    seq, epoch : int
    parts : tuple of Part
        The older ones first; what an item is in a later one, it is.
    alive : tuple of bool[n]
        Which texts of each part still are those of live items.
    """

    seq: int
    epoch: int
    parts: tuple[Part, ...]
    alive: tuple[BoolArray, ...]
    _matching: dict[tuple[bool, str], IntArray] = field(default_factory=dict, repr=False, compare=False)
    _columns: dict[Any, Hint] = field(default_factory=dict, repr=False, compare=False)

    def matching(self, keyword: str, whole: bool = False) -> IntArray:
        """Return the ordinals of the items that a keyword matches, ascending.

        Parameters
        ----------
        keyword : str
            Lowercased, without white space.
        whole : bool
            Whether it must be one of an item's words; otherwise it may lie anywhere in the text.
        """
        key = whole, keyword
        found = self._matching.get(key)
        if found is None:
            several = []
            for part, alive in zip(self.parts, self.alive, strict=True):
                places = part.holding(keyword, whole)
                several.append(part.ordinals[places[alive[places]]])
            found = np.sort(np.concatenate(several)) if several else np.zeros(0, np.int64)
            while len(self._matching) >= MOST_KEYWORDS:
                _drop_first(self._matching)
            self._matching[key] = found
        return found

    def hint(self, weights: Weights, size: int, whole: bool = False) -> Hint:
        """Return for each item the weight of the keywords that match it, over that of all.

        Parameters
        ----------
        weights : tuple of (str, float)
            The keywords, each once, and the weight of each.
        size : int
            How many ordinals to return numbers for.
        whole : bool
            As for `matching`.
        """
        key = whole, size, weights
        found = self._columns.pop(key, None)
        if found is None:
            found = Hint(self._shares(weights, size, whole))
            held = size * 8
            while self._columns and (len(self._columns) + 1) * held > MOST_BYTES:
                _drop_first(self._columns)
        self._columns[key] = found
        return found

    def _shares(self, weights: Weights, size: int, whole: bool) -> FloatArray:
        values, total = np.zeros(size), 0.0
        for keyword, weight in weights:
            total += weight
            matching = self.matching(keyword, whole)
            values[matching[: matching.searchsorted(size)]] += weight
        return values / total if total else values


class Hint:
    """A number from 0 to 1 for each item.

    Parameters
    ----------
    values : float64[size]
        Not to be changed.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self._made: dict[int, tuple[FloatArray, FloatArray]] = {}

    def extremes(self, block: int) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest number of each block of so many items."""
        if block not in self._made:
            rows = self.values.reshape(-1, block)
            self._made[block] = rows.min(axis=1), rows.max(axis=1)
        return self._made[block]


def text_of(title: str | None, tags: str, metadata: str) -> str:
    """Return the text of an item, given tags and metadata as JSON.

    Examples
    --------
    >>> text_of("Red Lamp", '["Sale"]', '{"price": 30, "sizes": ["S", 1.5], "used": false}').split()
    ['red', 'lamp', 'sale', '30', 's', '1.5', 'false']
    """
    lines = [] if title is None else [title.lower()]
    if tags != "[]":
        lines += [tag.lower() for tag in msgspec.json.decode(tags)]
    if metadata != "{}":
        for value in metadata_from_plain(msgspec.json.decode(metadata)).values():
            lines += [_text(each) for each in (value if isinstance(value, tuple) else (value,))]
    return "\n".join(lines)


def words_of(text: str, lang: str) -> tuple[str, ...]:
    """Return the analysed words of a text, each once, without those that say nothing.

    Examples
    --------
    >>> words_of("The quick lamps, quickly!", "english")
    ('quick', 'lamp')
    """
    tokens = (token for _, chunk in analyzer(lang).analyze(text) for token in chunk.tokens)
    return tuple(
        dict.fromkeys(token.term for token in tokens if token.kind is Kind.WORD and not token.is_stop)
    )


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat().lower()
    return str(value).lower()


def _drop_first(kept: dict[Any, Any]) -> None:
    """Drop what has been kept longest; other readers may put and drop at the same time."""
    first = next(iter(tuple(kept)), None)  # a copy: walking the dictionary itself may find it changed
    kept.pop(first, None)
