"""What `benchmarks.retrieve` gives every system: items, signals that were there before, and events."""

from __future__ import annotations

from typing import Any

import numpy as np

SIGNALS = ("view", "like", "share", "save", "completion")
WEIGHTS = (1.0, 3.0, 5.0, 2.0, 1.0)
HALF_LIFE = 7 * 86_400.0
"""Seconds, of every signal."""
SHAPES = ("heavy-tailed", "log-normal")

Array = np.ndarray[Any, Any]


def ids(items: int) -> list[str]:
    """Return the ids of so many items.

    Examples
    --------
    >>> ids(2)
    ['i0000000', 'i0000001']
    """
    return [f"i{number:07}" for number in range(items)]


def before(shape: str, signal: str, items: int) -> tuple[Array, Array]:
    """Return what was signalled before: numbers of items, and the weight of an event on each.

    Heavy-tailed is a Zipf law (exponent 1.2) over items in an order of its own for each signal, an event for
    each item there is; log-normal is one event of such a weight on every item.

    Examples
    --------
    >>> places, weights = before("log-normal", "view", 3)
    >>> places.tolist(), len(weights)
    ([0, 1, 2], 3)
    """
    random = np.random.default_rng([SHAPES.index(shape), SIGNALS.index(signal)])
    if shape == "log-normal":
        return np.arange(items), random.lognormal(0.0, 1.0, items)
    return random.permutation(items)[random.zipf(1.2, items) % items], np.ones(items)


def events(count: int, items: int) -> list[tuple[str, int]]:
    """Return single events that follow, each a signal and the number of an item.

    Examples
    --------
    >>> len(events(3, 10))
    3
    """
    random = np.random.default_rng(5)
    names = random.integers(0, len(SIGNALS), count).tolist()
    return [(SIGNALS[n], i) for n, i in zip(names, random.integers(0, items, count).tolist(), strict=True)]
