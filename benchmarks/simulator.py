"""Worlds of users whose tastes are known: how near do feeds and searches come to the best that there is?

Each ranking serves the same users in a store of its own, which learns only from what it showed. `--choose`
compares weights of `for_you` in other worlds than those that are reported.

python -m benchmarks.simulator
python -m benchmarks.simulator --choose
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

from benchmarks import world as worlds
from benchmarks.environment import RESULTS, environment, load
from benchmarks.loops import FAINT, Store, System, bounds, run
from benchmarks.rivals import Factors, Regression, Together
from benchmarks.world import FADING, World
from germane import Profile
from germane.model.builtin import COLD_START, FOR_YOU

SEEDS, TO_CHOOSE = range(1, 9), range(101, 105)
"""Of the worlds that are reported, and of those in which weights are chosen; every second of them fades."""
PROCESSES = 2
DIALS = (0.0, 0.1, 0.3, 0.6, 1.0)

WEIGHTS = [
    (0.4, 0.3, 0.03, 48, 0.5),
    (0.4, 0.3, 0.2, 48, 0.0),
    (0.4, 0.3, 0.2, 48, 0.5),
    (0.4, 0.1, 0.2, 48, 0.5),
    (0.4, 0.1, 0.4, 168, 0.0),
    (0.4, 0.1, 0.4, 168, 0.2),
    (0.4, 0.1, 0.4, 168, 0.5),
    (0.8, 0.1, 0.4, 168, 0.5),
]
"""Of preference, engagement, recency, its half-life in hours, and again; affinity stands at 0.3."""
CHOSEN = WEIGHTS[4]
"""What was best in the worlds to choose by."""

Make = Callable[[World], System]


def profile(called: str, boosts: Iterable[Any], exploration: float = FOR_YOU.exploration) -> Profile:
    """Return a profile that differs from `for_you` in what is given."""
    return Profile(called, candidates=FOR_YOU.candidates, boosts=list(boosts), exploration=exploration)


def weighted(preference: float, engagement: float, recency: float, hours: int, again: float) -> Profile:
    """Return `for_you` with other weights."""
    given = {
        "preference": preference,
        "saturate(3)(engagement)": engagement,
        f"recency.{hours}h": recency,
        "affinity": 0.3,
        "saturate(1)(again)": again,
    }
    return profile("weighted", [f"{weight} {term}" for term, weight in given.items() if weight])


def term(boost: object) -> str:
    """Return the term of a boost.

    Examples
    --------
    >>> term("0.3 saturate(3)(engagement)")
    'engagement'
    """
    return str(re.findall(r"[a-z][a-z0-9_.]*", str(boost))[-1])


COLD = profile("cold_start", COLD_START.boosts)
STORES: dict[str, str | Profile] = {
    "newest": "new",
    "most liked": Profile("most_liked_ever", boosts=["like.count.all"]),
    "engagement": Profile("decayed", boosts=["engagement"]),
    "for_you without history": COLD,
    "preference alone": profile("preferred", ["preference"]),
    "for_you, no exploration": profile("no_exploration", FOR_YOU.boosts, exploration=0.0),
    **{
        f"for_you, no {term(left_out)}": profile(
            "ablated", [boost for boost in FOR_YOU.boosts if boost is not left_out]
        )
        for left_out in FOR_YOU.boosts
    },
}
FEEDS: dict[str, Make] = {
    "for_you": lambda world: Store(world, "for_you", cold=COLD),
    **{called: lambda world, of=of: Store(world, of) for called, of in STORES.items()},  # type: ignore[misc]
    "for_you, other weights": lambda world: Store(world, weighted(*CHOSEN)),
    "for_you, skips count less": lambda world: Store(world, "for_you", signals=FAINT),
    "ALS": Factors,
    "item-item": Together,
    "regression": Regression,
}
SEARCHES: dict[str, Make] = {
    **{f"dial {dial:g}": lambda world, dial=dial: Store(world, "search", dial) for dial in DIALS},  # type: ignore[misc]
    "for_you, dial 0.3": lambda world: Store(world, "for_you", 0.3),
}


def drawn(seed: int) -> World:
    """Return the world of a seed; in the even ones what is new is liked better."""
    return World.drawn(seed, 0.0 if seed % 2 else FADING)


def measured(job: tuple[int, str, str]) -> tuple[int, str, str, dict[str, Any]]:
    """Return what became of one system in one world."""
    seed, part, called = job
    world = drawn(seed)
    if part == "bounds":
        found = bounds(world, is_search=called == "searches")
        return *job, {of: asdict(made) for of, made in found.items()}
    if part == "weights":
        return *job, asdict(run(world, Store(world, weighted(*WEIGHTS[int(called)]))))
    system = (FEEDS if part == "feeds" else SEARCHES)[called](world)
    told: dict[str, Any] = asdict(run(world, system, is_search=part == "searches"))
    if isinstance(system, Store) and system.first_pages:
        told["first_pages_as_without_history"] = [sum(system.first_pages), len(system.first_pages)]
    return *job, told


def all_measured(seeds: range, parts: dict[str, Iterable[str]]) -> list[dict[str, Any]]:
    """Return what became of all systems, world by world."""
    jobs = [(seed, part, called) for seed in seeds for part, names in parts.items() for called in names]
    began = time.perf_counter()
    made = {seed: {part: dict[str, Any]() for part in parts} for seed in seeds}
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small, and both cores are taken
    with get_context("spawn").Pool(PROCESSES) as pool:
        for done, (seed, part, called, found) in enumerate(pool.imap(measured, jobs), 1):
            made[seed][part][called] = found
            print(f"\r{done} of {len(jobs)} in {time.perf_counter() - began:.0f} s", end="", flush=True)
    print()
    return [{"seed": seed, "fading": drawn(seed).fading, **of} for seed, of in made.items()]


def save(called: str, found: dict[str, Any]) -> None:
    """Write results, each list of numbers in one line."""
    text = json.dumps(found, indent=1, default=str)
    text = re.sub(r"(\d+\.\d{4})\d+", r"\1", text)
    text = re.sub(r"\[[-\d.,\s]*\]", lambda match: re.sub(r"\s+", " ", match[0]), text)
    path = RESULTS / f"{called}.json"
    path.write_text(text + "\n", encoding="utf-8")
    print(f"written to {path}")


def main() -> None:
    """Run every ranking in every world."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulator", description=__doc__)
    parser.add_argument("--choose", action="store_true", help="compare weights of for_you instead")
    given = parser.parse_args()
    busy = load()
    settings: dict[str, Any] = {
        "users": worlds.USERS,
        "newcomers": worlds.NEWCOMERS,
        "rounds": worlds.ROUNDS,
        "change": worlds.CHANGE,
        "arrival": worlds.ARRIVAL,
        "items": [worlds.AT_START, worlds.A_ROUND],
        "weights": [list(each) for each in (WEIGHTS if given.choose else [CHOSEN])],
    }
    parts: dict[str, Iterable[str]]
    if given.choose:
        seeds, parts = TO_CHOOSE, {"weights": [str(number) for number in range(len(WEIGHTS))]}
    else:
        seeds, parts = SEEDS, {"feeds": FEEDS, "searches": SEARCHES}
    found = all_measured(seeds, {"bounds": ("feeds", "searches"), **parts})
    where = environment("implicit", "scipy", load_before=busy)
    save(
        "simulator-weights" if given.choose else "simulator",
        {"environment": where, "settings": settings, "worlds": found},
    )


if __name__ == "__main__":
    main()
