"""The order that bounds of blocks give is the order of a full scan, whatever is weighed.

Each profile ranks a store whose ledgers are filled at random: heavy tails, ties, zeros, negative weights,
half-lives far apart, events between queries, time that passes. Kept bounds are used from one query to the
next. `order.FEW` is zero here, so that every query goes by blocks.

Mutations that these tests were seen to fail under: bounds that are kept however far their parts drift apart;
a touched block that is not renewed; `SLACK` with the wrong sign; the threshold one place too high; penalties
without a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import germane
from germane import Item, Profile, Schema, Signal
from germane.log.journal import head
from germane.model.forms import parse_term
from germane.model.profiles import Gate
from germane.ranking.behaviour.evaluation import of_profile, of_term
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve import gates, order
from germane.ranking.retrieve.candidates import Candidates, live
from germane.ranking.retrieve.gates import through_gates
from germane.ranking.retrieve.order import best, best_and_least
from germane.signals.decay import BLOCK

ITEMS = 30 * BLOCK + 17
SIGNALS = ("view", "like", "dislike", "share")
HALF_LIVES = {"view": "1h", "like": "7d", "dislike": None, "share": "7d"}
START = 1_700_000_000.0

TERMS = [
    "view.decayed", "like.decayed", "dislike.decayed", "share.decayed", "view.count.1h", "like.count.all",
    "share.velocity.24h", "like.ratio.view", "engagement", "recency.48h", "hot", "rising", "controversial",
    "wilson", "gem", "meta.price", "created_at", "log1p(view.decayed)", "saturate(3)(engagement)",
    "log1p(meta.price)", "saturate(2)(share.decayed)", "reach",
]  # fmt: skip
WEIGHTS = st.sampled_from([1.0, 3.0, 0.5, -1.0, 1e-9, 1e12, 0.1]) | st.floats(-10, 10)
WEIGHED = st.tuples(st.sampled_from(TERMS), WEIGHTS)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """A profile that weighs some terms; each form at most once a side."""
    boosts = draw(st.lists(WEIGHED, min_size=1, max_size=5, unique_by=lambda each: each[0]))
    penalties = draw(st.lists(WEIGHED, max_size=2, unique_by=lambda each: each[0]))
    return Profile("drawn", boosts=boosts, penalties=penalties)


class Store:
    """A store in memory with a clock that is set by hand."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.now = START
        signals = [Signal(name, half_life=HALF_LIVES[name]) for name in SIGNALS]
        self.db = germane.open(schema=Schema(signals), clock=lambda: self.now)
        self.db.put_many(
            Item(
                id=f"i{number * 7919 % ITEMS}",
                metadata={"price": int(price)} if price else {},
                created_at=START - float(age),
            )
            for number, (price, age) in enumerate(
                zip(
                    self.random.integers(-3, 4, ITEMS),
                    self.random.integers(-100, 10 * 86_400, ITEMS),
                    strict=True,
                )
            )
        )
        for name in SIGNALS:
            self.signal(name, 3_000)

    @classmethod
    def empty(cls, schema: Schema) -> Store:
        """Return a store without items."""
        made = cls.__new__(cls)
        made.now = START
        made.db = germane.open(schema=schema, clock=lambda: made.now)
        return made

    def signal(self, name: str, count: int) -> None:
        items = self.random.zipf(1.3, count) % ITEMS
        weights = self.random.choice([1.0, 1.0, 2.0, -1.0, 1e-6], count)
        ages = self.random.choice([0, 60, 7_200, 86_400, 40 * 86_400], count)
        self.db.signal_many(
            {
                "name": [name] * count,
                "item": [f"i{number}" for number in items.tolist()],
                "weight": weights,
                "at": self.now - ages,
            }
        )

    def read(self, use: Callable[[Readings], Any]) -> Any:
        """Return what is made of the readings at the head of the log."""
        journal = self.db._journal
        with journal.read() as connection:
            catalog = self.db._catalogs.at(connection)
            with self.db._signals.at(connection) as ledgers:
                now = journal.now(connection)
                return use(Readings(connection, ledgers, catalog, now, str(head(connection))))


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    made = Store(7)
    yield made
    made.db.close()


@pytest.fixture(autouse=True)
def by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "FEW", 0)
    monkeypatch.setattr(gates, "FEW", 0)
    monkeypatch.setattr(order, "FIRST_BLOCKS", 1)


def check(readings: Readings, profile: Profile, share: float, wanted: int, seed: int) -> None:
    """Compare the best items, and the least sum, with those of all sums sorted."""
    everything = live(readings)
    chosen = np.random.default_rng(seed).random(readings.size) < share
    candidates = everything.only(chosen) if share < 1 else everything
    ordinals = np.flatnonzero(candidates.mask)
    sums = of_profile(readings, profile).sums(ordinals)
    ids = dict(readings.connection.execute("SELECT ordinal, id FROM item"))
    ranked = sorted(zip((-sums).tolist(), [ids[each] for each in ordinals.tolist()], strict=True))

    found, least = best_and_least(of_profile(readings, profile), candidates, wanted)
    assert [ids[each] for each in found.ordinals.tolist()] == [id for _, id in ranked[:wanted]]
    assert (-found.sums).tolist() == [value for value, _ in ranked[:wanted]]
    assert least == (sums.min() if len(sums) else 0.0)
    again = best(of_profile(readings, profile), candidates, wanted)
    assert again.ordinals.tolist() == found.ordinals.tolist()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    profile=profiles(),
    share=st.sampled_from([1.0, 0.5, 0.02, 0.0]),
    wanted=st.sampled_from([1, 2, 5, 20, 5_000]),
    events=st.lists(st.tuples(st.sampled_from(SIGNALS), st.sampled_from([1, 3, 40])), max_size=3),
    passes=st.sampled_from([0.0, 1.0, 59.0, 3_600.0, 90_000.0]),
    seed=st.integers(0, 9),
)
def test_the_order_is_that_of_a_full_scan(
    store: Store,
    profile: Profile,
    share: float,
    wanted: int,
    events: list[tuple[str, int]],
    passes: float,
    seed: int,
) -> None:
    store.read(lambda readings: check(readings, profile, share, wanted, seed))
    for name, count in events:
        store.signal(name, count)
    store.now += passes
    store.read(lambda readings: check(readings, profile, share, wanted, seed))


@pytest.mark.parametrize("name", ["new", "old", "hot", "controversial", "hidden_gems", "shuffle"])
@pytest.mark.parametrize("wanted", [2, 200])
def test_built_in_profiles_over_everything(store: Store, name: str, wanted: int) -> None:
    from germane.model.builtin import built_in

    profile = built_in(name)
    assert profile is not None
    store.read(lambda readings: check(readings, profile, 1.0, wanted, 0))


def test_bounds_that_are_kept_follow_every_event(store: Store) -> None:
    """One event at a time, on items that rank nowhere: each must take its place at once."""
    profile = Profile("p", boosts=["view.decayed", "3 like.decayed", "0.1 share.count.24h"])
    for number in range(30):
        store.now += 7.0 * number
        id = f"i{number * 153 % ITEMS}"
        store.db.signal(SIGNALS[number % 2], id, weight=1e6 * (number + 1))
        store.read(lambda readings: check(readings, profile, 1.0, 2, 0))


def test_kept_bounds_leave_room_for_parts_that_drift_apart() -> None:
    """Half a minute after bounds were kept, what does not decay overtakes what does, in forty other blocks.

    Fails when kept bounds are not widened by what the parts of a sum may have drifted apart.
    """
    profile = Profile("p", boosts=["view.decayed", "like.decayed"])
    store = Store.empty(Schema([Signal("view", half_life="1h"), Signal("like")], [profile]))
    store.db.put_many(Item(id=f"i{number:05}") for number in range(41 * BLOCK))
    store.db.signal("like", "i00000", weight=100.0)
    views = [f"i{block * BLOCK:05}" for block in range(1, 41)]
    store.db.signal_many({"name": ["view"] * 40, "item": views, "weight": [100.35] * 40})
    leaders = []
    for passes in (0.0, 30.0):
        store.now += passes
        store.read(lambda readings: check(readings, profile, 1.0, 1, 0))
        leaders.append(store.db.explain("i00000", profile="p").rank)
    assert leaders == [41, 1]


def test_a_block_of_what_a_user_is_against_is_not_passed_over() -> None:
    """A penalty of what is below zero raises an item: it is bounded by the least that the user did.

    Fails when what only some items have is bounded below by zero.
    """
    profile = Profile("p", boosts=["0.5 meta.price"], penalties=["again"])
    db = germane.open(schema=Schema([Signal("dislike", polarity=-1)], [profile]), clock=lambda: START)
    db.put_many(Item(id=f"i{number:05}") for number in range(20 * BLOCK))
    db.update("i00000", metadata={"price": 1})
    db.signal("dislike", f"i{19 * BLOCK:05}", user="u")
    with db._moments.at(None) as moment, moment.ledgers() as (ledgers, now):
        audience = moment.audience("u", now)
        check(Readings(moment.connection, ledgers, moment.catalog, now, "", audience), profile, 1.0, 1, 0)
    page = db.retrieve("p", user="u", limit=2)
    assert [(result.id, result.raw) for result in page.items] == [(f"i{19 * BLOCK:05}", 1.0), ("i00000", 0.5)]


def test_few_candidates_are_ranked_as_many_are(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = Profile("p", boosts=["log1p(view.decayed)", "2 recency.48h"], penalties=["like.decayed"])
    monkeypatch.setattr(order, "FEW", 32_768)
    monkeypatch.setattr(order, "EXACT_AT_ONCE", 256)
    for share in (1.0, 0.7, 0.1):
        for wanted in (1, 20, 5_000):
            store.read(partial(check, profile=profile, share=share, wanted=wanted, seed=1))


@pytest.mark.parametrize("term", ["view.decayed", "like.decayed", "like.count.all", "engagement", "hot"])
def test_a_gate_over_everything_is_that_of_each_item(store: Store, term: str) -> None:
    """Also at thresholds that are some item's very number: exactly at it, an item is in."""

    def compare(readings: Readings) -> None:
        evaluation = of_term(readings, parse_term(term))
        everything = live(readings)
        sums = evaluation.sums(everything.ordinals)
        for threshold in (0.0, 1.0, -0.5, *np.unique(sums)[:: max(1, len(np.unique(sums)) // 40)].tolist()):
            through = through_gates(readings, (Gate(parse_term(term), threshold),), everything)
            assert through.ordinals.tolist() == everything.ordinals[sums >= threshold].tolist()

    store.read(compare)


def test_no_candidates_have_no_order(store: Store) -> None:
    def nothing(readings: Readings) -> None:
        profile = Profile("p", boosts=["view.decayed"])
        empty = Candidates(ordinals=np.zeros(0, np.int64), size=readings.size)
        found, least = best_and_least(of_profile(readings, profile), empty, 5)
        assert (len(found.ordinals), least) == (0, 0.0)

    store.read(nothing)


def test_numbers_that_have_lost_their_digits_are_all_compared_exactly() -> None:
    """Scores near the least number of float64, times 1e12: many are equal only when rounded.

    Fails when what such a number is roughly is a threshold that items must reach.
    """
    day, now = 86_400, 1_700_000_000.0
    clock = [now - 1_061 * day]
    profile = Profile("heavy", boosts=[("view.decayed", 1e12)])
    db = germane.open(schema=Schema([Signal("view", half_life=day)], [profile]), clock=lambda: clock[0])
    ids = [f"{number:04}" for number in range(1_500)]
    db.put_many(Item(id=id) for id in [*ids, "late"])
    # The later an item was looked at, the later it stands where scores are equal.
    db.signal_many([{"name": "view", "item": id, "at": clock[0] - 1_505 + n} for n, id in enumerate(ids)])
    clock[0] = now - 800 * day
    db.signal("view", "late")
    db.delete("late")
    clock[0] = now
    alone = [db.retrieve("heavy", candidates=part, limit=1_000).items for part in (ids[:750], ids[750:])]
    raws = {result.id: result.raw for part in alone for result in part}
    assert 0 < max(raws.values()) < 1e-300
    assert len(set(raws.values())) < len(raws) / 2
    page = db.retrieve("heavy", limit=1_000)
    assert [result.id for result in page.items] == sorted(ids, key=lambda each: (-raws[each], each))[:1_000]
