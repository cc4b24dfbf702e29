"""Snippets: the piece of a section that shows why it matches."""

from __future__ import annotations

from collections.abc import Sequence

from germane.text.analysis import Kind, analyzer
from germane.text.fields import FieldTexts

LENGTH = 150
ELLIPSIS = "..."

Spans = tuple[tuple[int, int], ...]


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
    body = " ".join(texts.body.split())
    code = " ".join(texts.code.split())
    described = " ".join(texts.description.split())
    if best is None or field == 0:
        text, best = body or code, None
    elif field == 1:
        text = f"{described} {body}".strip() if described else body
    else:
        text = code
    found = _matches(text, lang, terms) if terms else []
    centre = _densest([span for span, word in found if word == best], found)
    start, end = _window(text, centre)
    head = ELLIPSIS if start > 0 else ""
    tail = ELLIPSIS if end < len(text) else ""
    shift = len(head) - start
    inside = [(max(a, start), min(b, end)) for (a, b), _ in found if a < end and b > start]
    return f"{head}{text[start:end]}{tail}", tuple((a + shift, b + shift) for a, b in _joined(inside))


def _matches(text: str, lang: str, terms: Sequence[frozenset[str]]) -> list[tuple[tuple[int, int], int]]:
    """Return the spans of matched words, each with the word's number, in order."""
    word_of = {term: number for number, each in reversed(list(enumerate(terms))) for term in each}
    found = []
    for start, chunk in analyzer(lang).analyze(text):
        if word_of.keys().isdisjoint(chunk.terms):
            continue
        for token in chunk.tokens:
            is_counted = token.kind is not Kind.SINGLE or len(token.surface) == 1
            if token.term in word_of and is_counted:
                found.append(((start + token.start, start + token.end), word_of[token.term]))
    return sorted(found)


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
