"""Matching: which sections a plan selects, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from germane.text.index import Index, Postings
from germane.text.plan import Demand, Filter, Plan, Word
from germane.text.segment import BoolArray, IntArray, fields_of

Selector = Callable[[Filter], IntArray]
"""Gives the ordinals of the items that a filter selects, ascending."""


@dataclass(frozen=True)
class Matches:
    """The sections that a query selects.

    Parameters
    ----------
    rows : int64[matches]
        Rows of the index, ascending.
    postings : tuple of Postings
        For each word of the plan, where it stands (matching or not).
    df : tuple of int
        For each word, the live sections of the whole store that hold it in any field.
    """

    rows: IntArray
    postings: tuple[Postings, ...]
    df: tuple[int, ...]


def match(
    index: Index,
    plan: Plan,
    select: Selector,
    collections: Sequence[str] | None,
    needs_all: bool,
    allowed: BoolArray | None = None,
) -> Matches:
    """Select the sections that a plan asks for.

    Parameters
    ----------
    index : Index
    plan : Plan
    select : callable
        Resolves filters.
    collections : sequence of str, optional
        Select only from these.
    needs_all : bool
        Whether every counted word must stand in a section; otherwise any scored word or whole.
    allowed : bool[rows], optional
        Select only from these.
    """
    found = [_postings(index, word) for word in plan.words]
    postings = tuple(each for each, _ in found)
    if not plan.words and not plan.filters:
        hit = np.zeros(index.size, np.bool_)
    elif not plan.words:
        hit = index.alive.copy()
    elif needs_all and plan.counted:
        hit = reduce(
            np.logical_and,
            (_mask(index, p.rows) for p, w in zip(postings, plan.words, strict=True) if not w.is_whole),
        )
    else:
        hit = reduce(np.logical_or, (_mask(index, p.rows) for p in postings))
    for demand in plan.must:
        hit &= _mask(index, holders(index, demand))
    for demand in plan.must_not:
        hit &= ~_mask(index, holders(index, demand))
    for condition in plan.filters:
        hit &= _among(index.ordinals, select(condition))
    for condition in plan.excluded:
        hit &= ~_among(index.ordinals, select(condition))
    if collections is not None:
        shelves = [number for number, (name, _) in enumerate(index.shelves) if name in collections]
        hit &= np.isin(index.row_shelves, shelves)
    if allowed is not None:
        hit &= allowed
    return Matches(np.flatnonzero(hit), postings, tuple(df for _, df in found))


def holders(index: Index, demand: Demand) -> IntArray:
    """Return the rows that hold a phrase within one field, in any of its ways."""
    fields = None if demand.field is None else frozenset([demand.field])
    rows = []
    for places in demand.ways:
        if len(places) == 1:
            rows.append(index.postings(numbers(index, places[0][1]), fields).rows)
            continue
        starts: IntArray | None = None
        for offset, terms in places:
            row, position = index.occurrences(numbers(index, terms))
            at = position - offset
            begins = np.unique((row << 32 | at)[at >= 0])
            starts = begins if starts is None else np.intersect1d(starts, begins, assume_unique=True)
        assert starts is not None
        row, position = starts >> 32, starts & 0xFFFFFFFF
        lengths = index.lengths[row]
        field = fields_of(position, lengths)
        keep = field == fields_of(position + places[-1][0], lengths)
        if demand.field is not None:
            keep &= field == demand.field
        rows.append(row[keep])
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, np.int64)


def numbers(index: Index, terms: Iterable[str]) -> list[int]:
    """Return the numbers of those terms that the index knows, in a fixed order."""
    return [index.vocabulary[term] for term in sorted(terms) if term in index.vocabulary]


def _postings(index: Index, word: Word) -> tuple[Postings, int]:
    terms = numbers(index, word.terms)
    everywhere = index.postings(terms)
    df = len(everywhere.rows)
    return (everywhere if word.fields is None else index.postings(terms, word.fields)), df


def _mask(index: Index, rows: IntArray) -> BoolArray:
    mask = np.zeros(index.size, np.bool_)
    mask[rows] = True
    return mask


def _among(ordinals: IntArray, selected: IntArray) -> BoolArray:
    return np.isin(ordinals, selected)
