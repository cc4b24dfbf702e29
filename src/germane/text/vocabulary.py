"""The vocabulary of an index: numbers of terms, the saved ones in arrays, later ones beside them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from zlib import crc32

import numpy as np

from germane.text.arrays import ByteArray, CountArray, IntArray, SmallArray, offsets


class Vocabulary:
    """Gives each term a number, in the order in which they come.

    Those that were saved are found by their hash, so that opening an index reads none of them. One writer at
    a time adds terms; readers need no lock.

    Parameters
    ----------
    text : uint8[...], optional
        The saved terms in UTF-8.
    ends : int64[terms + 1], optional
        Where each begins, and the last ends.
    hashes : uint32[terms], optional
        Their CRC-32, ascending.
    by_hash : int32[terms], optional
        Their numbers in that order.

    Examples
    --------
    >>> words = Vocabulary()
    >>> words.number("lamp"), words.number("bulb"), words.number("lamp"), words.find("sofa")
    (0, 1, 0, None)
    >>> Vocabulary(*words.arrays()).find("bulb")
    1
    """

    def __init__(
        self,
        text: ByteArray | None = None,
        ends: IntArray | None = None,
        hashes: CountArray | None = None,
        by_hash: SmallArray | None = None,
    ) -> None:
        self._text = np.zeros(0, np.uint8) if text is None else text
        self._ends = np.zeros(1, np.int64) if ends is None else ends
        self._hashes = np.zeros(0, np.uint32) if hashes is None else hashes
        self._by_hash = np.zeros(0, np.int32) if by_hash is None else by_hash
        self._saved = len(self._ends) - 1
        # Views of the same memory whose single elements are read ten times as fast.
        self._bytes, self._places = self._text.data, self._ends.data
        self._keys, self._numbers = self._hashes.data, self._by_hash.data
        self._known: dict[str, int] = {}
        self._added: list[str] = []

    def __len__(self) -> int:
        return self._saved + len(self._added)

    def find(self, term: str) -> int | None:
        """Return the number of a term, None without one."""
        found = self._known.get(term)
        if found is None and self._saved:
            found = self._find_saved(term)
            if found is not None:
                self._known[term] = found
        return found

    def number(self, term: str) -> int:
        """Return the number of a term, a new one if it has none."""
        found = self._known.get(term)
        if found is None:
            found = self._find_saved(term) if self._saved else None
            if found is None:
                found = self._saved + len(self._added)
                self._added.append(term)
            self._known[term] = found
        return found

    def term(self, number: int) -> str:
        """Return the term of a number."""
        if number >= self._saved:
            return self._added[number - self._saved]
        return bytes(self._bytes[self._places[number] : self._places[number + 1]]).decode()

    def terms(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms of some numbers."""
        return [self.term(number) for number in numbers]

    def arrays(self) -> tuple[ByteArray, IntArray, CountArray, SmallArray]:
        """Return all of it, as the constructor takes it."""
        added = [term.encode() for term in self._added[:]]
        text = np.frombuffer(bytearray(b"".join([self._text.tobytes(), *added])), np.uint8)
        ends = offsets(np.concatenate([np.diff(self._ends), [len(term) for term in added]]).astype(np.int64))
        hashes = np.concatenate(
            [self._hashes[np.argsort(self._by_hash)], np.fromiter(map(crc32, added), np.uint32, len(added))]
        )
        by_hash = np.argsort(hashes, kind="stable").astype(np.int32)
        return text, ends, hashes[by_hash].astype(np.uint32), by_hash

    def _find_saved(self, term: str) -> int | None:
        wanted = term.encode()
        key = crc32(wanted)
        at = bisect_left(self._keys, key)
        while at < self._saved and self._keys[at] == key:
            number = self._numbers[at]
            if self._bytes[self._places[number] : self._places[number + 1]] == wanted:
                return int(number)
            at += 1
        return None
