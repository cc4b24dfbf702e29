"""FOR SESSION on both surfaces: what a session adds equals a plain computation, live and archived."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest

import germane
from germane import Database, Item, Page, Policy, Profile, Schema, Session, SessionWeights, Signal
from germane.ranking.retrieve import order
from oracle import sessions as oracle
from oracle.sessions import Thing

DAY = 86_400.0
NOW = 1.7e9
HALF_LIVES: dict[str, float | None] = {"reward": 7 * DAY, "skip": DAY, "view": None}
SIGNALS = (
    Signal("reward", half_life="7d"),
    Signal("skip", half_life="1d", polarity=-1),
    Signal("view", half_life=None),
)
BY_VIEWS = Profile("views", boosts=["view.count.all", "0.25 meta.price"], penalties=["0.5 skip.count.all"])
SCHEMA = Schema(SIGNALS, [BY_VIEWS], [Policy("short", max_duration="1h", retention="1h")])
WEIGHTS = [
    SessionWeights(),
    SessionWeights(entity=0, scale=1),
    SessionWeights(hint=0.7, velocity=0.1, entity=2, scale=3.5),
]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


WORDS = ("window", "aisle", "Nonstop", "JFK", "economy", "refund", "seat", "bag", "ÉCLAIR", "42")


def things(draw: random.Random, count: int) -> dict[str, Thing]:
    made = {}
    for number in range(count):
        id = f"i{number:05d}"
        made[id] = Thing(
            id,
            " ".join(draw.sample(WORDS, 2)) if draw.random() < 0.8 else None,
            draw.choice([None, "c1", "c2", "c3"]),
            tuple(draw.sample(WORDS, draw.randrange(3))),
            {
                "price": draw.randrange(50),
                "kinds": draw.sample(WORDS, draw.randrange(1, 3)),
                "open": draw.random() < 0.5,
                "ratio": draw.random(),
                "at": datetime.fromtimestamp(NOW - draw.randrange(10**6), UTC),
            },
        )
    return made


def filled(db: Database, told: dict[str, Thing], draw: random.Random) -> None:
    db.put_many(
        Item(
            id=each.id, title=each.title, creator=each.creator, tags=each.tags, metadata=dict(each.metadata),
            body=" ".join(draw.choices(("lamp", "desk", "chair", "red"), k=draw.randrange(1, 9))),
        )
        for each in told.values()
    )  # fmt: skip
    db.signal_many({"name": ["view"] * 200, "item": draw.choices(list(told), k=200), "at": [NOW - 5.0] * 200})


def acted(
    session: Session, clock: Clock, ids: list[str], draw: random.Random
) -> tuple[list[str], list[oracle.Given]]:
    """A session's annotations and signals, over some hours."""
    notes, given = [], []
    for _ in range(12):
        clock.now += draw.randrange(20, 250)
        if draw.random() < 0.4:
            notes.append(" ".join(draw.choices((*WORDS, "nowhere", "tru", "202"), k=3)))
            session.annotate(notes[-1])
        else:
            name, weight = draw.choice(list(HALF_LIVES)), draw.choice((1.0, 2.5, -0.5, 0.25))
            given.append((name, draw.choice(ids), weight, clock.now))
            session.signal(*given[-1][:3])
    return notes, given


def check(
    page: Page, bare: Page, weights: SessionWeights, told: dict[str, Thing], notes: list[str],
    given: list[oracle.Given], moment: float,
) -> None:  # fmt: skip
    """A page for a session equals the one without it, plus the boost by hand, in order."""
    assert page.total == bare.total == len(bare.items)
    base = {each.id: each.raw for each in bare.items}
    scale = weights.scale if isinstance(weights.scale, float) else 0.0
    if not scale:
        is_search = any(each.text_score for each in bare.items)
        scale = max(base.values()) - (0.0 if is_search else min(base.values())) or 1.0
    assert page.scale == pytest.approx(scale, rel=1e-12)
    nets = oracle.net(given, HALF_LIVES, {"skip"}, moment)
    v = oracle.velocity(given, 7 * DAY, moment)
    expected = {}
    for id, raw in base.items():
        terms = (
            scale * weights.hint * oracle.hint(told[id], notes),
            scale * weights.velocity * v,
            scale * weights.entity * oracle.entity(told[id], nets, told),
        )
        expected[id] = raw + sum(terms), terms
    for each in page.items:
        raw, terms = expected[each.id]
        assert each.raw == pytest.approx(raw, rel=1e-12, abs=1e-12)
        named = [each.contributions[f"session.{of}"] for of in ("hint", "velocity", "entity")]
        assert named == pytest.approx(terms, rel=1e-12, abs=1e-12)
        assert list(each.contributions)[-3:] == ["session.hint", "session.velocity", "session.entity"]
        assert sum(each.contributions.values()) == pytest.approx(each.raw, rel=1e-14)
    raws = [each.raw for each in page.items]
    assert raws == sorted(raws, reverse=True)
    least = raws[-1]
    shown = {each.id for each in page.items}
    assert all(raw <= least + 1e-9 for id, (raw, _) in expected.items() if id not in shown)


@pytest.mark.parametrize("weights", WEIGHTS, ids=["default", "seed", "odd"])
@pytest.mark.parametrize("state", ["live", "closed", "expired by time"])
@pytest.mark.parametrize("number", range(4))
def test_both_surfaces_equal_the_oracle(weights: SessionWeights, state: str, number: int) -> None:
    """Fails if any of the three terms is left out, or if an archive decays on."""
    draw, clock = random.Random(number), Clock()
    db = germane.open(schema=SCHEMA, clock=clock)
    told = things(draw, 60)
    filled(db, told, draw)
    policy = "short" if state == "expired by time" else "default"
    session = db.start_session(user=None, agent="helper", policy=policy)
    notes, given = acted(session, clock, [*told][:12], random.Random(number + 100))
    moment = clock.now = clock.now + 300
    if state == "closed":
        session.close()
        clock.now += 3 * DAY
    elif state == "expired by time":
        moment = NOW + 3_600
        clock.now = NOW + 3_600 + 1_800
    how: dict[str, Any] = {"session": session, "session_weights": weights}
    for text in ("lamp red", "desk"):
        bare = db.search(text, limit=1000)
        check(db.search(text, limit=10, **how), bare, weights, told, notes, given, moment)
        check(db.search(text, limit=1000, **how), bare, weights, told, notes, given, moment)
    bare = db.retrieve("views", limit=1000)
    check(db.retrieve("views", limit=10, **how), bare, weights, told, notes, given, moment)
    check(db.retrieve("views", limit=1000, **how), bare, weights, told, notes, given, moment)


def test_with_bounds_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if the bounds of a session's terms are too low, or if few candidates are a case of their own."""
    draw, clock = random.Random(9), Clock()
    db = germane.open(schema=SCHEMA, clock=clock)
    told = things(draw, 700)
    filled(db, told, draw)
    session = db.start_session(agent="helper")
    notes, given = acted(session, clock, [*told][:12], random.Random(1))
    monkeypatch.setattr(order, "FEW", 8)
    monkeypatch.setattr(order, "EXACT_AT_ONCE", 4)
    bare = db.retrieve("views", limit=1000)
    for weights in WEIGHTS:
        for limit in (1, 7, 1000):
            page = db.retrieve("views", session=session, session_weights=weights, limit=limit)
            check(page, bare, weights, told, notes, given, clock.now)


def test_a_feed_goes_on_in_the_order_that_it_began_with() -> None:
    """Fails if a later page is ranked anew: the session has changed between."""
    draw, clock = random.Random(5), Clock()
    db = germane.open(schema=SCHEMA, clock=clock)
    told = things(draw, 50)
    filled(db, told, draw)
    session = db.start_session(agent="helper")
    acted(session, clock, [*told], draw)
    whole = [each.id for each in db.retrieve("views", session=session, limit=50).items]
    page = db.retrieve("views", session=session, limit=20)
    session.annotate("window")
    session.signal("reward", whole[-1], 50.0)
    rest = db.retrieve(cursor=page.cursor, limit=30)
    assert [each.id for each in (*page.items, *rest.items)] == whole
    assert rest.scale == page.scale
    assert rest.session is not None and page.session is not None
    assert rest.session.accepted == page.session.accepted + 2
    with pytest.raises(germane.InvalidArgument, match="another session"):
        db.retrieve(cursor=page.cursor, session="other")


def small(schema: Schema = SCHEMA, clock: Clock | None = None) -> Database:
    db = germane.open(schema=schema, clock=clock or Clock())
    db.put_many(
        Item(id=id, title=f"Lamp {id}", body="a lamp", creator=creator, metadata={"place": place})
        for id, creator, place in (("a", "x", "desk"), ("b", "x", "wall"), ("c", "y", "ceiling"))
    )
    return db


def orders(db: Database, **how: Any) -> tuple[list[str], list[str]]:
    """The same on both surfaces; all are equal without a session."""
    return (
        [each.id for each in db.search("lamp", **how).items],
        [each.id for each in db.retrieve("views", **how).items],
    )


def test_sessions_do_not_leak() -> None:
    """Fails if anything of one session is kept where another one is looked up."""
    db = small()
    quiet = db.start_session(agent="quiet")
    same, other = db.start_session(user="ann", agent="a"), db.start_session(user="ann", agent="a")
    third = db.start_session(user="bob", agent="a")
    same.annotate("ceiling")
    same.signal("skip", "b", 5.0)
    assert orders(db, session=same)[0] == ["c", "a", "b"]
    assert orders(db, session=same)[1][0] == "c"
    for session in (quiet, other, third):
        assert session.snapshot().keywords == () and session.snapshot().items == {}
        for page in (db.search("lamp", session=session), db.retrieve("views", session=session)):
            assert page.session is not None and page.session.accepted == 0
            for each in page.items:
                assert [each.contributions[f"session.{of}"] for of in ("hint", "velocity", "entity")] == [
                    0.0
                ] * 3
        assert orders(db, session=session) == orders(db, user=session.user)


def test_a_session_that_is_not_there_degrades_alike() -> None:
    clock = Clock()
    db = small(clock=clock)
    with db.start_session(user="ann", agent="a", policy="short") as session:
        session.annotate("ceiling")
    assert orders(db, session=session)[0][0] == "c"
    clock.now += 2 * 3_600
    for gone in (session, session.id, "nothing", "", "\0", "x" * 1000):
        for page in (db.search("lamp", session=gone), db.retrieve("views", session=gone)):
            assert [each.code for each in page.degraded] == ["session_missing"]
            assert (page.session, page.scale) == (None, None)
            assert not any(name.startswith("session.") for each in page.items for name in each.contributions)
        assert orders(db, session=gone) == orders(db)
        assert db.explain("a", text="lamp", session=gone).ranked
        assert db.search("lamp", session=gone, where="unseen_in_session").total == 3
    assert db.search("lamp", session="nothing", user="bob").total == 3
    for wrong in (3, b"x", object()):
        with pytest.raises(germane.InvalidArgument, match="session"):
            db.search("lamp", session=wrong)  # type: ignore[arg-type]


def test_a_query_is_for_the_user_of_its_session() -> None:
    """Fails if what the session's user has hidden is shown, or another user is let pass."""
    db = small()
    db.relate("ann", "hide", "a")
    session = db.start_session(user="ann", agent="a")
    assert "a" not in {*orders(db, session=session)[0], *orders(db, session=session)[1]}
    assert orders(db, session=session, user="ann") == orders(db, session=session)
    for name, first in (("search", "lamp"), ("retrieve", "views")):
        with pytest.raises(germane.InvalidArgument) as caught:
            getattr(db, name)(first, session=session, user="bob")
        assert caught.value.field == "user"
    nobodys = db.start_session(agent="a")
    assert "a" in orders(db, session=nobodys)[0] and "a" not in orders(db, session=nobodys, user="ann")[0]


def test_what_the_session_has_not_touched_can_be_asked_for() -> None:
    db = small()
    session = db.start_session(agent="a")
    session.signal("view", "b")
    found = db.search("lamp", session=session, where="unseen_in_session")
    assert {each.id for each in found.items} == {"a", "c"}
    assert db.retrieve("views", session=session, where="not unseen_in_session").total == 1
    with pytest.raises(germane.InvalidArgument, match="session"):
        db.retrieve("views", where="unseen_in_session", user="ann")


def test_reasons_and_explain_say_the_same() -> None:
    db = small()
    session = db.start_session(agent="a")
    session.annotate("ceiling lamp")
    session.signal("reward", "a", 2.0)
    pages = (
        db.search("lamp", session=session, explain=True),
        db.retrieve("views", session=session, explain=True),
    )
    asked: tuple[dict[str, Any], ...] = ({"text": "lamp"}, {"profile": "views"})
    for page, how in zip(pages, asked, strict=True):
        for rank, each in enumerate(page.items, 1):
            codes = {reason.code: reason.detail for reason in each.reasons}
            assert codes["SessionContext"]["keywords"] == (
                ("ceiling", "lamp") if each.id == "c" else ("lamp",)
            )
            if each.id != "c":
                assert codes["SessionEntity"]["e"] == pytest.approx(2.0 if each.id == "a" else 1.0)
            told = db.explain(each.id, session=session, **how)
            assert (told.rank, told.raw, told.contributions) == (rank, each.raw, each.contributions)
            assert {reason.code for reason in told.reasons} >= codes.keys() - {"Exploration", "Diversity"}


def test_words_are_whole_and_analysed() -> None:
    db = small()
    session = db.start_session(agent="a")
    session.annotate("The walls, cei")

    def hints(keywords: str) -> dict[str, bool]:
        page = db.search("lamp", session=session, session_weights=SessionWeights(keywords=keywords))
        return {each.id: each.contributions["session.hint"] > 0 for each in page.items}

    assert hints("raw") == {"a": False, "b": False, "c": True}
    assert hints("words") == {"a": False, "b": True, "c": False}


def test_late_annotations_weigh_more_under_a_half_life() -> None:
    clock = Clock()
    policy = Policy("fades", annotation_half_life="1h")
    db = small(Schema(SIGNALS, [BY_VIEWS], [policy]), clock)
    session = db.start_session(agent="a", policy="fades")
    session.annotate("desk")
    clock.now += 3_600
    session.annotate("wall")
    weights = SessionWeights(scale=1, hint=1, velocity=0, entity=0)
    for later in (0.0, 7_200.0):
        clock.now += later
        page = db.search("lamp", session=session, session_weights=weights)
        found = {each.id: each.contributions["session.hint"] for each in page.items}
        assert found == pytest.approx({"a": 1 / 3, "b": 2 / 3, "c": 0.0})


def test_the_past_knows_the_session_of_then() -> None:
    clock = Clock()
    db = small(clock=clock)
    session = db.start_session(agent="a")
    session.annotate("wall")
    then = session.annotate("desk").seq
    session.annotate("ceiling")
    session.signal("reward", "c", 9.0)
    assert orders(db, session=session, as_of=then)[0][-1] == "c"
    assert orders(db, session=session)[0][0] == "c"
    past = db.search("lamp", session=session, as_of=then)
    assert past.session is not None and past.session.keywords == ("wall", "desk")
    assert db.search("lamp", session=session, as_of=2).degraded[0].code == "session_missing"


def test_the_textual_form_and_top_take_a_session() -> None:
    db = small()
    session = db.start_session(user="ann", agent="a")
    session.annotate("ceiling")
    assert db.query(f"SEARCH \"lamp\" FOR SESSION '{session.id}'").items[0].id == "c"
    assert db.query(f"RETRIEVE items FOR SESSION '{session.id}' USING PROFILE views").items[0].id == "c"
    assert db.top("lamp", session=session)[0][0] == "c"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"hint": -1}, "hint"), ({"velocity": float("nan")}, "velocity"), ({"entity": "a"}, "entity"),
        ({"scale": 0}, "scale"), ({"scale": "wide"}, "scale"), ({"scale": True}, "scale"),
        ({"keywords": "stems"}, "keywords"),
    ],
)  # fmt: skip
def test_weights_that_cannot_be_used(given: dict[str, Any], field: str) -> None:
    with pytest.raises(germane.InvalidArgument) as caught:
        SessionWeights(**given)
    assert caught.value.field == f"session_weights.{field}"


def test_behaviour_goes_to_the_first_by_id_of_equal_texts() -> None:
    """Fails when the only match that behaviour is added to is the first row instead."""
    db = germane.open(schema=SCHEMA, clock=Clock())
    db.put_many([Item(id=id, creator=f"by {id}", body="red lamp") for id in "cab"])
    for session in (None, db.start_session(agent="a")):
        page = db.search("lamp", rerank=1, profile="views", session=session)
        added = {each.id for each in page.items if any("behaviour" in name for name in each.contributions)}
        assert added == {"a"}
