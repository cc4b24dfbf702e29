"""Counting a store: its items, documents and events, and the statistics of its index."""

from __future__ import annotations

import apsw

from germane.log.content import collections
from germane.log.journal import head
from germane.model.reports import Stats
from germane.text.index import Index


def store_stats(connection: apsw.Connection, index: Index, size: int) -> Stats:
    """Return the exact statistics of a store, at the position that a connection sees.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction.
    index : Index
        At the same position.
    size : int
        Bytes of the folder.
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
        bytes=size,
    )
