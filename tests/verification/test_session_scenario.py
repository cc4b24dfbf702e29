"""The acceptance scenario of sessions, step by step; each says which change of the code makes it fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import Database, Item, Policy, PolicyViolation, Profile, Schema, Session, SessionWeights, Signal

DAY = 86_400.0
NOW = 1.8e9
POLICY = Policy(
    "curator",
    allowed_signals=["reward", "view", "skip"],
    max_signals=5,
    max_annotations=2,
    max_annotation_chars=40,
    max_duration="8h",
    retention="10d",
    allowed_items="meta.shelf = 'open'",
)
SCHEMA = Schema(
    [
        Signal("reward", half_life="7d"),
        Signal("view", half_life="1d"),
        Signal("skip", half_life="2d", polarity=-1),
        Signal("like", half_life=None),
    ],
    [Profile("even", boosts=["meta.rank"])],
    [POLICY],
)
TEXT_ALONE = SessionWeights(hint=0, velocity=0, entity=0)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def db(clock: Clock, tmp_path: Path) -> Database:
    """Step 1: a database with a policy, and three items that rank alike by text and by profile."""
    opened = germane.open(tmp_path / "store", SCHEMA, clock=clock)
    opened.put_many(
        Item(id=id, title=title, body="a guide", creator=creator, metadata={"shelf": shelf, "rank": 1})
        for id, title, creator, shelf in (
            ("a", "Caching guide", "ann", "open"),
            ("b", "Locking guide", "bob", "open"),
            ("c", "Logging guide", "bob", "open"),
            ("d", "Secret guide", "eve", "closed"),
        )
    )
    return opened


def begun(db: Database, **how: Any) -> Session:
    return db.start_session(**{"user": "uma", "agent": "curator-1", "policy": "curator", **how})


def orders(
    db: Database, session: Session | str | None, weights: SessionWeights | None = None
) -> list[list[str]]:
    pages = (
        db.search("guide", session=session, session_weights=weights),
        db.retrieve("even", session=session, session_weights=weights),
    )
    return [[each.id for each in page.items] for page in pages]


def test_step_1_a_database_with_a_policy(db: Database, tmp_path: Path) -> None:
    """Fails if a schema does not keep its policies, or ``default`` is not there."""
    assert db.schema.policy("curator") == POLICY
    assert db.schema.policy("default").max_duration.total_seconds() == DAY
    with germane.open(tmp_path / "store", read_only=True) as again:
        assert again.schema.policy("curator") == POLICY


WRONG = ("", "A", "-a", ".a", "_a", "a b", "a/b", "ä", "a\n", "a" * 65, "agent!", "A1")


def test_step_2_a_session_starts_for_valid_agents_alone(db: Database) -> None:
    """Fails if the pattern of agent ids is not matched to its end."""
    ids = [begun(db, agent=agent).id for agent in ("a", "0", "a.b_c-9", "a" * 64)]
    assert len(set(ids)) == 4
    for agent in WRONG:
        with pytest.raises(germane.InvalidArgument, match=r"\[a-z0-9\]\[a-z0-9._-\]\{0,63\}") as caught:
            begun(db, agent=agent)
        assert caught.value.field == "agent"
    assert len(db.audit()) == 4


def test_step_3_signals_land_in_the_session_and_in_the_item(db: Database) -> None:
    """Fails if a session's signal is not the user's and the item's, or not the session's."""
    session = begun(db)
    receipt = session.signal("reward", "a", 2.0, event_id="e")
    assert session.signal("reward", "a", 2.0, event_id="e").duplicate and not receipt.duplicate
    assert db.count("reward", "a") == 1 and db.decayed("reward", "a") == 2.0
    assert (db.user("uma").seen, db.user("uma").sessions) == (1, (session.id,))
    assert session.snapshot().items == {"a": 2.0}


def test_step_4_the_policy_accepts_and_refuses_and_each_is_audited(db: Database, clock: Clock) -> None:
    """Fails if a limit is off by one, if a refusal writes anything else, or is not on record."""
    session = begun(db)
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: session.signal("like", "a"), "allowed_signals"),
        (lambda: session.signal("view", "d"), "allowed_items"),
        (lambda: session.annotate("x" * 41), "max_annotation_chars"),
    ]
    for write, limit in refused:
        with pytest.raises(PolicyViolation) as caught:
            write()
        assert (caught.value.limit, caught.value.retry_after) == (limit, None)
    for _ in range(5):
        session.signal("view", "a")
    session.annotate("x" * 40)
    session.annotate("y")
    full: list[tuple[Callable[[], object], str]] = [
        (lambda: session.signal("view", "a"), "max_signals"),
        (lambda: session.annotate("z"), "max_annotations"),
    ]
    for write, limit in full:
        for _ in range(3):
            with pytest.raises(PolicyViolation) as caught:
                write()
            assert caught.value.limit == limit
    assert (db.count("like", "a"), db.count("view", "a"), db.count("view", "d")) == (0, 5, 0)
    clock.now += 9 * 3_600
    with pytest.raises(germane.SessionClosed):
        session.signal("view", "a")
    told = {entry.cause: entry.count for entry in db.audit(session) if not entry.accepted}
    assert told == {
        "allowed_signals": 1, "allowed_items": 1, "max_annotation_chars": 1, "max_signals": 3,
        "max_annotations": 3, "closed": 1,
    }  # fmt: skip
    assert session.snapshot().refused == 10 and session.snapshot().accepted == 7


def test_step_5_annotations_become_keywords(db: Database) -> None:
    """Fails if keywords are not lowercased, or not each once."""
    session = begun(db)
    session.annotate("Caching first,")
    session.annotate("  caching\tLOCKS ")
    assert session.snapshot().keywords == ("caching", "first,", "locks")


def test_step_6_a_snapshot_equals_the_closed_form(db: Database, clock: Clock) -> None:
    """Fails if a half-life or a polarity is another signal's, or a time is left out."""
    session = begun(db, metadata={"task": "list"})
    session.signal("reward", "a", 3.0)
    clock.now += 3_600
    session.signal("skip", "a", 1.5)
    session.signal("reward", "b", -1.0, at=NOW + 600)
    clock.now += 5_400

    def left(age: float, days: float) -> float:
        return float(2.0 ** (-age / (days * DAY)))

    told = session.snapshot()
    reward_a, reward_b, skip_a = 3.0 * left(9_000, 7), -1.0 * left(8_400, 7), 1.5 * left(5_400, 2)
    assert {(r.signal, r.item): r.decayed for r in told.signals} == pytest.approx(
        {("reward", "a"): reward_a, ("skip", "a"): skip_a, ("reward", "b"): reward_b}, rel=1e-12
    )
    assert told.items == pytest.approx({"a": reward_a - skip_a, "b": reward_b}, rel=1e-12)
    assert told.reward_velocity == pytest.approx(reward_a + reward_b, rel=1e-12)
    first = next(r for r in told.signals if (r.signal, r.item) == ("reward", "a"))
    assert (first.counts["1h"], first.counts["24h"], first.counts["all"]) == (0, 1, 1)
    assert first.velocities["24h"] == 1 / DAY
    assert (told.state, told.metadata, told.accepted) == ("open", {"task": "list"}, 3)
    earlier = session.snapshot(at=NOW + 1_800)
    assert earlier.items == pytest.approx({"a": 3.0 * left(1_800, 7)}, rel=1e-12)


@pytest.mark.parametrize("closes", [True, False], ids=["closed", "ended by time"])
def test_step_7_an_archive_is_frozen(db: Database, clock: Clock, closes: bool) -> None:
    """Fails if the values of an archive are told as of now, in a snapshot or in a ranking."""
    session = begun(db)
    session.signal("reward", "a", 3.0)
    session.annotate("locking")
    clock.now += 3_600
    if closes:
        session.close()
        end = clock.now
    else:
        end = NOW + 8 * 3_600
        clock.now = end
    frozen = session.snapshot()
    assert frozen.reward_velocity == pytest.approx(3.0 * 2.0 ** (-(end - NOW) / (7 * DAY)), rel=1e-12)
    fixed = SessionWeights(scale=2)

    def boosts() -> list[dict[str, float]]:
        """What is added to each item on both surfaces."""
        pages = (
            db.search("guide", session=session, session_weights=fixed),
            db.retrieve("even", session=session, session_weights=fixed, where="meta.rank = 1"),
        )
        return [
            {f"{each.id} {name}": value for each in page.items for name, value in each.contributions.items()
             if name.startswith("session.")}
            for page in pages
        ]  # fmt: skip

    before = boosts()
    assert all(len(each) == 12 and any(each.values()) for each in before)
    for later in (60.0, DAY, 8 * DAY):
        clock.now = end + later
        assert session.snapshot() == frozen
        assert boosts() == before
        db.put(Item(id=f"later {later}", body="nothing"))


def test_step_8_a_keyword_alone_reorders(db: Database) -> None:
    """Fails if ``session.hint`` is taken out of the sum."""
    session = begun(db)
    assert orders(db, session) == [["a", "b", "c", "d"]] * 2
    session.annotate("LOGG")
    assert orders(db, session) == [["c", "a", "b", "d"]] * 2
    assert orders(db, session, TEXT_ALONE) == [["a", "b", "c", "d"]] * 2


def test_step_8_an_entity_alone_reorders(db: Database) -> None:
    """Fails if ``session.entity`` is taken out of the sum, or is the same for all."""
    session = begun(db)
    session.signal("skip", "a")
    assert orders(db, session) == [["b", "c", "d", "a"]] * 2
    session.signal("reward", "c", 2.0)
    assert orders(db, session) == [["c", "b", "d", "a"]] * 2
    another = begun(db)
    another.signal("reward", "c")  # its creator's other item goes half the way
    assert orders(db, another) == [["c", "b", "a", "d"]] * 2


def test_step_8_both_reorder_together(db: Database) -> None:
    """Fails if either term is taken out: neither alone gives this order."""
    session = begun(db)
    session.annotate("secret caching")
    session.signal("reward", "c", 1.5)
    both = orders(db, session)
    assert both == [["c", "a", "d", "b"]] * 2
    assert orders(db, session, SessionWeights(entity=0)) != both
    assert orders(db, session, SessionWeights(hint=0)) != both


def test_step_8_without_keywords_nothing_changes(db: Database) -> None:
    """Fails if a hint of no keywords is anything but 0, or is divided by none."""
    session = begun(db)
    for page in (db.search("guide", session=session), db.retrieve("even", session=session)):
        assert all(each.contributions["session.hint"] == 0.0 for each in page.items)
    assert orders(db, session) == orders(db, None)


@pytest.mark.parametrize("other", ["uma", "vic"])
def test_step_9_sessions_of_one_user_and_of_two_never_leak(db: Database, other: str) -> None:
    """Fails if what is kept of one session is found for another one, or by its user."""
    ours, theirs = begun(db), begun(db, user=other)
    ours.annotate("logging")
    ours.signal("skip", "a", 4.0)
    assert orders(db, ours) == [["c", "b", "d", "a"]] * 2
    assert theirs.snapshot().keywords == () and theirs.snapshot().items == {}
    added = [
        value
        for page in (db.search("guide", session=theirs), db.retrieve("even", session=theirs))
        for each in page.items
        for name, value in each.contributions.items()
        if name.startswith("session.")
    ]
    assert added == [0.0] * 24


SCRIPT = """
import os, sys, json, germane
from pathlib import Path
store, last = sys.argv[1], int(sys.argv[2])
db = germane.open(store)
session = db.session((Path(store).parent / "session").read_text())
writes = [
    lambda: session.annotate("caching first"),
    lambda: session.signal("reward", "a", 2.0, at=1.6e9),
    lambda: session.signal("like", "a"),
    lambda: session.signal("skip", "b", 0.5, at=1.6e9, event_id="e"),
    lambda: session.annotate("then locking"),
    lambda: session.signal("view", "c", at=1.6e9),
    lambda: session.close(),
]
for number, write in enumerate(writes):
    try:
        write()
    except germane.PolicyViolation:
        pass
    if number == last:
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("last", range(7))
def test_step_10_after_a_kill_the_state_is_as_acknowledged(tmp_path: Path, last: int) -> None:
    """Fails if a write is acknowledged before it is committed, or its rows are not folded with it."""
    db = germane.open(tmp_path / "store", SCHEMA)
    db.put_many(Item(id=id, title=id, metadata={"shelf": "open"}) for id in "abc")
    (tmp_path / "session").write_text(begun(db).id)
    db.close()
    killed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "store"), str(last)],
        env={**os.environ}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    with germane.open(tmp_path / "store") as again:
        told = again.session((tmp_path / "session").read_text()).snapshot()
        assert [each.text for each in told.annotations] == ["caching first", "then locking"][
            : 1 + (last >= 4)
        ]
        rows = [("reward", "a"), ("skip", "b"), ("view", "c")][: (last >= 1) + (last >= 3) + (last >= 5)]
        assert [(each.signal, each.item) for each in told.signals] == rows
        assert (told.accepted, told.refused) == (len(told.annotations) + len(rows), int(last >= 2))
        assert told.state == ("closed" if last == 6 else "open")
        assert len(again.audit(told.id)) == 1 + told.accepted + told.refused + (last == 6)
        assert again.check().ok


def test_step_11_a_swept_session_degrades_alike_on_both_surfaces(db: Database, clock: Clock) -> None:
    """Fails if either surface raises, or goes on with what is kept of the session."""
    with begun(db) as session:
        session.annotate("logging")
    assert orders(db, session)[0][0] == "c"
    clock.now += 11 * DAY
    for swept in (False, True):
        if swept:
            db.put(Item(id="later", body="nothing"))
        assert session.snapshot().state == "swept"
        search, retrieve = db.search("guide", session=session), db.retrieve("even", session=session)
        assert [each.code for each in search.degraded] == ["session_missing"]
        assert search.degraded == retrieve.degraded
        assert (search.session, search.scale, retrieve.session, retrieve.scale) == (None,) * 4
        assert orders(db, session) == orders(db, None)


def test_step_12_the_overhead_is_measured_and_on_record() -> None:
    """Fails if the figures of a session's overhead are not kept beside the budget."""
    results = Path(__file__).parents[2] / "benchmarks" / "results" / "sessions.json"
    told = json.loads(results.read_text())
    cases = {(row["surface"], row["candidates"], row["keywords"]) for row in told["rows"]}
    assert cases == {
        (surface, candidates, keywords)
        for surface in ("top", "search", "retrieve")
        for candidates in (1_000, 100_000)
        for keywords in (1, 20, 200)
    }
    assert all(row["without_ms"] > 0 and row["with_ms"] > 0 for row in told["rows"])
