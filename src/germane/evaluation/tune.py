"""Tune: weights that would have been worth more, chosen on one slice of a log and judged on a later one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from germane.database import Database
from germane.evaluation.interval import Interval, interval
from germane.evaluation.metrics import NAMES
from germane.evaluation.probe import LISTED, probe, worth
from germane.evaluation.replay import Progress, chosen, replayed
from germane.evaluation.story import Story
from germane.model.builtin import FOR_YOU, built_in
from germane.model.errors import InvalidArgument
from germane.model.profiles import Profile, Weighted
from germane.model.values import check_count
from germane.people.pairs import FloatArray

STEPS = (0.0, 0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
"""What each weight is tried to be multiplied by."""
ROUNDS = 4


@dataclass(frozen=True)
class Tuned:
    """Weights that are proposed for a profile; nothing is changed by them.

    Parameters
    ----------
    profile : Profile
        As it is proposed: the next version, or under another name where it is built in.
    metric : str
    k : int
    validation : (float, float)
        What the profile and the proposal are worth where the weights were chosen.
    cases : int
        On which they are judged, all later.
    before, after : float
        What the profile and the proposal are worth there.
    gain : Interval
        The difference there, with its 95 % interval.
    """

    profile: Profile
    metric: str
    k: int
    validation: tuple[float, float]
    cases: int
    before: float
    after: float
    gain: Interval

    @property
    def is_better(self) -> bool:
        """Whether the whole interval of the gain lies above zero."""
        return self.gain.low > 0

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return {
            "profile": self.profile.declaration(),
            "metric": self.metric,
            "k": self.k,
            "validation": {"before": self.validation[0], "after": self.validation[1]},
            "held_out": {
                "cases": self.cases,
                "before": self.before,
                "after": self.after,
                "gain": self.gain._asdict(),
                "is_better": self.is_better,
            },
        }


def tune(
    story: Story | Database,
    profile: str | Profile,
    *,
    metric: str = "ndcg",
    at: int = 10,
    split: float = 0.6,
    held_out: float = 0.8,
    limit: int | None = 500,
    seed: int = 0,
    progress: Progress | None = None,
) -> Tuned:
    """Propose weights for a profile; they are written nowhere.

    Each weight in turn is multiplied by `STEPS`, and what is worth most on the validation slice is kept,
    until nothing gains. Then profile and proposal are replayed over the later slice, which had no part in it.
    For ``for_you`` only users with history are asked: without any it is another formula, which a declared
    profile does not have.

    Parameters
    ----------
    story : Story or Database
    profile : str or Profile
        With boosts or penalties.
    metric : {"ndcg", "hr", "recall", "mrr", "first"}
    at : int
        How many items a list holds.
    split, held_out : float
        The validation slice lies between these shares of the events, the later slice after both.
    limit : int, optional
        How many cases of each slice, drawn by the seed.
    seed : int
    progress : callable, optional
        Called with cases done and cases in all, for one slice after the other.

    Raises
    ------
    InvalidArgument
        The profile has no weights, or an argument cannot be used.
    """
    if isinstance(story, Database):
        story = Story.of_store(story)
    if metric not in NAMES:
        raise InvalidArgument("metric", f"must be one of {', '.join(NAMES)}, not {metric!r}")
    check_count(at, "at", 1, LISTED)
    given = _profile(story, profile)
    least = 1 if given is FOR_YOU else 0
    slice_ = chosen(story, split, held_out, limit, seed, least=least)
    probed = probe(story, given, slice_, progress)
    weights = np.array([*(each.weight for each in given.boosts), *(-each.weight for each in given.penalties)])
    best, before = weights, worth(probed, weights, at, metric)
    after = before
    for _ in range(ROUNDS):
        gained = False
        for number in range(len(weights)):
            for step in STEPS:
                tried = best.copy()
                tried[number] *= step
                found = worth(probed, tried, at, metric)
                if found > after:
                    best, after, gained = tried, found, True
        if not gained:
            break
    proposal = _with(given, best)
    plain = msgspec.structs.replace(given, name="before")
    judged = chosen(story, held_out, 1.0, limit, seed, least=least)
    later = replayed(story, [plain, proposal], judged, at, progress=progress)
    ours, theirs = later.measured[proposal.name].by_case[metric], later.measured["before"].by_case[metric]
    return Tuned(
        proposal, metric, at, (before, after), len(later.cases), float(theirs.mean()), float(ours.mean()),
        interval(ours - theirs),
    )  # fmt: skip


def _profile(story: Story, profile: str | Profile) -> Profile:
    if isinstance(profile, Profile):
        found: Profile | None = profile
    else:
        declared = [each for each in story.schema.profiles if profile in (each.name, each.label)]
        found = built_in(profile) or max(declared, key=lambda each: each.version, default=None)
    if found is None or not (found.boosts or found.penalties):
        raise InvalidArgument("profile", f"{profile!r} is no profile with weights: there is nothing to tune")
    return found


def _with(given: Profile, weights: FloatArray) -> Profile:
    count = len(given.boosts)
    declared = built_in(given.name) is None
    rounded = [float(f"{weight:.4g}") for weight in np.abs(weights).tolist()]
    return msgspec.structs.replace(
        given,
        name=given.name if declared else f"{given.name}_tuned",
        version=given.version + 1 if declared else 1,
        boosts=[Weighted(one.form, w) for one, w in zip(given.boosts, rounded[:count], strict=True)],
        penalties=[Weighted(one.form, w) for one, w in zip(given.penalties, rounded[count:], strict=True)],
    )
