"""The context of a query: what a session says to ranking at one moment."""

from __future__ import annotations

from typing import NamedTuple

from germane.model.sessions import SessionSummary
from germane.signals.decay import FloatArray, IntArray


class Context(NamedTuple):
    """A session at one moment: of an archive always that of its end.

    Parameters
    ----------
    id : str
    user : str or None
    keywords : tuple of str
        Lowercased, each once, in the order in which they first came.
    texts : tuple of str
        The annotations.
    ages : tuple of float
        The weight of each annotation: 1, or halved with every half-life by which the last one is later. A
        factor that all have in common cancels, so that it does not change with time.
    reward_velocity : float
        0 at least.
    items : int64[n]
        Ordinals of the items that were signalled on, ascending.
    net : float64[n]
        The net weight of each.
    summary : SessionSummary
    """

    id: str
    user: str | None
    keywords: tuple[str, ...]
    texts: tuple[str, ...]
    ages: tuple[float, ...]
    reward_velocity: float
    items: IntArray
    net: FloatArray
    summary: SessionSummary


def keywords_of(text: str) -> tuple[str, ...]:
    """Return the keywords of a text: split at white space, lowercased, each once.

    Examples
    --------
    >>> keywords_of("Prefers  window seats, window!")
    ('prefers', 'window', 'seats,', 'window!')
    """
    return tuple(dict.fromkeys(word.lower() for word in text.split()))
