"""The index as files, part by part; and in a canonical form, by which two are compared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from germane.log.checkpoint import Arrays
from germane.text.arrays import offsets
from germane.text.index import Index, Part, Statistics
from germane.text.segment import Segment, occurrences
from germane.text.vocabulary import Vocabulary

_VOCABULARY = ("term_text", "term_ends", "term_hashes", "term_by_hash")


def to_arrays(index: Index) -> Arrays:
    """Return all parts of an index, and what they have in common."""
    arrays: Arrays = dict(zip(_VOCABULARY, index.vocabulary.arrays(), strict=True))
    arrays |= _texts("collection", [collection for collection, _ in index.shelves])
    arrays |= _texts("language", [lang for _, lang in index.shelves])
    for number, part in enumerate(index.parts):
        arrays |= {f"{number}-{name}": array for name, array in part.segment.arrays()}
        arrays[f"{number}-alive"] = part.alive
    arrays["parts"] = np.array([len(index.parts)])
    return arrays


def from_arrays(arrays: Arrays, seq: int, epoch: int, lang: str) -> Index:
    """Return the index that `to_arrays` made arrays of.

    Raises
    ------
    KeyError, ValueError
        The arrays are not of that form.
    """
    parts, statistics = [], Statistics()
    for number in range(int(arrays["parts"][0])):
        segment = Segment(**{each.name: arrays[f"{number}-{each.name}"] for each in fields(Segment)})
        alive = arrays[f"{number}-alive"]
        parts.append(Part(segment, alive))
        statistics = statistics.changed_by(segment, np.flatnonzero(alive), +1)
    vocabulary = Vocabulary(*(arrays[name] for name in _VOCABULARY))
    shelves = tuple(zip(_strings("collection", arrays), _strings("language", arrays), strict=True))
    return Index(seq, epoch, lang, tuple(parts), statistics, vocabulary, shelves)


def canonical(index: Index) -> Arrays:
    """Return what an index says, in a form that depends on nothing but the live sections.

    Rows are ordered by ordinal, terms numbered by code point, shelves by name; no dead row, no unused term.
    """
    alive = [np.flatnonzero(part.alive) for part in index.parts]
    pairs = list(zip((part.segment for part in index.parts), alive, strict=True))

    def column(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        empty = np.zeros((0, 3) if name == "lengths" else 0, np.int64)
        return np.concatenate([empty, *(getattr(segment, name)[rows] for segment, rows in pairs)])

    ordinals = column("ordinals")
    order = np.argsort(ordinals, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    terms, keys, rows, positions, base = [], [], [], [], 0
    for segment, held in pairs:
        found = occurrences(segment)
        moved = np.full(len(segment), -1, np.int32)
        moved[held] = place[base : base + len(held)]
        base += len(held)
        row = moved[found.rows]
        kept = np.flatnonzero(row >= 0)
        terms.append(segment.terms[found.slots[kept]])
        keys.append(found.fields[kept].astype(np.int8))
        rows.append(row[kept])
        positions.append(found.positions[kept].astype(np.int32))
    numbers, by = np.unique(np.concatenate([np.zeros(0, np.int32), *terms]), return_inverse=True)
    texts = index.vocabulary.terms(numbers.tolist())
    by_text = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int32)
    rank[by_text] = np.arange(len(texts), dtype=np.int32)
    term = rank[by] if len(texts) else np.zeros(0, np.int32)
    field, row, position = (
        np.concatenate([np.zeros(0, np.int32), *each]).astype(np.int32) for each in (keys, rows, positions)
    )
    sequence = np.lexsort((position, row, field, term))
    shelf = column("shelves")
    names = sorted({index.shelves[number] for number in shelf.tolist()})
    numbered = {name: number for number, name in enumerate(names)}
    ids = [segment.id(at) for segment, held in pairs for at in held.tolist()]
    ids = [ids[at] for at in order.tolist()]
    return {
        "ordinals": ordinals[order],
        "created_at": column("created_at")[order],
        "lengths": column("lengths")[order],
        "shelves": np.array([numbered[index.shelves[number]] for number in shelf[order].tolist()], np.int32),
        "id_bytes": np.frombuffer(b"".join(ids), np.uint8),
        "id_ends": offsets(np.array([len(id) for id in ids], np.int64)),
        "terms": term[sequence],
        "fields": field[sequence],
        "rows": row[sequence],
        "positions": position[sequence],
        **_texts("term", [texts[at] for at in by_text]),
        **_texts("collection", [collection for collection, _ in names]),
        **_texts("language", [lang for _, lang in names]),
    }


def _texts(name: str, texts: Sequence[str]) -> Arrays:
    """Return strings as one text and where each of them ends, in characters."""
    text = "".join(texts).encode()
    ends = np.cumsum([0, *(len(each) for each in texts)]).astype(np.int64)
    return {f"{name}_text": np.frombuffer(text, np.uint8), f"{name}_ends": ends}


def _strings(name: str, arrays: Arrays) -> list[str]:
    text = arrays[f"{name}_text"].tobytes().decode()
    ends = arrays[f"{name}_ends"].tolist()
    return [text[start:end] for start, end in itertools.pairwise(ends)]
