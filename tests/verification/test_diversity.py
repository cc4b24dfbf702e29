"""Diversity: no page holds more than its limits allow."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Diversity, Item, Page, Profile, Schema

Made = tuple[str | None, str | None, list[str]]
"""An item's creator, format and tags."""

creators = st.sampled_from([None, "ann", "bob", "cy", "di"])
formats = st.sampled_from([None, "clip", "film", "text"])
tags = st.lists(st.sampled_from(["x", "y", "z"]), unique=True, max_size=2)
items = st.lists(st.tuples(creators, formats, tags), max_size=40)
limits = st.builds(
    Diversity,
    max_per_creator=st.none() | st.integers(1, 3),
    max_share=st.dictionaries(
        st.sampled_from(["meta.format", "tags", "creator"]), st.sampled_from([0.01, 0.25, 0.5, 0.6, 1.0])
    ),
)


def store(given: Sequence[Made], *profiles: Profile) -> germane.Database:
    db = germane.open(schema=Schema((), profiles))
    db.put_many(
        Item(
            id=f"{number:02}", creator=creator, tags=tags, created_at=-number,
            metadata={} if format is None else {"format": format},
        )
        for number, (creator, format, tags) in enumerate(given)
    )  # fmt: skip
    return db


def pages(db: germane.Database, diversity: Diversity | None, limit: int) -> Iterator[Page]:
    page = db.retrieve("new", diversity=diversity, limit=limit)
    yield page
    while page.cursor is not None:
        page = db.retrieve("new", cursor=page.cursor, limit=limit)
        yield page


@given(given_=items, diversity=limits, limit=st.integers(1, 12))
def test_diversity_post_condition(given_: list[Made], diversity: Diversity, limit: int) -> None:
    """On no page of a feed does a creator, a format or a tag exceed its limit; nothing is lost or repeated.

    Fails when one item more than the limit is let through, when limits are counted over the feed instead of
    the page, and when what was held back is dropped.
    """
    db = store(given_)
    shown: list[str] = []
    for page in pages(db, diversity, limit):
        by_creator = Counter(result.creator for result in page.items if result.creator is not None)
        if diversity.max_per_creator is not None:
            assert max(by_creator.values(), default=0) <= diversity.max_per_creator
        counted: dict[str, Counter[Any]] = {
            "creator": by_creator,
            "meta.format": Counter(
                result.metadata["format"] for result in page.items if "format" in result.metadata
            ),
            "tags": Counter(tag for result in page.items for tag in result.tags),
        }
        for field, share in diversity.max_share.items():
            cap = max(1, math.floor(share * limit))
            assert max(counted[field].values(), default=0) <= cap, (field, share)
        assert page.items or not given_
        assert len(page.items) <= limit
        left = len(given_) - len(shown) - len(page.items)
        if len(page.items) < limit:
            assert sum(page.held_back.values()) == left
        assert page.has_more == (left > 0)
        shown += [result.id for result in page.items]
    assert sorted(shown) == [f"{number:02}" for number in range(len(given_))]


@given(given_=items, limit=st.integers(1, 12))
def test_without_limits_a_page_is_a_slice(given_: list[Made], limit: int) -> None:
    """Fails when anything is held back that no limit names."""
    shown = [[result.id for result in page.items] for page in pages(store(given_), None, limit)]
    order = [f"{number:02}" for number in range(len(given_))]
    assert shown == ([order[at : at + limit] for at in range(0, len(order), limit)] or [[]])


def test_a_short_page_says_what_held_back_how_many_and_relaxes_only_when_asked() -> None:
    """Fails when a page is filled up beyond a limit without `relax`, or not with it."""
    given_ = [("ann", None, list[str]())] * 5 + [("bob", None, list[str]())]
    db = store(given_)
    short = db.retrieve("new", diversity=Diversity(max_per_creator=2), limit=5)
    assert [result.id for result in short.items] == ["00", "01", "05"]
    assert sum(short.held_back.values()) == 3
    assert short.constraints_satisfied
    full = db.retrieve("new", diversity=Diversity(max_per_creator=2, relax=True), limit=5)
    assert [result.id for result in full.items] == ["00", "01", "05", "02", "03"]
    assert not full.constraints_satisfied


def test_equal_values_share_one_limit_and_shares_are_as_printed() -> None:
    """Fails when 1 and 1.0 count apart, or true with them; and when 0.29 of 100 places are 28."""
    db = germane.open()
    values: list[Any] = [1, 1.0, True, 1, "1"]
    db.put_many(
        Item(id=str(number), created_at=-number, metadata={"format": value})
        for number, value in enumerate(values)
    )
    page = db.retrieve("new", diversity=Diversity(max_share={"meta.format": 0.2}), limit=5)
    assert [result.id for result in page.items] == ["0", "2", "4"]
    assert dict(page.held_back) == {"max_share meta.format": 2}
    assert Diversity(max_share={"type": 0.29, "kind": 0.07}).caps(100) == {"type": 29, "kind": 7}


def test_relaxing_is_the_last_resort_however_deep_the_order() -> None:
    """Fails when a page is relaxed while the order holds items that keep within the limits."""
    many = [("ann", None, list[str]())] * 1_100
    db = store([*many, ("bob", None, []), ("cy", None, [])])
    page = db.retrieve("new", diversity=Diversity(max_per_creator=1, relax=True), limit=3)
    assert [result.creator for result in page.items] == ["ann", "bob", "cy"]
    assert page.constraints_satisfied


def test_what_was_held_back_comes_first_on_the_next_page() -> None:
    """Fails when the next page begins with what the order has next."""
    db = store([("ann", None, list[str]())] * 3 + [("bob", None, list[str]())] * 3)
    shown = [[result.id for result in page.items] for page in pages(db, Diversity(max_per_creator=1), 2)]
    assert shown == [["00", "03"], ["01", "04"], ["02", "05"]]


def test_the_limits_of_a_profile_hold_unless_others_are_asked_for() -> None:
    """Fails when a profile's diversity is not looked at."""
    profile = Profile("p", sort="created_at", diversity={"max_per_creator": 1})
    db = store([("ann", None, list[str]())] * 3, profile)
    assert len(db.retrieve("p").items) == 1
    assert len(db.retrieve("p", diversity=Diversity()).items) == 3
