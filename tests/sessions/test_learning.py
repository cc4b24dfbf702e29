"""Learning across sessions: what one came to is folded into its user's taste once, when it ends."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import Database, Item, Policy, Schema, Session, Signal

HOUR, DAY = 3_600.0, 86_400.0
SIGNALS = (Signal("reward", half_life="7d"), Signal("skip", half_life="1d", polarity=-1))
LEARNS = Schema(SIGNALS, policies=[Policy("learner", learn=True, max_duration="2h", retention="1d")])
VECTORS = {"a": (1.0, 0.0), "b": (0.0, 2.0), "c": (1.0, 1.0)}
CREATORS = {"a": "carl", "b": "carl", "c": None}


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock, path: Path | None = None, schema: Schema | None = LEARNS) -> Database:
    return germane.open(path, schema, clock=clock)


def told(db: Database, clock: Clock, policy: str = "learner") -> Session:
    """A session with three signals, at its beginning and an hour later."""
    db.put_many(Item(id=id, title=id, creator=CREATORS[id], embedding=list(VECTORS[id])) for id in VECTORS)
    session = db.start_session(user="ann", agent="helper", policy=policy)
    session.signal("reward", "b", 3.0)
    session.signal("skip", "a", 2.0)
    clock.now += HOUR
    session.signal("reward", "a")
    session.signal("reward", "c", 0.5)
    return session


def expected(end: float, began: float = 1e9) -> tuple[list[float], dict[str, float]]:
    """The preference and affinities by hand: each item in the order in which it first came."""

    def left(at: float, half_life: float) -> float:
        return math.pow(2.0, -(end - at) / half_life)

    later = began + HOUR
    net = {
        "b": 3.0 * left(began, 7 * DAY),
        "a": -2.0 * left(began, DAY) + left(later, 7 * DAY),
        "c": 0.5 * left(later, 7 * DAY),
    }
    v, affinity = [0.0, 0.0], 0.0
    for count, (id, weight) in enumerate(net.items()):
        share = weight / (1 + abs(weight))
        a = 0.1 * share / (1 + math.log(count + 1))
        v = [(1 - abs(a)) * x + a * e for x, e in zip(v, VECTORS[id], strict=True)]
        affinity += share if CREATORS[id] else 0.0
    return v, {"carl": affinity}


def taste(db: Database) -> tuple[tuple[float, ...] | None, dict[str, float]]:
    state = db.user("ann")
    return state.preference, dict(state.affinities)


def check(db: Database, end: float, now: float) -> None:
    preference, affinities = taste(db)
    v, liked = expected(end)
    assert preference == pytest.approx(v, rel=1e-6)
    assert affinities == pytest.approx({"carl": liked["carl"] * 2.0 ** (-(now - end) / (30 * DAY))}, rel=1e-9)


def test_closing_folds_net_weights_into_preference_and_affinity() -> None:
    """Fails if the share is not saturated, if polarity is left out, or if it is learned earlier."""
    clock = Clock()
    db = opened(clock)
    session = told(db, clock)
    assert taste(db) == (None, {})
    clock.now += 600
    session.close()
    check(db, clock.now, clock.now)


def test_it_is_learned_exactly_once() -> None:
    """Fails if a second `close`, a sweep after it, or a rebuild counts it again."""
    clock = Clock()
    db = opened(clock)
    session = told(db, clock)
    session.close()
    end = clock.now
    session.close()
    clock.now += 3 * DAY
    db.put(Item(id="z"))
    check(db, end, clock.now)
    db.rebuild()
    check(db, end, clock.now)
    assert db.check().ok


def test_an_end_by_time_counts_from_then_on_swept_or_not(tmp_path: Path) -> None:
    """Fails if what a session comes to is learned when it is swept, and not when it ends."""
    clock = Clock()
    with opened(clock, tmp_path / "s") as db:
        told(db, clock)
        end = 1e9 + 2 * HOUR
        clock.now = end - 1
        assert taste(db) == (None, {})
        clock.now = end + 5 * HOUR
        check(db, end, clock.now)
        before = taste(db)
        db.put(Item(id="z"))  # sweeps
        swept = taste(db)
        assert swept[0] == before[0]
        assert swept[1] == pytest.approx(before[1], rel=1e-12)
    with opened(clock, tmp_path / "s", None) as db:
        assert taste(db) == swept
        db.rebuild()
        assert taste(db) == swept


@pytest.mark.parametrize("sweeps", [False, True])
def test_the_past_knows_it_from_the_end_on(sweeps: bool) -> None:
    clock = Clock()
    db = opened(clock)
    told(db, clock)
    end = 1e9 + 2 * HOUR
    clock.now = end + DAY / 2
    if sweeps:
        db.put(Item(id="z"))
    clock.now += HOUR

    def liked(at: float) -> float:
        page = db.retrieve("for_you", user="ann", as_of=datetime.fromtimestamp(at, UTC))
        named = (pair for each in page.items for pair in each.contributions.items())
        return sum(value for name, value in named if "affinity" in name)

    assert liked(end - 1) == 0.0
    assert liked(end + 1) != 0.0


def test_without_learn_or_without_a_user_nothing_is_learned() -> None:
    clock = Clock()
    db = opened(clock)
    told(db, clock, "default").close()
    assert taste(db) == (None, {})
    with db.start_session(agent="helper", policy="learner") as session:
        session.signal("reward", "b")
    assert taste(db) == (None, {})


def test_forgetting_the_user_forgets_what_was_learned(tmp_path: Path) -> None:
    clock = Clock()
    with opened(clock, tmp_path / "s") as db:
        session = told(db, clock)
        session.close()
        db.forget("ann")
        assert taste(db) == (None, {})
        assert db.check().ok
        with pytest.raises(germane.NotFound):
            db.session(session.id)


def test_a_base_keeps_what_was_learned(tmp_path: Path) -> None:
    clock = Clock()
    schema = Schema(SIGNALS, policies=LEARNS.policies, retention="1d")
    with opened(clock, tmp_path / "s", schema) as db:
        told(db, clock).close()
        clock.now += 5 * DAY
        db.put(Item(id="z"))
        before = taste(db)
        assert db.gc(dry_run=False).events > 0
        assert taste(db) == before
    with opened(clock, tmp_path / "s", None) as db:
        assert np.allclose(taste(db)[0] or (), before[0] or ())
        assert db.check().ok
