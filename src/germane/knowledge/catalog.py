"""The catalogue: what live items have for every field that a filter can ask, at one position of the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import msgspec
import numpy as np

from germane.knowledge.columns import Column, Made, drafted, texts_of
from germane.knowledge.stored import FORMAT, canonical, from_arrays, to_arrays
from germane.log.checkpoint import Arrays
from germane.log.content import State, documents_changed_since, listed, states_changed_since
from germane.log.journal import epoch, head
from germane.log.saved import Checkpoints
from germane.model.reports import Finding
from germane.text.segment import BoolArray

NAME = "catalog"
WORTH_SAVING = 10_000
"""Items whose reading a checkpoint must save the next process to be worth writing."""
META = "meta."
"""What the name of a column of metadata begins with."""
MOST_KEPT = 16
"""How much that was made of a catalogue is kept with it."""
BLOCK = 65_536
"""Items that are read before their values go into columns."""

_logger = logging.getLogger("germane")


@dataclass(frozen=True)
class Catalog:
    """The fields of live items as columns; immutable, so that readers need no lock.

    Ids are not held here: the tables have an index of them.

    Parameters
    ----------
    seq, epoch : int
        The position of the log that it reflects.
    live : bool[ordinals]
        Which items are live; ordinals begin at 1.
    columns : mapping of str to Column
        ``type``, ``collection``, ``kind``, ``creator``, ``created_at``, ``tags``, and ``meta.NAME`` hold
        values of live items; ``document`` also those of others.
    """

    seq: int
    epoch: int
    live: BoolArray
    columns: dict[str, Column]
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


class CatalogView:
    """Gives the catalogue that reflects a connection's snapshot of the log.

    It is loaded from a checkpoint, or built, when it is first asked for. From then on it catches up with the
    items whose rows carry a later position, and with the documents that were put or deleted since: these
    change what is listed where without touching an item.

    Parameters
    ----------
    store : str
        The store's id.
    folder : Path or None
        Where checkpoints lie; None keeps none.
    is_read_only : bool
        Whether to leave everything there as it is.
    """

    title = "catalogue"
    part = "catalog"

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._saved = Checkpoints(NAME, self.title, store, folder, is_read_only)
        self._turn = threading.Lock()
        self._catalog: Catalog | None = None
        self._unsaved = 0

    def at(self, connection: apsw.Connection) -> Catalog:
        """Return the catalogue at the position that a connection sees, inside its transaction."""
        seq, turn = head(connection), epoch(connection)
        catalog = self._catalog
        if catalog is not None and (catalog.seq, catalog.epoch) == (seq, turn):
            return catalog
        with self._turn:
            catalog = self._catalog
            if catalog is not None and (catalog.epoch, catalog.seq) > (turn, seq):
                # Another thread has gone on while this one held an older snapshot: serve it apart.
                return _caught_up(connection, _empty(turn), seq)[0]
            if catalog is None or catalog.epoch != turn:
                catalog = self._load(connection, turn)
            self._catalog, count = _caught_up(connection, catalog, seq)
            self._unsaved += count
            return self._catalog

    def save(self, connection: apsw.Connection) -> None:
        """Write a checkpoint, if that spares the next process enough work.

        Raises
        ------
        OSError
            It could not be written; the store is as good without it.
        """
        if not self._saved.are_kept:
            return
        if self._catalog is None and not self._is_behind(connection):
            return
        catalog = self.at(connection)
        if self._unsaved >= WORTH_SAVING or self._is_behind(connection):
            self._saved.write(connection, FORMAT, to_arrays(catalog.live, catalog.columns))
            self._unsaved = 0

    def drop(self) -> None:
        """Forget the catalogue and its checkpoints; the next query builds it anew."""
        with self._turn:
            self._catalog = None
            self._saved.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the catalogue or its checkpoint, against one built from the tables."""
        found, is_saved = self._saved.check(connection, FORMAT)
        yield from found
        if self._catalog is None and not is_saved:
            return
        ours, fresh = self.at(connection), CatalogView().at(connection)
        if not np.array_equal(ours.live, fresh.live):
            yield Finding("catalog", "the catalogue knows other live items than the tables")
        for name in sorted(ours.columns.keys() | fresh.columns.keys()):
            column, texts = canonical(name, ours.columns.get(name, Column()))
            wanted, wanted_texts = canonical(name, fresh.columns.get(name, Column()))
            if texts != wanted_texts or not column.equals(wanted):
                yield Finding("catalog", f"the catalogue differs from the tables in {name!r}")

    def _is_behind(self, connection: apsw.Connection) -> bool:
        saved = self._saved.newest(connection)
        changed = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM item WHERE seq > ? LIMIT ?)", (saved, WORTH_SAVING)
        ).get
        return bool(changed >= WORTH_SAVING)

    def _load(self, connection: apsw.Connection, turn: int) -> Catalog:
        self._unsaved = 0

        def make(seq: int, arrays: Arrays) -> Catalog:
            return Catalog(seq, turn, *from_arrays(arrays))

        return self._saved.load(connection, FORMAT, make) or _empty(turn)


def _empty(turn: int) -> Catalog:
    return Catalog(0, turn, np.zeros(1, np.bool_), {})


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
    while block:
        count += len(block)
        changed = np.fromiter((state.ordinal for state in block), np.int64, len(block))
        live = np.append(live, np.zeros(max(0, int(changed[-1]) + 1 - len(live)), np.bool_))
        live[changed] = np.fromiter((state.live for state in block), np.bool_, len(block))
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
    return Catalog(seq, catalog.epoch, live, held), count


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
