"""Snippets: the piece of a section that shows why it matches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from germane.text.analysis import LONGEST_KEPT, Kind, analyzer
from germane.text.fields import FieldTexts
from germane.text.stemming import kept_of

LENGTH = 150
ELLIPSIS = "..."

Spans = tuple[tuple[int, int], ...]
MOST_KNOWN = 1_024
"""Pieces of text whose matches a finder remembers."""

# In a piece of text between spaces: what is not of ASCII, a capital or digit behind the first character, and
# anything else but a lowercase letter ahead of the last one, unless it is a capital and the first.
_ODD = re.compile(
    r"[^a-z ](?:(?<![\x00-\x7f])|(?<=[^ ].)(?:(?<=[A-Z0-9])|(?=[^ ]))|(?<![A-Z])(?=[^ ]))", re.DOTALL
)


def snippet(
    texts: FieldTexts, lang: str, terms: Sequence[frozenset[str]], best: int | None, field: int
) -> tuple[str, Spans]:
    """Return about 150 characters around the best match, and where matched words stand in them.

    White space is folded to single spaces. A cut is marked with ``...`` and falls between words.

    Parameters
    ----------
    texts : FieldTexts
        The section's fields.
    lang : str
        The language it is analysed in.
    terms : sequence of frozenset of str
        Terms of each scored word, wholes included.
    best : int or None
        Which of these scores highest here; None when nothing is scored.
    field : int
        The field in which it does: 0 heading, 1 body, 2 code.

    Returns
    -------
    tuple of (str, tuple of (int, int))
        The snippet and its highlights; an empty snippet without a body.
    """
    if best is None or field == 0:
        text, best = _folded(texts.body) or _folded(texts.code), None
    elif field == 1:
        text, described = _folded(texts.body), _folded(texts.description)
        if described:
            text = f"{described} {text}".strip()
    else:
        text = _folded(texts.code)
    found = _finder(lang, tuple(terms)).matches(text) if terms else []
    centre = _densest([span for span, word in found if word == best], found)
    start, end = _window(text, centre)
    head = ELLIPSIS if start > 0 else ""
    tail = ELLIPSIS if end < len(text) else ""
    shift = len(head) - start
    inside = [(max(a, start), min(b, end)) for (a, b), _ in found if a < end and b > start]
    return f"{head}{text[start:end]}{tail}", tuple((a + shift, b + shift) for a, b in _joined(inside))


def _folded(text: str) -> str:
    """Return a text with its white space folded to single spaces."""
    # Of all white space only the space is printable.
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text
    return " ".join(text.split())


Match = tuple[tuple[int, int], int]
"""The span of a matched word, and the word's number."""


class Finder:
    """Finds the words of a query in texts.

    No chunk crosses a space, nor depends on what is beyond one. So only those pieces between spaces are
    analysed that may hold a match, and each once.

    Parameters
    ----------
    lang : str
        The language that texts are analysed in.
    terms : sequence of frozenset of str
        Terms of each word; of several words that share one the first counts.
    """

    def __init__(self, lang: str, terms: Sequence[frozenset[str]]) -> None:
        self._analyze = analyzer(lang).analyze
        self._word_of = {term: number for number, each in reversed(list(enumerate(terms))) for term in each}
        needles = [kept_of(term, lang) for term in self._word_of if term.isascii()]
        self._needles = None if None in needles else tuple(dict.fromkeys(filter(None, needles)))
        self._known: dict[str, tuple[Match, ...]] = {}

    def matches(self, text: str) -> list[Match]:
        """Return the matches in a text whose white space is folded, in order."""
        found = []
        known = self._known
        for first, last in self._places(text):
            piece = text[first:last]
            inside = known.get(piece)
            if inside is None:
                inside = self._matches(piece)
                if len(known) < MOST_KNOWN and len(piece) <= LONGEST_KEPT:
                    known[piece] = inside
            found += [((first + start, first + end), number) for (start, end), number in inside]
        return sorted(found)

    def _matches(self, text: str) -> tuple[Match, ...]:
        word_of = self._word_of
        found = []
        for at, chunk in self._analyze(text):
            if word_of.keys().isdisjoint(chunk.terms):
                continue
            for token in chunk.tokens:
                is_counted = token.kind is not Kind.SINGLE or len(token.surface) == 1
                if token.term in word_of and is_counted:
                    found.append(((at + token.start, at + token.end), word_of[token.term]))
        return tuple(found)

    def _places(self, text: str) -> Iterable[tuple[int, int]]:
        """Return the spans between spaces in which a match may stand."""
        needles = self._needles
        # Of a text in ASCII folding only lowers the letters; one letter becomes two by that.
        lowered = f" {text.lower()}"
        if needles is None or len(lowered) != len(text) + 1:
            return ((0, len(text)),)
        places: dict[int, int] = {}
        for needle in needles:
            start = f" {needle}"
            at = lowered.find(start)
            while at >= 0:
                last = text.find(" ", at)
                places[at] = last if last >= 0 else len(text)
                at = lowered.find(start, at + 1)
        # Elsewhere than at its start a word begins only in a piece that is no plain word.
        odd = _ODD.search(text)
        while odd:
            at = odd.start()
            first, last = text.rfind(" ", 0, at) + 1, text.find(" ", at)
            last = last if last >= 0 else len(text)
            piece = lowered[first + 1 : last + 1]
            if not piece.isascii() or any(needle in piece for needle in needles):
                places[first] = last
            odd = _ODD.search(text, last)
        return places.items()


_finder = lru_cache(maxsize=64)(Finder)


def _densest(
    candidates: list[tuple[int, int]], found: list[tuple[tuple[int, int], int]]
) -> tuple[int, int] | None:
    """Return the candidate around which most distinct words stand; the first of equals."""
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    best, most, low, high = candidates[0], 0, 0, 0
    for span in candidates:
        middle = sum(span) // 2
        while low < len(found) and found[low][0][0] < middle - LENGTH // 2:
            low += 1
        high = max(high, low)
        while high < len(found) and found[high][0][1] <= middle + LENGTH // 2:
            high += 1
        distinct = len({word for _, word in found[low:high]})
        if distinct > most:
            best, most = span, distinct
    return best


def _window(text: str, centre: tuple[int, int] | None) -> tuple[int, int]:
    """Return where to cut: about `LENGTH` characters around a span, between words."""
    if len(text) <= LENGTH:
        return 0, len(text)
    first, last = centre or (0, 0)
    start = max(0, min((first + last - LENGTH) // 2, len(text) - LENGTH))
    end = start + LENGTH
    if start > 0 and (space := text.find(" ", start - 1, max(first, start))) >= 0:
        start = space + 1
    if (
        end < len(text)
        and not text[end].isspace()
        and (space := text.rfind(" ", max(last, start + 1), end)) > 0
    ):
        end = space
    return start, end


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that touch or overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
