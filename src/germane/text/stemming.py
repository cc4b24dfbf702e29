"""What a language brings: its stemmer, its stop words, and whether an apostrophe separates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import Stemmer

from germane.text.folding import fold

SEPARATING_APOSTROPHE = frozenset({"french", "italian", "catalan"})


@cache
def stop_words(lang: str) -> frozenset[str]:
    """Return Snowball's list of a language, folded; empty for a language without one.

    Examples
    --------
    >>> "the" in stop_words("english"), len(stop_words("chinese"))
    (True, 0)
    """
    resource = files("germane.text") / "stopwords" / f"{lang}.txt"
    if not lang.isalpha() or not resource.is_file():
        return frozenset()
    return frozenset(fold(word) for word in resource.read_text("utf-8").split())


def stemmer(lang: str) -> Callable[[str], str]:
    """Return a function that stems folded words; the same word for a language without a stemmer.

    Examples
    --------
    >>> stemmer("english")("borrowing")
    'borrow'
    """
    if lang not in Stemmer.algorithms():
        return lambda word: word
    # The object's own cache is off: results are kept per chunk, and one object serves many threads.
    stem: Callable[[str], str] = Stemmer.Stemmer(lang, 0).stemWord
    # Some stemmers leave nothing of some words, which would make one word of them all.
    return lambda word: stem(word) or word
