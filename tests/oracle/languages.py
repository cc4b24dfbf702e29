"""What a language decides: stems, stop words, and whether an apostrophe belongs to a word."""

from functools import cache
from pathlib import Path

import Stemmer

from .characters import fold, is_digit

STOP_WORDS = Path(__file__).resolve().parents[2] / "src" / "germane" / "text" / "stopwords"
APOSTROPHE_SEPARATES = {"french", "italian", "catalan"}


@cache
def stemmer(language: str) -> Stemmer.Stemmer | None:
    """The Snowball algorithm named by a language, if there is one."""
    return Stemmer.Stemmer(language) if language in Stemmer.algorithms() else None


@cache
def stop_words(language: str) -> frozenset[str]:
    """The folded stop words of a language; empty when it has no list."""
    path = STOP_WORDS / f"{language}.txt"
    if not path.exists():
        return frozenset()
    return frozenset(fold(word) for word in path.read_text(encoding="utf-8").split())


def stem(folded: str, language: str) -> str:
    """The stem of a folded word: itself when it has a digit, or when nothing would be left of it."""
    algorithm = stemmer(language)
    if algorithm is None or any(is_digit(character) for character in folded):
        return folded
    return str(algorithm.stemWord(folded)) or folded


def keeps_apostrophes(language: str) -> bool:
    return language not in APOSTROPHE_SEPARATES
