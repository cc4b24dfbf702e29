"""Made-up text whose words are as frequent as those of a language (Zipf's law), and queries for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import Stemmer

from germane.text.stemming import stop_words

SEED = 2
VOCABULARY = 50_000
WORDS = 100
COMMON = 10
BANDS = ((0.05, 1.0), (0.005, 0.05), (0.0, 0.005))
"""Shares of the sections that hold a word, above and up to: a query's words come from each as often."""
_BATCH = 10_000
_PLACES = 1 << 22
_ONSETS = ("b", "br", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "pl", "r", "st", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("", "l", "m", "n", "r", "x")

Floats = np.ndarray[Any, np.dtype[np.float64]]


@cache
def vocabulary() -> list[str]:
    """Return the words, most frequent first; short words are the frequent ones.

    Each is its own stem and no stop word, so that every system's analysis makes the same terms of them.

    Examples
    --------
    >>> words = vocabulary()
    >>> len(set(words)), words[:4]
    (50000, ['ba', 'bal', 'bam', 'ban'])
    """
    syllables = [f"{onset}{vowel}{coda}" for onset in _ONSETS for vowel in _VOWELS for coda in _CODAS]
    made = [*syllables, *(first + second for first in syllables for second in syllables)]
    stems = Stemmer.Stemmer("english").stemWords(made)
    stops = stop_words("english")
    return [word for word, stem in zip(made, stems, strict=True) if word == stem and word not in stops][
        :VOCABULARY
    ]


def sections(count: int) -> Iterator[str]:
    """Yield texts of 100 words, each drawn by itself: the n-th word with a share of 1/n.

    The first texts are the same however many there are.

    Examples
    --------
    >>> [len(text.split()) for text in sections(2)]
    [100, 100]
    """
    random = np.random.default_rng(SEED)
    # Every word as often as its share of so many places; the rarest has seven of them.
    until = np.rint(np.cumsum(_shares()) * _PLACES).astype(np.int64)
    places = np.repeat(np.array(vocabulary(), object), np.diff(until, prepend=0))
    for start in range(0, count, _BATCH):
        drawn = random.integers(_PLACES, size=(_BATCH, WORDS), dtype=np.uint32)[: count - start]
        yield from map(" ".join, places[drawn].tolist())


def queries(length: int, count: int, seed: int) -> list[str]:
    """Return queries of distinct words of mixed frequencies.

    Each word comes from one of the `BANDS`, drawn anew for each word of a query, and within its band as often
    as it occurs. The most frequent words are passed over, as a search passes over stop words.

    Examples
    --------
    >>> len(queries(2, 3, seed=1)[0].split())
    2
    """
    random = np.random.default_rng((SEED, length, seed))
    words, shares = vocabulary(), _shares()
    held_by = 1 - (1 - shares) ** WORDS
    bands = []
    for above, up_to in BANDS:
        of = np.flatnonzero((held_by > above) & (held_by <= up_to))
        of = of[of >= COMMON]
        bands.append((of, shares[of] / shares[of].sum()))
    made: list[str] = []
    while len(made) < count:
        chosen: dict[str, None] = {}
        while len(chosen) < length:
            of, weights = bands[random.integers(len(bands))]
            chosen[words[random.choice(of, p=weights)]] = None
        made.append(" ".join(chosen))
    return made


def phrases(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """Return pairs of words that follow each other in some text, none of them among the most frequent.

    Examples
    --------
    >>> phrases(["ba stol vim"], 1, seed=1)
    ['stol vim']
    """
    random = np.random.default_rng((SEED, seed))
    common = frozenset(vocabulary()[:COMMON])
    made: list[str] = []
    while len(made) < count:
        words = texts[int(random.integers(len(texts)))].split()
        at = int(random.integers(len(words) - 1))
        pair = words[at : at + 2]
        if pair[0] != pair[1] and not common.intersection(pair):
            made.append(" ".join(pair))
    return made


def bands_of(asked: Sequence[str]) -> list[float]:
    """Return which share of the words of queries lies in each of the `BANDS`."""
    held_by = dict(zip(vocabulary(), 1 - (1 - _shares()) ** WORDS, strict=True))
    found = np.array([held_by[word] for word in chain.from_iterable(text.split() for text in asked)])
    return [float(((found > above) & (found <= up_to)).mean()) for above, up_to in BANDS]


def _shares() -> Floats:
    weights = 1 / np.arange(1, VOCABULARY + 1)
    shares: Floats = weights / weights.sum()
    return shares
