"""From a text to its words: their terms, and the positions they take."""

from dataclasses import dataclass, replace
from typing import Literal

from .characters import APOSTROPHES, JOINERS, fold, is_bigram_script, is_digit, is_letter, is_mark
from .languages import keeps_apostrophes, stem, stop_words

Sort = Literal["letter", "digit", "bigram", "apostrophe", "joiner", "gap"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """One term at one place.

    Attributes
    ----------
    term : str
        What the index holds.
    folded : str
        The folded word, not stemmed.
    start, end : int
        Where it stands in the source text.
    position : int
        Its place among the tokens of the text.
    kind : str
        `token` takes a position and counts; `whole` (of a compound) and `character` (of a run cut into
        bigrams) are more terms at the position of a token.
    stop : bool
        Whether it is a stop word of its language.
    compound : Span or None
        The source span of the compound it is a part, or the whole, of.
    """

    term: str
    folded: str
    start: int
    end: int
    position: int
    kind: Literal["token", "whole", "character"] = "token"
    stop: bool = False
    compound: Span | None = None


@dataclass(frozen=True)
class Unit:
    """One character of the source together with the marks that belong to it."""

    base: str
    sort: Sort
    start: int
    end: int


def analyse(text: str, language: str) -> list[Word]:
    """The words of a text in reading order; a compound's whole follows its last part."""
    units = cut_into_units(text)
    words: list[Word] = []
    index = position = 0
    while index < len(units):
        found: list[Word] = []
        if units[index].sort == "bigram":
            end = index
            while sort_at(units, end) == "bigram":
                end += 1
            found = bigrams(text, units[index].start, units[end - 1].end, position)
            index = end
        elif units[index].sort in ("letter", "digit"):
            parts, index = chain(units, index, keeps_apostrophes(language))
            found = compound(text, [(part[0].start, part[-1].end) for part in parts], position, language)
        else:
            index += 1
        words += found
        position += count_tokens(found)
    return words


def count_tokens(words: list[Word]) -> int:
    return sum(word.kind == "token" for word in words)


def cut_into_units(text: str) -> list[Unit]:
    """Every character once; a mark belongs to what it follows in a word or run, or else separates."""
    units: list[Unit] = []
    for index, character in enumerate(text):
        previous = units[-1].sort if units else "gap"
        sort: Sort = "gap"
        if is_mark(character):
            if previous in ("letter", "digit", "bigram"):
                units[-1] = replace(units[-1], end=index + 1)
                continue
        elif is_bigram_script(character):
            sort = "bigram"
        elif is_letter(character):
            sort = "letter"
        elif is_digit(character):
            sort = "digit"
        elif character in APOSTROPHES:
            sort = "apostrophe"
        elif character in JOINERS:
            sort = "joiner"
        units.append(Unit(character, sort, index, index + 1))
    return units


def sort_at(units: list[Unit], index: int) -> Sort:
    return units[index].sort if index < len(units) else "gap"


def chain(units: list[Unit], index: int, apostrophes: bool) -> tuple[list[list[Unit]], int]:
    """The parts of the longest compound that starts at a unit, and the index after it."""
    parts = [[units[index]]]
    index += 1
    while index < len(units):
        unit, following = units[index], sort_at(units, index + 1)
        if unit.sort in ("letter", "digit"):
            if is_boundary(units, index):
                parts.append([unit])
            else:
                parts[-1].append(unit)
            index += 1
        elif unit.sort == "apostrophe" and apostrophes and units[index - 1].sort == following == "letter":
            parts[-1].append(unit)
            index += 1
        elif unit.sort == "joiner" and following in ("letter", "digit"):
            parts.append([units[index + 1]])
            index += 2
        else:
            break
    return parts, index


def is_boundary(units: list[Unit], index: int) -> bool:
    """Whether a new word starts at this letter or digit although no joiner stands before it."""
    before, here, following = units[index - 1], units[index], units[index + 1 : index + 3]
    if before.sort == "apostrophe":
        return False
    if before.base.islower() and here.base.isupper():
        return True
    if before.sort != here.sort:
        return True
    lower_case = [unit for unit in following if unit.sort == "letter" and unit.base.islower()]
    return before.base.isupper() and here.base.isupper() and len(lower_case) == 2


def compound(text: str, spans: list[Span], position: int, language: str) -> list[Word]:
    """The parts of a chain as words, then its whole when there are several."""
    spans = [(start, end) for start, end in spans if fold(text[start:end])]
    if not spans:
        return []
    first, last = spans[0][0], spans[-1][1]
    span = (first, last) if len(spans) > 1 else None
    words = []
    for offset, (start, end) in enumerate(spans):
        folded = fold(text[start:end])
        term, stop = stem(folded, language), folded in stop_words(language)
        words.append(Word(term, folded, start, end, position + offset, "token", stop, span))
    if span:
        whole = fold(text[first:last])
        words.append(Word(whole, whole, first, last, position, "whole", False, span))
    return words


def bigrams(text: str, start: int, end: int, position: int) -> list[Word]:
    """Overlapping pairs of the folded run as tokens, and its single characters beside them."""
    run = text[start:end]
    folded = fold(run)
    if len(folded) == 1:
        return [Word(folded, folded, start, end, position)]
    words = []
    lengths = [len(fold(run[:size])) for size in range(len(run) + 1)]
    for index in range(len(folded) - 1):
        pair = folded[index : index + 2]
        first, last = source_span(lengths, index, index + 2)
        words.append(Word(pair, pair, start + first, start + last, position + index))
    for index, character in enumerate(folded):
        first, last = source_span(lengths, index, index + 1)
        place = position + min(index, len(folded) - 2)
        words.append(Word(character, character, start + first, start + last, place, "character"))
    return words


def source_span(lengths: list[int], first: int, last: int) -> Span:
    """The least slice of a run that folds to at least the characters first..last of the folded run.

    Folding may join characters (half-width kana and its voice mark) or split one (Thai sara am), so `lengths`
    says how many folded characters each beginning of the run has.
    """
    start = max(size for size, length in enumerate(lengths) if length <= first)
    reached = min(length for length in lengths if length >= last)
    return start, max(size for size, length in enumerate(lengths) if length == reached)
