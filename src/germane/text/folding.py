"""Folding: the form under which words that look alike are one word."""

from __future__ import annotations

import unicodedata

_MARKS = dict.fromkeys(range(768, 880))


def fold(text: str) -> str:
    """Fold compatibility forms, case, and the combining diacritics U+0300 to U+036F.

    Other marks stay: vowel signs of Indic scripts are letters to their readers.

    Examples
    --------
    >>> fold("Ｃａｆé Straße")
    'cafe strasse'
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")).casefold()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", folded).translate(_MARKS))
