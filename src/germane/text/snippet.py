"""Snippets: the piece of a section that shows why it matches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from germane.text.analysis import Kind, analyzer
from germane.text.fields import FieldTexts
from germane.text.stemming import kept_of

LENGTH = 150
ELLIPSIS = "..."

Spans = tuple[tuple[int, int], ...]
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


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
    found = matches(text, lang, tuple(terms)) if terms else []
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


def matches(text: str, lang: str, terms: tuple[frozenset[str], ...]) -> list[tuple[tuple[int, int], int]]:
    """Return the spans of matched words, each with the word's number, in order.

    Parameters
    ----------
    text : str
        With its white space folded.
    lang : str
        The language it is analysed in.
    terms : tuple of frozenset of str
        Terms of each word; the first word to hold a term counts.
    """
    word_of, needles = _wanted(lang, terms)
    analyze = analyzer(lang).analyze
    found = []
    for first, last in _places(text, needles):
        for start, chunk in analyze(text[first:last]):
            if word_of.keys().isdisjoint(chunk.terms):
                continue
            start += first
            for token in chunk.tokens:
                is_counted = token.kind is not Kind.SINGLE or len(token.surface) == 1
                if token.term in word_of and is_counted:
                    found.append(((start + token.start, start + token.end), word_of[token.term]))
    return sorted(found)


@lru_cache(maxsize=256)
def _wanted(lang: str, terms: tuple[frozenset[str], ...]) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the word's number of each term, and needles: an ASCII word that matches holds one of them.

    None in place of needles when there is no telling.
    """
    word_of = {term: number for number, each in reversed(list(enumerate(terms))) for term in each}
    needles = [kept_of(term, lang) for term in word_of if term.isascii()]
    return word_of, None if None in needles else tuple(dict.fromkeys(filter(None, needles)))


def _places(text: str, needles: tuple[str, ...] | None) -> Iterator[tuple[int, int]]:
    """Yield where, between spaces, a match may stand; no chunk crosses a space, nor depends on another.

    What holds none of the needles is no match if it is of ASCII, which folding only lowers.
    """
    lowered = text.lower()
    if needles is None or len(lowered) != len(text):
        yield 0, len(text)
        return
    places: dict[int, int] = {}
    for needle in needles:
        at = lowered.find(needle)
        while at >= 0:
            first, last = _around(text, at)
            places[first] = last
            at = lowered.find(needle, last)
    if not text.isascii():
        beyond = _BEYOND_ASCII.search(text)
        while beyond:
            first, last = _around(text, beyond.start())
            places[first] = last
            beyond = _BEYOND_ASCII.search(text, last)
    yield from places.items()


def _around(text: str, at: int) -> tuple[int, int]:
    """Return the span between spaces around a place."""
    last = text.find(" ", at)
    return text.rfind(" ", 0, at) + 1, last if last >= 0 else len(text)


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
