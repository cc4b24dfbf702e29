"""Maximal marginal relevance: the next of a page is good, and unlike what the page shows already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from germane.ranking.behaviour.operations import FloatArray
from germane.signals.decay import IntArray
from germane.vectors.cosine import cosines
from germane.vectors.matrix import Rows

TIMES = 10
"""How many times the items of a page are looked at to choose them."""


class Spread:
    """Takes from an order by ``balance * score - (1 - balance) * (greatest cosine to what is shown)``.

    The greatest cosine is 0 while nothing is shown, and to what has no vector. Of equal values the first of
    the order is taken. What is muted still comes after everything else.

    Parameters
    ----------
    balance : float
        Lambda: 1 leaves the order as it is, 0 looks at nothing but likeness.
    vectors : Rows
        Of the items.
    scores : callable
        Gives the score of each of some items, within 0 and 1.
    muted : int64[n]
        Ordinals.
    most : int
        How many of the order are looked at.

    References
    ----------
    J. Carbonell, J. Goldstein. *The Use of MMR, Diversity-Based Reranking for Reordering Documents and
    Producing Summaries.* SIGIR 1998.
    """

    def __init__(
        self,
        balance: float,
        vectors: Rows,
        scores: Callable[[IntArray], FloatArray],
        muted: IntArray,
        most: int,
    ) -> None:
        self._balance = balance
        self._vectors = vectors
        self._scores = scores
        self._muted = muted
        self.most = most

    def over(self, order: Iterable[int], shown: Sequence[int]) -> Iterator[int]:
        """Yield items of an order, each chosen by what is shown by then; beyond those it is the order's.

        Parameters
        ----------
        order : iterable of int
            Ordinals, the best first.
        shown : sequence of int
            Ordinals; it grows meanwhile.
        """
        rest = iter(order)
        pool = np.array(list(islice(rest, self.most)), np.int64)
        rows = self._vectors.rows(pool)
        has = rows >= 0
        matrix, norms = self._vectors.matrix[rows[has]], self._vectors.norms[rows[has]]
        likeness = np.zeros(len(pool))
        worth = self._balance * self._scores(pool) - 4.0 * np.isin(pool, self._muted)
        is_left = np.ones(len(pool), np.bool_)
        known = 0
        while is_left.any():
            for ordinal in shown[known:]:
                vector = self._vectors.vector(ordinal)
                alike = np.zeros(len(pool))
                if vector is not None:
                    alike[has] = cosines(matrix, norms, vector)
                likeness = np.maximum(likeness, alike) if known else alike
                known += 1
            value = np.where(is_left, worth - (1.0 - self._balance) * likeness, -np.inf)
            best = int(np.argmax(value))
            is_left[best] = False
            yield int(pool[best])
        yield from rest
