"""Search engines behind one small interface, so that one clock times them all.

Each module holds one; `names` lists them. An engine is imported in a process of its own and nowhere else.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

K1, B = 1.2, 0.75


class Engine(ABC):
    """An index of numbered texts on disk.

    What `ask` and `ask_phrase` return is the engine's own answer: only they are timed, and `ids` makes
    numbers of it afterwards, so that no engine pays for what only the benchmark wants to know.
    """

    has_phrases: ClassVar[bool] = True
    can_add: ClassVar[bool] = True

    @abstractmethod
    def version(self) -> str:
        """Say which version takes part; an ImportError says that none can."""

    @abstractmethod
    def build(self, texts: Iterable[str], folder: Path) -> None:
        """Index texts, numbered from 0, and leave the index closed in the folder."""

    @abstractmethod
    def open(self, folder: Path) -> None:
        """Open what `build` left."""

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Get ready for many questions, after the first answer and before any is timed."""

    @abstractmethod
    def ask(self, query: str, k: int) -> Any:
        """Find the best texts that hold any of the words."""

    def ask_phrase(self, query: str, k: int) -> Any:
        """Find the best texts in which the words follow each other."""
        raise NotImplementedError

    @abstractmethod
    def ids(self, answer: Any) -> list[int]:
        """Return the numbers of an answer's texts, best first."""

    def add(self, number: int, text: str) -> None:
        """Add one text, so that the next question finds it."""
        raise NotImplementedError

    def exact(self, query: str, k: int) -> tuple[list[int], list[float]] | None:
        """Return numbers and scores by BM25 alone, from an engine that by default adds to it."""
        return None


ENGINES = {
    "germane": "germane:Germane",
    "germane page": "germane:Page",
    "tantivy": "tantivy:Tantivy",
    "Lucene": "lucene",
    "bm25s": "bm25s:Bm25s",
    "Xapian": "xapian:Xapian",
    "SQLite FTS5": "fts5:Fts5",
}
"""Name to module and class; Lucene is a program in Java, which `lucene` runs."""

SHARES = {"germane page": "germane"}
"""What asks the index of another engine."""


def engine(name: str) -> Engine:
    """Import an engine by its name."""
    module, _, kind = ENGINES[name].partition(":")
    made: Engine = getattr(importlib.import_module(f"benchmarks.engines.{module}"), kind)()
    return made
