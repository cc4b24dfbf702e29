"""What a query asks for: its words, its demands and its filters."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .query import FILTER_FIELDS, TEXT_FIELDS, Item, parse
from .sections import FIELDS, Indexed
from .words import Span, Word, analyse

Place = tuple[int, int, int, int, int]
Reading = tuple[frozenset[str], ...]


@dataclass(frozen=True)
class QueryWord:
    """One word of a query.

    Attributes
    ----------
    terms : frozenset of str
        Its stems in all languages; they make it the word it is.
    folded, typed : str
        Its first occurrence, folded and as it stands in the query.
    whole, stop : bool
        Whether it is the whole of a compound; whether it is a stop word in every language.
    compound : (int, int, int) or None
        The item and the span of the compound that its first occurrence belongs to.
    fields : frozenset of str
        Where it counts.
    """

    terms: frozenset[str]
    folded: str
    typed: str
    whole: bool
    stop: bool
    compound: tuple[int, int, int] | None
    fields: frozenset[str]

    def positions(self, indexed: Indexed) -> list[int]:
        return indexed.positions(self.terms, self.fields)

    def frequency(self, indexed: Indexed, field: str) -> int:
        return len(indexed.positions(self.terms, [field])) if field in self.fields else 0


@dataclass(frozen=True)
class Demand:
    """Words that must stand side by side in one of the fields, in one of the readings of the languages."""

    readings: frozenset[Reading]
    fields: frozenset[str]

    def is_met(self, indexed: Indexed) -> bool:
        return any(stands_in(indexed, name, reading) for name in self.fields for reading in self.readings)


@dataclass(frozen=True)
class Filter:
    """An exact condition on a tag, the MIME type or a document id."""

    field: str
    value: str

    def is_met(self, indexed: Indexed) -> bool:
        section = indexed.section
        values = {"tag": section.tags, "type": (section.type,), "doc": section.docids}
        return self.value in values[self.field]


@dataclass
class Plan:
    """A query, read: distinct words in query order, and what a section must and must not meet."""

    words: list[QueryWord] = field(default_factory=list)
    demands: list[Demand | Filter] = field(default_factory=list)
    exclusions: list[Demand | Filter] = field(default_factory=list)

    @property
    def scored(self) -> list[QueryWord]:
        """All words but stop words; all words when nothing but stop words (and wholes) is there."""
        if all(word.stop for word in self.words if not word.whole):
            return self.words
        return [word for word in self.words if not word.stop]

    @property
    def counted(self) -> list[QueryWord]:
        """The n words of proximity and zone: the scored ones that are not wholes."""
        return [word for word in self.scored if not word.whole]

    @property
    def is_one_compound(self) -> bool:
        compounds = {word.compound for word in self.counted}
        return len(compounds) == 1 and None not in compounds

    @property
    def only_filters(self) -> bool:
        return not self.words and bool(self.demands)


def plan(text: str, languages: Sequence[str]) -> Plan:
    """Read a query in the given languages."""
    result = Plan()
    words: dict[frozenset[str], QueryWord] = {}
    for number, item in enumerate(parse(text)):
        conditions = result.exclusions if item.sign == "-" else result.demands
        if item.field in FILTER_FIELDS and item.value:
            conditions.append(Filter(item.field, item.value))
            continue
        if item.field and not is_analysable(item.value, languages):
            item = Item(item.sign, "", item.field, False)
        if not is_analysable(item.value, languages):
            continue
        fields = frozenset([TEXT_FIELDS[item.field]] if item.field else FIELDS)
        groups, readings = read(item.value, languages)
        if item.sign or item.field or item.quoted:
            conditions.append(Demand(readings, fields))
        if item.sign != "-":
            for group in groups:
                word = query_word(group, number, item.value, fields)
                known = words.get(word.terms)
                words[word.terms] = replace(known, fields=known.fields | fields) if known else word
    result.words = list(words.values())
    return result


def is_analysable(text: str, languages: Sequence[str]) -> bool:
    return any(analyse(text, language) for language in languages)


def read(text: str, languages: Sequence[str]) -> tuple[list[list[Word]], frozenset[Reading]]:
    """Analyse an item in every language.

    Returns
    -------
    groups : list of list of Word
        One group for every source span, in order: what the languages make of that span.
    readings : frozenset of Reading
        One for every language: the terms at each of the consecutive places of its tokens.
    """
    groups: dict[Place, list[Word]] = {}
    sequences: list[list[Place]] = []
    for language in sorted(languages):
        tokens: list[Place] = []
        for word in analyse(text, language):
            if word.kind == "character":
                continue
            place = (word.start, word.end, 0, word.start, word.end)
            if word.kind == "whole":
                last_start, last_end = tokens[-1][:2]
                place = (last_start, last_end, 1, word.start, word.end)
            else:
                tokens.append(place)
            groups.setdefault(place, []).append(word)
        sequences.append(tokens)
    readings = frozenset(tuple(terms_of(groups[place]) for place in tokens) for tokens in sequences)
    return [groups[place] for place in sorted(groups)], readings


def terms_of(group: list[Word]) -> frozenset[str]:
    return frozenset(word.term for word in group)


def query_word(group: list[Word], item: int, text: str, fields: frozenset[str]) -> QueryWord:
    first = group[0]
    return QueryWord(
        terms=terms_of(group),
        folded=first.folded,
        typed=text[first.start : first.end],
        whole=first.kind == "whole",
        stop=all(word.stop for word in group),
        compound=within(item, first.compound),
        fields=fields,
    )


def within(item: int, span: Span | None) -> tuple[int, int, int] | None:
    return (item, *span) if span else None


def stands_in(indexed: Indexed, field: str, reading: Reading) -> bool:
    """Whether the places of a reading hold at consecutive positions of a field."""
    places = [set(indexed.positions(terms, [field])) for terms in reading]
    return any(all(start + step in place for step, place in enumerate(places)) for start in places[0])
