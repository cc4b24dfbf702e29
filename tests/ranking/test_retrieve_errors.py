"""Every message of a retrieval that is refused."""

from __future__ import annotations

from typing import Any

import pytest

import germane
from germane import CursorExpired, Diversity, InvalidArgument, Item, NotFound, Profile, Schema

LIMITS = "a whole number from 1 to 1000"
BUILT_IN = (
    "new, old, most_viewed, most_liked, most_shared, hot, trending, rising, controversial, hidden_gems, "
    "shuffle, for_you, following, notification, top:24h, related:ID"
)
WINDOWS = "top:1h, top:24h, top:7d, top:30d, top:all"
LATER = "is not available in this version"
EMPTY = "is empty: an id has 1 to 200 characters"


@pytest.fixture(scope="module")
def db() -> germane.Database:
    profiles = [Profile("mine"), Profile("mine", version=2), Profile("other", version=3)]
    store = germane.open(schema=Schema((), profiles))
    store.put_many(Item(id=id) for id in "abc")
    return store


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"profile": ""}, f"profile: {EMPTY}"),
        ({"profile": None}, "profile: must be a string, not NoneType"),
        ({"profile": "top"}, f"profile: 'top' needs a window: {WINDOWS}"),
        ({"profile": "top:2h"}, f"profile: 'top:2h' needs a window: {WINDOWS}"),
        ({"profile": "hot:24h"}, "profile: 'hot' takes nothing after a colon"),
        ({"profile": "related:"}, "profile: 'related' needs the id of an item: write related:ID"),
        ({"limit": 0}, f"limit: 0 is out of range: it must be {LIMITS}"),
        ({"limit": 1001}, f"limit: 1001 is out of range: it must be {LIMITS}"),
        ({"limit": "3"}, f"limit: must be {LIMITS}, not '3'"),
        ({"limit": True}, f"limit: must be {LIMITS}, not True"),
        ({"candidates": "a"}, "candidates: must be a list of strings, not str"),
        ({"candidates": [1]}, "candidates: must be a string, not int"),
        ({"candidates": [""]}, f"candidates: {EMPTY}"),
        ({"collections": "main"}, "collections: must be a list of strings, not str"),
        ({"collections": [1]}, "collections: must be a string, not int"),
        (
            {"where": 3},
            "where: must be a string or a filter made with germane.where, as in where.meta.price < 10, "
            "not int",
        ),
        ({"diversity": 3}, "diversity: must be a Diversity, not int"),
        (
            {"diversity": {"x": 0}},
            "diversity.x: is no limit: there are max_per_creator, max_share, mmr, relax",
        ),
        (
            {"diversity": {"max_per_creator": 0}},
            f"diversity.max_per_creator: 0 is out of range: it must be {LIMITS}",
        ),
        ({"seed": 1.5}, "seed: must be a whole number or a string, not 1.5"),
        ({"seed": True}, "seed: must be a whole number or a string, not True"),
        ({"cursor": 3}, "cursor: must be the cursor of a page, not int"),
        ({"explain": 1}, "explain: must be True or False, not 1"),
        ({"user": ""}, f"user: {EMPTY}"),
        ({"user": 3}, "user: must be a string, not int"),
        ({"session": 3}, "session: must be a session or its id, not int"),
        ({"similar_to": 3}, "similar_to: must be a string, not int"),
        (
            {"similar_to": "a", "candidates": ["b"]},
            "similar_to: names the candidates, and so does candidates: give one of them",
        ),
        ({"session_weights": 1}, "session_weights: must be a SessionWeights, not int"),
        ({"facets": ("tags",)}, f"facets: {LATER}: leave it at ()"),
        ({"as_of": 1.5}, "as_of: must be a position of the log or an aware datetime, not float"),
    ],
)
def test_what_is_refused(db: germane.Database, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        db.retrieve(**{"profile": "new", **given})
    assert str(caught.value) == message
    assert caught.value.field == message.partition(":")[0]


@pytest.mark.parametrize("name", ["nope", "mine@3", "mine@", "mine@x", "other@1", "@1", "for_you@x"])
def test_profiles_that_there_are_not(db: germane.Database, name: str) -> None:
    for call in (lambda: db.retrieve(name), lambda: db.explain("a", profile=name)):
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert str(caught.value).startswith(f"profile: {name!r} is no profile: built in are {BUILT_IN}; ")
        assert "mine" in str(caught.value)
        assert "other" in str(caught.value)


def test_profiles_that_there_are(db: germane.Database) -> None:
    for name in ("mine", "mine@1", "mine@2", "other", "other@3"):
        assert db.retrieve(name).total == 3


def test_more_candidates_than_a_call_may_give(db: germane.Database) -> None:
    db.retrieve("new", candidates=[f"x{number}" for number in range(10_000)])
    with pytest.raises(InvalidArgument) as caught:
        db.retrieve("new", candidates=[f"x{number}" for number in range(10_001)])
    assert caught.value.field == "candidates"
    assert "10,000" in str(caught.value) or "10000" in str(caught.value)


def test_cursors_that_are_of_another_feed(db: germane.Database) -> None:
    cursor = db.retrieve("new", limit=1, seed=7, where="id != 'x'").cursor
    others: dict[str, Any] = {
        "profile": "hot",
        "where": "id = 'a'",
        "seed": 3,
        "candidates": ["a"],
        "collections": ["main"],
        "diversity": Diversity(max_per_creator=1),
    }
    for name, other in others.items():
        with pytest.raises(InvalidArgument) as caught:
            db.retrieve(cursor=cursor, **{name: other})
        assert str(caught.value) == (
            f"cursor: is of a feed with another {name}: leave it out, or begin a new feed without a cursor"
        )
    again = db.retrieve("new", limit=1, seed=7, where="id != 'x'", cursor=cursor)
    assert [result.id for result in again.items] == ["b"]
    assert [result.id for result in db.retrieve(cursor=cursor, limit=1).items] == ["b"]


@pytest.mark.parametrize("cursor", ["", "x", "é", "A" * 44, "=" * 600, "new"])
def test_cursors_that_are_none(db: germane.Database, cursor: str) -> None:
    with pytest.raises(CursorExpired) as caught:
        db.retrieve("new", cursor=cursor)
    assert str(caught.value) == (
        "the cursor is older than 15 minutes, or no cursor of this store: begin a new feed without it"
    )


def test_what_cannot_be_explained(db: germane.Database) -> None:
    with pytest.raises(NotFound, match="there is no item 'nobody'"):
        db.explain("nobody")
    refused: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("",), {}, f"id: {EMPTY}"),
        ((3,), {}, "id: must be a string, not int"),
        (("a",), {"limit": 0}, f"limit: 0 is out of range: it must be {LIMITS}"),
        (("a",), {"user": ""}, f"user: {EMPTY}"),
        (("a",), {"session": 3}, "session: must be a session or its id, not int"),
        (("a",), {"text": 3}, "text: must be a string, not int"),
    ]
    for args, given, message in refused:
        with pytest.raises(InvalidArgument) as caught:
            db.explain(*args, **given)
        assert str(caught.value) == message
