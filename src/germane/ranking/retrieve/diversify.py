"""Stage 5: the page: one greedy pass over the order that never exceeds a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from germane.knowledge.catalog import META, Catalog
from germane.knowledge.columns import FLOAT, INT
from germane.model.diversity import Diversity
from germane.ranking.retrieve.mmr import Spread

MAX_PER_CREATOR = "max_per_creator"


@dataclass
class Chosen:
    """What one page shows, and what it passes over.

    Parameters
    ----------
    shown : list of int
        Ordinals, in the order of the page.
    explored : dict of int to int
        Those of them that were explored, and their place on the page.
    held_back : dict of str to list of int
        Ordinals that a limit kept off the page, by limit, in order.
    relaxed : list of int
        Those of the shown that were held back first, and filled the page after all.
    used : int
        How many of the order were looked at, at most.
    """

    shown: list[int] = field(default_factory=list)
    explored: dict[int, int] = field(default_factory=dict)
    held_back: dict[int, str] = field(default_factory=dict)
    relaxed: list[int] = field(default_factory=list)
    used: int = 0


class Limits:
    """Tells whether a page has room for an item.

    Parameters
    ----------
    catalog : Catalog
    diversity : Diversity or None
    limit : int
        Places of the page.
    """

    def __init__(self, catalog: Catalog, diversity: Diversity | None, limit: int) -> None:
        self._catalog = catalog
        self._caps: list[tuple[str, str, int]] = []
        self._counts: dict[str, Counter[tuple[int, int]]] = {}
        if diversity is None:
            return
        if diversity.max_per_creator is not None:
            self._caps.append((MAX_PER_CREATOR, "creator", diversity.max_per_creator))
        for name, cap in diversity.caps(limit).items():
            self._caps.append((f"max_share {name}", _column(name), cap))
        self._counts = {limit: Counter() for limit, _, _ in self._caps}

    def broken_by(self, ordinal: int) -> str | None:
        """Return the first limit that an item would exceed, None if there is room."""
        for limit, column, cap in self._caps:
            counts = self._counts[limit]
            if any(counts[value] >= cap for value in self._values(column, ordinal)):
                return limit
        return None

    def take(self, ordinal: int) -> None:
        """Count an item that the page shows."""
        for limit, column, _ in self._caps:
            self._counts[limit].update(self._values(column, ordinal))

    def _values(self, name: str, ordinal: int) -> Iterable[tuple[int, int]]:
        column = self._catalog.columns.get(name)
        if column is None:
            return ()
        first, last = column.ordinals.searchsorted((ordinal, ordinal + 1)).tolist()
        if last - first == 1:
            return (_alike(int(column.kinds[first]), int(column.bits[first])),)
        kinds, bits = column.kinds[first:last].tolist(), column.bits[first:last].tolist()
        return set(map(_alike, kinds, bits))


def choose(
    order: Iterable[int],
    explorers: Iterable[int],
    places: Iterable[int],
    limits: Limits,
    limit: int,
    relax: bool,
    spread: Spread | None = None,
) -> Chosen:
    """Fill a page.

    Parameters
    ----------
    order : iterable of int
        Ordinals, the best first; what a page before held back comes first of all.
    explorers : iterable of int
        Ordinals to show at the places that explore; what finds no room there is left out.
    places : iterable of int
        Zero-based places of the page that explore.
    limits : Limits
    limit : int
    relax : bool
        Whether what was held back fills a page that would be short.
    spread : Spread, optional
        What chooses among the order by likeness to what the page shows.
    """
    chosen, exploring, drawn = Chosen(), set(places), iter(explorers)
    queue = iter(order) if spread is None else spread.over(order, chosen.shown)
    while len(chosen.shown) < limit:
        place = len(chosen.shown)
        ordinal = _next_explorer(drawn, chosen, limits) if place in exploring else None
        if ordinal is not None:
            chosen.explored[ordinal] = place
        else:
            ordinal = _next_in_order(queue, chosen, limits)
        if ordinal is None:
            break
        limits.take(ordinal)
        chosen.shown.append(ordinal)
    if spread is not None:
        chosen.used = max(chosen.used, spread.most)  # any of these may have been taken
    if relax and len(chosen.shown) < limit:
        chosen.relaxed = list(chosen.held_back)[: limit - len(chosen.shown)]
        chosen.shown += chosen.relaxed
        for ordinal in chosen.relaxed:
            del chosen.held_back[ordinal]
    return chosen


def _next_explorer(drawn: Iterator[int], chosen: Chosen, limits: Limits) -> int | None:
    for ordinal in drawn:
        if ordinal not in chosen.shown and limits.broken_by(ordinal) is None:
            return ordinal
    return None


def _next_in_order(queue: Iterator[int], chosen: Chosen, limits: Limits) -> int | None:
    for ordinal in queue:
        chosen.used += 1
        if ordinal in chosen.explored:
            continue
        broken = limits.broken_by(ordinal)
        if broken is None:
            return ordinal
        chosen.held_back[ordinal] = broken
    return None


def _alike(kind: int, bits: int) -> tuple[int, int]:
    """Return the same for 1 and 1.0, which a filter calls equal as well."""
    if kind == FLOAT:
        value = float(np.int64(bits).view(np.float64))
        if value.is_integer():
            return INT, int(value)
    return kind, bits


def _column(name: str) -> str:
    """Return the catalogue's name of a field."""
    if name.startswith(META):
        key = name[len(META) :]
        return META + (key[1:-1].replace("''", "'") if key[:1] == "'" else key)
    return name
