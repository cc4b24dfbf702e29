"""The boost of a session: what an agent noted and did lately, as numbers of items."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from germane.knowledge.catalog import Catalog
from germane.knowledge.columns import Column
from germane.knowledge.hints import Hint, Hints, Weights, words_of
from germane.model.errors import InvalidArgument, quoted
from germane.model.pages import Degradation, Reason
from germane.model.weights import SessionWeights
from germane.ranking.behaviour.readings import Reading, Scores, Zero
from germane.sessions.context import Context, keywords_of
from germane.signals.decay import BLOCK, FloatArray, IntArray

HINT, VELOCITY, ENTITY = "session.hint", "session.velocity", "session.entity"
"""What the three terms are called in the contributions."""
TERMS = (HINT, VELOCITY, ENTITY)
SHAPES = 256
"""Sessions of which it is kept what their items' creators made."""
SPREAD = "spread"
"""The scale that makes the boost as large as what it is added to."""
OTHERS = 0.5
"""What the other items of a creator count for one."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What both kinds of requests say of whom they are for.

    Parameters
    ----------
    user : str or None
    session : str or None
    session_weights : SessionWeights
    """

    user: str | None = None
    session: str | None = None
    session_weights: SessionWeights = SessionWeights()


Request = TypeVar("Request", bound=Asked)


def resolved(request: Request, find: Callable[[str], Context | None]) -> tuple[Request, Context | None]:
    """Return a request for the user of its session, and the session; None if there is none (any more).

    Raises
    ------
    InvalidArgument
        It is for another user than the session.
    """
    context = None if request.session is None else find(request.session)
    if context is None or context.user is None:
        return request, context
    if request.user is not None and request.user != context.user:
        raise InvalidArgument(
            "user",
            f"{quoted(request.user)} is not the session's, which is {quoted(context.user)}: leave it out",
        )
    return msgspec.structs.replace(request, user=context.user), context


def missing(request: Asked, context: Context | None) -> tuple[Degradation, ...]:
    """Return what a page has to do without: the session, if it is not there."""
    if request.session is None or context is not None:
        return ()
    return (
        Degradation(
            "session_missing",
            "there is no such session, or its archive has expired: ranked without it. Start another one",
        ),
    )


class Boost:
    """What a session adds to the ranking of items.

    Parameters
    ----------
    context : Context
    weights : SessionWeights
    hints : callable
        Gives the texts in which keywords are looked for, when there are any.
    catalog : Catalog
    size : int
        How many ordinals there are, in whole blocks.
    lang : str
        The store's.
    """

    def __init__(
        self,
        context: Context,
        weights: SessionWeights,
        hints: Callable[[], Hints],
        catalog: Catalog,
        size: int,
        lang: str,
    ) -> None:
        self.context = context
        self.weights = weights
        self._hints = hints
        self._catalog = catalog
        self._size = size
        self._lang = lang

    @property
    def velocity(self) -> float:
        """The reward velocity, saturated: from 0 to below 1, the same for every item."""
        return self.context.reward_velocity / (self.context.reward_velocity + 1.0)

    def scale(self, spread: float) -> float:
        """Return what the terms are multiplied by, given the spread of what they are added to."""
        if isinstance(self.weights.scale, float):
            return self.weights.scale
        return spread if spread > 0 else 1.0

    def factors(self, scale: float) -> tuple[float, float, float]:
        """Return what hint, velocity and entity are multiplied by."""
        weights = self.weights
        return scale * weights.hint, scale * weights.velocity, scale * weights.entity

    def reading(self, of: str) -> Reading:
        """Return a term of every item: hint, velocity or entity."""
        blocks = self._size // BLOCK
        if of == "hint":
            return Zero(blocks) if self._hint is None else Dense(self._hint)
        if of == "velocity":
            return Same(self.velocity, blocks)
        items, values = self._entity
        return Scores(items, values, blocks) if len(items) else Zero(blocks)

    def at(self, ordinals: IntArray, scale: float) -> list[tuple[str, FloatArray]]:
        """Return the three contributions to some items, in order."""
        return [
            (name, factor * self.reading(name.partition(".")[2]).at(ordinals) + 0.0)
            for name, factor in zip(TERMS, self.factors(scale), strict=True)
        ]

    def matched(self, ordinal: int) -> tuple[str, ...]:
        """Return the keywords that match an item."""
        found = []
        for keyword, _ in self._keywords:
            matching = self._hints().matching(keyword, self._is_whole)
            place = int(matching.searchsorted(ordinal))
            if place < len(matching) and matching[place] == ordinal:
                found.append(keyword)
        return tuple(found)

    def net(self, ordinal: int) -> float:
        """Return what the session did with an item and, by half, with others of its creator."""
        items, values = self._nets
        place = int(items.searchsorted(ordinal))
        return float(values[place]) if place < len(items) and items[place] == ordinal else 0.0

    @property
    def _is_whole(self) -> bool:
        return self.weights.keywords == "words"

    @cached_property
    def _keywords(self) -> Weights:
        context = self.context
        return _weighed(context.texts, context.ages, self._lang if self._is_whole else None)

    @cached_property
    def _hint(self) -> Hint | None:
        return self._hints().hint(self._keywords, self._size, self._is_whole) if self._keywords else None

    @cached_property
    def _entity(self) -> tuple[IntArray, FloatArray]:
        items, values = self._nets
        return items, values / (1.0 + np.abs(values))

    @cached_property
    def _nets(self) -> tuple[IntArray, FloatArray]:
        """The items of which the session says anything, ascending, and what."""
        items, net = self.context.items, self.context.net
        inside = items < self._size
        items, net = items[inside], net[inside]
        column = self._catalog.columns.get("creator")
        if column is None or not len(items):
            return items, net
        shape = _members(column).shape(column, items)
        if shape is None:
            return items, net
        weights = net[shape.theirs]
        others = np.repeat(OTHERS * np.add.reduceat(weights, shape.starts), shape.counts)
        values = np.append(net[shape.rest], others)[shape.ascending]
        values[shape.places] = weights + OTHERS * _of_others(weights, shape.starts)
        return shape.found, values


def _of_others(weights: FloatArray, starts: IntArray) -> FloatArray:
    """Return for each number the sum of the others of its group; each group begins at a start."""
    sums = np.zeros(len(weights))
    ends = np.append(starts[1:], len(weights))
    for first, last in zip(starts.tolist(), ends.tolist(), strict=True):
        if last - first > 1:
            # By sums from both sides, so that nothing is taken off again.
            group = weights[first:last]
            sums[first + 1 : last] = np.cumsum(group)[:-1]
            sums[first : last - 1] += np.cumsum(group[::-1])[::-1][1:]
    return sums


class _Shape(NamedTuple):
    """Where what a session did with some items counts, whatever it was.

    Parameters
    ----------
    theirs : int64[n]
        Places of the items that are live and somebody's, by creator.
    rest : int64[m]
        Places of the others.
    starts : int64[creators]
        Where each creator begins among `theirs`.
    counts : int64[creators]
        How many items each has.
    found : int64[items]
        Ordinals of the rest and of all items of the creators, ascending.
    ascending : int64[items]
        Places of those, of the rest first and then by creator.
    places : int64[n]
        Where `theirs` are among them.
    """

    theirs: IntArray
    rest: IntArray
    starts: IntArray
    counts: IntArray
    found: IntArray
    ascending: IntArray
    places: IntArray


class _Members:
    """Items by creator, and the shapes that were asked for last."""

    def __init__(self, column: Column) -> None:
        order = np.argsort(column.bits, kind="stable")
        self._ordinals, self._creators = column.ordinals[order], column.bits[order]
        self._shapes: dict[bytes, _Shape | None] = {}
        self._turn = threading.Lock()

    def shape(self, column: Column, items: IntArray) -> _Shape | None:
        """Return the shape of some items, given ascending; None if none is live and somebody's."""
        key = items.tobytes()
        # Readers share it: one must not drop what another is about to return.
        with self._turn:
            if key not in self._shapes:
                while len(self._shapes) >= SHAPES:
                    del self._shapes[next(iter(self._shapes))]
                self._shapes[key] = self._made(column, items)
            return self._shapes[key]

    def _made(self, column: Column, items: IntArray) -> _Shape | None:
        found = column.ordinals.searchsorted(items)
        made = column.ordinals.take(found, mode="clip") == items
        if not made.any():
            return None
        theirs = np.flatnonzero(made)
        theirs = theirs[np.argsort(column.bits[found[theirs]], kind="stable")]
        creators = column.bits[found[theirs]]
        starts = np.flatnonzero(np.diff(creators, prepend=creators[0] - 1))
        first = self._creators.searchsorted(creators[starts])
        counts = self._creators.searchsorted(creators[starts], side="right") - first
        ends = np.cumsum(counts)
        members = self._ordinals[np.repeat(first - (ends - counts), counts) + np.arange(ends[-1])]
        rest = np.flatnonzero(~made)
        together = np.append(items[rest], members)
        ascending = np.argsort(together)
        together = together[ascending]
        places = together.searchsorted(items[theirs])
        return _Shape(theirs, rest, starts, counts, together, ascending, places)


def _members(column: Column) -> _Members:
    return column.kept("by creator", 0, lambda: _Members(column))


class Dense:
    """A reading of a number for each item.

    Parameters
    ----------
    hint : Hint
    """

    def __init__(self, hint: Hint) -> None:
        self._hint = hint

    @property
    def least(self) -> FloatArray:
        """Return the least by block."""
        return self._hint.extremes(BLOCK)[0]

    @property
    def greatest(self) -> FloatArray:
        """Return the greatest by block."""
        return self._hint.extremes(BLOCK)[1]

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return the numbers of some items."""
        return self._hint.values.take(ordinals)

    def within(self, blocks: IntArray) -> FloatArray:
        """Return the numbers of all items of some blocks."""
        return self._hint.values.reshape(-1, BLOCK)[blocks].ravel()


class Same:
    """A reading that is the same for every item.

    Parameters
    ----------
    value : float
    blocks : int
    """

    def __init__(self, value: float, blocks: int) -> None:
        self._value = value
        self._blocks = blocks

    @property
    def least(self) -> FloatArray:
        """Return it by block."""
        return np.full(self._blocks, self._value)

    greatest = least

    def at(self, ordinals: IntArray) -> FloatArray:
        """Return it for some items."""
        return np.full(len(ordinals), self._value)

    def within(self, blocks: IntArray) -> FloatArray:
        """Return it for all items of some blocks."""
        return np.full(len(blocks) * BLOCK, self._value)


@lru_cache(maxsize=1024)
def _weighed(texts: tuple[str, ...], ages: tuple[float, ...], lang: str | None) -> Weights:
    """Return the keywords of annotations, and the weight of each: that of its latest annotation."""
    weights: dict[str, float] = {}
    for text, age in zip(texts, ages, strict=True):
        for word in keywords_of(text) if lang is None else words_of(text, lang):
            weights[word] = max(weights.get(word, 0.0), age)
    return tuple(weights.items())


def reasons(named: dict[str, float], boost: Boost | None, ordinal: int) -> list[Reason]:
    """Return what the session has to do with the place of an item, given its contributions."""
    if HINT not in named:
        return []
    made = []
    if named[HINT] or named[VELOCITY]:
        detail: dict[str, Any] = {"contribution": named[HINT] + named[VELOCITY]}
        if boost is not None:
            detail["hint"] = float(boost.reading("hint").at(np.array([ordinal], np.int64))[0])
            detail["velocity"] = boost.velocity
            detail["keywords"] = boost.matched(ordinal)
        made.append(Reason("SessionContext", detail))
    if named[ENTITY]:
        e = {} if boost is None else {"e": boost.net(ordinal)}
        made.append(Reason("SessionEntity", {**e, "contribution": named[ENTITY]}))
    return made
