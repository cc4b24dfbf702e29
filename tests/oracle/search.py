"""Brute force over every section: who matches, with what score, and why."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from . import scores
from .plan import Plan, QueryWord, plan
from .sections import FIELDS, Indexed, Section, index


@dataclass(frozen=True)
class Hit:
    id: str
    score: float
    contributions: list[tuple[str, float]]
    matched: list[str]


@dataclass(frozen=True)
class Answer:
    total: int
    loosened: bool
    hits: list[Hit]


@dataclass(frozen=True)
class TermCount:
    term: str
    frequency: int
    sections_matched: int


@dataclass(frozen=True)
class Stats:
    total: int
    loosened: bool
    terms: list[TermCount]


@dataclass(frozen=True)
class Statistics:
    N: int
    avgdl: dict[str, float]
    total_terms: int
    total_tokens: int
    mean_length: float


@dataclass(frozen=True)
class Weights:
    """The query-time parameters of the score."""

    fields: dict[str, float]
    k1: float
    b: float
    proximity: float
    zone: float
    freshness: float
    half_life_days: float
    now: float


@dataclass(frozen=True)
class Scored:
    """A scored word with the name of its contributions and its idf."""

    word: QueryWord
    name: str
    idf: float


class Oracle:
    """A store of sections that answers by looking at each of them."""

    def __init__(self, sections: Iterable[Section]) -> None:
        indexed = [index(section) for section in sections]
        self.live = [entry for entry in indexed if entry.terms]
        self.mean_lengths = {field: mean([entry.lengths[field] for entry in self.live]) for field in FIELDS}

    def statistics(self) -> Statistics:
        total = sum(entry.token_count for entry in self.live)
        return Statistics(
            N=len(self.live),
            avgdl=self.mean_lengths,
            total_terms=len({term for entry in self.live for term in entry.terms}),
            total_tokens=total,
            mean_length=mean([entry.token_count for entry in self.live]),
        )

    def df(self, terms: Iterable[str]) -> int:
        """The number of sections that hold any of the terms in any field."""
        wanted = set(terms)
        return sum(bool(wanted & entry.terms) for entry in self.live)

    def search(
        self,
        text: str,
        *,
        heading: float = 2.0,
        body: float = 1.0,
        code: float = 1.5,
        k1: float = 1.2,
        b: float = 0.75,
        proximity: float = 1.0,
        zone: float = 0.5,
        freshness: float = 0.0,
        half_life_days: float = 30.0,
        match: str = "any",
        collections: Collection[str] | None = None,
        lang: str | None = None,
        now: float = 0.0,
    ) -> Answer:
        """All matches of a query in their final order."""
        fields = {"heading": heading, "body": body, "code": code}
        weights = Weights(fields, k1, b, proximity, zone, freshness, half_life_days, now)
        query, matches, loosened = self._matches(text, match, collections, lang)
        scored = [
            Scored(word, name, scores.idf(len(self.live), self.df(word.terms)))
            for word, name in zip(query.scored, names(query.scored), strict=True)
        ]
        hits = [self._hit(query, scored, entry, weights) for entry in matches]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return Answer(len(hits), loosened, hits)

    def stats(
        self,
        text: str,
        *,
        match: str = "any",
        collections: Collection[str] | None = None,
        lang: str | None = None,
    ) -> Stats:
        """How often each scored word occurs in the matches of a query, the most frequent first."""
        query, matches, loosened = self._matches(text, match, collections, lang)
        counts = []
        for word in query.scored:
            found = [len(word.positions(entry)) for entry in matches]
            counts.append(TermCount(word.folded, sum(found), sum(count > 0 for count in found)))
        counts.sort(key=lambda count: (-count.frequency, count.term))
        return Stats(len(matches), loosened, counts)

    def _matches(
        self, text: str, match: str, collections: Collection[str] | None, lang: str | None
    ) -> tuple[Plan, list[Indexed], bool]:
        """The query as read, the sections it matches, and whether it had to be loosened for that."""
        searched = [
            entry for entry in self.live if collections is None or entry.section.collection in collections
        ]
        languages = {entry.section.lang for entry in searched} if lang is None else {lang}
        query = plan(text, sorted(languages))
        any_word = [entry for entry in searched if is_match(query, entry)]
        if match == "any":
            return query, any_word, False
        every_word = [entry for entry in any_word if all(word.positions(entry) for word in query.counted)]
        if every_word:
            return query, every_word, False
        return query, any_word, bool(any_word)

    def _hit(self, query: Plan, scored: list[Scored], entry: Indexed, weights: Weights) -> Hit:
        """The score of a match: the sum from left to right of its contributions."""
        contributions: list[tuple[str, float]] = []
        if not query.only_filters:
            contributions += self._text_contributions(scored, entry, weights)
            contributions += other_contributions(query, entry, weights)
        score = 0.0
        for _, value in contributions:
            score += value
        matched = [word.typed for word in query.scored if word.positions(entry)]
        return Hit(entry.section.id, score, contributions, matched)

    def _text_contributions(
        self, scored: list[Scored], entry: Indexed, weights: Weights
    ) -> list[tuple[str, float]]:
        contributions = []
        for each in scored:
            for field in FIELDS:
                tf = each.word.frequency(entry, field)
                if tf > 0:
                    length, mean_length = entry.lengths[field], self.mean_lengths[field]
                    value = scores.field_score(each.idf, tf, length, mean_length, weights.k1, weights.b)
                    contributions.append((f"text.{each.name}.{field}", weights.fields[field] * value))
        return contributions


def other_contributions(query: Plan, entry: Indexed, weights: Weights) -> list[tuple[str, float]]:
    """Proximity, zone and freshness, each only when it has a weight."""
    contributions = []
    occurrences = [word.positions(entry) for word in query.counted]
    if weights.proximity > 0:
        value = 0.0 if query.is_one_compound else scores.proximity(occurrences)
        contributions.append(("proximity", weights.proximity * value))
    if weights.zone > 0:
        contributions.append(("zone", weights.zone * scores.zone(occurrences, entry.token_count)))
    if weights.freshness > 0:
        value = scores.freshness(entry.section.created_at, weights.now, weights.half_life_days)
        contributions.append(("freshness", weights.freshness * value))
    return contributions


def is_match(query: Plan, entry: Indexed) -> bool:
    """Whether a section holds a scored word and meets every condition; filters alone need no word."""
    if not query.only_filters and not any(word.positions(entry) for word in query.scored):
        return False
    return all(demand.is_met(entry) for demand in query.demands) and not any(
        exclusion.is_met(entry) for exclusion in query.exclusions
    )


def names(words: list[QueryWord]) -> list[str]:
    """The folded words, numbered where different words share one."""
    taken: list[str] = []
    for word in words:
        name, number = word.folded, 1
        while name in taken:
            number += 1
            name = f"{word.folded}#{number}"
        taken.append(name)
    return taken


def mean(lengths: list[int]) -> float:
    """The mean of the lengths that are not zero; zero when there is none."""
    filled = [length for length in lengths if length > 0]
    return sum(filled) / len(filled) if filled else 0.0
