"""Xapian: compacted after it was built, asked through its own BM25."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.engines import K1, B, Engine

# Twice what it keeps of itself: more takes a gigabyte and is no faster.
os.environ["XAPIAN_FLUSH_THRESHOLD"] = "20000"
# Distributions bring it for their own Python alone, whose packages a virtual environment does not see.
_SYSTEM = "/usr/lib/python3/dist-packages"
sys.path.append(_SYSTEM)
try:
    import xapian
finally:
    sys.path.remove(_SYSTEM)


class Xapian(Engine):
    """Stems alone, with positions; its BM25 with the same parameters, but an IDF of its own."""

    def __init__(self) -> None:
        self._stem = xapian.Stem("english")

    def version(self) -> str:
        return str(xapian.version_string())

    def build(self, texts: Iterable[str], folder: Path) -> None:
        loose = folder / "loose"
        folder.mkdir(exist_ok=True)
        database = xapian.WritableDatabase(str(loose), xapian.DB_CREATE_OR_OVERWRITE)
        words = self._words()
        for text in texts:
            self._add(database, words, text)
        database.commit()
        database.compact(str(folder / "index"), xapian.DBCOMPACT_NO_RENUMBER)
        database.close()
        for path in loose.iterdir():
            path.unlink()
        loose.rmdir()

    def open(self, folder: Path) -> None:
        self._path = str(folder / "index")
        self.database = xapian.Database(self._path)
        self._writing: Any = None
        self._asking()

    def ask(self, query: str, k: int) -> Any:
        return self._best(xapian.Query.OP_OR, query, k)

    def ask_phrase(self, query: str, k: int) -> Any:
        return self._best(xapian.Query.OP_PHRASE, query, k)

    def _best(self, operator: int, query: str, k: int) -> Any:
        stem = self._stem
        self.enquire.set_query(xapian.Query(operator, [stem(word) for word in query.split()]))
        return [match.docid for match in self.enquire.get_mset(0, k)]

    def ids(self, answer: Any) -> list[int]:
        return [number - 1 for number in answer]

    def add(self, number: int, text: str) -> None:
        if self._writing is None:
            self._writing = (xapian.WritableDatabase(self._path, xapian.DB_OPEN), self._words())
        database, words = self._writing
        self._add(database, words, text)
        database.commit()
        self.database.reopen()

    def _asking(self) -> None:
        self.enquire = xapian.Enquire(self.database)
        # k2 0, k3 any (no word is asked twice), no least length.
        self.enquire.set_weighting_scheme(xapian.BM25Weight(K1, 0, 1, B, 0))

    def _words(self) -> Any:
        words = xapian.TermGenerator()
        words.set_stemmer(self._stem)
        words.set_stemming_strategy(xapian.TermGenerator.STEM_ALL)
        return words

    @staticmethod
    def _add(database: Any, words: Any, text: str) -> None:
        document = xapian.Document()
        words.set_document(document)
        words.index_text(text)
        database.add_document(document)
