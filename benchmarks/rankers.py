"""The systems that rank a corpus: Germane in several settings, and BM25 over one field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import germane
from benchmarks.bm25 import FloatArray, bm25s_scores, plain_scores, ranking
from benchmarks.corpora import Corpus, as_words
from germane import Item, Schema, SearchWeights
from germane.model.languages import language_name
from germane.text.analysis import Kind, analyzer

DEPTH = 100
"""Documents that each system ranks for each query."""

Run = dict[str, list[str]]
"""Query id to document ids, best first."""

GERMANE = {
    "germane": SearchWeights(),
    "germane, heading 0.5": SearchWeights(heading=0.5),
    "germane, no proximity": SearchWeights(proximity=0.0),
    "germane, no zone": SearchWeights(zone=0.0),
    "germane, no proximity, no zone": SearchWeights(proximity=0.0, zone=0.0),
    "germane, heading 0.5, no zone": SearchWeights(heading=0.5, zone=0.0),
    "germane, heading 0.5, no proximity, no zone": SearchWeights(heading=0.5, proximity=0.0, zone=0.0),
}
AS_TYPED = ("germane", "germane, heading 0.5")
"""Settings that are also given the questions with nothing removed from them."""
REFERENCE = "bm25"
_OWN_TOKENIZER = {"en": "english", "de": "german"}


class Check(NamedTuple):
    """How far bm25s is from BM25 written out plainly, on the reference's own terms.

    Parameters
    ----------
    largest_difference : float
        Of two scores, relative to the query's greatest.
    rankings_differ : int
        Queries whose first ten documents differ in a place where the scores differ.
    """

    largest_difference: float
    rankings_differ: int


def germane_runs(corpus: Corpus) -> Iterator[tuple[str, Run]]:
    """Rank with Germane: one store, every setting."""
    words = {id: as_words(text) for id, text in corpus.queries.items()}
    with germane.open(schema=Schema(lang=corpus.lang)) as db:
        db.put_many(
            Item(id=each.id, title=each.title or None, body=each.text, type="text/plain")
            for each in corpus.documents
        )
        for name, weights in GERMANE.items():
            yield name, {id: db.top(text, DEPTH, weights=weights)[0] for id, text in words.items()}
        for name in AS_TYPED:
            given = {id: db.top(text, DEPTH, weights=GERMANE[name])[0] for id, text in corpus.queries.items()}
            yield f"{name}, questions as typed", given


def bm25_runs(corpus: Corpus) -> Iterator[tuple[str, Run]]:
    """Rank with bm25s over title and text as one field.

    The reference has Germane's own terms (its words, stems and pairs of characters), without stop words.
    The others differ in one thing each, so that no weakness of the reference passes for a strength of
    Germane.
    """
    bare = _reader(corpus.lang, keeps_stops=False)
    yield REFERENCE, _run(corpus, bare, bare)
    yield "bm25, repeated words once", _run(corpus, bare, lambda text: _once(bare(text)))
    full = _reader(corpus.lang, keeps_stops=True)
    yield "bm25, stop words in documents", _run(corpus, full, bare)
    yield (
        "bm25, stop words in documents, repeated words once",
        _run(corpus, full, lambda text: _once(bare(text))),
    )
    everything = _reader(corpus.lang, keeps_stops=False, with_extra=True)
    yield "bm25, also wholes and single characters", _run(corpus, everything, everything)
    if corpus.lang in _OWN_TOKENIZER:
        own = _own_reader(_OWN_TOKENIZER[corpus.lang])
        yield "bm25s as its users run it", _run(corpus, own, own)


def check_bm25s(corpus: Corpus) -> Check:
    """Compare bm25s with the plain formula on the reference's terms."""
    read = _reader(corpus.lang, keeps_stops=False)
    documents = [read(each.joined) for each in corpus.documents]
    queries = [read(text) for text in corpus.queries.values()]
    largest, differ = 0.0, 0
    for theirs, plain in zip(bm25s_scores(documents, queries), plain_scores(documents, queries), strict=True):
        greatest = float(plain.max()) or 1.0
        largest = max(largest, float(np.abs(theirs - plain).max()) / greatest)
        # Where two documents have the same score, rounding decides, and either order is right.
        places = zip(ranking(theirs, 10), ranking(plain, 10), strict=True)
        differ += any(abs(plain[a] - plain[b]) > 1e-9 * greatest for a, b in places)
    return Check(largest, differ)


Reader = Callable[[str], list[str]]


def _reader(lang: str, *, keeps_stops: bool, with_extra: bool = False) -> Reader:
    """Return a function from a text to its terms as Germane analyses it.

    Parameters
    ----------
    lang : str
    keeps_stops : bool
        Otherwise they are dropped, unless the text has nothing else.
    with_extra : bool
        Whether the wholes of compounds and the single characters of runs are terms too.
    """
    analyze = analyzer(language_name(lang) or lang).analyze

    def read(text: str) -> list[str]:
        tokens = [
            token
            for _, chunk in analyze(text)
            for token in chunk.tokens
            if with_extra or token.kind is Kind.WORD
        ]
        kept = tokens if keeps_stops else [token for token in tokens if not token.is_stop] or tokens
        return [token.term for token in kept]

    return read


def _own_reader(lang: str) -> Reader:
    """Return bm25s's own tokenizer with PyStemmer and its own list of stop words."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer(lang)

    def read(text: str) -> list[str]:
        terms: list[list[str]] = bm25s.tokenize(
            [text], stopwords=lang, stemmer=stemmer, return_ids=False, show_progress=False
        )
        return terms[0]

    return read


def _run(corpus: Corpus, read_document: Reader, read_query: Reader) -> Run:
    scores: Sequence[FloatArray] = bm25s_scores(
        [read_document(each.joined) for each in corpus.documents],
        [read_query(text) for text in corpus.queries.values()],
    )
    return {
        id: [corpus.documents[number].id for number in ranking(each, DEPTH)]
        for id, each in zip(corpus.queries, scores, strict=True)
    }


def _once(terms: list[str]) -> list[str]:
    return list(dict.fromkeys(terms))
