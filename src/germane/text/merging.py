"""Merging segments: which, and when, so that an index has few parts and no reader waits for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from germane.text.build import merge
from germane.text.index import Part
from germane.text.segment import ROWS, Segment

FAN = 8
"""Parts of one size that become one."""
TAIL = 32
"""Rows of the part that is made anew with every section that comes."""
AT_ONCE = 256
"""Rows that a writer or reader merges itself; more are merged beside."""


def due(parts: Sequence[Part]) -> list[Part]:
    """Return the parts to merge next, or one to write anew without its dead rows; none when all is well.

    The last part grows until it is full, and is left alone.
    """
    settled = parts[:-1]
    for part in parts:
        if 2 * part.count < len(part.segment):
            return [part]
    by_size: dict[int, list[Part]] = {}
    for part in settled:
        by_size.setdefault(_size(part), []).append(part)
    for size in sorted(by_size):
        alike = sorted(by_size[size], key=lambda part: part.count)
        wanted = FAN if size < _LAST else 2
        fitting = sum(total <= ROWS for total in accumulate(part.count for part in alike))
        chosen = alike[: min(wanted, fitting)]
        if len(alike) >= wanted and len(chosen) > 1:
            return chosen
    return []


def rows_of(parts: Sequence[Part]) -> int:
    """Return how many rows would be merged."""
    return sum(part.count for part in parts)


def merged(parts: Sequence[Part]) -> Segment:
    """Return one segment of the live rows of some parts, in their order."""
    return merge([(part.segment, part.alive) for part in parts])


def replaced(now: Sequence[Part], sources: Sequence[Part], segment: Segment) -> list[Part] | None:
    """Return the parts with a merged one in the place of its sources; None when these are not there any more.

    Without a row that is alive it is left out.

    Parameters
    ----------
    now : sequence of Part
        What there is now: rows may have died meanwhile.
    sources : sequence of Part
        What was merged.
    segment : Segment
        What became of it.
    """
    current = {id(part.segment): part for part in now}
    if any(id(part.segment) not in current for part in sources):
        return None
    alive = np.concatenate([current[id(part.segment)].alive[np.flatnonzero(part.alive)] for part in sources])
    gone = {id(part.segment) for part in sources}
    at = min(number for number, part in enumerate(now) if id(part.segment) in gone)
    kept = [part for part in now if id(part.segment) not in gone]
    if alive.any():
        kept[at:at] = [Part(segment, alive)]
    return kept


def _size(part: Part) -> int:
    """Return 0 to 4: up to 32 rows, 256, 2,048, 16,384, or more."""
    return next(size for size in range(_LAST + 1) if part.count <= TAIL * FAN**size or size == _LAST)


_LAST = 4
