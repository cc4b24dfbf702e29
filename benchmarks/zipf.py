"""Made-up text whose words are as frequent as those of a language: Zipf's law."""

from __future__ import annotations

import numpy as np

SEED = 2
VOCABULARY = 50_000
WORDS = 100
STOPS = 100
_ONSETS = ("b", "br", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "pl", "r", "st", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("", "l", "m", "n", "r", "x")


def vocabulary() -> list[str]:
    """Return the words, most frequent first; short words are the frequent ones.

    Examples
    --------
    >>> words = vocabulary()
    >>> len(set(words)), words[:4]
    (50000, ['ba', 'bal', 'bam', 'ban'])
    """
    syllables = [f"{onset}{vowel}{coda}" for onset in _ONSETS for vowel in _VOWELS for coda in _CODAS]
    words = [*syllables, *(first + second for first in syllables for second in syllables)]
    return words[:VOCABULARY]


def sections(count: int) -> list[str]:
    """Return texts of 100 words, each drawn by itself: the n-th word with a share of 1/n.

    Examples
    --------
    >>> [len(text.split()) for text in sections(2)]
    [100, 100]
    """
    random = np.random.default_rng(SEED)
    words = np.array(vocabulary())
    shares = 1 / np.arange(1, VOCABULARY + 1)
    drawn = random.choice(VOCABULARY, (count, WORDS), p=shares / shares.sum())
    return [" ".join(row) for row in words[drawn].tolist()]


def queries(texts: list[str], length: int, count: int) -> list[str]:
    """Return queries of distinct words that follow each other in some section: what is asked for exists.

    The 100 most frequent words are passed over, as a search passes over stop words; of the others each is
    asked for as often as it occurs, so that frequent words, which cost most, come up most.
    """
    random = np.random.default_rng((SEED, length))
    stops = frozenset(vocabulary()[:STOPS])
    made: list[str] = []
    while len(made) < count:
        words = [word for word in texts[random.integers(len(texts))].split() if word not in stops]
        if len(words) < length:
            continue
        at = random.integers(len(words) - length + 1)
        chosen = dict.fromkeys(words[at : at + length])
        if len(chosen) == length:
            made.append(" ".join(chosen))
    return made
