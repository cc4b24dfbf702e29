"""The text view: keeps the index at the head of the log, from a checkpoint and what changed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import apsw
import numpy as np

from germane.log.checkpoint import Arrays
from germane.log.content import Row, items_changed_since, schema
from germane.log.saved import differing
from germane.log.snapshot import SnapshotView
from germane.model.reports import Finding
from germane.text.analysis import VERSION, analyzer
from germane.text.fields import field_texts
from germane.text.index import Index, Part, Statistics
from germane.text.segment import Analyzed, Segment, build, merge
from germane.text.stored import from_arrays, to_arrays

BLOCK = 4_096
"""Sections that are analysed before they become a segment."""


class TextView(SnapshotView[Index]):
    """Gives the index.

    Catching up, replaying and loading a checkpoint lead to one and the same state, and the order in which
    writes came leaves no trace.
    """

    name = "text"
    title = "text index"
    part = "text"
    worth_saving = 256

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        super().__init__(store, folder, is_read_only)
        self._vocabulary: dict[str, int] = {}
        self._shelves: dict[tuple[str, str], int] = {}

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the index or its checkpoint, against one built from the tables alone."""
        yield from self._checkpoints.check(connection, self._format(connection))[0]
        index = self.at(connection)
        fresh = to_arrays(TextView().at(connection))
        try:
            ours = to_arrays(index)
        except (IndexError, KeyError, ValueError) as error:  # a mapped file was changed under it
            yield Finding("text", f"the index cannot be read: {error}")
            return
        for name in differing(ours, fresh):
            yield Finding("text", f"the index differs from the content in {name!r}")
        if index.statistics.sections != len(fresh["ordinals"]):
            yield Finding("text", "the statistics differ from the content")

    def _format(self, connection: apsw.Connection) -> str:
        # Other items are analysed otherwise when another language is theirs by default.
        return f"{VERSION}/{schema(connection).lang}"

    def _arrays(self, kept: Index) -> Arrays:
        return to_arrays(kept)

    def _caught_up(self, connection: apsw.Connection, seq: int, turn: int) -> tuple[Index, int]:
        lang = schema(connection).lang
        index = self._kept
        if index is None or index.epoch != turn or index.lang != lang:
            index = self._load(connection, lang, turn)
        changed = items_changed_since(connection, index.seq)
        parts, statistics, count = list(index.parts), index.statistics, 0
        while block := list(islice(changed, BLOCK)):
            count += len(block)
            statistics = _bury(parts, statistics, [row.ordinal for row in block])
            sections = [a for row in block if row.live and (a := self._analyze(row, lang)) is not None]
            if sections:
                segment = build(sections)
                statistics = statistics.changed_by(segment, np.arange(len(segment)), +1)
                parts.append(Part(segment, np.ones(len(segment), np.bool_)))
            _compact(parts)
        if not count:  # signals and the like touch no content
            return index.moved_to(seq), 0
        shelves = tuple(self._shelves)
        return Index(seq, turn, lang, tuple(parts), statistics, self._vocabulary, shelves), count

    def _load(self, connection: apsw.Connection, lang: str, turn: int) -> Index:
        self._vocabulary, self._shelves = {}, {}

        def make(seq: int, arrays: Arrays) -> Index:
            index = from_arrays(arrays, seq, turn, lang)
            self._vocabulary = dict(index.vocabulary)
            self._shelves = {shelf: number for number, shelf in enumerate(index.shelves)}
            return index

        empty = Index(0, turn, lang, (), Statistics(), self._vocabulary, ())
        return self._loaded(connection, make) or empty

    def _analyze(self, row: Row, default_lang: str) -> Analyzed | None:
        lang = row.lang or default_lang
        analyze = analyzer(lang).chunks
        number = self._vocabulary.setdefault
        known = self._vocabulary
        texts = field_texts(row.type, row.title, row.description, row.body)
        terms: list[int] = []
        positions: list[int] = []
        ends: list[int] = []
        position = 0
        for text in texts:
            for chunk in analyze(text):
                for term, offset in zip(chunk.terms, chunk.offsets, strict=True):
                    terms.append(number(term, len(known)))
                    positions.append(position + offset)
                position += chunk.width
            ends.append(position)
        if not terms:
            return None
        heading, described, body, code = ends
        del described
        shelf = self._shelves.setdefault((row.collection, lang), len(self._shelves))
        lengths = (heading, body - heading, code - body)
        return Analyzed(row.ordinal, row.id, row.created_at, shelf, lengths, terms, positions)


def _bury(parts: list[Part], statistics: Statistics, ordinals: Iterable[int]) -> Statistics:
    """Mark the rows of some items as dead, wherever they lie."""
    wanted = np.fromiter(ordinals, np.int64)
    for at, part in enumerate(parts):
        held = part.segment.ordinals
        place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
        rows = np.unique(place[(held[place] == wanted) & part.alive[place]])
        if len(rows):
            statistics = statistics.changed_by(part, rows, -1)
            alive = part.alive.copy()
            alive[rows] = False
            parts[at] = Part(part.segment, alive)
    return statistics


def _compact(parts: list[Part]) -> None:
    """Merge small segments into larger ones, so that there are only logarithmically many."""
    parts[:] = [part for part in parts if part.count]
    while len(parts) > 1 and _weight(parts[-2]) < 2 * _weight(parts[-1]):
        merged = _merged(parts[-2:])
        parts[-2:] = [merged]
    for at, part in enumerate(parts):
        if 2 * part.count < len(part.segment):
            parts[at] = _merged([part])


def _weight(part: Part) -> int:
    return len(part.segment.positions)


def _merged(parts: list[Part]) -> Part:
    segment: Segment = merge([(part.segment, part.alive) for part in parts])
    return Part(segment, np.ones(len(segment), np.bool_))
