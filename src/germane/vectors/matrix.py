"""The vectors of all items at one position of the log, as one matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from germane.vectors.cosine import FloatArray, VectorArray, cosines, lengths

IntArray = np.ndarray[Any, np.dtype[np.int64]]
RowArray = np.ndarray[Any, np.dtype[np.int32]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]

_UNIT_ERROR = 2.0**-24
"""By how much one operation in float32 may be off, relative to its result."""
_SAFE = (1e-15, 1e15)
"""Lengths between which no product in float32 comes near its limits."""


class Rows(NamedTuple):
    """Vectors as they were when they were asked for; they do not change.

    Parameters
    ----------
    matrix : float32[rows, dimension]
    norms : float64[rows]
    items : int64[rows]
        The ordinal that each row is of; -1 for none.
    row_of : int32[ordinals]
        The row of each item, -1 for none; items beyond have none.
    """

    matrix: VectorArray
    norms: FloatArray
    items: IntArray
    row_of: RowArray

    def vector(self, ordinal: int) -> VectorArray | None:
        """Return an item's vector, None without one."""
        row = int(self.row_of[ordinal]) if ordinal < len(self.row_of) else -1
        return None if row < 0 else self.matrix[row]

    def rows(self, ordinals: IntArray) -> IntArray:
        """Return the rows of some items, -1 for those without a vector."""
        if not len(self.row_of):
            return np.full(len(ordinals), -1)
        rows: IntArray = self.row_of.take(ordinals, mode="clip").astype(np.int64)
        rows[ordinals >= len(self.row_of)] = -1
        return rows

    def cosines(self, vector: VectorArray, ordinals: IntArray) -> FloatArray:
        """Return the cosine of a vector and that of each item, 0 without one: float64[items]."""
        rows = self.rows(ordinals)
        has = rows >= 0
        if has.all():
            return cosines(self.matrix.take(rows, axis=0), self.norms.take(rows), vector)
        found = np.zeros(len(ordinals))
        found[has] = cosines(self.matrix[rows[has]], self.norms[rows[has]], vector)
        return found

    def near(self, vector: VectorArray, among: BoolArray, wanted: int) -> IntArray:
        """Return the items that may be among the nearest to a vector, and few others: int64[n].

        Parameters
        ----------
        vector : float32[dimension]
        among : bool[ordinals]
            Which items may be returned.
        wanted : int
            How many of the nearest must be.
        """
        inside = among.take(self.items, mode="clip")  # what no row is of, -1, is taken for the first item
        inside &= (self.items >= 0) & (self.items < len(among)) & (self.norms > 0)
        length = float(lengths(vector[None])[0])
        if not length:
            return np.zeros(0, np.int64)
        count = int(np.count_nonzero(inside))
        if count <= wanted:
            return self.items[inside]
        least = float(self.norms.min(initial=np.inf, where=inside))
        greatest = float(self.norms.max(initial=0.0, where=inside))
        if not (_SAFE[0] < least and greatest < _SAFE[1]):
            return self.items[inside]
        direction = (vector / length).astype(np.float32)
        rough = np.full(len(inside), -np.inf)
        np.divide(self.matrix @ direction, self.norms, out=rough, where=inside)
        # A sum of d products is off by d roundings at most, a direction by one in each of its numbers.
        slack = 2 * (len(vector) + 4) * _UNIT_ERROR
        threshold = np.partition(rough, len(rough) - wanted)[len(rough) - wanted] - 2 * slack
        near: IntArray = self.items[rough >= threshold]
        return near


class Vectors:
    """The vectors of items, set one by one.

    Whoever asked for `seen` keeps what they were given. A row that they can see is never written to: an item
    whose vector changes gets another row, and what rows are of is copied before it changes. Rows that are
    given up go when there is no room for more.

    Examples
    --------
    >>> vectors = Vectors()
    >>> vectors.set(7, np.array([3, 4], np.float32))
    >>> vectors.seen().cosines(np.array([1, 0], np.float32), np.array([7, 8])).tolist()
    [0.6, 0.0]
    """

    def __init__(self) -> None:
        self._matrix: VectorArray = np.zeros((0, 0), np.float32)
        self._norms: FloatArray = np.zeros(0)
        self._items: IntArray = np.zeros(0, np.int64)
        self._row_of: RowArray = np.zeros(0, np.int32)
        self._count = 0  # rows in use, with those that were given up
        self._gone = 0  # rows that were given up
        self._seen = 0  # rows that others may see; their lengths are known
        self._are_items_seen = False  # whether others see what those rows are of, or the rows of items
        self._are_rows_seen = False

    def __len__(self) -> int:
        """Return how many items have a vector."""
        return self._count - self._gone

    @property
    def dimension(self) -> int:
        """How many numbers a vector has, 0 before the first."""
        return int(self._matrix.shape[1])

    def row(self, ordinal: int) -> int:
        """Return an item's row, -1 without a vector; it holds until a vector is set."""
        return int(self._row_of[ordinal]) if ordinal < len(self._row_of) else -1

    def taken(self, rows: IntArray) -> VectorArray:
        """Return some rows, copied."""
        taken: VectorArray = self._matrix[rows]
        return taken

    def set(self, ordinal: int, vector: VectorArray | None) -> None:
        """Give an item a vector in place of the one it has, or none."""
        row = self.row(ordinal)
        if vector is not None and row >= self._seen:
            self._matrix[row] = vector
            return
        if row >= 0:
            self._give_up(ordinal, row)
        if vector is not None:
            row = self._new_row(ordinal, len(vector))
            self._matrix[row] = vector

    def seen(self) -> Rows:
        """Return the vectors as they are now."""
        if self._seen < self._count:
            part = slice(self._seen, self._count)
            self._norms[part] = lengths(self._matrix[part])
            self._seen = self._count
        self._are_items_seen = self._are_rows_seen = True
        count = self._count
        return Rows(self._matrix[:count], self._norms[:count], self._items[:count], self._row_of)

    def to_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the vectors by ordinal, whatever the order in which they were set."""
        ordinals = np.flatnonzero(self._row_of >= 0)
        rows = self._row_of[ordinals]
        return {"items": ordinals, "matrix": self._matrix[rows].reshape(len(ordinals), self.dimension)}

    @classmethod
    def from_arrays(cls, items: IntArray, matrix: VectorArray) -> Vectors:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        ValueError
            The arrays are not of that form.
        """
        if matrix.ndim != 2 or len(matrix) != len(items):
            raise ValueError("vectors and their items differ in number")
        made = cls()
        made._matrix, made._items = matrix, items
        made._row_of = np.full(int(items.max(initial=-1)) + 1, -1, np.int32)
        made._row_of[items] = np.arange(len(items), dtype=np.int32)
        made._norms = lengths(matrix)
        made._count = made._seen = len(items)
        made._are_items_seen = True  # the arrays may be those of a file, which is not written to
        return made

    def _give_up(self, ordinal: int, row: int) -> None:
        if row < self._seen and self._are_items_seen:
            self._items, self._are_items_seen = self._items.copy(), False
        self._own_rows()
        self._row_of[ordinal], self._items[row] = -1, -1
        self._gone += 1

    def _new_row(self, ordinal: int, dimension: int) -> int:
        if self._count == len(self._matrix):
            self._make_room(dimension)
        if ordinal < len(self._row_of):
            self._own_rows()
        else:
            larger = np.full(max(ordinal + 1, len(self._row_of) * 3 // 2, 64), -1, np.int32)
            larger[: len(self._row_of)] = self._row_of
            self._row_of, self._are_rows_seen = larger, False
        row = self._count
        self._count += 1
        self._row_of[ordinal], self._items[row] = row, ordinal
        return row

    def _make_room(self, dimension: int) -> None:
        """Move to larger arrays, without the rows that were given up."""
        kept = np.flatnonzero(self._items[: self._count] >= 0)
        count, size = len(kept), max(len(kept) * 3 // 2, 64)
        matrix, norms = np.zeros((size, dimension), np.float32), np.zeros(size)
        items = np.full(size, -1)
        if count:
            matrix[:count] = self._matrix[kept] if self._gone else self._matrix[:count]
        norms[:count], items[:count] = self._norms[kept], self._items[kept]
        if self._gone:
            self._own_rows()
            self._row_of[items[:count]] = np.arange(count, dtype=np.int32)
        self._matrix, self._norms, self._items, self._are_items_seen = matrix, norms, items, False
        self._count, self._gone, self._seen = count, 0, int(kept.searchsorted(self._seen))

    def _own_rows(self) -> None:
        """Copy what others can see, before it changes."""
        if self._are_rows_seen:
            self._row_of, self._are_rows_seen = self._row_of.copy(), False
