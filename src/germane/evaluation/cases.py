"""Cases: the moments of a story at which recommenders are asked, and what people then did."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from germane.evaluation.story import Story
from germane.model.times import SECOND, Micros

GAP = 30 * 60 * SECOND
"""Time without an event of theirs after which a user's next one begins another case."""


class Case(NamedTuple):
    """A user comes, and does something with some items.

    Parameters
    ----------
    at : int
        When it begins: what was known before is what may be used.
    user : str
    wanted : tuple of str
        The items, each once, in the order in which they were come to.
    upto : int
        How many events of the story came before.
    before : int
        How many of them were the user's own.
    last : str or None
        The item of the latest of these.
    """

    at: Micros
    user: str
    wanted: tuple[str, ...]
    upto: int
    before: int
    last: str | None


def cases(story: Story, gap: Micros = GAP, names: frozenset[str] | None = None) -> list[Case]:
    """Return all cases of a story in order of time.

    A case is a run of a user's events with no more than `gap` between one and the next, and what is wanted
    are the items of those whose signal has polarity +1, each once. Events of nobody begin none.

    Parameters
    ----------
    story : Story
    gap : int
        Microseconds.
    names : frozenset of str, optional
        The signals that say what is wanted; without them all that the schema has at polarity +1.

    Examples
    --------
    >>> columns = {"name": ["buy"] * 3, "item": ["a", "b", "a"], "at": [0.0, 60.0, 7200.0], "user": ["u"] * 3}
    >>> [(case.wanted, case.before) for case in cases(Story.of_rows(columns))]
    [(('a', 'b'), 0), (('a',), 2)]
    """
    wanted = _wanted(story, names)
    firsts = np.searchsorted(story.at, story.at, side="left").tolist()
    begun: dict[str, _Begun] = {}
    made: list[Case] = []
    for place, (user, item, at) in enumerate(zip(story.users, story.on, story.at.tolist(), strict=True)):
        if user is None:
            continue
        one = begun.setdefault(user, _Begun())
        if one.count and at - one.latest > gap:
            one.end(made, user)
        if one.upto is None:
            one.at, one.upto, one.before, one.last = at, firsts[place], one.count, one.item
        if story.names[place] in wanted:
            one.wanted.append(item)
        one.count += 1
        one.latest, one.item = at, item
    for user, one in begun.items():
        one.end(made, user)
    made.sort(key=lambda case: (case.at, case.user))
    return made


def events(story: Story, names: frozenset[str] | None = None) -> list[Case]:
    """Return a case for every event that says what is wanted, with all that the log held before it known.

    So the items that a user came to earlier in the same visit are known too, in the order of the log.
    """
    wanted = _wanted(story, names)
    before: Counter[str] = Counter()
    last: dict[str, str] = {}
    made: list[Case] = []
    for place, (user, item, at) in enumerate(zip(story.users, story.on, story.at.tolist(), strict=True)):
        if user is None:
            continue
        if story.names[place] in wanted:
            made.append(Case(at, user, (item,), place, before[user], last.get(user)))
        before[user] += 1
        last[user] = item
    return made


def steps(story: Story, names: frozenset[str] | None = None) -> list[Case]:
    """Return of all `events` those on another item than the user's one before: what goes with what."""
    return [case for case in events(story, names) if case.last not in (None, case.wanted[0])]


def sample(found: list[Case], count: int | None, seed: int = 0) -> list[Case]:
    """Return some of the cases, drawn by a seed, in order of time."""
    if count is None or count >= len(found):
        return found
    chosen = np.random.default_rng(seed).choice(len(found), size=count, replace=False)
    return [found[place] for place in np.sort(chosen).tolist()]


def _wanted(story: Story, names: frozenset[str] | None) -> frozenset[str]:
    if names is not None:
        return names
    return frozenset(signal.name for signal in story.schema.signals if signal.polarity > 0)


class _Begun:
    """A user's case that has not ended, and what they did so far."""

    def __init__(self) -> None:
        self.at = self.latest = 0
        self.upto: int | None = None
        self.count = self.before = 0
        self.item: str | None = None
        self.last: str | None = None
        self.wanted: list[str] = []

    def end(self, made: list[Case], user: str) -> None:
        if self.wanted and self.upto is not None:
            wanted = tuple(dict.fromkeys(self.wanted))
            made.append(Case(self.at, user, wanted, self.upto, self.before, self.last))
        self.upto, self.wanted = None, []
