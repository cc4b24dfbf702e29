"""A signal is in the very next ranking. How soon in time is measured by `benchmarks.reactivity`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import Profile, Schema, Signal

from .closed_forms import DAY, HOUR, START, Clock, analytical, micros, store

SIGNALS = (Signal("view", half_life="7d"), Signal("like", half_life="1h"))
BOTH = Profile(
    "both",
    boosts=["like.decayed", "2 view.count.1h", "3 log1p(view.velocity.24h)", "reach", "view.ratio.like"],
)


def contributions(db: germane.Database, item: str, profile: str = "both") -> dict[str, float]:
    return next(result.contributions for result in db.retrieve(profile).items if result.id == item)


def expected(likes: int, views: int, reach: int) -> dict[str, float]:
    """What `both` comes to for an item that alone was looked at, at once."""
    p0 = views / likes if likes else 0.0
    return {
        "like.decayed": float(likes),
        "view.count.1h": 2.0 * views,
        "log1p(view.velocity.24h)": 3 * math.log1p(views / DAY),
        "reach": float(reach),
        "view.ratio.like": (views + 10 * p0) / (likes + 10),
    }


def test_ranking_reactivity() -> None:
    """Each of fifty signals is reflected by the `retrieve` that follows it, in every reading.

    Fails when `retrieve` reads the ledgers as they were at the query before, or keeps any column of them past
    a signal.
    """
    db, _ = store(*SIGNALS, profiles=[BOTH])
    for step in range(1, 51):
        name = "like" if step % 3 else "view"
        db.signal(name, "b", user=f"u{step % 7}")
        assert contributions(db, "b") == pytest.approx(expected(step - step // 3, step // 3, min(step, 7)))
        assert contributions(db, "a")["like.decayed"] == 0.0
        assert db.retrieve("both").items[0].id == "b"


def test_ranking_reactivity_turns_the_order() -> None:
    """Two items overtake each other every other signal; each ranking has the right one first.

    Fails when an order is kept from one query to the next, or is behind by one signal.
    """
    db, _ = store(*SIGNALS, profiles=[BOTH])
    views = {"a": 0, "b": 0}
    for step in range(40):
        item = "ba"[step // 2 % 2]
        db.signal("view", item)
        views[item] += 1
        leader = "b" if views["b"] > views["a"] else "a"  # equal ones stand by id
        assert db.retrieve("both", limit=1).items[0].id == leader


def test_ranking_reactivity_to_batches() -> None:
    """Fails when columns of events are applied later than single ones."""
    db, _ = store(*SIGNALS, profiles=[BOTH])
    for step in range(1, 6):
        db.signal_many([{"name": "view", "item": "a"}] * 10)
        assert contributions(db, "a")["view.count.1h"] == 20.0 * step


def test_ranking_reactivity_of_another_process(tmp_path: Path) -> None:
    """A second opening of the folder ranks by what the first one just recorded, and the other way round.

    Fails when a store that is open does not look for what others have written.
    """
    clock, schema = Clock(), Schema(SIGNALS, [BOTH])
    with (
        germane.open(tmp_path / "s", schema, clock=clock) as one,
        germane.open(tmp_path / "s", clock=clock) as two,
    ):
        two.put_many(germane.Item(id=id) for id in "ab")
        stores = [one, two]
        for step in range(1, 11):
            stores[step % 2].signal("view", "b", at=START)
            assert contributions(stores[1 - step % 2], "b")["view.count.1h"] in (0.0, 2.0 * step)
            assert contributions(one, "b")["view.count.1h"] == 2.0 * step


def test_ranking_follows_the_time_without_any_write() -> None:
    """What decays and what leaves a window shows in the next ranking, though nothing was written.

    Fails when a ranking's numbers are kept for as long as the log does not move.
    """
    db, clock = store(*SIGNALS, profiles=[BOTH])
    db.signal("like", "a")
    db.signal("view", "a")
    for seconds in (0, 10, HOUR - 1, HOUR + 60, 3 * HOUR):
        clock.now = START + seconds
        found = contributions(db, "a")
        like = analytical([(micros(START), 1.0)], HOUR, clock.now)
        assert found["like.decayed"] == pytest.approx(like, rel=1e-10)
        assert found["view.count.1h"] == (2.0 if seconds < HOUR else 0.0)


def test_an_item_put_or_deleted_shows_in_the_next_ranking() -> None:
    """Fails when candidates are kept past a put, or the readings of deleted items past a delete."""
    db, _ = store(*SIGNALS, profiles=[BOTH])
    everything: list[Any] = ["a", "b"]
    for number in range(5):
        everything.append(db.put(germane.Item(id=f"c{number}")))
        db.signal("like", everything[-1])
        page = db.retrieve("both")
        assert {result.id for result in page.items} == set(everything)
    db.delete("c0")
    page = db.retrieve("both")
    assert {result.id for result in page.items} == set(everything) - {"c0"}
    assert page.total == len(everything) - 1
