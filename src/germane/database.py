"""The database: opens a folder, owns the log and the views, and hands queries to the pipeline."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from germane.knowledge import documents, items
from germane.knowledge.files import check_folder, check_paths
from germane.knowledge.learn import Progress, check_given, learn, learn_text
from germane.log import content
from germane.log.events import DeclareSchema
from germane.log.journal import Journal
from germane.log.shown import Shown
from germane.model.documents import Document
from germane.model.errors import Error, InvalidArgument, NotFound, ReadOnly
from germane.model.items import Item, Receipt
from germane.model.reports import LearnReport
from germane.model.schema import Schema
from germane.model.times import Clock, in_micros, system_clock
from germane.model.values import (
    Value,
    check_choice,
    check_id,
    check_metadata,
    check_names,
    check_text,
    neutral,
)
from germane.people.calls import PeopleCalls
from germane.ranking.calls import RankingCalls
from germane.ranking.moment import Moments
from germane.ranking.views import Views
from germane.sessions.calls import SessionCalls
from germane.sessions.sweeper import sweep
from germane.signals.calls import SignalCalls
from germane.upkeep import Upkeep

_logger = logging.getLogger("germane")


def open(
    path: str | Path | None = None,
    schema: Schema | str | Path | None = None,
    *,
    clock: Clock | None = None,
    durability: str = "batched",
    read_only: bool = False,
) -> Database:
    """Open a store, and make it if there is none.

    Parameters
    ----------
    path : str or Path, optional
        The store's folder; without one everything stays in memory.
    schema : Schema, str or Path, optional
        Declarations, or a TOML file of them; without one, what the store declares.
    clock : callable, optional
        Returns the time; the system's without one. The database's own time never runs backwards.
    durability : {"batched", "sync"}
        ``sync`` is on disk before a write returns; ``batched`` within 10 ms, and survives a killed
        process at once.
    read_only : bool
        Whether to refuse writes.

    Returns
    -------
    Database
        Also a context manager.

    Raises
    ------
    InvalidArgument, SchemaError
        An argument cannot be used, or the folder belongs to something else.
    NotFound
        `read_only`, and there is no store.
    Busy, Corruption, ReadOnly
        The folder cannot be used as it is; the message says what to do.

    Examples
    --------
    >>> import germane
    >>> with germane.open() as db:
    ...     id = db.put(germane.Item(title="Ownership", body="Each value has an owner."))
    ...     page = db.search("owner")
    ...     page.items[0].heading
    'Ownership'
    """
    return Database(path, schema, clock=clock, durability=durability, read_only=read_only)


class Database(SignalCalls, PeopleCalls, SessionCalls, RankingCalls, Upkeep):
    """One store; safe from many threads, and beside other processes. `open` makes it."""

    def __init__(
        self,
        path: str | Path | None,
        schema: Schema | str | Path | None,
        *,
        clock: Clock | None,
        durability: str,
        read_only: bool,
    ) -> None:
        check_choice(durability, "durability", ("batched", "sync"))
        if clock is not None and not callable(clock):
            raise InvalidArgument("clock", f"must be callable and return a time, not {type(clock).__name__}")
        folder = None if path is None else check_folder(path)
        declared = None if schema is None else Schema.of(schema)
        tell = system_clock if clock is None else in_micros(clock)
        tell()  # before anything is made
        self._journal = Journal(folder, tell, durability, read_only, before=sweep)
        self._views = Views.of(self._journal.id, self._journal.views, read_only)
        self._text, self._catalogs, self._signals, self._people, self._tastes, self._sessions = (
            self._views.text,
            self._views.catalogs,
            self._views.signals,
            self._views.people,
            self._views.tastes,
            self._views.sessions,
        )
        self._shown = Shown(folder, read_only)
        self._moments = Moments(self._journal, self._views)
        try:
            if declared is not None:
                self._declare(declared)
            self._go_on_cleaning()
        except BaseException:
            self._journal.close()
            raise

    @property
    def path(self) -> Path | None:
        """The store's folder; None in memory."""
        return self._journal.folder

    @property
    def schema(self) -> Schema:
        """What the store declares."""
        with self._journal.read() as connection:
            return content.schema(connection)

    # Writing: begin (exclusive) -> validate -> append and fold -> commit. The text view applies what was
    # written when it is next read.

    def put(self, item: Item) -> str:
        """Make an item the current version under its id.

        Parameters
        ----------
        item : Item

        Returns
        -------
        str
            Its id. Nothing is written when nothing differs.

        Examples
        --------
        >>> db = open()
        >>> db.put(Item(id="a", title="One")), db.put(Item(id="a", title="Two"))
        ('a', 'a')
        """
        items.check_item(item, "item")
        with self._journal.write() as writer:
            return items.put(writer, item)

    def put_many(self, iterable: Iterable[Item]) -> list[str]:
        """Put many items, in batches of 10,000 that are each kept whole or not at all.

        Parameters
        ----------
        iterable : iterable of Item
            A generator will do; it is read batch by batch.

        Returns
        -------
        list of str
            Their ids, in order.

        Raises
        ------
        InvalidArgument
            One of them is no item; the batches before its own are kept.

        Examples
        --------
        >>> db = open()
        >>> db.put_many(Item(id=str(n), body=f"number {n}") for n in range(3))
        ['0', '1', '2']
        """
        return items.put_many(self._journal, iterable)

    def update(self, id: str, **changes: Any) -> Receipt:
        """Change an item in place: its metadata, tags, creator, created_at, collection or embedding.

        Parameters
        ----------
        id : str
        **changes
            ``metadata`` is merged, and None removes a name; the others replace what was there.

        Raises
        ------
        InvalidArgument
            A field that is content, or none at all, or a value that cannot be used.
        NotFound
            There is no such item.

        Examples
        --------
        >>> db = open()
        >>> id = db.put(Item(title="Lamp", metadata={"price": 30}))
        >>> db.update(id, metadata={"price": 25}, tags=["sale"]).changed
        True
        """
        check_id(id, "id")
        checked = items.check_changes(changes)
        with self._journal.write() as writer:
            return items.update(writer, id, checked)

    def delete(self, id: str) -> Receipt:
        """Take an item out of every answer; its revisions are kept.

        Examples
        --------
        >>> db = open()
        >>> db.delete(db.put(Item(title="Lamp"))).changed, db.delete("nothing").changed
        (True, False)
        """
        check_id(id, "id")
        with self._journal.write() as writer:
            return items.delete(writer, id)

    def put_document(
        self,
        docid: str | None = None,
        *,
        title: str,
        sections: Iterable[Item],
        metadata: Mapping[str, Value] | None = None,
    ) -> str:
        """Make a document list these sections, in order.

        Parameters
        ----------
        docid : str, optional
            Without one, a hash of title and sections.
        title : str
        sections : iterable of Item
            Those that are new or differ are put; those that the document no longer lists, nor any
            other one, are retired.
        metadata : mapping, optional

        Returns
        -------
        str
            Its docid.

        Examples
        --------
        >>> db = open()
        >>> db.put_document("guide", title="Guide", sections=[Item(title="Start", body="Install it.")])
        'guide'
        """
        if docid is not None:
            check_id(docid, "docid")
        check_text(title, "title")
        checked = documents.check_sections(sections)
        labels = check_metadata({} if metadata is None else metadata)
        with self._journal.write() as writer:
            return documents.put_document(writer, docid, title, checked, labels)

    def delete_document(self, docid: str) -> Receipt:
        """Take a document away, and those of its sections that no other document lists."""
        check_id(docid, "docid")
        with self._journal.write() as writer:
            return documents.delete_document(writer, docid)

    def learn(
        self,
        path_or_paths: str | Path | Sequence[str | Path],
        *,
        tags: Iterable[str] = (),
        collection: str = "main",
        watch: bool = False,
        progress: Progress | None = None,
    ) -> LearnReport:
        """Learn files and folders: Markdown (also ``.mdx``) and plain text.

        Headings become sections, front matter metadata, fenced code the field ``code``. Learned again,
        what changed is changed, sections keep their ids, and what is gone is retired.

        Parameters
        ----------
        path_or_paths : str, Path or a sequence of them
        tags : iterable of str
            Of every section, beside those of its front matter.
        collection : str
        watch : bool
            Not available in this version.
        progress : callable, optional
            Called with files done, files in all, and the path at hand.

        Returns
        -------
        LearnReport
            Counts of sections; what was skipped, and what failed and why.

        Raises
        ------
        NotFound
            There is nothing at a path.
        Interrupted
            For KeyboardInterrupt: what was committed until then is kept, and the error reports it.
        """
        neutral(watch=(watch, False))
        paths = check_paths(path_or_paths)
        if progress is not None and not callable(progress):
            raise InvalidArgument("progress", f"must be callable, not {type(progress).__name__}")
        labels = check_names(tags, "tags")
        return learn(self._journal, paths, labels, check_id(collection, "collection"), progress)

    def learn_text(
        self,
        text: str,
        *,
        title: str | None = None,
        type: str = "text/markdown",
        docid: str | None = None,
        tags: Iterable[str] = (),
        collection: str = "main",
    ) -> LearnReport:
        """Learn one document given as text.

        Parameters
        ----------
        text : str
        title : str, optional
            Without one, what the text calls itself, or "untitled". It is searched too: a text without
            a heading of the first level begins with a section of this title.
        type : str
            ``text/markdown`` is cut at its headings; other text is one section.
        docid : str, optional
            Without one, a hash of title and text. With one, learning again changes the document.
        tags : iterable of str
        collection : str
        """
        given = check_given(text, title, type, docid)
        labels = check_names(tags, "tags")
        return learn_text(self._journal, given, labels, check_id(collection, "collection"))

    # Reading: catch up -> candidates -> score -> order -> page, all on one snapshot.

    def get(self, id: str, rev: str | None = None) -> Item:
        """Return an item as it stands, or with the content of one of its revisions.

        Raises
        ------
        NotFound
            There is no such item or revision, or the item was deleted.
        """
        check_id(id, "id")
        with self._journal.read() as connection:
            row = items.read(connection, id)
            if rev is not None:
                found = content.item_with_rev(connection, row, check_id(rev, "rev"))
                if found is None:
                    raise NotFound(f"item {id!r} never had the revision {rev!r}")
                row = found
            return row.item(content.embedding_of(connection, row.ordinal))

    def document(self, docid: str) -> Document:
        """Return a document and where its sections stand.

        Raises
        ------
        NotFound
            There is no such document.
        """
        check_id(docid, "docid")
        with self._journal.read() as connection:
            found = content.document(connection, docid)
        if found is None:
            raise NotFound(f"there is no document {docid!r}")
        return found

    def close(self) -> None:
        """Put everything on disk and let go of the folder; a second call does nothing."""
        self._close(save=not self._journal.read_only)

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Interrupted, nobody waits for a checkpoint: the next process does its work.
        hurried = kind is not None and issubclass(kind, KeyboardInterrupt)
        self._close(save=not hurried and not self._journal.read_only)

    def __repr__(self) -> str:
        return f"<Database {self.path or 'in memory'}>"

    def _close(self, save: bool) -> None:
        if self._journal.closed:
            return
        try:
            if save:
                self._tidy()
                with self._journal.read() as connection:
                    self._save(connection)
        except Error as error:
            _logger.warning("what was derived from the log could not be saved: %s", error)
        finally:
            self._shown.close()
            self._moments.drop()
            self._journal.close()

    def _declare(self, schema: Schema) -> None:
        if schema == self.schema:
            return
        if self._journal.read_only:
            raise ReadOnly("the schema differs from the store's, which was opened with read_only=True")
        with self._journal.write() as writer:
            if schema != content.schema(writer.connection):
                content.refuse_changed_versions(writer.connection, schema)
                writer.append(DeclareSchema(schema=schema.declaration()))
