"""The catalogue: what live items have for every field that a filter can ask, at one position of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import apsw
import msgspec
import numpy as np

from germane.knowledge.columns import Column, Made, drafted, texts_of
from germane.knowledge.ids import Ids
from germane.knowledge.stored import FORMAT, canonical, from_arrays, to_arrays
from germane.log.checkpoint import Arrays
from germane.log.content import State, documents_changed_since, listed, states_changed_since
from germane.log.snapshot import SnapshotView
from germane.model.reports import Finding
from germane.text.arrays import BoolArray

META = "meta."
"""What the name of a column of metadata begins with."""
MOST_KEPT = 16
"""How much that was made of a catalogue is kept with it."""
BLOCK = 65_536
"""Items that are read before their values go into columns."""


@dataclass(frozen=True)
class Catalog:
    """The fields of live items as columns; immutable, so that readers need no lock.

    Ids are not held here, but those that were asked for: the tables have an index of them.

    Parameters
    ----------
    seq, epoch : int
        The position of the log that it reflects.
    live : bool[ordinals]
        Which items are live; ordinals begin at 1.
    columns : mapping of str to Column
        ``type``, ``collection``, ``kind``, ``creator``, ``created_at``, ``tags``, and ``meta.NAME`` hold
        values of live items; ``document`` also those of others.
    ids : Ids
        Shared with the catalogues before and after.
    cards : dict of int to any
        What was made of single items, by ordinal, by whoever made it: of no more than the item's state and
        content, and where documents list it. It goes when any of these changes.
    """

    seq: int
    epoch: int
    live: BoolArray
    columns: dict[str, Column]
    ids: Ids = field(default_factory=Ids, repr=False, compare=False)
    cards: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def has(self, name: str) -> bool:
        """Tell whether something is kept under a name."""
        return name in self._kept

    def kept(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what was made of the catalogue under a name, making it once; of many the oldest go."""
        if name in self._kept:
            found: Made = self._kept[name]
            return found
        made = make()
        while len(self._kept) >= MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[name] = made
        return made


class CatalogView(SnapshotView[Catalog]):
    """Gives the catalogue.

    It catches up with the items whose rows carry a later position, and with the documents that were put or
    deleted since: these change what is listed where without touching an item.
    """

    name = "catalog"
    title = "catalogue"
    part = "catalog"
    worth_saving = 10_000

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the catalogue or its checkpoint, against one built from the tables."""
        found, is_saved = self._checkpoints.check(connection, FORMAT)
        yield from found
        if self._kept is None and not is_saved:
            return
        ours, fresh = self.at(connection), CatalogView().at(connection)
        if not np.array_equal(ours.live, fresh.live):
            yield Finding("catalog", "the catalogue knows other live items than the tables")
        for name in sorted(ours.columns.keys() | fresh.columns.keys()):
            column, texts = canonical(name, ours.columns.get(name, Column()))
            wanted, wanted_texts = canonical(name, fresh.columns.get(name, Column()))
            if texts != wanted_texts or not column.equals(wanted):
                yield Finding("catalog", f"the catalogue differs from the tables in {name!r}")

    def _format(self, connection: apsw.Connection) -> str:
        return FORMAT

    def _caught_up(self, connection: apsw.Connection, seq: int, turn: int) -> tuple[Catalog, int]:
        def make(seq: int, arrays: Arrays) -> Catalog:
            return Catalog(seq, turn, *from_arrays(arrays))

        catalog = self._kept
        if catalog is None or catalog.epoch != turn:
            catalog = self._loaded(connection, make) or Catalog(0, turn, np.zeros(1, np.bool_), {})
        return _caught_up(connection, catalog, seq)

    def _arrays(self, kept: Catalog) -> Arrays:
        return to_arrays(kept.live, kept.columns)


def _caught_up(connection: apsw.Connection, catalog: Catalog, seq: int) -> tuple[Catalog, int]:
    """Return the catalogue at a position, and how many items have changed."""
    if catalog.seq == seq:
        return catalog, 0
    states = states_changed_since(connection, catalog.seq)
    documents = documents_changed_since(connection, catalog.seq)
    block = list(islice(states, BLOCK))
    if not block and not documents:  # signals and the like change nothing here
        return replace(catalog, seq=seq), 0
    columns, live, count = dict(catalog.columns), catalog.live.copy(), 0
    cards = {} if documents else dict(catalog.cards)
    while block:
        count += len(block)
        changed = np.fromiter((state.ordinal for state in block), np.int64, len(block))
        live = np.append(live, np.zeros(max(0, int(changed[-1]) + 1 - len(live)), np.bool_))
        live[changed] = np.fromiter((state.live for state in block), np.bool_, len(block))
        if cards:
            for ordinal in changed.tolist():
                cards.pop(ordinal, None)
        values = _values(columns, [state for state in block if state.live])
        for name in columns.keys() | values.keys():
            if name != "document":
                column = columns.get(name) or Column(texts=values[name].texts)
                none = Column(texts=column.texts)
                columns[name] = column.replaced(changed, values.get(name, none)).compacted()
        block = list(islice(states, BLOCK))
    if documents:
        columns["document"] = _relisted(
            columns.get("document", Column()), documents, listed(connection, documents)
        )
    held = {name: column for name, column in columns.items() if len(column)}
    return Catalog(seq, catalog.epoch, live, held, catalog.ids, cards), count


def columns_of(state: State, docids: Iterable[str]) -> dict[str, Column]:
    """Return the columns of one item that documents list."""
    listed_in = drafted({}, (("document", state.ordinal, docid) for docid in docids))
    return {**_values({}, [state]), **listed_in}


def _values(columns: dict[str, Column], states: list[State]) -> dict[str, Column]:
    """Return what live items have, as columns that are numbered as the existing ones are."""
    made = drafted(columns, (value for state in states for value in _metadata_and_tags(state)))
    ordinals = [state.ordinal for state in states]
    for name in ("type", "collection", "kind"):
        strings: list[str] = [getattr(state, name) for state in states]
        made[name] = Column.of_strings(ordinals, strings, texts_of(columns, name))
    creators = [(state.ordinal, state.creator) for state in states if state.creator is not None]
    made["creator"] = Column.of_strings(
        [ordinal for ordinal, _ in creators],
        [creator for _, creator in creators],
        texts_of(columns, "creator"),
    )
    times = [state.created_at for state in states]
    made["created_at"] = Column.of_times(ordinals, times, texts_of(columns, "created_at"))
    return made


def _metadata_and_tags(state: State) -> Iterator[tuple[str, int, Any]]:
    if state.tags != "[]":
        for tag in msgspec.json.decode(state.tags):
            yield "tags", state.ordinal, tag
    if state.metadata != "{}":
        for name, value in msgspec.json.decode(state.metadata).items():
            yield META + name, state.ordinal, value


def _relisted(column: Column, documents: Iterable[str], listings: Iterable[tuple[int, str]]) -> Column:
    """Return the column of documents after some of them list other items than before."""
    known = [number for docid in documents if (number := column.texts.numbers.get(docid)) is not None]
    gone = np.isin(column.bits, known)
    values = drafted({"document": column}, (("document", ordinal, docid) for ordinal, docid in listings))
    kept = column.without(gone)
    return kept.joined(values["document"]) if values else kept
