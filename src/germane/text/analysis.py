"""Analysis: from text to tokens. Indexing and queries share this one function."""

from __future__ import annotations

import string
import threading
import unicodedata
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import NamedTuple

from germane.text.folding import fold
from germane.text.stemming import SEPARATING_APOSTROPHE, stemmer, stop_words
from germane.text.words import chunk_spans, chunks, is_unspaced, words

_PUNCTUATION = string.punctuation
CACHE_SIZE = 200_000
"""Distinct chunks whose analysis is kept per language."""
LONGEST_KEPT = 64
"""Characters of a chunk that is kept: longer ones (encoded data, say) are seldom seen again."""

VERSION = "1"
"""Rises when the same text would give other terms; an index of another version is built anew."""


class Kind(Enum):
    """What a token is: only words take a position of their own and count."""

    WORD = "word"
    WHOLE = "whole"
    SINGLE = "single"


class Token(NamedTuple):
    """One term of a chunk.

    Parameters
    ----------
    term : str
        As indexed: folded, and stemmed where that applies.
    offset : int
        Position relative to the chunk's first word.
    kind : Kind
        A word (or a pair of characters), a compound's whole, or a single character of a longer run.
    surface : str
        Folded, not stemmed.
    start, end : int
        Span in the chunk.
    is_stop : bool
        Whether the language's list holds it.
    """

    term: str
    offset: int
    kind: Kind
    surface: str
    start: int
    end: int
    is_stop: bool


class Chunk(NamedTuple):
    """What one chunk is analysed to.

    Parameters
    ----------
    tokens : tuple of Token
        In order of position; a compound's whole comes last.
    width : int
        How many positions it takes.
    terms : tuple of str
        Terms of all tokens.
    offsets : tuple of int
        Their offsets.
    """

    tokens: tuple[Token, ...]
    width: int
    terms: tuple[str, ...]
    offsets: tuple[int, ...]


class Analyzer:
    """Analyses text in one language.

    Parameters
    ----------
    lang : str
        A language's name.

    Examples
    --------
    >>> for token in Analyzer("english").analyze("getUserById")[0][1].tokens:
    ...     print(token.offset, token.term)
    0 get
    1 user
    2 by
    3 id
    0 getuserbyid
    """

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.stops = stop_words(lang)
        self._stem = stemmer(lang)
        self._joins = lang not in SEPARATING_APOSTROPHE
        self._cache: dict[str, Chunk] = {}
        self._turn = threading.Lock()

    def plain(self, piece: str) -> str | None:
        """Return the only term of a piece of text that is one plain word, None for any other.

        That is most of what there is, and needs nothing but its stem: ASCII letters, of
        which the first alone may be a capital, between marks that join nothing.

        Examples
        --------
        >>> english = Analyzer("english")
        >>> english.plain("(Borrowing,"), english.plain("v2")
        ('borrow', None)
        """
        word = piece.strip(_PUNCTUATION)
        if word.isalpha() and word.isascii() and (word.islower() or word[1:].islower()):
            return self._stem(word.lower())
        return None

    def chunks(self, text: str) -> Iterator[Chunk]:
        """Yield the analysed chunks of a text, in order."""
        known = self._cache
        for chunk in chunks(text, self._joins):
            yield known.get(chunk) or self._analyze(chunk)

    def analyze(self, text: str) -> list[tuple[int, Chunk]]:
        """Return the analysed chunks of a text, each with its offset in the text."""
        if (whole := self._cache.get(text)) is not None:  # a chunk, which makes one by itself too
            return [(0, whole)]
        return [
            (start, self._cache.get(chunk) or self._analyze(chunk))
            for start, chunk in chunk_spans(text, self._joins)
        ]

    def _analyze(self, chunk: str) -> Chunk:
        with self._turn:
            tokens = tuple(_run(chunk) if is_unspaced(chunk) else self._compound(chunk))
            width = max((token.offset for token in tokens), default=-1) + 1
            made = Chunk(tokens, width, tuple(t.term for t in tokens), tuple(t.offset for t in tokens))
            if len(chunk) <= LONGEST_KEPT:
                if len(self._cache) >= CACHE_SIZE:
                    self._cache.clear()
                self._cache[chunk] = made
            return made

    def _compound(self, chunk: str) -> Iterator[Token]:
        parts = [(fold(chunk[start:end]), start, end) for start, end in words(chunk)]
        parts = [part for part in parts if part[0]]
        for offset, (surface, start, end) in enumerate(parts):
            term = surface if _has_digit(surface) else self._stem(surface)
            yield Token(term, offset, Kind.WORD, surface, start, end, surface in self.stops)
        if len(parts) > 1:
            whole = fold(chunk)
            yield Token(whole, 0, Kind.WHOLE, whole, 0, len(chunk), False)


def _run(chunk: str) -> Iterator[Token]:
    """Cut a run of an unspaced script into overlapping pairs, and index its single characters too."""
    folded = fold(chunk)
    length = len(folded)
    if length == 1:
        yield Token(folded, 0, Kind.WORD, folded, 0, len(chunk), False)
        return
    spans = _sources(chunk, length)
    for offset in range(length - 1):
        pair = folded[offset : offset + 2]
        yield Token(pair, offset, Kind.WORD, pair, spans[offset][0], spans[offset + 1][1], False)
    for at, char in enumerate(folded):
        yield Token(char, min(at, length - 2), Kind.SINGLE, char, *spans[at], False)


def _sources(chunk: str, length: int) -> list[tuple[int, int]]:
    """Return for each folded character of a run the span of the source that it came from."""
    starts = [0]
    for at, char in enumerate(chunk[1:], 1):
        # A mark belongs to the character ahead of it; half-width kana write some marks as letters.
        if any(unicodedata.category(each)[0] != "M" for each in unicodedata.normalize("NFKC", char)):
            starts.append(at)
    spans = list(zip(starts, [*starts[1:], len(chunk)], strict=True))
    found = [span for span in spans for _ in fold(chunk[span[0] : span[1]])]
    return found if len(found) == length else [(0, len(chunk))] * length


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(unicodedata.category(char)[0] == "N" for char in word)


@cache
def analyzer(lang: str) -> Analyzer:
    """Return the one analyzer of a language."""
    return Analyzer(lang)
