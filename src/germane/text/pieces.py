"""Pieces of text between white space: each is analysed once, and found again by a number.

No chunk that analysis cuts a text into holds white space, so pieces can be analysed by themselves.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from germane.text.analysis import analyzer
from germane.text.arrays import ByteArray, IntArray, SmallArray
from germane.text.vocabulary import Vocabulary

LONGEST = 64
"""Characters of a piece that is kept: longer ones are seldom seen again."""
SEED, PRIME = 0x4BF29CE484222325, 0x100000001B3
"""Of FNV-1a, which hashes byte by byte."""


class Pieces(dict[str, int]):
    """Numbers of pieces in one language, and the terms of each.

    Parameters
    ----------
    lang : str
    vocabulary : Vocabulary
        Gets the terms that it does not know.

    Examples
    --------
    >>> pieces = Pieces("english", Vocabulary())
    >>> [pieces[each] for each in "a lamp, a".split()], pieces.widths.tolist()
    ([0, 1, 0], [1, 1])
    """

    def __init__(self, lang: str, vocabulary: Vocabulary) -> None:
        self._analyze, self._plain = analyzer(lang).chunks, analyzer(lang).plain
        self._number = vocabulary.number
        self.terms, self.offsets = array("i"), array("i")
        self.starts, self.counts, self.widths = array("i"), array("i"), array("i")
        # The same pieces as bytes, for machine code to find: a hash table of their numbers.
        self._text, self._begins = bytearray(), array("q", [0])
        self._slots: SmallArray = np.full(1024, -1, np.int32)
        self._held = 0

    def __missing__(self, piece: str) -> int:
        made, begin = len(self.starts), len(self.terms)
        self.starts.append(begin)
        width = 0
        term = self._plain(piece)
        if term is not None:
            self.terms.append(self._number(term))
            self.offsets.append(0)
            width = 1
        else:
            for chunk in self._analyze(piece):
                self.terms.extend(map(self._number, chunk.terms))
                self.offsets.extend([width + offset for offset in chunk.offsets])
                width += chunk.width
        self.counts.append(len(self.terms) - begin)
        self.widths.append(width)
        if len(piece) <= LONGEST:
            self[piece] = made
            self._text += piece.encode()
        self._begins.append(len(self._text))
        return made

    def numbered(self, texts: list[bytes], work: Any) -> tuple[SmallArray, IntArray]:
        """Return the numbers of the pieces of texts, and how many there are up to the end of each.

        Parameters
        ----------
        texts : list of bytes
            In UTF-8.
        work : Kernels
            With `find_pieces` and `place_pieces` compiled.
        """
        joined = b" ".join(texts)
        text = np.frombuffer(joined or b" ", np.uint8)
        ends = np.cumsum([len(each) + 1 for each in texts]) - 1
        numbers = np.empty(len(joined) // 2 + 1, np.int32)
        piece_ends = np.empty(len(texts), np.int64)
        missing = np.empty((len(numbers), 3), np.int64)
        self._place(work)
        count, absent = work.find_pieces(
            text, ends, self._slots, *self._views(), numbers, piece_ends, missing
        )
        # Column by column: a list for each piece would keep the garbage collector busy.
        if absent:
            places, begins, ends_of = np.ascontiguousarray(missing[:absent].T).tolist()
            look_up = self.__getitem__
            numbers[places] = [
                look_up(joined[begin:end].decode()) for begin, end in zip(begins, ends_of, strict=True)
            ]
        return numbers[:count], piece_ends

    def _place(self, work: Any) -> None:
        """Bring the hash table up to date."""
        count = len(self.starts)
        if 2 * count > len(self._slots):
            self._slots = np.full(4 << (2 * count).bit_length(), -1, np.int32)
            self._held = 0
        if self._held < count:
            work.place_pieces(self._slots, *self._views(), self._held, count)
            self._held = count

    def _views(self) -> tuple[ByteArray, IntArray]:
        # Copies: what is viewed cannot grow, and what is looked up may be new.
        return np.frombuffer(bytes(self._text) or b"\0", np.uint8), np.array(self._begins, np.int64)


def place_pieces(slots: Any, text: Any, begins: Any, first: int, last: int) -> None:
    """Put pieces into a hash table of their numbers; those that are not kept are empty, and left out."""
    mask = len(slots) - 1
    for number in range(first, last):
        if begins[number] == begins[number + 1]:
            continue
        key: Any = SEED
        for at in range(begins[number], begins[number + 1]):
            key = (key ^ np.int64(text[at])) * PRIME
        slot = (key ^ (key >> 29)) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number


def find_pieces(
    text: Any, ends: Any, slots: Any, known: Any, begins: Any, numbers: Any, piece_ends: Any, missing: Any
) -> tuple[int, int]:
    """Cut texts at white space, and look the pieces up.

    Parameters
    ----------
    text : uint8[...]
        Texts, each but the last followed by one space.
    ends : int64[texts]
        Where each ends.
    slots, known, begins
        The hash table, and the pieces in it.
    numbers : int32[...]
        Where to write numbers; -1 for a piece that is not known.
    piece_ends : int64[texts]
        Where to write how many pieces there are up to the end of each text.
    missing : int64[..., 3]
        Where to write place, begin and end of each that is not known.

    Returns
    -------
    tuple of (int, int)
        How many pieces there are, and how many are missing.
    """
    mask = len(slots) - 1
    count = absent = at = 0
    for each in range(len(ends)):
        end = ends[each]
        while at < end:
            # No letter and no joiner is below a space.
            if text[at] <= 32:
                at += 1
                continue
            begin = at
            key: Any = SEED
            while at < end and text[at] > 32:
                key = (key ^ np.int64(text[at])) * PRIME
                at += 1
            slot = (key ^ (key >> 29)) & mask
            number = -1
            while slots[slot] >= 0:
                candidate = slots[slot]
                start = begins[candidate]
                if begins[candidate + 1] - start == at - begin:
                    same = 0
                    while same < at - begin and known[start + same] == text[begin + same]:
                        same += 1
                    if same == at - begin:
                        number = candidate
                        break
                slot = (slot + 1) & mask
            if number < 0:
                missing[absent, 0] = count
                missing[absent, 1] = begin
                missing[absent, 2] = at
                absent += 1
            numbers[count] = number
            count += 1
        piece_ends[each] = count
    return count, absent
