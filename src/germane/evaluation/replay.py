"""Replay: a story told again, and at each case what would have been shown from what was known then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from germane.database import Database, open
from germane.evaluation.cases import Case, cases, events, sample, steps
from germane.evaluation.interval import interval
from germane.evaluation.metrics import Measured, Tally, events_to_adapt
from germane.evaluation.story import Related, Story
from germane.model.errors import InvalidArgument
from germane.model.people import OF_ITEMS
from germane.model.profiles import Profile
from germane.model.schema import Schema
from germane.model.times import SECOND
from germane.model.values import check_choice, check_count, check_share

Progress = Callable[[int, int], None]
_CASES: dict[str, Callable[[Story], list[Case]]] = {"visit": cases, "event": events, "step": steps}
RELATED = "related"
"""Asked for by this name alone, the items that go with the user's latest one are meant."""


class Recommender(Protocol):
    """What can be asked what to show; a profile is one, and so is whatever is to be compared with it."""

    def learn(self, story: Story, first: int, upto: int) -> None:
        """Take in the events of a story from one place up to another."""

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        """Return the best k items for a case, from what was learned."""


@dataclass(frozen=True)
class Replay:
    """What each recommender would have shown.

    Parameters
    ----------
    k : int
        How many items each was asked for.
    cases : tuple of Case
    measured : dict of str to Measured
        By the name of the recommender, in the order in which they were given.
    """

    k: int
    cases: tuple[Case, ...]
    measured: dict[str, Measured]

    @property
    def baseline(self) -> str:
        """The first of them, against which the others are held."""
        return next(iter(self.measured))

    def plain(self) -> dict[str, Any]:
        """Return the figures as JSON takes them: each against the first, with 95 % intervals."""
        first = self.measured[self.baseline]
        profiles: dict[str, Any] = {}
        for name, each in self.measured.items():
            profiles[name] = each.plain()
            if name != self.baseline:
                gain = interval(each.by_case["ndcg"] - first.by_case["ndcg"])
                profiles[name] |= {
                    "ndcg_gain": gain._asdict(),
                    "events_to_adapt": events_to_adapt(each, first),
                }
        return {"k": self.k, "cases": len(self.cases), "baseline": self.baseline, "profiles": profiles}


def replay(
    story: Story | Database,
    profiles: Sequence[str | Profile] = ("for_you",),
    *,
    at: int = 10,
    split: float = 0.8,
    until: float = 1.0,
    limit: int | None = 1_000,
    seed: int = 0,
    each: str = "visit",
    others: Mapping[str, Recommender] | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Tell a log again, forward in time, and ask at each case what profiles would have shown.

    A case is a user who comes and does something; see `cases`. A store in memory takes in every event before
    it, its clock stands at the case's time, and the real `retrieve` is asked, over the full catalogue as it
    was then. The same log gives the same figures.

    Parameters
    ----------
    story : Story or Database
    profiles : sequence of (str or Profile)
        Names, or profiles that the store does not declare; ``related`` alone starts from the user's latest
        item. The first is what the others are compared with.
    at : int
        How many items are asked for, 1 to 1000; to 999 where one is left out.
    split, until : float
        The cases begin after this share of the events, and end with that one.
    limit : int, optional
        How many cases, drawn evenly by the seed; None asks all.
    seed : int
    each : {"visit", "event", "step"}
        Whether a case is a user's whole visit, or each event with all that the log held before it known, or
        each event on another item than the user's one before. That item is then left out of all lists.
    others : mapping of str to Recommender, optional
        What else to ask, by name.
    progress : callable, optional
        Called with cases done and cases in all.

    Raises
    ------
    InvalidArgument
        There is nothing to ask, or an argument cannot be used.

    Examples
    --------
    >>> columns = {"name": ["view"] * 6, "item": list("ababab"), "user": list("uuvvww"),
    ...            "at": [day * 86400.0 for day in range(6)]}
    >>> found = replay(Story.of_rows(columns), ["most_viewed"], split=0.5)
    >>> len(found.cases), found.measured["most_viewed"].mean("hr")
    (3, 1.0)
    """
    if isinstance(story, Database):
        story = Story.of_store(story)
    check_count(at, "at", 1, 999 if each == "step" else 1_000)
    return replayed(
        story, profiles, chosen(story, split, until, limit, seed, each), at, each, others, progress
    )


def replayed(
    story: Story,
    profiles: Sequence[str | Profile],
    found: list[Case],
    at: int,
    each: str = "visit",
    others: Mapping[str, Recommender] | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Ask at given cases, in order of time."""
    asked: dict[str, Recommender] = dict(others or {})
    if profiles:
        store = Store(story, [each for each in profiles if isinstance(each, Profile)])
        labels = [each.name if isinstance(each, Profile) else each for each in profiles]
        asked = {label: _Asked(store, label) for label in labels} | asked
    if not asked:
        raise InvalidArgument("profiles", "is empty: name at least one")
    creators = {str(item.id): item.creator for item in story.items if item.creator is not None}
    tallies = {name: Tally(at, creators) for name in asked}
    counts: Counter[str] = Counter()
    known = 0
    for number, case in enumerate(found):
        if progress is not None:
            progress(number, len(found))
        counts.update(story.on[known : case.upto])
        for name, one in asked.items():
            one.learn(story, known, case.upto)
            left_out = case.last if each == "step" else None
            listed = one.recommend(case, at + (left_out is not None))
            tallies[name].add([id for id in listed if id != left_out], case, counts)
        known = case.upto
    there = int(np.count_nonzero(story.since() <= found[-1].at))
    return Replay(at, tuple(found), {name: tally.measured(there) for name, tally in tallies.items()})


def chosen(
    story: Story,
    split: float,
    until: float,
    limit: int | None,
    seed: int,
    each: str = "visit",
    least: int = 0,
) -> list[Case]:
    """Return cases of a slice of a story, all or some: of users with at least so many events before."""
    check_choice(each, "each", tuple(_CASES))
    if check_share(split, "split", 0.0) >= check_share(until, "until", 1.0):
        raise InvalidArgument("split", f"must be a share below {until}, not {split}")
    check_count(seed, "seed", 0)
    if limit is not None:
        check_count(limit, "limit", 1)
    if not len(story):
        raise InvalidArgument(
            "story", "holds no event on an item that is there: record signals, and put the items they are on"
        )
    first, last = (int(share * len(story)) for share in (split, until))
    found = [
        case for case in _CASES[each](story) if case.before >= least and first <= case.upto < max(last, 1)
    ]
    if not found:
        raise InvalidArgument(
            "story",
            "nobody comes after the split: a case is of a user, and begins with a visit, 30 minutes after"
            " their last event; a case for each event needs no visits",
        )
    return sample(found, limit, seed)


class Store:
    """A store in memory that comes to know a story, shared by all profiles."""

    def __init__(self, story: Story, profiles: Sequence[Profile]) -> None:
        names = {profile.name for profile in profiles}
        kept = [each for each in story.schema.profiles if each.name not in names]
        self._now = float(story.at[0]) / SECOND if len(story) else 0.0
        schema = Schema(
            story.schema.signals,
            [*kept, *profiles],
            lang=story.schema.lang,
            unknown_items="accept",
            impressions=False,
        )
        self.database = open(None, schema, clock=lambda: self._now)
        since = story.since()
        order = np.argsort(since, kind="stable")
        self._items = [story.items[place] for place in order.tolist()]
        self._since = since[order]
        self._by_id = {str(item.id): item for item in story.items}
        self._there: set[str] = set()
        self._due = self._related = self._known = 0
        self._waiting: list[Related] = []

    def move(self, story: Story, upto: int, case: Case) -> None:
        """Take in what came before a case, and let it be its time."""
        self._now = case.at / SECOND
        due = int(np.searchsorted(self._since, case.at, side="left"))
        new = {str(item.id): item for item in self._items[self._due : due]}
        # Of what is there from this very moment, only what an event before the case was on.
        new |= {id: self._by_id[id] for id in story.on[self._known : upto] if id in self._by_id}
        self._due = max(self._due, due)
        self.database.put_many(item for id, item in new.items() if id not in self._there)
        self._there |= new.keys()
        self._relate(story, case)
        if upto > self._known:
            place = slice(self._known, upto)
            self.database.signal_many(
                {
                    "name": story.names[place],
                    "item": story.on[place],
                    "user": story.users[place],
                    "weight": story.weights[place],
                    "at": story.at[place] / SECOND,
                }
            )
            self._known = upto

    def _relate(self, story: Story, case: Case) -> None:
        """Let relations stand, or end, as they did before a case; one to an item that comes later waits."""
        due, self._waiting = self._waiting, []
        while self._related < len(story.relations) and story.relations[self._related].at < case.at:
            due.append(story.relations[self._related])
            self._related += 1
        for one in due:
            if one.relation in OF_ITEMS and one.target not in self._there:
                self._waiting.append(one)
            else:
                change = self.database.relate if one.stands else self.database.unrelate
                change(one.user, one.relation, one.target)


class _Asked:
    """A profile of the store, as one of those who are asked."""

    def __init__(self, store: Store, profile: str) -> None:
        self._store = store
        self._profile = profile
        self._story: Story | None = None
        self._upto = 0

    def learn(self, story: Story, first: int, upto: int) -> None:
        self._story, self._upto = story, upto

    def recommend(self, case: Case, k: int) -> list[str]:
        assert self._story is not None
        self._store.move(self._story, self._upto, case)
        profile = self._profile
        if profile == RELATED:
            if case.last is None:
                return []
            profile = f"{RELATED}:{case.last}"
        page = self._store.database.retrieve(profile, user=case.user, limit=k)
        return [str(result.id) for result in page.items]
