"""Co-occurrence against a plain sum over all pairs, on random logs that grow while they are read."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import Item, NotFound, Profile, Schema, Signal
from germane.people.cooccurrence import RECENT

DAY = 86_400.0
LIMIT = 30 * DAY
Events = list[tuple[str, str, float, str]]


def plain(events: Events, now: float) -> dict[tuple[str, str], float]:
    """As the specification has it: every pair of every user, one by one."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    by_user: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for user, item, at, _ in events:
        if at <= now:
            by_user[user].append((item, at))
            counts[item] += 1
    for done in by_user.values():
        for (a, one), (b, other) in combinations(done, 2):
            if a != b and abs(one - other) <= LIMIT:
                weight = 2 ** (-(now - max(one, other)) / LIMIT)
                sums[a, b] += weight
                sums[b, a] += weight
    return {pair: value / sqrt(counts[pair[0]] * counts[pair[1]]) for pair, value in sums.items()}


def for_user(events: Events, user: str, now: float) -> dict[str, float]:
    latest: dict[str, float] = {}
    for who, item, at, name in events:
        if who == user and at <= now and name != "dislike":
            latest[item] = max(at, latest.get(item, at))
    pairs = plain(events, now)
    found: dict[str, float] = defaultdict(float)
    for item in sorted(latest, key=lambda item: -latest[item])[:RECENT]:
        for (a, b), value in pairs.items():
            if a == item:
                found[b] += value * 2 ** (-(now - latest[item]) / LIMIT)
    return found


SCHEMA = Schema(
    [
        Signal("view", half_life="7d"),
        Signal("like", half_life=None, windows=("all",), velocity=False),
        Signal("dislike", polarity=-1),
    ],
    [Profile("mine", candidates=["related(1000)"], boosts=["cooccurrence", "again"])],
)


def check(db: germane.Database, events: Events, items: list[str], users: list[str], now: float) -> None:
    pairs = plain(events, now)
    for item in items:
        page = db.retrieve(f"related:{item}", limit=1000)
        wanted = {b: value for (a, b), value in pairs.items() if a == item}
        assert {result.id: result.contributions["cooccurrence"] for result in page.items} == pytest.approx(
            wanted, rel=1e-9
        )
    for user in users:
        page = db.retrieve("mine", user=user, limit=1000)
        again: dict[str, float] = defaultdict(float)
        for who, item, at, name in events:
            if who == user and at <= now:
                again[item] += (-1 if name == "dislike" else 1) * 2 ** (-(now - at) / (90 * DAY))
        wanted = for_user(events, user, now)
        found = {result.id: list(result.contributions.values()) for result in page.items}
        assert found == {
            id: pytest.approx([wanted.get(id, 0.0), again.get(id, 0.0)], rel=1e-9, abs=1e-9)
            for id in wanted.keys() | again.keys()
            if wanted.get(id, 0.0) + again.get(id, 0.0) > 0
        }


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_sum_over_pairs_whatever_the_order_and_however_often_it_is_read(seed: int) -> None:
    """Fails when `_caught_up` leaves out what is subtracted, and when `first` counts from the right side.

    Fails, too, when what speaks against an item counts for it.
    """
    draw = random.Random(seed)
    items, users = [f"i{n}" for n in range(9)], [f"u{n}" for n in range(5)]
    now = [1_700_000_000.0]
    db = germane.open(None, SCHEMA, clock=lambda: now[0])
    db.put_many(Item(id=item, created_at=0.0) for item in items)
    events: Events = []
    for _ in range(12):
        now[0] += draw.uniform(0, 12 * DAY)
        many = []
        for _ in range(draw.randint(0, 25)):
            # Late events, whole days so that 30 days apart happens exactly, and some a little ahead.
            ahead = draw.random() < 0.1
            at = now[0] + 200 if ahead else now[0] - DAY * draw.choice([0, 0, 1, 5, 30, 60])
            name = draw.choice(["view", "view", "dislike"])
            many.append((draw.choice(users), draw.choice(items), at, name))
        if draw.random() < 0.5:
            rows = [
                {"item": item, "name": name, "user": user, "at": at, "weight": 1.0}
                for user, item, at, name in many
            ]
            db.signal_many(rows)
        else:
            for user, item, at, name in many:
                db.signal(draw.choice(["like", name]) if name == "view" else name, item, user=user, at=at)
        db.signal("view", items[0])  # of nobody: it is in no pair, and counts nowhere
        events += many
        check(db, events, items[:4], users[:2], now[0])
    now[0] += 400 * DAY
    check(db, events, items, users, now[0])


def test_what_is_long_past_is_let_go_and_what_is_not_stays() -> None:
    """Fails when runs are merged without the pairs that lie across the horizon's end."""
    now = [1_600_000_000.0]
    db = germane.open(None, SCHEMA, clock=lambda: now[0])
    db.put_many(Item(id=item, created_at=0.0) for item in "abcd")
    for item in "ab":
        db.signal("view", item, user="ann")
    assert [result.id for result in db.related("a").items] == ["b"]
    now[0] += 1_500 * DAY
    for item in "cd":
        db.signal("view", item, user="ann")
    page = db.related("c")
    assert {result.id: result.raw for result in page.items} == pytest.approx({"d": 1.0})
    assert db.check().ok


def test_what_a_user_did_long_ago_leads_to_nothing() -> None:
    """Fails when what is before the horizon is among the latest: then it depends on when it is let go."""
    now = 1_700_000_000.0
    db = germane.open(None, SCHEMA, clock=lambda: now)
    db.put_many(Item(id=item, created_at=0.0) for item in "abc")
    db.signal("view", "a", user="ann", at=now - 1_500 * DAY)
    for item in "ab":
        db.signal("view", item, user="bob")
    assert db.retrieve("mine", user="ann").items == ()
    db.signal("view", "a", user="ann", at=now - 900 * DAY)
    assert [result.id for result in db.retrieve("mine", user="ann").items] == ["a", "b"]


def test_the_latest_twenty_items_of_a_user_say_what_else_may_be_for_them() -> None:
    """Fails when `RECENT` is 19 or 21: the number is written here anew."""
    now = [1_700_000_000.0]
    db = germane.open(None, SCHEMA, clock=lambda: now[0])
    db.put_many(Item(id=f"{kind}{n}", created_at=0.0) for kind in ("own", "with") for n in range(21))
    for n in range(21):
        for item in (f"own{n}", f"with{n}"):
            db.signal("view", item, user=f"other{n}")
    for n in range(21):
        now[0] += 60
        db.signal("view", f"own{n}", user="ann")
    found = {result.id for result in db.retrieve("mine", user="ann", limit=1000).items}
    assert {id for id in found if str(id).startswith("with")} == {f"with{n}" for n in range(1, 21)}


def test_the_best_of_a_term_are_of_the_item_that_a_profile_starts_from() -> None:
    """Fails when ``signal(cosine, n)`` takes the greatest of no item's cosine."""
    declared = Profile("p", candidates=["related(a, 1)", "signal(cosine, 2)"], boosts=["cosine"])
    db = germane.open(schema=Schema([], [declared]))
    db.put_many(Item(id=id, embedding=[1, number]) for number, id in enumerate("abcd"))
    assert [result.id for result in db.retrieve("p").items] == ["a", "b"]


def test_it_survives_retention_and_another_opening(tmp_path: Path) -> None:
    """Fails when a base holds no histories."""
    now = [1_700_000_000.0]
    schema = Schema([Signal("view", half_life="7d")], retention="10d")
    events: Events = []
    with germane.open(tmp_path / "store", schema, clock=lambda: now[0]) as db:
        db.put_many(Item(id=item, created_at=0.0) for item in "abcd")
        for day in range(20):
            now[0] += DAY
            for user, item in (("ann", "abcd"[day % 4]), ("bob", "abcd"[day % 3])):
                db.signal("view", item, user=user)
                events.append((user, item, now[0], "view"))
        before = db.related("a").items
        assert db.gc(dry_run=False).events > 0
        pairs = plain(events, now[0])
        assert {result.id: result.raw for result in before} == pytest.approx(
            {b: value for (a, b), value in pairs.items() if a == "a"}
        )
        assert [(each.id, each.raw) for each in db.related("a").items] == [
            (each.id, each.raw) for each in before
        ]
    with germane.open(tmp_path / "store", clock=lambda: now[0]) as db:
        assert [(each.id, each.raw) for each in db.related("a").items] == [
            (each.id, each.raw) for each in before
        ]
        assert db.check().ok


def test_tags_in_common_make_items_related_without_anybody() -> None:
    db = germane.open()
    tags = {"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["y"], "d": ["z"], "e": []}
    db.put_many(Item(id=id, title=id, tags=each) for id, each in tags.items())
    found = {result.id: result.contributions["shared_tags"] for result in db.related("a").items}
    assert found == pytest.approx({"b": 2 / 3, "c": 1 / 2})
    db.delete("b")
    assert [result.id for result in db.related("a").items] == ["c"]
    assert db.related("e").items == ()


def test_there_is_nothing_related_to_what_is_not_there() -> None:
    db = germane.open()
    db.put(Item(id="x" * 200, title="long"))
    assert db.related("x" * 200).items == ()
    for id in ("gone", "y" * 200):
        with pytest.raises(NotFound):
            db.related(id)


def test_hidden_items_are_never_related() -> None:
    db = germane.open()
    db.put_many(Item(id=id, title=id) for id in "abc")
    for id in "abc":
        db.signal("view", id, user="ann")
    db.relate("ann", "hide", "b")
    assert [result.id for result in db.retrieve("related:a", user="ann").items] == ["c"]


def test_values_do_not_depend_on_how_the_log_was_read() -> None:
    """Fails when values are not rounded: sums in another order differ in their last bits."""
    draw = np.random.default_rng(5)
    stepwise, at_once = (
        germane.open(None, SCHEMA, clock=lambda: 1_700_000_000.0 + 90 * DAY) for _ in range(2)
    )
    for db in (stepwise, at_once):
        db.put_many(Item(id=f"i{n}", created_at=0.0) for n in range(20))
    for _ in range(200):
        item, user = f"i{draw.integers(20)}", f"u{draw.integers(6)}"
        at = 1_700_000_000.0 + draw.uniform(0, 80 * DAY)
        for db in (stepwise, at_once):
            db.signal("view", item, user=user, at=at)
        stepwise.related("i0")
    assert [(each.id, each.raw) for each in stepwise.related("i0", 100).items] == [
        (each.id, each.raw) for each in at_once.related("i0", 100).items
    ]


def test_alike_vectors_make_items_related() -> None:
    """Fails when an item is related to itself, or when vectors are left out of the candidates."""
    db = germane.open()
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [-1.0, 0.0], "d": None}
    db.put_many(Item(id=id, title=id, embedding=each) for id, each in vectors.items())
    page = db.related("a")
    assert {result.id: result.contributions["cosine"] for result in page.items} == pytest.approx(
        {"b": sqrt(0.5)}, rel=1e-6
    )


def test_a_feed_of_what_is_related_goes_on_when_its_item_is_gone() -> None:
    db = germane.open()
    db.put_many(Item(id=id, title=id, tags=["x"]) for id in "abcdef")
    first = db.related("a", limit=2)
    db.delete("a")
    rest = db.retrieve(cursor=first.cursor, limit=9)
    assert sorted(result.id for result in (*first.items, *rest.items)) == list("bcdef")
    with pytest.raises(NotFound):
        db.related("a")


def test_a_session_of_nobody_counts_as_somebody() -> None:
    """Fails if signals of sessions without a user are left out, or two such sessions are taken for one."""
    db = germane.open()
    db.put_many(germane.Item(id=id, title=id) for id in "abcd")
    for pair in ("ab", "cd"):
        with db.start_session(agent="helper") as session:
            for id in pair:
                session.signal("view", id)
    assert [each.id for each in db.related("a").items] == ["b"]
    assert [each.id for each in db.related("c").items] == ["d"]
    with db.start_session(user="ann", agent="helper") as session:
        for id in "ad":
            session.signal("view", id)
    assert {each.id for each in db.related("a").items} == {"b", "d"}
