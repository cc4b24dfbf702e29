"""bm25s: scores worked out when it indexes, added up by numba when it is asked."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bm25s
import numba  # noqa: F401 - what is timed is its faster half
import Stemmer

from benchmarks.engines import K1, B, Engine


class Bm25s(Engine):
    """Words split at spaces, which is all that these texts need, and stemmed by PyStemmer."""

    has_phrases = False
    can_add = False

    def __init__(self) -> None:
        self._stem = Stemmer.Stemmer("english").stemWords

    def version(self) -> str:
        return f"{version('bm25s')} with numba {version('numba')}"

    def build(self, texts: Iterable[str], folder: Path) -> None:
        index = bm25s.BM25(method="lucene", k1=K1, b=B)
        index.index([self._stem(text.split()) for text in texts], show_progress=False)
        index.save(str(folder), show_progress=False)

    def open(self, folder: Path) -> None:
        self.index = bm25s.BM25.load(str(folder), show_progress=False)
        self.index.backend = "numba"

    def ask(self, query: str, k: int) -> Any:
        return self.index.retrieve([self._stem(query.split())], k=k, show_progress=False)

    def ids(self, answer: Any) -> list[int]:
        # It fills up with texts that hold none of the words.
        found = zip(answer.documents[0], answer.scores[0], strict=True)
        return [int(number) for number, score in found if score > 0]
