"""Germane: `top` with default weights, and `search`, a whole page, as an engine of its own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import germane
from benchmarks.engines import Engine
from germane import Database, Item, SearchWeights

_ALONE = SearchWeights(proximity=0, zone=0)


class Germane(Engine):
    """Ids and scores of the best; the order has proximity and zone in it, which no rival scores."""

    db: Database

    def version(self) -> str:
        return germane.__version__

    def build(self, texts: Iterable[str], folder: Path) -> None:
        with germane.open(folder) as db:
            db.put_many(Item(id=str(n), body=text, type="text/plain") for n, text in enumerate(texts))
            db.top("anything", 1)  # the index catches up when it is first read

    def open(self, folder: Path) -> None:
        self.db = germane.open(folder)

    def prepare(self) -> None:
        germane.warm()

    def ask(self, query: str, k: int) -> Any:
        return self.db.top(query, k)

    def ask_phrase(self, query: str, k: int) -> Any:
        return self.db.top(f'"{query}"', k)

    def ids(self, answer: Any) -> list[int]:
        return [int(id) for id in answer[0]]

    def add(self, number: int, text: str) -> None:
        self.db.put(Item(id=str(number), body=text, type="text/plain"))

    def exact(self, query: str, k: int) -> tuple[list[int], list[float]]:
        ids, scores = self.db.top(query, k, weights=_ALONE)
        return [int(id) for id in ids], scores


class Page(Germane):
    """A page as people see it: 20 results with snippets, and how many match in all."""

    can_add = False

    def ask(self, query: str, k: int) -> Any:
        return self.db.search(query)

    def ask_phrase(self, query: str, k: int) -> Any:
        return self.db.search(f'"{query}"')

    def ids(self, answer: Any) -> list[int]:
        return [int(result.id) for result in answer.items]
