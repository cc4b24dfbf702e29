"""The plan of a query: which words it scores, what it demands, what it filters by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from germane.text.analysis import Kind, analyzer
from germane.text.query import FILTER_FIELDS, WORD_FIELDS, Clause, parse


@dataclass(frozen=True)
class Word:
    """A distinct analysed word of a query.

    Parameters
    ----------
    name : str
        Folded; names its contributions. Distinct within a plan.
    surface : str
        As typed.
    terms : frozenset of str
        The terms that it stands for: one for each way that the languages stem it.
    is_whole : bool
        Whether it is the whole of a compound: scored, and no word otherwise.
    is_stop : bool
        Whether it is a stop word in every language.
    fields : frozenset of int, or None
        The only fields in which it counts.
    compound : tuple of int, or None
        Names the compound that it first came from.
    """

    name: str
    surface: str
    terms: frozenset[str]
    is_whole: bool
    is_stop: bool
    fields: frozenset[int] | None
    compound: tuple[int, int] | None


Places = tuple[tuple[int, frozenset[str]], ...]
"""Words at offsets from the first: what a phrase asks for in one language."""


class Demand(NamedTuple):
    """A phrase (or a single word) that a section must hold, or must not.

    Parameters
    ----------
    ways : tuple
        The phrase as each language cuts it; one of them suffices.
    field : int or None
        The only field in which it counts.
    """

    ways: tuple[Places, ...]
    field: int | None


class Filter(NamedTuple):
    """An exact condition on an item's tag, type or document.

    Parameters
    ----------
    field : {"tag", "type", "doc"}
    value : str
    """

    field: str
    value: str


@dataclass(frozen=True)
class Plan:
    """What a query asks for.

    Parameters
    ----------
    words : tuple of Word
        The scored words and wholes, in query order.
    must, must_not : tuple of Demand
    filters, excluded : tuple of Filter
    """

    words: tuple[Word, ...]
    must: tuple[Demand, ...]
    must_not: tuple[Demand, ...]
    filters: tuple[Filter, ...]
    excluded: tuple[Filter, ...]

    @property
    def counted(self) -> tuple[Word, ...]:
        """The scored words that count in n, proximity and zone: all but the wholes."""
        return tuple(word for word in self.words if not word.is_whole)

    @property
    def is_one_compound(self) -> bool:
        """Whether all its words came from one compound, which says nothing by standing together."""
        compounds = {word.compound for word in self.counted}
        return len(compounds) == 1 and None not in compounds


def make_plan(text: str, langs: Sequence[str]) -> Plan:
    """Return the plan of a query.

    Parameters
    ----------
    text : str
        As typed.
    langs : sequence of str
        The languages in which its words are analysed.

    Examples
    --------
    >>> plan = make_plan("the getUserById title:ownership", ["english"])
    >>> [word.name for word in plan.words]
    ['get', 'user', 'id', 'getuserbyid', 'ownership']
    """
    words: list[Word] = []
    must: list[Demand] = []
    must_not: list[Demand] = []
    filters: list[Filter] = []
    excluded: list[Filter] = []
    for number, clause in enumerate(parse(text)):
        is_negative = clause.sign == "-"
        if clause.field in FILTER_FIELDS:
            (excluded if is_negative else filters).append(Filter(clause.field, clause.text))
            continue
        field = WORD_FIELDS.get(clause.field)
        found, ways = _read(number, clause, field, langs)
        if not ways:
            continue
        if not is_negative:
            words += found
        if clause.sign or clause.is_quoted or field is not None:
            (must_not if is_negative else must).append(Demand(ways, field))
    return Plan(_scored(_distinct(words)), tuple(must), tuple(must_not), tuple(filters), tuple(excluded))


def _read(
    number: int, clause: Clause, field: int | None, langs: Sequence[str]
) -> tuple[list[Word], tuple[Places, ...]]:
    """Analyse a clause in every language: its words, and its words as a phrase."""
    found: dict[tuple[int, int, int, str], list[tuple[str, bool, int | None]]] = {}
    ways: dict[tuple[tuple[int, int], ...], list[list[str]]] = {}
    offsets: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for lang in langs:
        spans: list[tuple[int, int]] = []
        terms: list[str] = []
        places: list[int] = []
        position = 0
        for start, chunk in analyzer(lang).analyze(clause.text):
            is_compound = any(token.kind is Kind.WHOLE for token in chunk.tokens)
            for token in chunk.tokens:
                if token.kind is Kind.SINGLE:
                    continue
                first, last = start + token.start, start + token.end
                if token.kind is Kind.WHOLE:
                    key = (last, 0, first, token.surface)
                else:
                    key = (first, 1, last, token.surface)
                    spans.append((first, last))
                    terms.append(token.term)
                    places.append(position + token.offset)
                found.setdefault(key, []).append((token.term, token.is_stop, start if is_compound else None))
            position += chunk.width
        if terms:
            ways.setdefault(tuple(spans), []).append(terms)
            offsets[tuple(spans)] = places
    words = []
    fields = None if field is None else frozenset([field])
    # A stable sort: pairs of one run that share a span stay in their order.
    for (at, is_word, other, surface), readings in sorted(found.items(), key=lambda entry: entry[0][:3]):
        first, last = (at, other) if is_word else (other, at)
        compound = next((start for _, _, start in readings if start is not None), None)
        words.append(
            Word(
                name=surface,
                surface=clause.text[first:last],
                terms=frozenset(term for term, _, _ in readings),
                is_whole=not is_word,
                is_stop=all(is_stop for _, is_stop, _ in readings),
                fields=fields,
                compound=None if compound is None else (number, compound),
            )
        )
    phrases = tuple(
        tuple(
            (place, frozenset(at))
            for place, at in zip(offsets[spans], zip(*readings, strict=True), strict=True)
        )
        for spans, readings in ways.items()
    )
    return words, phrases


def _distinct(words: Iterable[Word]) -> list[Word]:
    """Keep each word once, where it first stood; in all the fields in which it was asked for."""
    kept: dict[frozenset[str], Word] = {}
    for word in words:
        known = kept.get(word.terms)
        if known is None:
            kept[word.terms] = word
        elif known.fields is not None:
            fields = None if word.fields is None else known.fields | word.fields
            kept[word.terms] = replace(known, fields=fields)
    return list(kept.values())


def _scored(words: list[Word]) -> tuple[Word, ...]:
    """Leave out stop words, unless there is nothing else, and give each word a name of its own."""
    if any(not word.is_stop and not word.is_whole for word in words):
        words = [word for word in words if not word.is_stop]
    names: dict[str, int] = {}
    named = []
    for word in words:
        names[word.name] = names.get(word.name, 0) + 1
        count = names[word.name]
        named.append(word if count == 1 else replace(word, name=f"{word.name}#{count}"))
    return tuple(named)
