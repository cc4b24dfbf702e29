"""Readings: the numbers of all items that terms are made of, at one position of the log and one time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, Protocol

import apsw
import numpy as np

from germane.knowledge.catalog import META, Catalog
from germane.knowledge.columns import Column
from germane.model.times import SECOND, Micros
from germane.people.cooccurrence import Related
from germane.people.taste import Taste
from germane.ranking.audience import NOBODY, Audience
from germane.ranking.behaviour.operations import FloatArray
from germane.signals.blocks import Extremes, Numbers
from germane.signals.decay import BLOCK, IntArray, whole_blocks
from germane.signals.view import Ledgers


class Reading(Protocol):
    """A number for every item; `signals.blocks.Numbers` is the usual one."""

    @property
    def least(self) -> FloatArray:
        """Return lower bounds by block."""

    @property
    def greatest(self) -> FloatArray:
        """Return upper bounds by block."""

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items."""

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""


class Readings:
    """Gives each reading once.

    Parameters
    ----------
    connection : apsw.Connection
        At the position of the log that the others reflect.
    ledgers : Ledgers
    catalog : Catalog
    now : int
        Microseconds since the epoch.
    seed : str
        What draws depend on.
    audience : Audience
        Whom they are for.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        ledgers: Ledgers,
        catalog: Catalog,
        now: Micros,
        seed: str = "",
        audience: Audience = NOBODY,
    ) -> None:
        self.connection = connection
        self.ledgers = ledgers
        self.catalog = catalog
        self.now = now
        self.seed = seed
        self.audience = audience
        self.size = whole_blocks(len(catalog.live))
        self.text: Reading = Zero(self.blocks)  # scores of a search, where there is one
        self.session: Callable[[str], Reading] = lambda of: self.zero()  # of a session, where there is one
        self._given: dict[tuple[str, ...], Reading] = {}

    @property
    def blocks(self) -> int:
        """How many blocks the items lie in."""
        return self.size // BLOCK

    def decayed(self, signal: str) -> Reading:
        """Return decayed scores; zeros for a signal that is not declared."""

        def read() -> Reading | None:
            ledger = self.ledgers.get(signal)
            return None if ledger is None else ledger.decayed_numbers(self.size, self.now)

        return self._once(("decayed", signal), read)

    def count(self, signal: str, window: str) -> Reading:
        """Return windowed counts; zeros for a signal or window that is not declared."""

        def read() -> Reading | None:
            ledger = self.ledgers.get(signal)
            if ledger is None or window not in tuple(ledger.signal.windows):
                return None
            return ledger.count_numbers(window, self.size, self.now)

        return self._once(("count", signal, window), read)

    def total(self, signal: str) -> Reading:
        """Return all-time counts, which are kept for every signal."""

        def read() -> Reading | None:
            ledger = self.ledgers.get(signal)
            return None if ledger is None else ledger.count_numbers("all", self.size, self.now)

        return self._once(("count", signal, "all"), read)

    def overall(self, part: str, whole: str) -> float:
        """Return the store-wide ratio of two signals over live items, 0 without any of the second."""
        parts, wholes = (self._sum(self.total(signal)) for signal in (part, whole))
        return parts / wholes if wholes else 0.0

    def reach(self) -> Reading:
        """Return the number of distinct users of each item."""
        return self._once(("reach",), lambda: self.ledgers.reach_numbers(self.size, self.now))

    def created_at(self) -> Reading:
        """Return when items were created, in seconds since the epoch."""
        return self._once(("created_at",), lambda: self._times(lambda times: times / SECOND, False))

    def age(self) -> Reading:
        """Return ages in microseconds, 0 for what is created later than now."""

        def since(times: IntArray) -> FloatArray:
            return np.maximum(self.now - times, 0).astype(np.float64)

        return self._once(("age",), lambda: self._times(since, True))

    def meta(self, name: str) -> Reading:
        """Return the numbers of some metadata."""

        def read() -> Reading | None:
            column = self.catalog.columns.get(META + name)
            if column is None:
                return None
            return column.kept("reading", self.size, lambda: self._of_array(column.numbers(self.size)))

        return self._once(("meta", name), read)

    def cooccurrence(self, id: str | None) -> Reading:
        """Return how strongly items go with one, or without one with what the user did lately."""

        def read() -> Reading | None:
            return self._of_related(self.audience.related(id, self._against))

        return self._once(("cooccurrence", id or ""), read)

    def again(self) -> Reading:
        """Return what the user did with each item, for it and against it, lately the most."""
        return self._once(("again",), lambda: self._of_related(self.audience.again(self._against)))

    def cosine(self, id: str | None) -> Reading:
        """Return the cosine of the vector of one item and that of each; zeros if it has none."""

        def read() -> Reading | None:
            query = "SELECT ordinal FROM item WHERE id = ?"
            ordinal = None if id is None else self.connection.execute(query, (id,)).get
            vectors = self.audience.vectors
            vector = None if ordinal is None else vectors.vector(int(ordinal))
            return None if vector is None else Leaning(partial(vectors.cosines, vector), self.blocks)

        return self._once(("cosine", id or ""), read)

    def shared_tags(self, id: str | None) -> Reading:
        """Return the share of tags that items have in common with one: of all that either has."""

        def read() -> Reading | None:
            column = self.catalog.columns.get("tags")
            query = "SELECT ordinal FROM item WHERE id = ?"
            ordinal = None if id is None else self.connection.execute(query, (id,)).get
            if column is None or ordinal is None:
                return None
            tags = column.bits[column.at(np.array([ordinal], np.int64))]
            common = np.bincount(column.ordinals[np.isin(column.bits, tags)], minlength=self.size)
            ordinals = np.flatnonzero(common)
            each = column.kept("number of tags", self.size, lambda: _tally(column, self.size))[ordinals]
            shared = common[ordinals]
            return self._of_some(ordinals, shared / (each + len(tags) - shared))

        return self._once(("shared_tags", id or ""), read)

    def drawn(self) -> Reading:
        """Return numbers drawn from [0, 1) by the seed and each item's id."""
        return self._once(("drawn",), lambda: Drawn(self.connection, self.seed, self.blocks))

    def preference(self) -> Reading:
        """Return the cosine of what the user leans to and each item's vector."""
        return self._once(("preference",), self._of_taste(Taste.likeness))

    def affinity(self) -> Reading:
        """Return how much the user likes each item's creator, within -1 and 1."""
        return self._once(("affinity",), self._of_taste(Taste.liking))

    def _of_taste(self, read: Callable[[Taste, IntArray], FloatArray]) -> Callable[[], Reading | None]:
        def make() -> Reading | None:
            taste = self.audience.taste
            return None if taste.is_empty else Leaning(partial(read, taste), self.blocks)

        return make

    def zero(self) -> Reading:
        """Return zeros."""
        return self._once(("zero",), lambda: None)

    def _once(self, key: tuple[str, ...], read: Callable[[], Reading | None]) -> Reading:
        given = self._given.get(key)
        if given is None:
            given = self._given[key] = read() or Zero(self.blocks)
        return given

    def _times(self, change: Callable[[IntArray], FloatArray], falls: bool) -> Reading:
        column = self.catalog.columns.get("created_at") or Column()
        extremes = partial(column.kept, "extreme times", self.size, lambda: _extremes(column, self.blocks))
        return Changed(column.times(self.size), change, extremes, falls)

    def _of_related(self, related: Related | None) -> Reading | None:
        if related is None:
            return None
        inside = slice(related.items.searchsorted(self.size))  # they are ascending
        return self._of_some(related.items[inside], related.values[inside])

    def _of_some(self, ordinals: IntArray, values: FloatArray) -> Reading | None:
        return Scores(ordinals, values, self.blocks) if len(ordinals) else None

    def _of_array(self, values: FloatArray) -> Reading:
        return Numbers(values, Extremes())

    @cached_property
    def _against(self) -> frozenset[str]:
        return frozenset(signal.name for signal in self.ledgers.signals if signal.polarity < 0)

    @cached_property
    def _live(self) -> FloatArray:
        return self.catalog.live.astype(np.float64)

    def _sum(self, reading: Reading) -> float:
        if isinstance(reading, Zero):
            return 0.0
        everywhere = reading.within(np.arange(self.blocks))
        return float(everywhere[: len(self._live)] @ self._live)  # whole numbers: exact in any order


class Changed:
    """A reading that is a monotone function of whole numbers.

    Parameters
    ----------
    values : int64[ordinals]
        Whole blocks.
    change : callable
    extremes : callable
        Returns the least and greatest of the whole numbers by block.
    falls : bool
        Whether the reading falls as its number grows.
    """

    def __init__(
        self,
        values: IntArray,
        change: Callable[[IntArray], FloatArray],
        extremes: Callable[[], tuple[IntArray, IntArray]],
        falls: bool,
    ) -> None:
        self._values = values
        self._change = change
        self._extremes = extremes
        self._falls = falls

    @property
    def least(self) -> FloatArray:
        """Return lower bounds by block."""
        return self._change(self._extremes()[self._falls])

    @property
    def greatest(self) -> FloatArray:
        """Return upper bounds by block."""
        return self._change(self._extremes()[not self._falls])

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items."""
        return self._change(self._values[ordinals])

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""
        return self._change(self._values.reshape(-1, BLOCK)[blocks].ravel())


class Zero:
    """What has no numbers: a signal without events, a name that is nowhere.

    Parameters
    ----------
    blocks : int
    """

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks

    @property
    def least(self) -> FloatArray:
        """Return zeros by block."""
        return np.zeros(self._blocks)

    greatest = least

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(ordinals))

    def within(self, blocks: IntArray) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(blocks) * BLOCK)


class Leaning:
    """Numbers between -1 and 1 that are computed when they are asked for, each the same way.

    Parameters
    ----------
    read : callable
        Returns the numbers of some items.
    blocks : int
    """

    def __init__(self, read: Callable[[IntArray], FloatArray], blocks: int) -> None:
        self._blocks = blocks
        self._read = read

    @property
    def least(self) -> FloatArray:
        """Return lower bounds by block."""
        return np.full(self._blocks, -1.0)

    @property
    def greatest(self) -> FloatArray:
        """Return upper bounds by block."""
        return np.ones(self._blocks)

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items."""
        return self._read(ordinals)

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""
        return self._read((blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel())


class Scores:
    """Numbers that only some items have.

    Parameters
    ----------
    ordinals : int64[n]
        Ascending; one at least.
    values : float64[n]
    blocks : int
    """

    def __init__(self, ordinals: IntArray, values: FloatArray, blocks: int) -> None:
        self._ordinals, self._values, self._blocks = ordinals, values, blocks

    @property
    def least(self) -> FloatArray:
        """Return the least by block: 0 where none has a number."""
        least = np.zeros(self._blocks)
        np.minimum.at(least, self._ordinals // BLOCK, self._values)
        return least

    @property
    def greatest(self) -> FloatArray:
        """Return the greatest by block: 0 where none has a number."""
        greatest = np.zeros(self._blocks)
        np.maximum.at(greatest, self._ordinals // BLOCK, self._values)
        return greatest

    @property
    def above_zero(self) -> IntArray:
        """The items whose numbers are above zero, ascending."""
        return self._ordinals[self._values > 0]

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items, 0 for those that have none."""
        place = self._ordinals.searchsorted(ordinals)
        there = self._ordinals.take(place, mode="clip") == ordinals
        return np.where(there, self._values.take(place, mode="clip"), 0.0)

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""
        return self.at((blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel())


class Drawn:
    """Numbers in [0, 1) that look random, and are a function of a seed and the item's id.

    Parameters
    ----------
    connection : apsw.Connection
    seed : str
    blocks : int
    """

    def __init__(self, connection: apsw.Connection, seed: str, blocks: int) -> None:
        self.least = np.zeros(blocks)
        self.greatest = np.ones(blocks)
        self._connection = connection
        self._seed = seed

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items."""
        ids = (
            self._connection.execute("SELECT id FROM item WHERE ordinal = ?", (ordinal,)).get
            for ordinal in ordinals.tolist()
        )
        return np.fromiter((drawn(self._seed, str(id)) for id in ids), np.float64, len(ordinals))

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""
        numbers = np.zeros(len(blocks) * BLOCK)
        for place, block in enumerate(blocks.tolist()):
            for ordinal, id in self._ids(block * BLOCK):
                numbers[place * BLOCK + ordinal - block * BLOCK] = drawn(self._seed, id)
        return numbers

    def _ids(self, first: int) -> Iterator[Any]:
        query = "SELECT ordinal, id FROM item WHERE ordinal >= ? AND ordinal < ?"
        return self._connection.execute(query, (first, first + BLOCK))


def drawn(seed: str, id: str) -> float:
    """Return a number in [0, 1) that is a function of a seed and an id: 53 bits of BLAKE2b.

    Examples
    --------
    >>> 0 <= drawn("today", "a") < 1, drawn("today", "a") == drawn("today", "b")
    (True, False)
    """
    digest = hashlib.blake2b(f"{seed}\0{id}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / (1 << 53)


def _tally(column: Column, size: int) -> IntArray:
    """Return how many values each item has: int64[size]."""
    return np.bincount(column.ordinals, minlength=size)


def _extremes(column: Column, count: int) -> tuple[IntArray, IntArray]:
    """Return the least and greatest of the times that there are in each block; 0 where there is none."""
    least, greatest = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if len(column):
        blocks = column.ordinals // BLOCK
        starts = np.flatnonzero(np.diff(blocks, prepend=-1))
        least[blocks[starts]] = np.minimum.reduceat(column.bits, starts)
        greatest[blocks[starts]] = np.maximum.reduceat(column.bits, starts)
    return least, greatest
