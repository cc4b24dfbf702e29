"""Gates: an item below a threshold is out, an item at it is in, to the last bit."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Profile, Schema, Signal

from .closed_forms import START, Clock

SIGNALS = (
    Signal("view", half_life="7d"),
    Signal("like", half_life=None),
    Signal("dislike", half_life="1h"),
    Signal("share", half_life="30d"),
)
TERMS = (
    "view.decayed", "like.decayed", "view.count.24h", "view.count.all", "view.velocity.1h", "like.ratio.view",
    "reach", "recency.48h", "meta.price", "created_at", "engagement", "hot", "rising", "controversial",
    "wilson", "gem", "shuffle",
)  # fmt: skip


def shown(db: germane.Database, profile: str) -> set[str]:
    page = db.retrieve(profile, limit=1_000, seed=1)
    assert page.total == len(page.items)
    return {result.id for result in page.items}


@given(
    threshold=st.one_of(st.floats(-1e12, 1e12), st.floats(-1, 1)),
    others=st.lists(st.floats(-1e13, 1e13), max_size=10),
)
def test_gate_filtering(threshold: float, others: list[float]) -> None:
    """Exactly at the threshold is in; one unit in the last place below is out.

    Fails when the comparison is strict, and when it has any tolerance.
    """
    profile = Profile("p", gates=[("meta.price", threshold)])
    db = germane.open(schema=Schema((), [profile]))
    prices = [threshold, math.nextafter(threshold, -math.inf), math.nextafter(threshold, math.inf), *others]
    db.put_many(Item(id=str(number), metadata={"price": price}) for number, price in enumerate(prices))
    expected = {str(number) for number, price in enumerate(prices) if price >= threshold}
    assert shown(db, "p") == expected
    assert {"0", "2"} <= expected
    assert "1" not in expected


@pytest.mark.parametrize("term", TERMS)
def test_gate_filtering_of_every_term(term: str, tmp_path: Path) -> None:
    """Any term: a gate at the very number that a ranking shows lets the item in, one at the next number not.

    Fails when gates are computed by another formula than scores, or on transformed terms.
    """
    clock = Clock()
    ranking = Profile("ranking", boosts=[term])
    with germane.open(tmp_path / "s", Schema(SIGNALS, [ranking]), clock=clock) as db:
        for number in range(12):
            id = f"i{number}"
            db.put(Item(id=id, created_at=START - 7_777.7 * number, metadata={"price": 0.1 * number}))
            for event in range(number * 3):
                name = ("view", "like", "like", "like", "dislike", "view", "share")[(event * number) % 7]
                db.signal(name, id, user=f"u{event}", weight=1 + 0.1 * event, at=START - 997.3 * event)
        clock.now += 1_234.5
        values = {
            result.id: result.raw for result in db.retrieve("ranking", limit=100, seed=1, explain=True).items
        }
    middle = sorted(values.values())[7]
    gates = [
        Profile("at", gates=[(term, middle)]),
        Profile("above", gates=[(term, math.nextafter(middle, math.inf))]),
        Profile("both", gates=[(term, middle), ("meta.price", 0.5)]),
    ]
    with germane.open(tmp_path / "s", Schema(SIGNALS, gates), clock=clock) as db:
        assert shown(db, "at") == {id for id, value in values.items() if value >= middle}
        assert shown(db, "above") == {id for id, value in values.items() if value > middle}
        assert shown(db, "both") == {
            id for id, value in values.items() if value >= middle and int(id[1:]) * 0.1 >= 0.5
        }
    assert len(set(values.values())) > 1


def test_what_is_missing_counts_as_nothing() -> None:
    """Fails when an item without the metadata passes a gate above zero, or fails one at zero."""
    profiles = [Profile("zero", gates=["meta.price >= 0"]), Profile("more", gates=["meta.price >= 1e-12"])]
    db = germane.open(schema=Schema((), profiles))
    db.put_many(
        [Item(id="none"), Item(id="word", metadata={"price": "1"}), Item(id="one", metadata={"price": 1})]
    )
    assert shown(db, "zero") == {"none", "word", "one"}
    assert shown(db, "more") == {"one"}


def test_scores_are_over_what_passes_the_gates() -> None:
    """Fails when `minmax` or the score looks at items that the gates keep out."""
    profile = Profile(
        "p", candidates=["fresh(100)"], gates=["meta.price >= 2"], boosts=["minmax(meta.price)"]
    )
    db = germane.open(schema=Schema((), [profile]))
    db.put_many(Item(id=str(price), metadata={"price": price}) for price in (-100, 1, 2, 3, 4))
    found = {result.id: (result.raw, result.score) for result in db.retrieve("p").items}
    assert found == {"4": (1.0, 1.0), "3": (0.5, 0.5), "2": (0.0, 0.0)}
