"""The index as files: one canonical form, so that equal content gives equal bits.

The form depends on nothing but the live sections: rows by ordinal, terms numbered by code point, shelves
by name; no dead row, no unused term.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from germane.log.checkpoint import Arrays
from germane.text.index import Index, Part, Statistics
from germane.text.segment import IntArray, Segment, build, merge, spread

_SEGMENT = (
    "ordinals", "created_at", "shelves", "lengths", "id_offsets", "id_bytes", "terms", "term_offsets", "rows",
    "tf", "position_offsets", "positions",
)  # fmt: skip


def to_arrays(index: Index) -> Arrays:
    """Return an index in its canonical form."""
    parts = [(part.segment, part.alive) for part in index.parts]
    segment = merge(parts) if parts else build([])
    # A copy, for a thread that catches up adds terms to it meanwhile.
    by_number = {number: term for term, number in dict(index.vocabulary).items()}
    terms = [by_number[number] for number in segment.terms.tolist()]
    order = np.array(sorted(range(len(terms)), key=terms.__getitem__), np.int64)
    by = spread(segment.term_offsets[:-1][order], np.diff(segment.term_offsets)[order])
    counts = np.diff(segment.position_offsets)[by]
    shelves = sorted({index.shelves[number] for number in segment.shelves.tolist()})
    rank = {shelf: number for number, shelf in enumerate(shelves)}
    arrays: Arrays = {name: getattr(segment, name) for name in _SEGMENT}
    arrays |= {
        "shelves": np.array([rank[index.shelves[number]] for number in segment.shelves.tolist()], np.int32),
        "terms": np.arange(len(terms), dtype=np.int32),
        "term_offsets": _ends(np.diff(segment.term_offsets)[order]),
        "rows": segment.rows[by],
        "tf": segment.tf[by],
        "position_offsets": _ends(counts),
        "positions": segment.positions[spread(segment.position_offsets[:-1][by], counts)],
    }
    arrays |= _texts("term", [terms[at] for at in order.tolist()])
    arrays |= _texts("collection", [collection for collection, _ in shelves])
    arrays |= _texts("language", [lang for _, lang in shelves])
    return arrays


def from_arrays(arrays: Arrays, seq: int, epoch: int, lang: str) -> Index:
    """Return the index that `to_arrays` made arrays of.

    Raises
    ------
    KeyError, ValueError
        The arrays are not of that form.
    """
    segment = Segment(**{name: arrays[name] for name in _SEGMENT})
    alive = np.ones(len(segment), np.bool_)
    shelves = tuple(zip(_strings("collection", arrays), _strings("language", arrays), strict=True))
    statistics = Statistics().changed_by(segment, np.arange(len(segment)), +1)
    vocabulary = {term: number for number, term in enumerate(_strings("term", arrays))}
    parts = (Part(segment, alive),) if len(segment) else ()
    return Index(seq, epoch, lang, parts, statistics, vocabulary, shelves)


def _texts(name: str, texts: Sequence[str]) -> Arrays:
    """Return strings as one text and where each of them ends, in characters."""
    text = "".join(texts).encode()
    ends = np.cumsum([0, *(len(each) for each in texts)]).astype(np.int64)
    return {f"{name}_text": np.frombuffer(text, np.uint8), f"{name}_ends": ends}


def _strings(name: str, arrays: Arrays) -> list[str]:
    text = arrays[f"{name}_text"].tobytes().decode()
    ends = arrays[f"{name}_ends"].tolist()
    return [text[start:end] for start, end in itertools.pairwise(ends)]


def _ends(counts: np.ndarray[Any, Any]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
