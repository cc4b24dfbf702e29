"""Cutting text into chunks (compounds and runs), and compounds into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import chain, groupby

JOINERS = "_-./:@#"
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"

# Scripts written without spaces, or (Hangul) with spaces that say little: cut into pairs of characters.
_UNSPACED = (
    "\u3005\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U000323af"  # Han
    "\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f"  # kana
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uffa0-\uffdc"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ece"  # Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese
)


_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")


_ASCII = "[A-Za-z0-9]"
# A stretch of ASCII up to a white space, or else everything up to the next: no chunk crosses its end.
_PIECE = re.compile(r"[\x00-\x7f]*[\x00- ]|[^\x00- ]+")


@cache
def _chunk(is_ascii: bool, apostrophe_joins: bool) -> re.Pattern[str]:
    """Return the pattern of a chunk; possessive, so that no text makes it backtrack."""
    # Text in ASCII is most of what there is, and needs none of the classes of the other case.
    if is_ascii:
        return re.compile(_compound(_ASCII, f"{_ASCII}++", "[A-Za-z]", "(?<=[A-Za-z])", apostrophe_joins))
    mark, numbers = f"[{_category('M')}]", _category("N")
    letter = rf"[^\W_{_UNSPACED}0-9{numbers}]"
    first = rf"(?:{_ASCII}|[^\W_{_UNSPACED}])"
    run = rf"{first}(?:{_ASCII}++|[^\W_{_UNSPACED}]|{mark})*+"
    # A look behind has a fixed length; no letter of any orthography bears more than three marks.
    after_letter = "|".join(f"(?<={letter}{mark * count})" for count in range(4))
    compound = _compound(first, run, letter, f"(?:{after_letter})", apostrophe_joins)
    unspaced = rf"(?=[{_UNSPACED}])[^\W_]"
    return re.compile(f"{compound}|{unspaced}(?:{unspaced}|{mark})*+")


def _compound(first: str, run: str, letter: str, after_letter: str, apostrophe_joins: bool) -> str:
    joiner = f"[{re.escape(JOINERS)}](?={first})"
    if apostrophe_joins:
        joiner = f"{after_letter}[{APOSTROPHES}](?={letter})|{joiner}"
    return f"{run}(?:(?:{joiner}){run})*+"


def _category(initial: str) -> str:
    """Return the characters of a general category as ranges of a character class."""
    ranges = ""
    # Beyond the supplementary multilingual plane there are only variation selectors.
    for is_in, group in groupby(
        chain(range(0x80, 0x20000), range(0xE0100, 0xE01F0)),
        key=lambda code: unicodedata.category(chr(code))[0] == initial,
    ):
        if is_in:
            codes = list(group)
            ranges += f"{chr(codes[0])}-{chr(codes[-1])}"
    return ranges


def chunks(text: str, apostrophe_joins: bool) -> list[str]:
    """Return the chunks of a text, in order: compounds of words, and runs of unspaced scripts.

    Examples
    --------
    >>> chunks("Don't call getUserById() in src/app/main.py.", apostrophe_joins=True)
    ["Don't", 'call', 'getUserById', 'in', 'src/app/main.py']
    """
    if text.isascii():
        return _chunk(True, apostrophe_joins).findall(text)
    return [
        chunk
        for piece in _PIECE.findall(text)
        for chunk in _chunk(piece.isascii(), apostrophe_joins).findall(piece)
    ]


def chunk_spans(text: str, apostrophe_joins: bool) -> Iterator[tuple[int, str]]:
    """Yield each chunk with its offset in the text."""
    for piece in _PIECE.finditer(text):
        start = piece.start()
        for match in _chunk(piece[0].isascii(), apostrophe_joins).finditer(piece[0]):
            yield start + match.start(), match[0]


def is_unspaced(chunk: str) -> bool:
    """Tell whether a chunk is a run of an unspaced script, to be cut into pairs of characters."""
    return _UNSPACED_CHAR.match(chunk) is not None


def words(chunk: str) -> list[tuple[int, int]]:
    """Return the spans of a compound's words: cut at joiners, at case and between letters and digits.

    Examples
    --------
    >>> [chunk[a:b] for chunk in ["HTTPServer_v2"] for a, b in words(chunk)]
    ['HTTP', 'Server', 'v', '2']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for position, char in enumerate([*chunk, "/"]):
        if char in JOINERS:
            spans.extend(_cut(chunk, start, position))
            start = position + 1
    return spans


def _cut(chunk: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut one run of letters, digits and their marks at its boundaries."""
    if (text := chunk[start:end]).isalpha() and text.isascii() and (text.islower() or text[1:].islower()):
        yield start, end
        return
    bases = [at for at in range(start, end) if unicodedata.category(chunk[at])[0] != "M"]
    kinds = [_kind(chunk[at]) for at in bases]
    begin = start
    for index in range(1, len(bases)):
        before, here = kinds[index - 1], kinds[index]
        is_boundary = (
            (before == "l" and here == "U")
            or (before != "'" and here != "'" and (before == "0") != (here == "0"))
            or (before == "U" and here == "U" and kinds[index + 1 : index + 3] == ["l", "l"])
        )
        if is_boundary:
            yield begin, bases[index]
            begin = bases[index]
    yield begin, end


def _kind(char: str) -> str:
    if char in APOSTROPHES:
        return "'"
    if unicodedata.category(char)[0] == "N":
        return "0"
    return "U" if char.isupper() else "l" if char.islower() else "c"
