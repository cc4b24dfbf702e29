"""Exploration: where it shows what rank would not, who may be shown there, and how evenly it is drawn."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

import germane
from germane import Diversity, Item, Profile, Schema

from .closed_forms import DAY, HOUR, START, Clock

SHARES = ("0.1", "0.25", "0.29", "0.3", "0.5")
RANKED, YOUNG, BY_SOMEBODY, BY_NOBODY = 30, 12, 8, 5
ELIGIBLE = {f"young{n:02}" for n in range(YOUNG)} | {f"somebody{n:02}" for n in range(BY_SOMEBODY)}


def eligible(limit: int) -> set[str]:
    """Who may be explored on a page: what it shows by rank is not among them."""
    return ELIGIBLE | {f"ranked{n:02}" for n in range(limit, RANKED)}


def store() -> germane.Database:
    """Items that rank first; below them young ones, and old ones by somebody or by nobody."""
    profiles = [
        Profile(f"p{share.partition('.')[2]}", sort="meta.price", exploration=float(share))
        for share in SHARES
    ]
    db = germane.open(schema=Schema((), profiles), clock=Clock())
    old = START - 30 * DAY
    db.put_many(
        Item(id=f"ranked{n:02}", creator=f"r{n}", created_at=old, metadata={"price": 100 - n})
        for n in range(RANKED)
    )
    db.put_many(Item(id=f"young{n:02}", created_at=START - n * HOUR) for n in range(YOUNG))
    db.put_many(Item(id=f"somebody{n:02}", creator=f"c{n}", created_at=old) for n in range(BY_SOMEBODY))
    db.put_many(Item(id=f"nobody{n:02}", created_at=START - DAY - n) for n in range(BY_NOBODY))
    return db


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("limit", [1, 3, 9, 10, 20])
def test_exploration_stands_at_its_places(share: str, limit: int) -> None:
    """floor(share * limit) places, the i-th at floor((i + 1)/share) - 1; the others are by rank.

    Fails when a place is one too early, when what is shown by rank is explored again, and when an old item of
    nobody's is.
    """
    exact = Fraction(share)
    places = [math.floor((i + 1) / exact) - 1 for i in range(math.floor(exact * limit))]
    page = store().retrieve(f"p{share.partition('.')[2]}", limit=limit, seed=5, explain=True)
    explored = {
        place: result.id
        for place, result in enumerate(page.items)
        if any(reason.code == "Exploration" for reason in result.reasons)
    }
    assert list(explored) == places
    assert set(explored.values()) <= eligible(limit)
    by_rank = [result.id for place, result in enumerate(page.items) if place not in explored]
    assert by_rank == [f"ranked{n:02}" for n in range(limit - len(places))]
    for place, id in explored.items():
        reason = next(each for each in page.items[place].reasons if each.code == "Exploration")
        assert reason.detail["propensity"] == 1 / len(eligible(limit)), id


def test_exploration_is_uniform_and_follows_its_seed() -> None:
    """Over 1,000 seeds every eligible item comes about as often: chi-square within six deviations.

    Fails when some are drawn more often than others, or never, and when the seed is not looked at.
    """
    db = store()
    drawn: Counter[str] = Counter()
    for seed in range(1_000):
        page = db.retrieve("p1", limit=10, seed=seed)
        drawn[page.items[9].id] += 1
        if seed < 20:
            assert db.retrieve("p1", limit=10, seed=seed).items[9].id == page.items[9].id
    assert set(drawn) == eligible(10)
    expected = 1_000 / len(drawn)
    chi_square = sum((count - expected) ** 2 / expected for count in drawn.values())
    freedom = len(drawn) - 1
    assert abs(chi_square - freedom) < 6 * math.sqrt(2 * freedom)


def test_without_a_seed_it_changes_with_the_log_only() -> None:
    """Fails when the default seed holds the time, or nothing of the log."""
    db = store()
    seen = set()
    for number in range(30):
        first, second = (db.retrieve("p1", limit=10).items[9].id for _ in range(2))
        assert first == second
        seen.add(first)
        db.put(Item(id=f"nobody{number % BY_NOBODY:02}", created_at=START - 2 * DAY - number))
    assert len(seen) > 5


def test_limits_of_diversity_hold_for_what_is_explored() -> None:
    """Fails when an explored item is let through beyond a limit."""
    db = store()
    for seed in range(50):
        page = db.retrieve("p5", limit=20, seed=seed, diversity=Diversity(max_share={"meta.price": 0.05}))
        assert len({result.id for result in page.items}) == len(page.items) == 20
        limited = db.retrieve("p5", limit=20, seed=seed, diversity=Diversity(max_share={"collection": 0.25}))
        assert len(limited.items) == 5
