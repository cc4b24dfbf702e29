"""Counting a store: its items, documents and events, and the statistics of its index."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import apsw

from germane.log.content import collections
from germane.log.journal import head
from germane.model.reports import Stats
from germane.text.index import Index


def store_stats(connection: apsw.Connection, index: Index, folder: Path | None) -> Stats:
    """Return the exact statistics of a store, at the position that a connection sees.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction.
    index : Index
        At the same position.
    folder : Path or None
        The store's folder.
    """

    def count(query: str) -> int:
        return int(connection.execute(query).get)

    statistics = index.statistics
    tokens = sum(statistics.tokens)
    return Stats(
        total_sections=statistics.sections,
        total_terms=index.total_terms(),
        total_tokens=tokens,
        avg_section_length=tokens / statistics.sections if statistics.sections else 0.0,
        avg_heading_length=statistics.average_length(0),
        avg_body_length=statistics.average_length(1),
        avg_code_length=statistics.average_length(2),
        items=count("SELECT count(*) FROM item WHERE live = 1"),
        documents=count("SELECT count(*) FROM document WHERE live = 1"),
        events=head(connection),
        revisions=count("SELECT count(*) FROM content"),
        collections=collections(connection),
        lang=index.lang,
        bytes=_size(folder),
    )


def _size(folder: Path | None) -> int:
    """Return the bytes of a folder's files, while other processes make and drop some."""
    size = 0
    for path, _, names in os.walk(folder) if folder is not None else ():
        for name in names:
            with suppress(OSError):
                size += os.stat(os.path.join(path, name)).st_size  # noqa: PTH116, PTH118
    return size
