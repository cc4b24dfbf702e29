"""SEARCH with a profile: what behaviour adds to the best by text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Item, Profile, Schema, Signal

WORDS = ("lamp", "red", "blue", "bulb", "shade")
PROFILE = Profile("liked", boosts=["log1p(like.decayed)", "0.5 view.count.all"], penalties=["0.1 meta.price"])
RANKED = Profile(
    "ranked", candidates=["signal(like.decayed, 50)"], boosts=["rank(like.decayed)", "2 minmax(text)"]
)


def made(seed: int, items: int = 40) -> germane.Database:
    draw = random.Random(seed)
    signals = [Signal("view", half_life="1d"), Signal("like", half_life="7d")]
    db = germane.open(None, Schema(signals, [PROFILE, RANKED]), clock=lambda: 1_800_000_000)
    db.put_many(
        Item(
            id=f"i{n:02}",
            title=draw.choice(WORDS),
            body=" ".join(draw.choices(WORDS, k=draw.randint(1, 12))),
            metadata={"price": draw.randint(0, 9)},
        )
        for n in range(items)
    )
    db.signal_many(
        {"name": draw.choice(["view", "like"]), "item": f"i{draw.randrange(items):02}"} for _ in range(120)
    )
    return db


def base_of(db: germane.Database, name: str, ids: list[str]) -> dict[str, float]:
    """What the profile sums for these items, from the readings alone."""
    liked = {id: db.decayed("like", id) for id in ids}
    if name == "liked":
        from math import log1p

        price = {id: db.get(id).metadata["price"] for id in ids}
        return {id: log1p(liked[id]) + 0.5 * db.count("view", id, "all") - 0.1 * price[id] for id in ids}  # type: ignore[operator]
    by_text = {result.id: result.text_score for result in db.search("lamp red", limit=1000).items}
    low, high = min(by_text[id] for id in ids), max(by_text[id] for id in ids)
    return {
        id: sum(liked[other] < liked[id] for other in ids) / (len(ids) - 1)
        + 2 * ((by_text[id] - low) / (high - low) if high > low else 0)
        for id in ids
    }


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    personalization=st.floats(0, 1),
    among=st.sampled_from([2, 5, 1000]),
    name=st.sampled_from(["liked", "ranked"]),
    offset=st.integers(0, 12),
)
def test_raw_is_what_the_formula_says_for_every_match(
    seed: int, personalization: float, among: int, name: str, offset: int
) -> None:
    """Fails when M is taken of the page, B of all matches, or the rest loses its place in the order."""
    db = made(seed)
    by_text = db.search("lamp red", limit=1000).items
    first = [result.id for result in by_text[:among]]
    base = base_of(db, name, first)
    low, high = min(base.values()), max(base.values())
    greatest = by_text[0].text_score
    expected = {result.id: result.text_score for result in by_text}
    for id in first:
        share = (base[id] - low) / (high - low) if high > low else 0.0
        expected[id] += greatest * 0.5 * personalization * share
    page = db.search(
        "lamp red", profile=name, personalization=personalization, rerank=among, offset=offset, limit=10
    )
    assert page.total == len(by_text)
    assert [result.raw for result in page.items] == pytest.approx(
        sorted(expected.values(), reverse=True)[offset : offset + 10], rel=1e-9
    )
    for result in page.items:
        assert result.raw == pytest.approx(expected[result.id], rel=1e-9)
        assert result.raw == sum(result.contributions.values()) == result.score
        assert (f"behaviour.{name}" in result.contributions) == (result.id in first)
        assert result.text_score == pytest.approx(
            sum(value for key, value in result.contributions.items() if not key.startswith("behaviour.")),
            rel=1e-12,
        )
    ids, scores = db.top(
        "lamp red", 10, profile=name, personalization=personalization, rerank=among, offset=offset
    )
    assert (ids, scores) == ([result.id for result in page.items], [result.raw for result in page.items])


def test_without_personalization_the_order_is_that_of_the_text() -> None:
    db = made(1)
    plain = [(result.id, result.raw) for result in db.search("lamp red", limit=100).items]
    assert [
        (r.id, r.raw) for r in db.search("lamp red", profile="liked", personalization=0, limit=100).items
    ] == plain


def test_a_signal_moves_the_very_next_search() -> None:
    """Fails when the search reads the readings of an older position."""
    db = made(2)
    last = db.search("lamp", limit=100).items[-1].id
    before = [result.id for result in db.search("lamp", profile="liked", personalization=1, limit=100).items]
    for _ in range(50):
        db.signal("view", last)
    after = [result.id for result in db.search("lamp", profile="liked", personalization=1, limit=100).items]
    assert after.index(last) < before.index(last)


def test_reasons_name_the_profile() -> None:
    result = made(3).search("lamp", profile="liked", explain=True).items[0]
    assert [reason.code for reason in result.reasons] == ["TextMatch", "SignalBoost"]
    assert result.reasons[1].detail["term"] == "behaviour.liked"


def test_a_profile_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"^profile: 'loved' is no profile: built in are new, "):
        made(4).search("lamp", profile="loved")


def test_explaining_a_search_says_the_place_or_what_is_in_the_way() -> None:
    db = made(5)
    page = db.search("lamp red", profile="liked", limit=1000)
    for rank, result in enumerate(page.items, 1):
        why = db.explain(result.id, text="lamp red", profile="liked", limit=3)
        assert (why.rank, why.raw, why.total) == (rank, result.raw, page.total)
        assert dict(why.contributions) == dict(result.contributions)
        assert [reason.code for reason in why.absence] == (["BeyondPage"] if rank > 3 else [])
        assert why.token_count == sum(why.field_token_counts.values()) > 0
    missing = db.put(Item(title="garden", body="green", metadata={"price": 1}))
    assert db.explain(missing, text="lamp red").absence[0].detail == {
        "detail": "its text lacks lamp, red",
        "lacks": ("lamp", "red"),
    }
    bare = db.put(Item(body=b"\x00", type="image/png", metadata={"price": 1}))
    assert db.explain(bare, text="lamp").absence[0].detail["detail"] == "it has no text that is indexed"
    near = db.put(Item(title="red lamp", metadata={"price": 1}))
    assert db.explain(near, text='"lamp red"').absence[0].detail["detail"].startswith("it fails a phrase")
    first = page.items[0].id
    assert db.explain(first, text="lamp red", where="id != 'x' and meta.price > 99").absence[0].detail == {
        "filter": "meta.price > 99"
    }
    assert db.explain(first, text="lamp red", collections=["other"]).absence[0].code == "Filter"
    db.delete(first)
    assert db.explain(first, text="lamp red").absence[0].code == "NotLive"
    with pytest.raises(germane.NotFound, match="there is no item 'nobody'"):
        db.explain("nobody", text="lamp")
