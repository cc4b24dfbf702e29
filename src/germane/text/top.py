"""The best sections for plain words, by one call of machine code."""

from __future__ import annotations

import threading

import numpy as np

from germane.model.weights import SearchWeights
from germane.text.arrays import FloatArray, SmallArray
from germane.text.bm25f import idf
from germane.text.compiled import KERNEL
from germane.text.index import Index
from germane.text.kernels import HAS_PROXIMITY
from germane.text.plan import is_plain, plain_word
from germane.text.postings import COUNT
from germane.text.scoring import plain_words

WORDS = 10_000
"""Words whose places are kept."""
_STOP = -1
"""In place of a stop word."""
_NEW = -2

_WEIGHTS = SearchWeights()


def top_of_words(index: Index, text: str, wanted: int) -> tuple[list[str], list[float]] | None:
    """Return ids and scores of the sections that match some words best, by the default weights.

    Parameters
    ----------
    index : Index
    text : str
    wanted : int
        How many, at most.

    Returns
    -------
    tuple of (list of str, list of float), or None
        None when a plan must be made: there is more to the text than words of one term each, or all are stop
        words; or there is no machine code yet.
    """
    work = KERNEL.done
    if work is None:
        return None
    words: Words | None = index.derived.get("words")
    if words is None or len(words.places) >= WORDS:
        words = index.derived["words"] = Words(index)
    chosen: list[int] = []
    for word in text.split(" "):
        row = words.places.get(word, _NEW)
        if row == _NEW:
            row = words.place(word)
        if row is None:
            return None
        if row != _STOP and row not in chosen:
            chosen.append(row)
    if not chosen:
        return None
    count = len(chosen)
    wanted = min(wanted, index.size)
    scores, ids = np.empty(wanted), np.empty(wanted * words.id_size, np.uint8)
    living = index.living
    found, size = work.best_of_words(
        index.table(work.table_of), words.slots, words.rarity, np.array(chosen, np.int64), plain_words(count),
        words.numbers(count), living, len(living) > 0, scores, ids,
    )  # fmt: skip
    return bytes(ids.data[:size]).decode().split("\0")[:found], scores[:found].tolist()


class Words:
    """Where the words that were asked for stand in an index, as arrays that machine code reads.

    Readers need no lock: a word's row is written before its place is told, and stays as it is.

    Parameters
    ----------
    index : Index
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._langs = index.langs or (index.lang,)
        self._turn = threading.Lock()
        self._rows: dict[str, int] = {}
        self._numbers: dict[int, FloatArray] = {}
        self.places: dict[str, int | None] = {}
        """Row of each word as typed; -1 for a stop word, None for what is no plain word of a single term."""
        self.slots: SmallArray = np.empty((64, len(index.parts)), np.int32)
        """Place of each word's term in each part: int32[words, parts]."""
        self.rarity: FloatArray = np.empty(64)
        """The idf of each: float64[words]."""
        self.id_size = 1 + max([part.segment.longest_id for part in index.parts], default=0)
        """Bytes of an id, at most, and of what stands between two."""

    def place(self, word: str) -> int | None:
        """Return the row of a word, as `places` holds it."""
        with self._turn:
            found = self.places[word] = self._look_up(word)
        return found

    def _look_up(self, word: str) -> int | None:
        if not is_plain(word):
            return None
        known = plain_word(word, self._langs)
        if known.is_stop:
            return _STOP
        if len(known.terms) > 1:
            return None
        (term,) = known.terms
        row = self._rows.get(term)
        if row is None:
            row = len(self._rows)
            if row == len(self.rarity):
                self.slots = np.concatenate([self.slots, np.empty_like(self.slots)])
                self.rarity = np.concatenate([self.rarity, np.empty_like(self.rarity)])
            found = self._index.word(known.terms)
            self.slots[row] = [slots[0] if slots else -1 for slots in found.slots]
            self.rarity[row] = idf(self._index.statistics.sections, found.df)
            self._rows[term] = row
        return row

    def numbers(self, count: int) -> FloatArray:
        """Return what machine code is told beside so many words."""
        found = self._numbers.get(count)
        if found is None:
            found = self._index.numbers(_WEIGHTS).copy()
            found[COUNT], found[HAS_PROXIMITY] = count, _WEIGHTS.proximity > 0 and count > 1
            self._numbers[count] = found
        return found
