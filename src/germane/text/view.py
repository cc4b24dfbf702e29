"""The text view: keeps the index at the head of the log, from a checkpoint and what changed since."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np

from germane.log.checkpoint import Arrays
from germane.log.content import Row, items_changed_since, schema
from germane.log.saved import differing
from germane.log.snapshot import SnapshotView
from germane.model.reports import Finding
from germane.text import merging
from germane.text.analysis import VERSION
from germane.text.build import Sections, build, joined
from germane.text.collect import Collector
from germane.text.index import Index, Part, Statistics
from germane.text.segment import ROWS
from germane.text.stored import canonical, from_arrays, to_arrays
from germane.text.vocabulary import Vocabulary

FORM = "2"
"""Rises when the arrays of a checkpoint change."""
CHARACTERS = 32 << 20
"""Of the sections that become a segment at once, about."""


class TextView(SnapshotView[Index]):
    """Gives the index.

    Catching up, replaying and loading a checkpoint lead to one and the same state, and the order in which
    writes came leaves no trace in any answer.
    """

    name = "text"
    title = "text index"
    part = "text"
    worth_saving = 256
    _are_constant = True

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        super().__init__(store, folder, is_read_only)
        self._begin(Vocabulary(), {})
        self._merging: threading.Thread | None = None

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the index or its checkpoint, against one built from the tables alone."""
        yield from self._checkpoints.check(connection, self._format(connection))[0]
        index = self.at(connection)
        fresh = canonical(TextView().at(connection))
        try:
            ours = canonical(index)
        except (IndexError, KeyError, ValueError) as error:  # a mapped file was changed under it
            yield Finding("text", f"the index cannot be read: {error}")
            return
        for name in differing(ours, fresh):
            yield Finding("text", f"the index differs from the content in {name!r}")
        if index.statistics.sections != len(fresh["ordinals"]):
            yield Finding("text", "the statistics differ from the content")

    def _begin(self, vocabulary: Vocabulary, shelves: dict[tuple[str, str], int]) -> None:
        self._vocabulary, self._shelves = vocabulary, shelves
        self._collector = Collector(vocabulary, shelves)
        self._tail: tuple[Sections, Part] | None = None

    def _format(self, connection: apsw.Connection) -> str:
        # Other items are analysed otherwise when another language is theirs by default.
        return f"{FORM}/{VERSION}/{schema(connection).lang}"

    def _arrays(self, kept: Index) -> Arrays:
        return to_arrays(kept)

    def _caught_up(self, connection: apsw.Connection, seq: int, turn: int) -> tuple[Index, int]:
        lang = schema(connection).lang
        index = self._kept
        if index is None or index.epoch != turn or index.lang != lang:
            index = self._load(connection, lang, turn)
        changed = items_changed_since(connection, index.seq)
        parts, statistics, count = list(index.parts), index.statistics, 0
        while (block := _Block(changed)).rows:
            count += len(block.rows)
            if index.size:  # in a store that is read for the first time nothing is there to be replaced
                statistics = _bury(parts, statistics, sorted(row.ordinal for row in block.rows))
            sections = self._collector.sections(block.rows, lang, block.size)
            if sections is not None:
                statistics = self._grow(parts, statistics, sections)
            del block
        if not count:  # signals and the like touch no content
            return index.moved_to(seq), 0
        parts = [part for part in parts if part.count]
        while (sources := merging.due(parts)) and merging.rows_of(sources) <= merging.AT_ONCE:
            replaced = merging.replaced(parts, sources, merging.merged(sources))
            assert replaced is not None, "nobody else changes them"
            parts = replaced
        if sources:
            self._merge_beside(sources)
        made = Index(seq, turn, lang, tuple(parts), statistics, self._vocabulary, tuple(self._shelves))
        return made, count

    def _grow(self, parts: list[Part], statistics: Statistics, sections: Sections) -> Statistics:
        """Add sections as a part, or to the last part while that is small."""
        statistics = statistics.changed_by(sections, slice(None), +1)
        if self._tail is not None and parts and parts[-1].segment is self._tail[1].segment:
            before, last = self._tail[0], parts[-1]
            if last.count + len(sections.ids) <= merging.TAIL:
                sections = joined(before, np.flatnonzero(last.alive), sections)
                parts.pop()
        segment = build(sections)
        parts.append(Part(segment, np.ones(len(segment), np.bool_)))
        self._tail = (sections, parts[-1]) if len(sections.ids) < merging.TAIL else None
        return statistics

    def _merge_beside(self, sources: list[Part]) -> None:
        """Merge parts in a thread of its own, one at a time; readers go on with what there is."""
        if self._merging is not None and self._merging.is_alive():
            return
        self._merging = threading.Thread(
            target=self._merge, args=(sources,), name="germane-merging", daemon=True
        )
        self._merging.start()

    def _merge(self, sources: list[Part]) -> None:
        while sources:
            segment = merging.merged(sources)
            with self._turn:
                if self._kept is None:
                    return
                parts = merging.replaced(self._kept.parts, sources, segment)
                if parts is None:
                    return
                self._kept = replace(self._kept, parts=tuple(parts), _found={}, _numbers={})
                sources = merging.due(parts)

    def _load(self, connection: apsw.Connection, lang: str, turn: int) -> Index:
        self._begin(Vocabulary(), {})

        def make(seq: int, arrays: Arrays) -> Index:
            index = from_arrays(arrays, seq, turn, lang)
            self._begin(index.vocabulary, {shelf: number for number, shelf in enumerate(index.shelves)})
            return index

        empty = Index(0, turn, lang, (), Statistics(), self._vocabulary, ())
        return self._loaded(connection, make) or empty


class _Block:
    """The next rows that are read together."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self.rows: list[Row] = []
        self.size = 0
        for row in rows:
            self.rows.append(row)
            self.size += len(row.body)
            if len(self.rows) == ROWS or self.size >= CHARACTERS:
                return


def _bury(parts: list[Part], statistics: Statistics, ordinals: Iterable[int]) -> Statistics:
    """Mark the rows of some items as dead, wherever they lie."""
    wanted = np.fromiter(ordinals, np.int64)
    for at, part in enumerate(parts):
        if wanted[0] > part.segment.greatest_ordinal:
            continue  # new items, as most are
        rows = part.segment.rows_of(wanted)
        rows = rows[part.alive[rows]]
        if len(rows):
            statistics = statistics.changed_by(part.segment, rows, -1)
            alive = part.alive.copy()
            alive[rows] = False
            parts[at] = Part(part.segment, alive)
    return statistics
