"""Collecting sections for a segment: from the texts of items to the terms and positions of each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from germane.log.content import Row
from germane.text.arrays import IntArray, SmallArray, offsets, spread, steps
from germane.text.build import Sections
from germane.text.compiled import KERNEL
from germane.text.fields import field_texts
from germane.text.pieces import Pieces
from germane.text.vocabulary import Vocabulary

KEPT = 300_000
"""Distinct pieces of text whose terms are kept for a language."""
BYTES = 1 << 18
"""Of texts that are cut together by machine code."""
MANY = 20_000
"""Words from which on they are: the table of known pieces is handed over with them."""


class Collector:
    """Collects sections; the order of their terms' numbers is the order in which terms are first met.

    Parameters
    ----------
    vocabulary : Vocabulary
        Gets the terms that it does not know.
    shelves : dict
        Numbers of collection and language; gets those that it does not know.
    """

    def __init__(self, vocabulary: Vocabulary, shelves: dict[tuple[str, str], int]) -> None:
        self._vocabulary = vocabulary
        self._shelves = shelves
        self._pieces: dict[str, Pieces] = {}

    def sections(self, rows: Iterable[Row], default_lang: str, characters: int = 0) -> Sections | None:
        """Return the live items among some rows that have a term; None without any.

        Parameters
        ----------
        rows : iterable of Row
        default_lang : str
            The language of items that name none.
        characters : int
            How much text they hold, about.
        """
        if sum(len(pieces.starts) for pieces in self._pieces.values()) > KEPT:
            self._pieces.clear()
        kept: list[Row] = []
        shelves: list[int] = []
        by_lang: dict[str, list[int]] = {}
        cut = _Cut(characters // 6)
        for row in rows:
            if not row.live:
                continue
            lang = row.lang or default_lang
            pieces = self._pieces.get(lang)
            if pieces is None:
                pieces = self._pieces[lang] = Pieces(lang, self._vocabulary)
            texts = field_texts(row.type, row.title, row.description, row.body)
            if not any(texts):
                continue
            cut.add(pieces, texts)
            by_lang.setdefault(lang, []).append(len(kept))
            kept.append(row)
            shelves.append(self._shelves.setdefault((row.collection, lang), len(self._shelves)))
        if not kept:
            return None
        return self._joined(kept, shelves, by_lang, *cut.done())

    def _joined(
        self,
        kept: list[Row],
        shelves: list[int],
        by_lang: dict[str, list[int]],
        numbers: SmallArray,
        ends: IntArray,
    ) -> Sections | None:
        """Return sections of the numbers of their pieces, whose four fields end at `ends`."""
        piece_ends = ends.reshape(-1, 4)[:, 3]
        sizes = steps(piece_ends, 0)
        widths, counts, starts, base = _sized(numbers, sizes, by_lang, self._pieces)
        # Where each piece begins in its section, and how many tokens each field has.
        total = offsets(widths)
        at_ends = total[ends].reshape(-1, 4)
        begins = np.concatenate([[0], at_ends[:-1, 3]])
        lengths = np.stack(
            [at_ends[:, 0] - begins, at_ends[:, 2] - at_ends[:, 0], at_ends[:, 3] - at_ends[:, 2]], axis=1
        )
        places = total[:-1] - np.repeat(begins, sizes)
        if (counts == 1).all():
            by, positions = starts, places.astype(np.int32)
        else:
            by = spread(starts, counts)
            positions = np.repeat(places, counts).astype(np.int32)
        flat_terms, flat_offsets = base
        terms = flat_terms[by]
        positions += flat_offsets[by]
        summed = offsets(counts)[piece_ends]
        occurrences = steps(summed, 0)
        made = Sections(
            ordinals=np.array([row.ordinal for row in kept], np.int64),
            created_at=np.array([row.created_at for row in kept], np.int64),
            ids=[row.id.encode() for row in kept],
            shelves=np.array(shelves, np.int32),
            lengths=lengths.astype(np.int32),
            counts=occurrences,
            terms=terms,
            positions=positions,
        )
        held = np.flatnonzero(occurrences)
        return made if len(held) == len(kept) else _only(made, held)


class _Cut:
    """Texts as numbers of their pieces: cut one by one, or by machine code many at once.

    Parameters
    ----------
    words : int
        How many there are, about.
    """

    def __init__(self, words: int) -> None:
        self._numbers = array("i")
        self._ends = array("q")
        self._texts: list[bytes] = []
        self._size = 0
        self._pieces: Pieces | None = None
        # Cutting a word by itself takes an eighth of what going through a posting without machine code does.
        self._work = KERNEL.at_once(words // 8) if words >= MANY else None

    def add(self, pieces: Pieces, texts: Iterable[str]) -> None:
        """Add the texts of an item's fields."""
        if self._work is None:
            for text in texts:
                if text:
                    self._numbers.extend(map(pieces.__getitem__, text.split()))
                self._ends.append(len(self._numbers))
            return
        if pieces is not self._pieces or self._size > BYTES:
            self._flush()
            self._pieces = pieces
        for text in texts:
            self._texts.append(text.encode())
            self._size += len(self._texts[-1])

    def done(self) -> tuple[SmallArray, IntArray]:
        """Return all numbers, and where those of each text end."""
        self._flush()
        return np.array(self._numbers, np.int32), np.array(self._ends, np.int64)

    def _flush(self) -> None:
        if self._texts and self._pieces is not None:
            numbers, ends = self._pieces.numbered(self._texts, self._work)
            before = len(self._numbers)
            self._numbers.frombytes(numbers.tobytes())
            self._ends.frombytes((ends + before).tobytes())
        self._texts, self._size = [], 0


def _sized(
    numbers: SmallArray, sizes: IntArray, by_lang: dict[str, list[int]], pieces: dict[str, Pieces]
) -> tuple[IntArray, IntArray, IntArray, tuple[SmallArray, SmallArray]]:
    """Return width, terms and first term of each piece, and the terms and offsets of all."""
    if len(by_lang) == 1:
        (lang,) = by_lang
        of = pieces[lang]
        if len(numbers) * 8 < len(of.starts):  # few sections: the whole table would take longer
            # Views that are gone at once: what is viewed cannot grow.
            widths, counts, starts = (
                np.frombuffer(column, np.int32)[numbers].astype(np.int64)
                for column in (of.widths, of.counts, of.starts)
            )
            by = spread(starts, counts)
            terms, places = (
                np.frombuffer(column or bytes(4), np.int32)[by] for column in (of.terms, of.offsets)
            )
            return widths, counts, offsets(counts)[:-1], (terms, places)
        table = [np.array(each, np.int32) for each in (of.widths, of.counts, of.starts)]
        widths, counts, starts = (column[numbers].astype(np.int64) for column in table)
        return widths, counts, starts, (np.array(of.terms, np.int32), np.array(of.offsets, np.int32))
    widths, counts, starts = (np.empty(len(numbers), np.int64) for _ in range(3))
    begins = offsets(sizes)
    all_terms, all_places, before = [], [], 0
    for lang, rows in by_lang.items():
        of = pieces[lang]
        at = spread(begins[rows], sizes[rows])
        here = numbers[at]
        widths[at] = np.array(of.widths, np.int32)[here]
        counts[at] = np.array(of.counts, np.int32)[here]
        starts[at] = np.array(of.starts, np.int64)[here] + before
        all_terms.append(np.array(of.terms, np.int32))
        all_places.append(np.array(of.offsets, np.int32))
        before += len(of.terms)
    return widths, counts, starts, (np.concatenate(all_terms), np.concatenate(all_places))


def _only(made: Sections, held: IntArray) -> Sections | None:
    """Leave out the sections without a term."""
    if not len(held):
        return None
    return Sections(
        made.ordinals[held],
        made.created_at[held],
        [made.ids[at] for at in held.tolist()],
        made.shelves[held],
        made.lengths[held],
        made.counts[held],
        made.terms,
        made.positions,
    )
