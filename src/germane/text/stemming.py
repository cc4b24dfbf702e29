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


def kept_of(term: str, lang: str) -> str | None:
    """Return what every folded word holds whose term this is; None when there is no telling.

    A language without a stemmer keeps words as they are. The English stemmer takes endings off, and puts at
    most one letter in their place: ``hoping`` becomes ``hope``, ``skies`` ``sky``. In place of that of
    ``dying`` it puts two, ``die``; where two letters are left, or one, none.

    Parameters
    ----------
    term : str
        Of ASCII.
    lang : str

    Examples
    --------
    >>> kept_of("borrow", "english"), kept_of("v2", "english"), kept_of("borrow", "german")
    ('borro', 'v2', None)
    """
    if lang not in Stemmer.algorithms() or not term.replace("'", "").isalpha():
        # What holds a digit or a joiner is not stemmed.
        return term
    if lang != "english":
        return None
    return term if len(term) <= 2 else term[:-2] if term.endswith("ie") else term[:-1]
