"""Boosts add, penalties subtract, and nothing gives NaN or infinity."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Profile, Schema, Signal

from .closed_forms import DAY, START, Clock, store

SIGNALS = (Signal("view", half_life="7d"), Signal("like", half_life="1h"), Signal("dislike", half_life="1s"))
PRICE, LIKES = 3.7, 3

weights = st.one_of(st.floats(-1e12, 1e12), st.sampled_from([0.0, 1.0, -1.0, 1e12, -1e12, 1e-12, 0.1]))
BUILT_IN = (
    "new", "old", "top:1h", "top:24h", "top:7d", "top:30d", "top:all", "most_viewed", "most_liked",
    "most_shared", "hot", "trending", "rising", "controversial", "hidden_gems", "shuffle", "for_you",
)  # fmt: skip


def left_to_right(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@given(first=weights, second=weights, third=weights, fourth=weights)
def test_boost_penalty_linearity(first: float, second: float, third: float, fourth: float) -> None:
    """raw = w1 price + w2 log1p(likes) - w3 likes/(likes + 2) - w4 price, to the last bit from left to right.

    Fails when a penalty is added, when it is divided by instead of subtracted, and when terms are summed in
    another order.
    """
    profile = Profile(
        "p",
        boosts=[("meta.price", first), ("log1p(like.count.all)", second)],
        penalties=[("saturate(2)(like.count.all)", third), ("meta.price", fourth)],
    )
    db, _ = store(*SIGNALS, items=("z",), profiles=[profile])
    db.put(Item(id="a", metadata={"price": PRICE}))
    db.signal_many([{"name": "like", "item": "a"}] * LIKES)
    result = next(each for each in db.retrieve("p").items if each.id == "a")
    expected = [
        ("meta.price", first * PRICE),
        ("log1p(like.count.all)", second * math.log(1 + LIKES)),
        ("-saturate(2)(like.count.all)", -third * LIKES / (LIKES + 2)),
        ("-meta.price", -fourth * PRICE),
    ]
    assert list(result.contributions) == [name for name, _ in expected]
    for name, value in expected:
        assert result.contributions[name] == pytest.approx(value, rel=1e-12, abs=1e-300)
    assert result.contributions["meta.price"] == first * PRICE
    assert result.raw == left_to_right(result.contributions.values())
    assert 0.0 <= result.score <= 1.0


@given(weight=st.floats(1e-100, 1e11), factor=st.sampled_from([2.0, 0.5, -1.0, 8.0]))
def test_a_weight_scales_its_contribution(weight: float, factor: float) -> None:
    """Twice the weight is twice the contribution, and leaves the others as they were.

    Fails when a weight is squashed or normalised.
    """
    profiles = [
        Profile(name, boosts=[("reach", 1.0), ("meta.price", scaled)], penalties=[("view.decayed", scaled)])
        for name, scaled in (("one", weight), ("two", weight * factor))
    ]
    db, _ = store(*SIGNALS, items=(), profiles=profiles)
    db.put(Item(id="a", metadata={"price": PRICE}))
    db.signal("view", "a", user="u", at=START - 1_000)
    one, two = (db.retrieve(name).items[0].contributions for name in ("one", "two"))
    assert two["reach"] == one["reach"] == 1.0
    assert two["meta.price"] == one["meta.price"] * factor
    assert two["-view.decayed"] == one["-view.decayed"] * factor


FORMS = (
    "view.decayed", "like.decayed", "dislike.decayed", "view.count.24h", "like.count.all", "like.velocity.1h",
    "like.ratio.view", "view.ratio.dislike", "reach", "recency.48h", "recency.1s", "meta.price", "created_at",
    "engagement", "hot", "rising", "controversial", "wilson", "gem", "shuffle",
)  # fmt: skip
TRANSFORMS = ("{}", "log1p({})", "saturate(1e-12)({})", "saturate(1e12)({})", "minmax({})", "rank({})")


@pytest.mark.parametrize("weight", [1e12, -1e12, 1e-300])
@pytest.mark.parametrize("years", [0, 40, 7_900])
def test_boost_penalty_linearity_gives_no_nan_and_no_infinity(weight: float, years: int) -> None:
    """Every term in every transform, with the greatest weights, over the greatest signals and farthest times.

    Fails when metadata are not clipped, when 2^x is taken of what was created in the year 9999, and when
    `minmax` divides by nothing.
    """
    forms = [transform.format(form) for transform in TRANSFORMS for form in FORMS]
    profiles = [
        Profile("boosted", candidates=["fresh(500)"], boosts=[(form, weight) for form in forms]),
        Profile("penalised", candidates=["fresh(500)"], penalties=[(form, weight) for form in forms]),
    ]
    clock = Clock()
    db = germane.open(schema=Schema([*SIGNALS, Signal("share")], profiles), clock=clock)
    db.put_many(
        Item(id=f"{number}-{price}", created_at=created, metadata={"price": price})
        for number, created in enumerate(
            [None, 0.0, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
        )
        for price in (0, 1.7e308, -1.7e308, 5e-324, (1 << 63) - 1, "much")
    )
    rows: list[dict[str, Any]] = [
        {"name": name, "item": item, "weight": heavy, "at": at}
        for item in ("0-0", "1-0", "2-1.7e+308", "3--1.7e+308")
        for name in ("view", "like", "dislike", "share")
        for heavy in (1e12, 1e12, -1e12, 1e-300)
        for at in (START, START - 40 * 365 * DAY, START + 300, -2e9)
    ]
    rows += [{"name": "dislike", "item": "1-0", "weight": -1e12, "at": START - 5}] * 100
    db.signal_many(rows)
    clock.now += years * 365 * DAY
    for name in ("boosted", "penalised", *BUILT_IN):
        page = db.retrieve(name, limit=100, seed=1)
        assert page.items or years, name  # what trends is over by then
        for result in page.items:
            numbers = [result.raw, *result.contributions.values()]
            assert all(map(math.isfinite, numbers)), (name, result.id, result.contributions)
            assert 0.0 <= result.score <= 1.0
            assert result.raw == left_to_right(result.contributions.values())


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e13])
def test_what_is_not_finite_is_refused_where_it_comes_in(wrong: float) -> None:
    """Fails when a weight of a signal or of a profile is not checked, or only against NaN."""
    db, _ = store(*SIGNALS)
    with pytest.raises(germane.InvalidArgument):
        db.signal("view", "a", weight=wrong)
    with pytest.raises(germane.InvalidArgument):
        db.signal_many({"name": ["view"], "item": ["a"], "weight": [wrong]})
    with pytest.raises(germane.SchemaError):
        Profile("p", boosts=[("reach", wrong)])
    with pytest.raises(germane.SchemaError):
        Profile("p", gates=[("reach", wrong)])
    assert db.decayed("view", "a") == 0.0
