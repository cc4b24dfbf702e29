"""Test collections: documents, queries, and which documents answer which query."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from germane.text.query import parse

XQUAD_LANGUAGES = ("en", "de", "zh", "ar")


class Text(NamedTuple):
    """A document of a collection.

    Parameters
    ----------
    id, title, text : str
        An empty title is none.
    """

    id: str
    title: str
    text: str

    @property
    def joined(self) -> str:
        """Title and text as one field."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class Corpus:
    """A test collection in one language.

    Parameters
    ----------
    name : str
    lang : str
        Code of the language.
    documents : tuple of Text
    queries : dict of str to str
        Query id to text, as given.
    judgements : dict of str to dict of str to int
        Query id to document id to grade.
    """

    name: str
    lang: str
    documents: tuple[Text, ...]
    queries: dict[str, str]
    judgements: dict[str, dict[str, int]]


def xquad(data: Path, lang: str) -> Corpus:
    """Read one language of XQuAD: paragraphs, and the questions asked about them."""
    judgements = _judgements(data / "xquad" / "qrels.tsv")
    queries = {
        row["id"]: row["text"] for row in _rows(data / "xquad" / "queries.jsonl.gz") if row["lang"] == lang
    }
    documents = tuple(
        Text(row["id"], row["title"], row["text"])
        for row in _rows(data / "xquad" / "corpus.jsonl.gz")
        if row["lang"] == lang
    )
    return Corpus(f"xquad-{lang}", lang, documents, queries, {id: judgements[id] for id in queries})


def scifact(data: Path) -> Corpus:
    """Read the training part of SciFact: abstracts, and claims that they support or refute."""
    judgements = _judgements(data / "scifact" / "qrels.train.tsv")
    queries = {row["id"]: row["text"] for row in _rows(data / "scifact" / "queries.train.jsonl")}
    documents = tuple(
        Text(row["id"], row["title"], row["text"]) for row in _rows(data / "scifact" / "corpus.jsonl.gz")
    )
    return Corpus("scifact", "en", documents, queries, {id: judgements[id] for id in queries})


def every_corpus(data: Path) -> Iterator[Corpus]:
    """Yield the collections, each read when it is needed."""
    for lang in XQUAD_LANGUAGES:
        yield xquad(data, lang)
    yield scifact(data)


def as_words(query: str) -> str:
    """Return a question as plain words: nothing in it is an operator of the query language.

    The people who wrote the questions quoted names and titles as prose does; to the query language
    ``"..."`` demands a phrase, and a leading ``-`` forbids a word.

    Examples
    --------
    >>> as_words('who sang "Vogue" -live?')
    'who sang Vogue live?'
    """
    words = " ".join(re.sub(r'(?:(?<=\s)|\A)[+-]+|"', " ", query).split())
    if any(clause.sign or clause.field or clause.is_quoted for clause in parse(words)):
        raise ValueError(f"{query!r} still holds an operator: {words!r}")
    return words


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    for line in text.split("\n"):
        if line:
            yield json.loads(line)


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            query, document, grade = line.split("\t")
            judgements.setdefault(query, {})[document] = int(grade)
    return judgements
