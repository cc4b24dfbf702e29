"""Replay against what can be counted by hand: what is known at a case, and what its list is worth."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import InvalidArgument, Item, Profile, Schema, Signal
from germane.evaluation import Case, Story, cases, replay, tune

DAY = 86_400.0
START = 1_700_000_000.0
POPULAR = Profile("popular", boosts=["view.count.all"])
SCHEMA = Schema([Signal("view", half_life="7d"), Signal("skip", half_life="7d", polarity=-1)])


def random_columns(seed: int, count: int = 160) -> dict[str, Any]:
    draw = random.Random(seed)
    at = sorted(START + draw.choice([0, 3600, 5 * DAY]) + draw.randrange(40) * DAY for _ in range(count))
    return {
        "name": [draw.choice(["view", "view", "skip"]) for _ in range(count)],
        "item": [f"i{min(draw.randrange(12), draw.randrange(12))}" for _ in range(count)],
        "user": [draw.choice(["ann", "bob", "eve", None]) for _ in range(count)],
        "at": at,
    }


class Popular:
    """Counts views, and checks that nothing is told twice, late, or ahead."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.upto = 0

    def learn(self, story: Story, first: int, upto: int) -> None:
        assert first == self.upto
        self.upto = upto
        self.counts.update(
            item for name, item in zip(story.names[first:upto], story.on[first:upto], strict=True)
            if name == "view"
        )  # fmt: skip
        self.there = set(story.on[:upto])

    def recommend(self, case: Case, k: int) -> Sequence[str]:
        return sorted(self.there, key=lambda item: (-self.counts[item], item))[:k]


@pytest.mark.parametrize("each", ["visit", "event", "step"])
@pytest.mark.parametrize("seed", range(3))
def test_a_profile_is_asked_with_what_was_known_and_nothing_else(seed: int, each: str) -> None:
    """Fails when a case's own events are recorded before it, or when items are there before their time."""
    story = Story.of_rows(random_columns(seed), schema=SCHEMA)
    found = replay(story, [POPULAR], at=9, split=0.0, limit=None, each=each, others={"plain": Popular()})
    ours, plain = found.measured["popular"], found.measured["plain"]
    for metric, values in plain.by_case.items():
        assert ours.by_case[metric].tolist() == values.tolist(), metric
    assert ours.coverage == plain.coverage
    assert ours.novelty == plain.novelty
    assert 0 < ours.mean("ndcg") < 1


def test_a_case_is_a_visit_of_one_user() -> None:
    at = [0.0, 10.0, 20.0, 1800.0, 9000.0, 9001.0]
    columns: dict[str, Any] = {
        "name": ["view", "view", "skip", "view", "skip", "skip"],
        "item": list("abcdaa"),
        "user": ["u", "v", "u", "u", "u", None],
        "at": at,
    }
    story = Story.of_rows(columns, schema=SCHEMA)
    assert [(case.user, case.wanted, case.upto, case.before, case.last) for case in cases(story)] == [
        ("u", ("a", "d"), 0, 0, None),
        ("v", ("b",), 1, 0, None),
    ]


def test_a_visit_goes_on_after_half_an_hour_and_ends_after_more() -> None:
    """Fails when the gap itself ends a visit, or a microsecond more does not."""
    half_an_hour = 30 * 60.0
    for gap, wanted in ((half_an_hour, [("a", "b")]), (half_an_hour + 1e-6, [("a",), ("b",)])):
        columns: dict[str, Any] = {
            "name": ["view"] * 2,
            "item": list("ab"),
            "user": ["u"] * 2,
            "at": [0.0, gap],
        }
        assert [case.wanted for case in cases(Story.of_rows(columns, schema=SCHEMA))] == wanted


def test_events_of_one_time_know_nothing_of_each_other_in_a_visit() -> None:
    columns: dict[str, Any] = {
        "name": ["view"] * 4,
        "item": list("abab"),
        "user": list("uuvv"),
        "at": [5.0, 9.0, 9.0, 9.0],
    }
    assert [case.upto for case in cases(Story.of_rows(columns, schema=SCHEMA))] == [0, 1]


def test_a_step_is_to_another_item_and_shows_all_but_the_one_before() -> None:
    """Fails when the item that a user comes from keeps its place in lists, or when staying is a step."""
    columns: dict[str, Any] = {
        "name": ["view"] * 6,
        "item": list("aabbaa"),
        "user": list("uuuvvv"),
        "at": [float(at) for at in range(6)],
    }
    story = Story.of_rows(columns, schema=SCHEMA)
    found = replay(story, [POPULAR], at=1, split=0.0, each="step", others={"plain": Popular()})
    assert [(case.user, case.last, case.wanted) for case in found.cases] == [
        ("u", "a", ("b",)),
        ("v", "b", ("a",)),
    ]
    assert found.measured["popular"].by_case["hr"].tolist() == [0.0, 1.0]
    assert found.measured["plain"].by_case["hr"].tolist() == [0.0, 1.0]


def test_the_same_log_gives_the_same_figures_from_a_store_and_from_rows(tmp_path: Path) -> None:
    """Fails when the seed of exploration depends on anything but the log, or replay records anything."""
    columns = random_columns(9)
    items = [Item(id=f"i{n}", title=f"i{n}", creator=f"c{n % 3}", created_at=START - n) for n in range(12)]
    profiles: list[str | Profile] = [POPULAR, "for_you", "related"]
    with germane.open(tmp_path / "store", SCHEMA, clock=lambda: START + 90 * DAY) as db:
        db.put_many(items)
        half = {name: values[:80] for name, values in columns.items()}
        db.signal_many(half)
        for place in range(80, 160):
            name, item, user, at = (columns[field][place] for field in ("name", "item", "user", "at"))
            db.signal(name, item, user=user, at=at)
        before = db.stats()
        of_store = replay(db, profiles, limit=40)
        again = replay(db, profiles, limit=40)
        assert db.stats() == before
    of_rows = replay(Story.of_rows(columns, items, SCHEMA), profiles, limit=40)
    assert of_store.plain() == again.plain() == of_rows.plain()
    assert of_store.measured["for_you"].diversity is not None


@pytest.mark.parametrize("does", ["replay", "tune"])
def test_a_store_with_a_folder_is_only_read(tmp_path: Path, does: str) -> None:
    """Fails when either writes anything to the store that it is given, such as a relation."""
    folder = tmp_path / "store"
    with germane.open(folder, SCHEMA, clock=lambda: START + 90 * DAY) as db:
        db.put_many(Item(id=f"i{n}", title=f"i{n}", created_at=START - n) for n in range(12))
        db.signal_many(random_columns(4))
        db.relate("ann", "follow", "bob")
    with germane.open(folder, clock=lambda: START + 90 * DAY) as db:

        def held() -> tuple[object, ...]:
            with db._journal.read() as connection:
                relations = list(connection.execute("SELECT * FROM relation"))
            files = {path.name: path.read_bytes() for path in folder.glob("journal.sqlite*")}
            return db.stats().events, relations, files.pop("journal.sqlite"), files.get("journal.sqlite-wal")

        before = held()
        if does == "replay":
            assert replay(db, [POPULAR, "for_you"], limit=20).cases
        else:
            assert tune(db, POPULAR, limit=20).cases
        assert held() == before


def test_hidden_items_are_not_shown_from_then_on() -> None:
    now = [START]
    db = germane.open(None, SCHEMA, clock=lambda: now[0])
    db.put_many(Item(id=item, created_at=START) for item in "ab")
    for day in range(10):
        now[0] += DAY
        if day == 8:
            db.relate("u", "hide", "a")
            now[0] += 1
        db.signal("view", "ab"[day % 2], user="u")
    found = replay(db, [POPULAR], split=0.0, limit=None)
    assert [case.wanted[0] for case in found.cases] == list("ababababab")
    hits = found.measured["popular"].by_case["hr"].tolist()
    assert hits[:2] == [1.0, 1.0]
    assert hits[8:] == [0.0, 1.0]


@pytest.mark.parametrize("later", [0, 1, 999])
def test_a_relation_is_known_from_then_on_and_not_before(later: int) -> None:
    """Fails when relations of the time to come are known at a case, or those of its very moment."""
    now = START
    with germane.open(None, SCHEMA, clock=lambda: now) as db:
        db.put(Item(id="a", title="a", created_at=START))
        db.signal("view", "a")
        now += DAY
        db.signal("view", "a", user="u")
        now += later
        db.relate("u", "hide", "a")
        now += DAY
        db.signal("view", "a", user="u")
        found = replay(db, [POPULAR], split=0.0, limit=None)
    assert [case.wanted for case in found.cases] == [("a",), ("a",)]
    assert found.measured["popular"].by_case["hr"].tolist() == [1.0, 0.0]


def test_progress_is_told_and_nothing_to_ask_is_an_error() -> None:
    story = Story.of_rows(random_columns(1), schema=SCHEMA)
    told: list[tuple[int, int]] = []
    replay(story, [POPULAR], limit=7, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 7) for done in range(7)]
    for wrong in (
        lambda: replay(story, []),
        lambda: replay(story, [POPULAR], split=1.0),
        lambda: replay(story, [POPULAR], each="day"),
        lambda: replay(story, ["nope"]),
        lambda: replay(story, [POPULAR], limit=0),
        lambda: replay(story, [POPULAR], limit=1.5),  # type: ignore[arg-type]
        lambda: replay(story, [POPULAR], split="x"),  # type: ignore[arg-type]
        lambda: replay(story, [POPULAR], seed=-1),
        lambda: tune(story, POPULAR, limit=0),
        lambda: tune(story, POPULAR, at=0),
        lambda: replay(Story.of_rows({"name": ["view"], "item": ["a"], "at": [1.0]}), [POPULAR]),
        lambda: Story.of_rows({"name": [], "item": []}),
    ):
        with pytest.raises(InvalidArgument):
            wrong()


def _lovers(days: int) -> Story:
    """Each user comes back to an item of their own; one that nobody wants is the most viewed."""
    rows: list[tuple[str, str, str | None, float]] = []
    for day in range(days):
        for user in range(12):
            at = START + day * DAY + user * 60
            rows.append(("view", f"own{user}", f"u{user}", at))
            rows += [("view", "loud", None, at + 1), ("view", f"noise{day % 3}", None, at + 1)]
    columns = dict(zip(("name", "item", "user", "at"), zip(*rows, strict=True), strict=True))
    return Story.of_rows(columns, schema=SCHEMA)


def test_tune_finds_the_term_that_tells_and_writes_nothing() -> None:
    """Fails when steps are not kept, or when the proposal is judged where it was chosen."""
    story = _lovers(12)
    mixed = Profile("mixed", candidates=["all"], boosts=["1 view.count.all", "0.5 again"])
    found = tune(story, mixed, at=1, metric="hr")
    assert found.profile.name == "mixed"
    assert found.profile.version == 2
    views, again = (boost.weight for boost in found.profile.boosts)
    assert again / max(views, 1e-9) > 100
    assert found.is_better
    assert (found.before, found.after) == (0.0, 1.0)
    assert found.plain()["held_out"]["gain"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    first_held_out = story.at[int(0.8 * len(story))]
    assert found.cases == sum(case.at >= first_held_out for case in cases(story))
    assert story.schema.profiles == ()


@pytest.mark.parametrize(("penalty", "value"), [(0.25, 0.0), (1.0, 1.0)])
def test_tune_takes_penalties_away(penalty: float, value: float) -> None:
    """Fails when penalties are added: then what is skipped as often as it is viewed comes first.

    Each day ``loud`` has two views and two skips, and ``own`` the one view that is wanted.
    """
    rows: list[tuple[str, str, str | None, float]] = []
    for day in range(20):
        at = START + day * DAY
        rows += [("view", "loud", None, at), ("skip", "loud", None, at)] * 2
        rows.append(("view", "own", "u", at + 60))
    columns = dict(zip(("name", "item", "user", "at"), zip(*rows, strict=True), strict=True))
    story = Story.of_rows(columns, schema=SCHEMA)
    quiet = Profile(
        "quiet", candidates=["all"], boosts=["1 view.count.all"], penalties=[f"{penalty} skip.count.all"]
    )
    found = tune(story, quiet, at=1, metric="hr")
    assert found.validation == (value, 1.0)
    assert (found.before, found.after) == (value, 1.0)
    (views,), (skips,) = found.profile.boosts, found.profile.penalties
    assert skips.weight > views.weight / 2


def test_tune_refuses_what_has_no_weights() -> None:
    story = _lovers(3)
    for profile, metric in (("new", "ndcg"), ("nope", "ndcg"), (POPULAR, "auc")):
        with pytest.raises(InvalidArgument):
            tune(story, profile, metric=metric)


def test_items_keep_their_vectors_and_creators_in_a_story(tmp_path: Path) -> None:
    """Fails when the story of a store leaves out what taste is made of."""
    schema = Schema([Signal("like", preference=0.5, affinity=1.0)])
    now = [START]
    with germane.open(tmp_path / "store", schema, clock=lambda: now[0]) as db:
        db.put_many(
            Item(id=f"{kind}{n}", embedding=[1.0, 0.1 * n] if kind == "a" else [0.1 * n, 1.0], creator=kind)
            for kind in "ab"
            for n in range(5)
        )
        for n in range(5):
            for user, kind in (("u", "a"), ("v", "b")):
                now[0] += DAY
                db.signal("like", f"{kind}{n}", user=user)
        for term in ("preference", "affinity"):
            found = replay(db, [Profile("leaning", boosts=[term])], at=5, split=0.4, limit=None)
            assert found.measured["leaning"].mean("hr") == 1.0, term


def test_a_log_whose_items_are_not_there_says_so() -> None:
    with germane.open(None, Schema([Signal("view")], unknown_items="accept")) as db:
        db.signal("view", "ghost", user="u")
        with pytest.raises(InvalidArgument, match="put the items"):
            replay(db)


def test_what_was_hidden_before_the_log_begins_stays_hidden_in_its_story() -> None:
    """Fails when the relations of a base are left out, or one to an item that comes later is forgotten."""
    now = [START]
    schema = Schema([Signal("view")], retention="2d")
    with germane.open(None, schema, clock=lambda: now[0]) as db:
        db.put_many(Item(id=id, created_at=START) for id in "ab")
        db.relate("u", "hide", "a")
        for _ in range(12):
            now[0] += DAY / 2
            db.signal("view", "a", user="v")
            db.signal("view", "b", user="u")
        before = replay(db, [POPULAR], at=1, split=0.0, limit=None)
        assert db.gc(dry_run=False).events > 0
        after = replay(db, [POPULAR], at=1, split=0.0, limit=None)
        of_u = [
            [hit for hit, case in zip(found.measured["popular"].by_case["hr"], found.cases, strict=True)
             if case.user == "u" and case.before]
            for found in (before, after)
        ]  # fmt: skip
        assert [set(hits) for hits in of_u] == [{1.0}, {1.0}]


def test_what_is_tuned_for_you_is_judged_by_users_with_history() -> None:
    """Fails when users without history are asked, whose formula is another one."""
    story = _lovers(12)
    found = tune(story, "for_you", at=1)
    judged = [case for case in cases(story) if case.upto >= int(0.8 * len(story))]
    assert found.cases == sum(case.before > 0 for case in judged) == len(judged)
    newcomers = Story.of_rows(
        {"name": ["view"] * 40, "item": ["a", "b"] * 20, "user": [f"u{n}" for n in range(40)],
         "at": [START + n * DAY for n in range(40)]}, schema=SCHEMA,
    )  # fmt: skip
    with pytest.raises(InvalidArgument):
        tune(newcomers, "for_you")
    assert tune(newcomers, POPULAR).cases > 0
