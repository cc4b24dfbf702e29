"""SQLite FTS5: without a copy of the texts, merged into one segment, and mapped into memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.engines import Engine

_FOUND = "SELECT rowid FROM section WHERE section MATCH ? ORDER BY rank LIMIT ?"


class Fts5(Engine):
    """Words in lower case by its Porter stemmer, ordered by its own BM25 (k1 1.2, b 0.75)."""

    def version(self) -> str:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE tried USING fts5(body)")
        return sqlite3.sqlite_version

    def build(self, texts: Iterable[str], folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        connection = self._connection(folder)
        connection.execute(
            "CREATE VIRTUAL TABLE section USING fts5(body, content = '', tokenize = 'porter unicode61')"
        )
        with connection:
            connection.executemany("INSERT INTO section (rowid, body) VALUES (?, ?)", enumerate(texts))
            connection.execute("INSERT INTO section (section) VALUES ('optimize')")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.close()

    def open(self, folder: Path) -> None:
        self.connection = self._connection(folder)

    def ask(self, query: str, k: int) -> Any:
        return self.connection.execute(_FOUND, (query.replace(" ", " OR "), k)).fetchall()

    def ask_phrase(self, query: str, k: int) -> Any:
        return self.connection.execute(_FOUND, (f'"{query}"', k)).fetchall()

    def ids(self, answer: Any) -> list[int]:
        return [number for (number,) in answer]

    def add(self, number: int, text: str) -> None:
        with self.connection:
            self.connection.execute("INSERT INTO section (rowid, body) VALUES (?, ?)", (number, text))

    def _connection(self, folder: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(folder / "fts5.db")
        for pragma in (
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "cache_size = -200000",
            "mmap_size = 4000000000",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection
