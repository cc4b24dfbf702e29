"""The plan of a query: which words it scores, what it demands, what it filters by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from germane.text.analysis import Kind, Token, analyzer
from germane.text.query import FILTER_FIELDS, WORD_FIELDS, parse


class Word(msgspec.Struct, frozen=True):
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


_WORD = re.compile("[a-z]+")
_WORDS = re.compile("[a-z]+(?: [a-z]+)*")

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


class Plan(msgspec.Struct, frozen=True):
    """What a query asks for.

    Parameters
    ----------
    words : tuple of Word
        The scored words and wholes, in query order.
    must, must_not : tuple of Demand
    filters, excluded : tuple of Filter
    """

    words: tuple[Word, ...]
    must: tuple[Demand, ...] = ()
    must_not: tuple[Demand, ...] = ()
    filters: tuple[Filter, ...] = ()
    excluded: tuple[Filter, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether each of its words counts in every field, and none is the whole of a compound."""
        for word in self.words:
            if word.is_whole or word.fields is not None:
                return False
        return bool(self.words)

    @property
    def counted(self) -> tuple[Word, ...]:
        """The scored words that count in n, proximity and zone: all but the wholes."""
        return tuple(word for word in self.words if not word.is_whole)

    @property
    def is_one_compound(self) -> bool:
        """Whether all its words came from one compound, which says nothing by standing together."""
        counted = self.counted
        first = counted[0].compound if counted else None
        return first is not None and all(word.compound == first for word in counted)


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
    if _WORDS.fullmatch(text):
        return _plain(text, tuple(langs))
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
        readings = [_read(clause.text, lang) for lang in langs]
        ways = _ways(readings)
        if not ways:
            continue
        if not is_negative:
            words += _words(number, clause.text, field, readings)
        if clause.sign or clause.is_quoted or field is not None:
            (must_not if is_negative else must).append(Demand(ways, field))
    return Plan(_scored(_distinct(words)), tuple(must), tuple(must_not), tuple(filters), tuple(excluded))


def _plain(text: str, langs: tuple[str, ...]) -> Plan:
    """Return the plan of plain words, as most queries are: each is a token of its own in every language."""
    words: dict[frozenset[str], Word] = {}
    for each in text.split(" "):
        word = plain_word(each, langs)
        words.setdefault(word.terms, word)
    scored = tuple(word for word in words.values() if not word.is_stop)
    return Plan(scored or tuple(words.values()))


def is_plain(text: str) -> bool:
    """Tell whether a text is a word that is a token of its own in every language."""
    return _WORD.fullmatch(text) is not None


@lru_cache(maxsize=20_000)
def plain_word(word: str, langs: tuple[str, ...]) -> Word:
    """Return what a plain word of a query is."""
    analyzers = [analyzer(lang) for lang in langs]
    terms = frozenset([each.plain(word) or word for each in analyzers])
    return Word(word, word, terms, False, all(word in each.stops for each in analyzers), None, None)


class _Read(NamedTuple):
    """A token of a clause as one language reads it: its span and its position in the clause."""

    token: Token
    start: int
    end: int
    position: int
    compound: int | None


def _read(text: str, lang: str) -> list[_Read]:
    """Analyse a clause in one language; single characters serve only queries of one character."""
    found = []
    position = 0
    for at, chunk in analyzer(lang).analyze(text):
        compound = at if chunk.tokens and chunk.tokens[-1].kind is Kind.WHOLE else None
        for token in chunk.tokens:
            if token.kind is not Kind.SINGLE:
                place = position + token.offset
                found.append(_Read(token, at + token.start, at + token.end, place, compound))
        position += chunk.width
    return found


def _words(number: int, text: str, field: int | None, readings: list[list[_Read]]) -> list[Word]:
    """Make one word of what the languages read in one span; a compound's whole follows its last part."""
    by_span: dict[tuple[int, int, int, str], list[_Read]] = {}
    for read in chain.from_iterable(readings):
        is_whole = read.token.kind is Kind.WHOLE
        order = (read.end, 0, read.start) if is_whole else (read.start, 1, read.end)
        by_span.setdefault((*order, read.token.surface), []).append(read)
    words = []
    # The sort is stable: pairs of one run that share a span stay in their order.
    for _, reads in sorted(by_span.items(), key=lambda entry: entry[0][:3]):
        first = reads[0]
        compound = next((read.compound for read in reads if read.compound is not None), None)
        words.append(
            Word(
                name=first.token.surface,
                surface=text[first.start : first.end],
                terms=frozenset(read.token.term for read in reads),
                is_whole=first.token.kind is Kind.WHOLE,
                is_stop=all(read.token.is_stop for read in reads),
                fields=None if field is None else frozenset([field]),
                compound=None if compound is None else (number, compound),
            )
        )
    return words


def _ways(readings: list[list[_Read]]) -> tuple[Places, ...]:
    """Return the phrase as each language cuts it; languages that cut alike share one, of all their terms."""
    by_spans: dict[tuple[tuple[int, int], ...], list[list[_Read]]] = {}
    for reading in readings:
        parts = [read for read in reading if read.token.kind is Kind.WORD]
        if parts:
            by_spans.setdefault(tuple((read.start, read.end) for read in parts), []).append(parts)
    return tuple(
        tuple(
            (reads[0].position, frozenset(read.token.term for read in reads))
            for reads in zip(*alike, strict=True)
        )
        for alike in by_spans.values()
    )


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
