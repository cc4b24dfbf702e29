"""Names of languages: as people write them, and as the stemmers call them."""

from __future__ import annotations

import re

_CODES = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish",
    "nl": "dutch", "en": "english", "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french",
    "de": "german", "el": "greek", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "no": "norwegian", "nb": "norwegian",
    "nn": "norwegian", "fa": "persian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "es": "spanish", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
    # Without a stemmer: cut into words or character pairs, and searched as they stand.
    "zh": "chinese", "ja": "japanese", "ko": "korean", "th": "thai", "lo": "lao", "km": "khmer",
    "my": "burmese", "vi": "vietnamese", "he": "hebrew", "uk": "ukrainian", "bg": "bulgarian",
    "bn": "bengali", "mr": "marathi", "ur": "urdu", "te": "telugu", "ml": "malayalam",
}  # fmt: skip
_NAMES = frozenset(_CODES.values())
_TAG = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*")


def language_name(text: str) -> str | None:
    """Return the name of a language under which text in it is analysed.

    Parameters
    ----------
    text : str
        A name (``"german"``), a code (``"de"``) or a tag (``"de-AT"``), in any case.

    Returns
    -------
    str or None
        The Snowball name where there is one; a well-formed tag of another language as it is
        (its words are not stemmed); None for anything else.

    Examples
    --------
    >>> language_name("de-AT"), language_name("German"), language_name("tlh"), language_name("englsh")
    ('german', 'german', 'tlh', None)
    """
    name = text.strip().lower()
    if name in _NAMES:
        return name
    if not _TAG.fullmatch(name):
        return None
    return _CODES.get(re.split(r"[-_]", name)[0], name)
