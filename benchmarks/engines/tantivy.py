"""tantivy: one thread and room for all documents leave one segment, which it answers fastest from."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tantivy

from benchmarks.engines import Engine

_HEAP = 2_000_000_000


class Tantivy(Engine):
    """Words by its simple tokenizer, in lower case, stemmed; frequencies and positions; ids as a column."""

    def version(self) -> str:
        return version("tantivy")

    def _index(self, folder: Path) -> tantivy.Index:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("body", stored=False, tokenizer_name="english", index_option="position")
        schema.add_integer_field("id", stored=False, indexed=False, fast=True)
        folder.mkdir(exist_ok=True)
        index = tantivy.Index(schema.build(), path=str(folder))
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        words = words.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer("english"))
        index.register_tokenizer("english", words.build())
        return index

    def build(self, texts: Iterable[str], folder: Path) -> None:
        writer = self._index(folder).writer(_HEAP, num_threads=1)
        for n, text in enumerate(texts):
            writer.add_document(tantivy.Document(id=n, body=text))
        writer.commit()
        writer.wait_merging_threads()

    def open(self, folder: Path) -> None:
        self.index = self._index(folder)
        self.searcher = self.index.searcher()
        self.writer: Any = None

    def ask(self, query: str, k: int) -> Any:
        # Not counting what matches lets it skip what cannot be among the best.
        return self.searcher.search(self.index.parse_query(query, ["body"]), k, count=False).hits

    def ask_phrase(self, query: str, k: int) -> Any:
        return self.searcher.search(self.index.parse_query(f'"{query}"', ["body"]), k, count=False).hits

    def ids(self, answer: Any) -> list[int]:
        found = self.searcher.fast_field_values("id", [address for _, address in answer])
        return [int(id) for id in found if id is not None]

    def add(self, number: int, text: str) -> None:
        if self.writer is None:
            self.writer = self.index.writer(num_threads=1)
        self.writer.add_document(tantivy.Document(id=number, body=text))
        self.writer.commit()
        self.index.reload()
        self.searcher = self.index.searcher()
