"""Stage 4: exploration: some places of a page show what would not be shown otherwise."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from germane.model.times import DAY
from germane.ranking.audience import mask_of
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.candidates import Candidates
from germane.signals.decay import IntArray
from germane.text.segment import BoolArray

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


def slots(share: float, limit: int) -> list[int]:
    """Return the zero-based places of a page that explore.

    Examples
    --------
    >>> slots(0.1, 20)
    [9, 19]
    """
    # A share like 0.1 is a little more or less than that; a place must not be lost by it.
    count = int(share * limit + 1e-9)
    return [int((place + 1) / share + 1e-9) - 1 for place in range(count)]


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
    mask = candidates.mask & _eligible(readings)
    mask[shown_anyway] = False
    eligible = np.flatnonzero(mask)
    if not len(eligible) or not wanted:
        return NOBODY
    digest = hashlib.blake2b(f"explore\0{seed}".encode(), digest_size=16).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    chosen = generator.choice(len(eligible), size=min(wanted, len(eligible)), replace=False)
    return Explorers(eligible[chosen], len(eligible))


def _eligible(readings: Readings) -> BoolArray:
    """Return the items that are unseen, and young or by a creator of whom the user knows nothing.

    What the user muted is not among them: it comes after everything else.
    """
    audience, size = readings.audience, readings.size
    eligible = _by_unknown(readings)
    times = readings.catalog.columns.get("created_at")
    if times is not None:
        eligible = eligible | (times.times(size) > readings.now - YOUNG)
    for known in (audience.seen, audience.muted):
        if len(known):
            eligible = eligible & ~mask_of(known, size)
    return eligible


def _by_unknown(readings: Readings) -> BoolArray:
    """Return the items by a creator to whom, and to whose items, the user has neither signal nor relation."""
    column, size = readings.catalog.columns.get("creator"), readings.size
    if column is None:
        return np.zeros(size, np.bool_)
    creators, audience = column.strings(size), readings.audience
    # A creator's number is its place; one more place, the last, is that of items without a creator.
    unknown = np.ones(len(column.texts.values) + 1, np.bool_)
    unknown[-1] = False
    touched = audience.touched[audience.touched < len(readings.catalog.live)]
    told = creators[touched]
    unknown[told[told >= 0]] = False
    # Of what was deleted the catalogue does not tell who made it.
    gone = touched[~readings.catalog.live[touched]]
    for name in audience.known_creators | audience.creators_of(gone):
        if (number := column.texts.numbers.get(name)) is not None:
            unknown[number] = False
    by_unknown: BoolArray = unknown[creators]
    return by_unknown
