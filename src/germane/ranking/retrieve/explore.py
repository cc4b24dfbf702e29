"""Stage 4: exploration: some places of a page show what would not be shown otherwise."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from germane.model.times import DAY
from germane.ranking.audience import are_among
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.candidates import Candidates
from germane.signals.decay import IntArray
from germane.text.arrays import BoolArray

YOUNG = DAY
"""Age below which an item may be explored, in microseconds."""


class Explorers(NamedTuple):
    """Items to explore, in the order in which they were drawn.

    Parameters
    ----------
    ordinals : int64[n]
        Without those that rank high enough to be shown anyway.
    eligible : int
        Among how many they were drawn.
    """

    ordinals: IntArray
    eligible: int


NOBODY = Explorers(np.zeros(0, np.int64), 0)


@lru_cache(maxsize=64)
def slots(share: float, limit: int) -> tuple[int, ...]:
    """Return the zero-based places of a page that explore.

    Examples
    --------
    >>> slots(0.1, 20)
    (9, 19)
    """
    # A share like 0.1 is a little more or less than that; a place must not be lost by it.
    count = int(share * limit + 1e-9)
    return tuple(int((place + 1) / share + 1e-9) - 1 for place in range(count))


def draw(
    readings: Readings, candidates: Candidates, shown_anyway: IntArray, wanted: int, seed: str
) -> Explorers:
    """Draw items to explore, uniformly and without repeats, by a seed.

    Parameters
    ----------
    readings : Readings
    candidates : Candidates
    shown_anyway : int64[n]
        Items that are shown by their rank.
    wanted : int
        How many to draw, at most.
    seed : str
    """
    ordinals = candidates.ordinals
    eligible = ordinals[_eligible(readings, ordinals, shown_anyway)]
    if not len(eligible) or not wanted:
        return NOBODY
    digest = hashlib.blake2b(f"explore\0{seed}".encode(), digest_size=16).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    chosen = generator.choice(len(eligible), size=min(wanted, len(eligible)), replace=False)
    return Explorers(eligible[chosen], len(eligible))


def _eligible(readings: Readings, ordinals: IntArray, others: IntArray) -> BoolArray:
    """Tell of each item whether it is unseen, and young or by a creator of whom the user knows nothing.

    What the user muted is not eligible: it comes after everything else. Nor are others that are given.
    """
    audience = readings.audience
    eligible = _by_unknown(readings, ordinals)
    times = readings.catalog.columns.get("created_at")
    if times is not None:
        eligible |= times.times(readings.size)[ordinals] > readings.now - YOUNG
    eligible &= ~are_among(ordinals, np.sort(np.concatenate((audience.seen, audience.muted, others))))
    return eligible


def _by_unknown(readings: Readings, ordinals: IntArray) -> BoolArray:
    """Tell of each item whether the user has no signal and no relation to its creator, or to their items."""
    column, size = readings.catalog.columns.get("creator"), readings.size
    if column is None:
        return np.zeros(len(ordinals), np.bool_)
    creators, audience = column.strings(size), readings.audience
    touched = audience.touched[audience.touched < len(readings.catalog.live)]
    # Of what was deleted the catalogue does not tell who made it.
    gone = touched[~readings.catalog.live[touched]]
    numbers = column.texts.numbers
    names = audience.known_creators | audience.creators_of(gone)
    named = [numbers[name] for name in names if name in numbers]
    known = np.concatenate((creators[touched], [-1, *named]))  # -1 is no creator
    known.sort()
    return ~are_among(creators[ordinals], known)
