"""Ranking for a user, stage by stage: what is out, what is last, what is explored, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

import germane
from germane import Diversity, InvalidArgument, Item, Profile, Schema, Signal, where
from germane.ranking.retrieve import order

NOW = 1_700_000_000.0
DAY = 86_400.0
PROFILES = (
    Profile("priced", boosts=["1 meta.price"]),
    Profile("spread", boosts=["1 minmax(meta.price)"], candidates=["fresh(50)"]),
    Profile("gated", boosts=["1 meta.price"], gates=["meta.price >= 3"]),
    Profile("curious", boosts=["1 meta.price"], exploration=0.5),
    Profile("followed", sort="created_at", candidates=["following(2)"]),
)


@pytest.fixture
def db() -> germane.Database:
    """Ten items, i9 the dearest, by five creators; two days old."""
    made = germane.open(schema=Schema([Signal("view"), Signal("completion")], PROFILES), clock=lambda: NOW)
    for n in range(10):
        put(made, f"i{n}", f"c{n // 2}", n, NOW - 2 * DAY + n)
    return made


def put(db: germane.Database, id: str, creator: str, price: int, created_at: float) -> None:
    metadata = {"price": price}
    db.put(Item(id=id, title="word", creator=creator, metadata=metadata, created_at=created_at))


def ids(page: germane.Page) -> list[str]:
    return [result.id for result in page.items]


def numbers(page: germane.Page) -> list[int]:
    return [int(id[1:]) for id in ids(page)]


@pytest.mark.parametrize("few", [True, False])
def test_order_and_scores_with_what_is_hidden_and_muted(
    db: germane.Database, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails if the least or greatest sum is taken of the unmuted alone, or of what is hidden too."""
    monkeypatch.setattr(order, "FEW", 32_768 if few else 0)
    for relation, target in (("hide", "i8"), ("block", "c0"), ("mute", "i9"), ("mute", "c1")):
        db.relate("u", relation, target)
    for limit in (1000, 20, 5, 1):
        page = db.retrieve("priced", user="u", limit=limit)
        assert numbers(page) == [7, 6, 5, 4, 9, 3, 2][:limit]
        assert page.total == 7
        assert [result.score for result in page.items] == [
            pytest.approx((int(result.id[1:]) - 2) / 7) for result in page.items
        ]
    spread = db.retrieve("spread", user="u").items
    assert [result.raw for result in spread] == [
        pytest.approx((int(result.id[1:]) - 2) / 7) for result in spread
    ]
    assert numbers(db.retrieve("gated", user="u")) == [7, 6, 5, 4, 9, 3]
    assert numbers(db.retrieve("priced", user="v")) == list(range(9, -1, -1))
    for n in range(10):
        db.relate("u", "mute", f"i{n}")
    assert numbers(db.retrieve("priced", user="u")) == [9, 7, 6, 5, 4, 3, 2]


def test_a_search_reranked_by_behaviour_keeps_the_muted_last(db: germane.Database) -> None:
    """Fails if muted items are left out of the best by text, or come first by what behaviour adds."""
    db.relate("u", "mute", "i9")
    db.relate("u", "hide", "i7")
    page = db.search("word", user="u", profile="priced", personalization=1.0)
    assert numbers(page) == [8, 6, 5, 4, 3, 2, 1, 0, 9]
    # The muted item is one of the matches, and so one of the ten that are brought between 0 and 1.
    assert page.items[0].contributions["behaviour.priced"] == pytest.approx(
        page.items[0].text_score * 0.5 * 8 / 9
    )
    for rerank in (1, 3, 9):
        found = numbers(db.search("word", user="u", profile="priced", personalization=1.0, rerank=rerank))
        assert found[-1] == 9
        assert sorted(found) == [0, 1, 2, 3, 4, 5, 6, 8, 9]
        again = db.top("word", k=9, user="u", profile="priced", personalization=1.0, rerank=rerank)[0]
        assert [int(id[1:]) for id in again] == found
    db.relate("u", "mute", "i0")  # the best by text, and so the one that is reranked
    page = db.search("word", user="u", profile="priced", rerank=1)
    assert [n for n, result in enumerate(page.items) if "behaviour.priced" in result.contributions] == [7]
    assert page.items[7].id == "i0"


def test_pages_of_a_feed_forget_what_was_hidden_since(db: germane.Database) -> None:
    """Fails if a later page, or what diversity held back, is not checked again."""
    first = db.retrieve("priced", user="u", limit=3, diversity=Diversity(max_per_creator=1))
    assert numbers(first) == [9, 7, 5]
    db.relate("u", "hide", "i8")
    db.relate("u", "block", "c2")
    db.relate("v", "hide", "i6")
    second = db.retrieve(cursor=first.cursor, limit=3)
    assert numbers(second) == [6, 3, 1]
    assert numbers(db.retrieve(cursor=second.cursor, limit=3)) == [2, 0]
    last = db.retrieve("priced", user="u", limit=5)
    for n in (0, 1):
        db.relate("u", "hide", f"i{n}")
    ended = db.retrieve(cursor=last.cursor)
    assert (ids(ended), ended.has_more, ended.cursor) == ([], False, None)


def test_a_feed_belongs_to_its_user(db: germane.Database) -> None:
    page = db.retrieve("priced", user="u", limit=3)
    assert ids(db.retrieve(cursor=page.cursor, user="u")) == ids(db.retrieve(cursor=page.cursor))
    with pytest.raises(InvalidArgument, match="is of a feed with another user"):
        db.retrieve(cursor=page.cursor, user="v")
    filtered = db.retrieve("priced", user="u", where="unseen", limit=3)
    assert len(ids(db.retrieve(cursor=filtered.cursor, where="unseen"))) == 7


def explored(db: germane.Database, user: str | None, seeds: Iterable[int] = range(60)) -> set[str]:
    found = set()
    for seed in seeds:
        for result in db.retrieve("curious", user=user, limit=2, seed=seed, explain=True).items:
            if any(reason.code == "Exploration" for reason in result.reasons):
                found.add(result.id)
    return found


def test_exploration_shows_what_is_unseen_and_young_or_by_creators_unknown(db: germane.Database) -> None:
    """Fails if any relation or signal leaves its creator unknown, or what is muted or hidden is explored."""
    # Shown by rank: i9 and i8, of c4.
    assert explored(db, None) == explored(db, "u") == {f"i{n}" for n in range(8)}
    db.signal("view", "i0", user="u")  # i1 is by a creator who is known now
    assert explored(db, "u") == {f"i{n}" for n in range(2, 8)}
    db.delete("i0")  # and still known
    assert explored(db, "u") == {f"i{n}" for n in range(2, 8)}
    db.relate("u", "save", "i2")
    assert explored(db, "u") == {f"i{n}" for n in range(4, 8)}
    db.relate("u", "follow", "c2")
    assert explored(db, "u") == {"i6", "i7"}
    assert explored(db, "v") == {f"i{n}" for n in range(1, 8)}
    for id in ("y1", "y2", "y3"):
        put(db, id, "c2", -1, NOW - 60)
    assert explored(db, "u") == {"i6", "i7", "y1", "y2", "y3"}
    db.signal("view", "y1", user="u")
    db.relate("u", "mute", "y2")
    db.relate("u", "hide", "y3")
    assert explored(db, "u") == {"i6", "i7"}
    db.relate("u", "mute", "c3")
    assert explored(db, "u") == set()
    page = db.retrieve("curious", user="v", limit=2, seed=1, explain=True)
    (reason,) = [reason for reason in page.items[1].reasons if reason.code == "Exploration"]
    assert reason.detail["eligible"] == 10


def test_the_seed_and_impressions_carry_the_user(db: germane.Database) -> None:
    """Fails if two users draw alike, or feedback cannot be tied to whom a page was for."""
    drawn = {user: tuple(ids(db.retrieve("shuffle", user=user))) for user in (None, "u", "v")}
    assert len(set(drawn.values())) == 3
    assert drawn["u"] == tuple(ids(db.retrieve("shuffle", user="u")))
    for user in ("u", None):
        page = db.retrieve("priced", user=user, limit=2)
        kept = db._shown.page(page.id)
        assert kept is not None
        assert msgspec.msgpack.decode(kept)["user"] == user
    later = db._shown.page(db.retrieve(cursor=db.retrieve("priced", user="u", limit=2).cursor).id)
    assert later is not None
    assert msgspec.msgpack.decode(later)["user"] == "u"


def test_following_gives_the_newest_of_followed_creators(db: germane.Database) -> None:
    assert ids(db.retrieve("followed")) == ids(db.retrieve("followed", user="u")) == []
    db.relate("u", "follow", "c1")
    db.relate("u", "follow", "c3")
    assert numbers(db.retrieve("followed", user="u")) == [7, 6]
    db.relate("u", "hide", "i7")  # after the strategies gave what they give
    assert numbers(db.retrieve("followed", user="u")) == [6]
    db.delete("i6")
    assert numbers(db.retrieve("followed", user="u")) == [3]


def test_masks_are_not_kept_from_one_user_to_the_next(db: germane.Database) -> None:
    """Fails if the mask of a filter about the user is kept under its text."""
    db.signal("view", "i3", user="u")
    for _ in range(2):
        assert 3 not in numbers(db.retrieve("priced", user="u", where="unseen"))
        assert 3 in numbers(db.retrieve("priced", user="v", where="unseen"))
    asked = where.unseen & (where.meta.price < 5) | where.following
    db.relate("u", "follow", "c4")
    assert numbers(db.retrieve("priced", user="u", where=asked)) == [9, 8, 4, 2, 1, 0]
    assert numbers(db.search("word", user="u", where=asked)) == [0, 1, 2, 4, 8, 9]


@pytest.mark.parametrize("state", ["unseen", "saved", "following", "in_progress"])
def test_a_state_without_a_user_says_what_to_do(db: germane.Database, state: str) -> None:
    message = f"where: '{state}' is about a user: say which, as in user='ann', or leave it out"
    calls: list[Any] = [
        lambda: db.search("word", where=state),
        lambda: db.top("word", where=getattr(where, state)),
        lambda: db.retrieve("priced", where=f"meta.price > 3 or not ({state} and id = 'a')"),
        lambda: db.explain("i1", profile="priced", where=state),
        lambda: db.explain("i1", text="word", where=state),
        lambda: db.query(f"RETRIEVE items USING PROFILE priced WHERE {state}"),
    ]
    for call in calls:
        with pytest.raises(InvalidArgument) as caught:
            call()
        assert (caught.value.field, caught.value.message) == ("where", message)
    assert db.query(f"RETRIEVE items FOR USER u USING PROFILE priced WHERE not {state} LIMIT 3") is not None
    assert db.query(f'SEARCH "word" FOR USER u WHERE {state}').total == (10 if state == "unseen" else 0)


@pytest.mark.parametrize(
    "by", [{"profile": "priced"}, {"text": "word"}, {"text": "word", "profile": "priced"}]
)
def test_explain_says_what_keeps_an_item_from_a_user(db: germane.Database, by: dict[str, Any]) -> None:
    db.relate("u", "hide", "i1")
    db.relate("u", "block", "c1")
    db.relate("u", "mute", "i9")
    db.signal("view", "i8", user="u")

    def why(id: str, **more: Any) -> tuple[str, dict[str, Any]]:
        told = db.explain(id, user="u", **by, **more)
        assert not told.ranked
        (reason,) = told.absence
        return reason.code, dict(reason.detail)

    assert why("i1") == ("HardNegative", {"relation": "hide", "target": "i1"})
    assert why("i2") == ("HardNegative", {"relation": "block", "target": "c1"})
    assert why("i8", where="unseen") == ("Seen", {"filter": "unseen"})
    assert why("i8", where="saved and unseen") == ("Filter", {"filter": "saved"})
    assert why("i1", where="id = 'x'") == ("Filter", {"filter": "id = 'x'"})
    muted = db.explain("i9", user="u", **by)
    assert (muted.ranked, muted.rank, muted.total) == (True, 7, 7)
    assert muted.reasons[-1].code == "Muted"
    ranks = {n: db.explain(f"i{n}", user="u", **by).rank for n in (0, 4, 5, 6, 7, 8, 9)}
    searched = {"profile": by["profile"]} if "profile" in by else {}
    page = db.search("word", user="u", **searched) if "text" in by else db.retrieve(by["profile"], user="u")
    assert {n: rank for rank, n in enumerate(numbers(page), 1)} == ranks
    assert db.explain("i1", **by).ranked
