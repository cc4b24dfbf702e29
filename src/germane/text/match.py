"""Matching: what a plan asks of a section beside holding one of its words, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from germane.text.arrays import BoolArray, IntArray
from germane.text.compiled import KERNEL
from germane.text.index import Index
from germane.text.plan import Demand, Filter, Plan
from germane.text.scoring import fields_mask

Selector = Callable[[Filter], IntArray]
"""Gives the ordinals of the items that a filter selects, ascending."""


def conditions(
    index: Index,
    plan: Plan,
    select: Selector | None = None,
    collections: Sequence[str] | None = None,
    needs_all: bool = False,
    allowed: BoolArray | None = None,
) -> BoolArray | None:
    """Return the live rows that meet what a plan asks for beside its words; None when all do.

    A section matches when it is among these and holds a word of the plan, if there are any.

    Parameters
    ----------
    index : Index
    plan : Plan
    select : callable, optional
        Resolves filters; a plan with filters needs it.
    collections : sequence of str, optional
        Select only from these.
    needs_all : bool
        Whether every counted word must stand in a section.
    allowed : bool[rows], optional
        Select only from these.
    """
    masks = [] if allowed is None else [allowed]
    if not plan.words and not plan.filters:
        masks.append(np.zeros(index.size, np.bool_))
    if needs_all:
        masks += [_holding(index, word.terms, word.fields) for word in plan.counted]
    masks += [holders(index, demand) for demand in plan.must]
    masks += [~holders(index, demand) for demand in plan.must_not]
    if plan.filters or plan.excluded:
        assert select is not None
        masks += [np.isin(index.ordinals, select(condition)) for condition in plan.filters]
        masks += [~np.isin(index.ordinals, select(condition)) for condition in plan.excluded]
    if collections is not None:
        shelves = [number for number, (name, _) in enumerate(index.shelves) if name in collections]
        masks.append(np.isin(index.row_shelves, shelves))
    return index.alive & reduce(np.logical_and, masks) if masks else None


def holders(index: Index, demand: Demand) -> BoolArray:
    """Return which rows hold a phrase within one field, in any of its ways."""
    fields = None if demand.field is None else frozenset([demand.field])
    held = np.zeros(index.size, np.bool_)
    for places in demand.ways:
        if len(places) == 1:
            held |= _holding(index, places[0][1], fields)
            continue
        words = [index.word(terms) for _, terms in places]
        work = KERNEL.ready(sum(word.df for word in words))
        for number, part in enumerate(index.parts):
            asked = [
                (slot, at, offset - places[0][0])
                for at, (word, (offset, _)) in enumerate(zip(words, places, strict=True))
                for slot in word.slots[number] or (-1,)
            ]
            work.mark_phrase(
                *part.segment.for_kernels[:7], np.array(asked, np.int64), fields_mask(fields),
                held[index.bases[number] : index.bases[number + 1]],
            )  # fmt: skip
    return held


def _holding(index: Index, terms: frozenset[str], fields: frozenset[int] | None) -> BoolArray:
    slots = index.word(terms).slots
    return index.masked(lambda part, number: part.holding(slots[number], fields_mask(fields)))
