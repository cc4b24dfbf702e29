"""The taste of one user at one moment: what they lean to, and the creators they like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from germane.people.pairs import FloatArray, IntArray
from germane.people.preferences import VectorArray
from germane.vectors.matrix import BoolArray, RowArray, Rows

_FEW = 1_024
"""Items whose creators are looked up one by one."""


class Taste(NamedTuple):
    """What ranking knows of a user's taste; nothing in it changes.

    Parameters
    ----------
    preference : float32[dimension] or None
        None before the first update.
    updates : int
        How often the preference moved.
    affinities : dict of int to float
        By the number of the creator.
    creators : list of str
        Names by number; the list may grow, and what is there stays.
    creator_of : int32[ordinals]
        The number of each item's creator, -1 for none; items beyond have none.
    vectors : Rows
        Of all items.
    """

    preference: VectorArray | None
    updates: int
    affinities: dict[int, float]
    creators: list[str]
    creator_of: RowArray
    vectors: Rows

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known that any item could be liked by."""
        return self.preference is None and not self.affinities

    def likeness(self, ordinals: IntArray) -> FloatArray:
        """Return the cosine of the preference and each item's vector, 0 without one: float64[items]."""
        if self.preference is None:
            return np.zeros(len(ordinals))
        return self.vectors.cosines(self.preference, ordinals)

    def liking(self, ordinals: IntArray) -> FloatArray:
        """Return ``A / (1 + abs(A))`` of the affinity to each item's creator: float64[items]."""
        if not self.affinities or not len(self.creator_of):
            return np.zeros(len(ordinals))
        if len(ordinals) <= _FEW:
            return self._liking_of_few(ordinals)
        by_creator = np.zeros(len(self.creators) + 1)  # the last is that of items without a creator
        for number, affinity in self.affinities.items():
            by_creator[number] = affinity / (1.0 + abs(affinity))
        found = np.zeros(len(ordinals))
        inside = ordinals < len(self.creator_of)
        found[inside] = by_creator[self.creator_of[ordinals[inside]]]
        return found

    def _liking_of_few(self, ordinals: IntArray) -> FloatArray:
        """Return the same, without looking at all creators."""
        creators = self.creator_of.take(np.minimum(ordinals, len(self.creator_of) - 1))
        creators[ordinals >= len(self.creator_of)] = -1
        liked = {number: affinity / (1.0 + abs(affinity)) for number, affinity in self.affinities.items()}
        return np.array([liked.get(number, 0.0) for number in creators.tolist()])

    def near(self, among: BoolArray, wanted: int) -> IntArray:
        """Return the items that may be the nearest to the preference, and few others: int64[n]."""
        if self.preference is None:
            return np.zeros(0, np.int64)
        return self.vectors.near(self.preference, among, wanted)

    def by_name(self) -> dict[str, float]:
        """Return the affinity to each creator, the greatest first, equal ones by name."""
        named = {self.creators[number]: affinity for number, affinity in self.affinities.items()}
        return dict(sorted(named.items(), key=lambda pair: (-pair[1], pair[0])))
