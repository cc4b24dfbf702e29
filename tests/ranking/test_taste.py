"""Ranking by taste, against plain moving averages and sums: terms, nearest, for_you, notification, SEARCH."""

from __future__ import annotations

import math
import random
from operator import mul
from typing import Any

import numpy as np
import pytest

import germane
from germane import Diversity, Item, NotFound, Profile, Schema, Signal
from germane.ranking.retrieve import order

NOW = 1_700_000_000.0
DAY = 86_400.0
SIGNALS = (
    Signal("view", half_life="7d", affinity=0.1, affinity_half_life="10d"),
    Signal("like", half_life="30d", preference=0.3, affinity=1.0, affinity_half_life="30d"),
    Signal("dislike", half_life="30d", polarity=-1, preference=0.2, affinity=-1.0),
)
RATES = {"view": (0.0, 0.1, 10), "like": (0.3, 1.0, 30), "dislike": (-0.2, -1.0, 30)}
PROFILES = (
    Profile("leaning", boosts=["2 preference", "0.5 affinity"], penalties=["0.25 saturate(1)(affinity)"]),
    Profile("closest", sort="preference"),
    Profile("liked", sort="affinity", gates=["affinity >= 0.1"]),
    Profile("near", boosts=["preference"], candidates=["nearest(7)"]),
)


class World:
    """A store of 90 items with vectors of eight numbers, and what users did; and plain copies of it."""

    def __init__(self, seed: int) -> None:
        dice = self.dice = random.Random(seed)
        self.now = NOW
        self.db = germane.open(schema=Schema(SIGNALS, PROFILES), clock=lambda: self.now)
        self.items: dict[str, dict[str, Any]] = {}
        self.vectors: dict[str, tuple[list[float], int]] = {}
        self.likes: list[tuple[str, str, float, float, int]] = []
        self.events: list[tuple[str | None, str, str, float]] = []
        for number in range(90):
            chance = dice.random()
            vector = None if chance < 0.1 else [float(np.float32(dice.gauss(0, 1))) for _ in range(8)]
            vector = [0.0] * 8 if chance > 0.97 else vector
            creator = dice.choice([None, "ann", "bob", "cy", "di", "ed"])
            created_at = NOW - dice.choice([0.0, 0.5, 3.0, 400.0]) * DAY
            self.items[f"i{number}"] = {"embedding": vector, "creator": creator, "created_at": created_at}
        self.db.put_many(
            Item(id=id, title="lamp " * (1 + n % 3), **item)
            for n, (id, item) in enumerate(self.items.items())
        )
        for _ in range(120):
            self.act(dice.choice(["u", "v", None]), dice.choice(list(RATES)), f"i{dice.randrange(40)}")
            self.now += dice.choice([0, 60, 3_600])

    def act(self, user: str | None, name: str, id: str) -> None:
        self.db.signal(name, id, user=user)
        self.events.append((user, name, id, self.now))
        item, (base, delta, half_life) = self.items[id], RATES[name]
        if user is not None and base and item["embedding"] is not None:
            vector, count = self.vectors.get(user, ([0.0] * 8, 0))
            a, sign = abs(base) / (1 + math.log(count + 1)), math.copysign(1, base)
            moved = [(1 - a) * v + a * sign * e for v, e in zip(vector, item["embedding"], strict=True)]
            self.vectors[user] = moved, count + 1
        if user is not None and item["creator"] is not None:
            self.likes.append((user, item["creator"], delta, self.now, half_life))

    def preference(self, user: str, id: str) -> float:
        vector, other = self.vectors.get(user, ([0.0] * 8, 0))[0], self.items[id]["embedding"] or [0.0] * 8
        lengths = math.hypot(*vector) * math.hypot(*other)
        return float(math.fsum(map(mul, vector, other)) / lengths) if lengths else 0.0

    def affinity(self, user: str, id: str) -> float:
        total = sum(
            delta * 2.0 ** (-(self.now - at) / (half_life * DAY))
            for who, creator, delta, at, half_life in self.likes
            if (who, creator) == (user, self.items[id]["creator"])
        )
        return float(total / (1 + abs(total)))

    def engagement(self, id: str) -> float:
        half_lives, weights = {"view": 7, "like": 30}, {"view": 1, "like": 3}
        return math.log1p(
            sum(
                weights[name] * 2.0 ** (-(self.now - at) / (half_lives[name] * DAY))
                for _, name, item, at in self.events
                if item == id and name in weights
            )
        )

    def again(self, user: str, id: str) -> float:
        return math.fsum(
            math.copysign(1.0, RATES[name][0]) * 2.0 ** (-(self.now - at) / (90 * DAY))
            for who, name, item, at in self.events
            if (who, item) == (user, id)
        )

    def recency(self, id: str, hours: float) -> float:
        return float(2.0 ** (-max(self.now - self.items[id]["created_at"], 0) / 3_600 / hours))


@pytest.fixture(params=range(3))
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


@pytest.mark.parametrize("few", [True, False])
def test_terms_of_taste(world: World, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a term is of another user, not the cosine, or its bounds let blocks be passed over."""
    monkeypatch.setattr(order, "FEW", 32_768 if few else 0)
    for user in ("u", "v", "w"):
        page = world.db.retrieve("leaning", user=user, limit=200, explain=True)
        assert page.total == 90
        for result in page.items:
            p, a = world.preference(user, result.id), world.affinity(user, result.id)
            assert result.contributions == {
                "preference": pytest.approx(2 * p, abs=1e-6),
                "affinity": pytest.approx(0.5 * a, abs=1e-9),
                "-saturate(1)(affinity)": pytest.approx(-0.25 * a / (abs(a) + 1), abs=1e-9),
            }
            codes = {reason.code for reason in result.reasons}
            assert ("PreferenceMatch" in codes) == (result.contributions["preference"] != 0)
            assert ("CreatorAffinity" in codes) == (a != 0)
        raws = [(-result.raw, result.id) for result in page.items]
        assert raws == sorted(raws)
        closest = world.db.retrieve("closest", user=user, limit=5).items
        exact = {result.id: result.contributions["preference"] / 2 for result in page.items}
        assert [r.id for r in closest] == sorted(exact, key=lambda each: (-exact[each], each))[:5]
        assert all(result.raw == exact[result.id] for result in closest)
        liked = world.db.retrieve("liked", user=user, limit=200).items
        assert {r.id for r in liked} == {id for id in world.items if world.affinity(user, id) >= 0.1}
    nobody = world.db.retrieve("leaning", limit=200).items
    assert {result.raw for result in nobody} == {0.0}


def test_nearest_gives_the_nearest(world: World) -> None:
    """Fails if rough cosines choose, or what has no direction is near."""
    for user in ("u", "v"):
        page = world.db.retrieve("near", user=user)
        with_vector = [id for id, item in world.items.items() if any(item["embedding"] or ())]
        best = sorted(with_vector, key=lambda each: -world.preference(user, each))[:7]
        assert {result.id for result in page.items} == set(best)
    assert world.db.retrieve("near", user="w").total == world.db.retrieve("near").total == 0


def test_for_you_with_history(world: World) -> None:
    """Fails if a term is left out, or weighs other than the page of formulas says."""
    for user in ("u", "v"):
        page = world.db.retrieve("for_you", user=user, limit=200, explain=True)
        assert page.total == 90
        for result in page.items:
            engaged, again = world.engagement(result.id), world.again(user, result.id)
            expected = [
                0.4 * world.preference(user, result.id),
                0.3 * engaged / (engaged + 3),
                0.03 * world.recency(result.id, 48),
                0.3 * world.affinity(user, result.id),
                0.5 * again / (abs(again) + 1),
            ]
            assert list(result.contributions) == [
                "preference", "saturate(3)(engagement)", "recency.48h", "affinity", "saturate(1)(again)"
            ]  # fmt: skip
            assert list(result.contributions.values()) == pytest.approx(expected, abs=1e-6)
            assert all(reason.code != "ColdStart" for reason in result.reasons)
        id = page.items[5].id
        why = world.db.explain(id, profile="for_you", user=user)
        assert why.contributions == page.items[5].contributions


def test_a_user_without_history_is_ranked_for_as_nobody() -> None:
    """Fails if a relation counts as history, or a signal does not."""
    world = World(0)
    world.db.relate("w", "save", "i1")
    nobody = world.db.retrieve("for_you", seed=1, explain=True, limit=100)
    stranger = world.db.retrieve("for_you", user="w", seed=1, explain=True, limit=100)
    assert {r.id: r.raw for r in stranger.items} == {r.id: r.raw for r in nobody.items}
    assert "ColdStart" in {reason.code for reason in stranger.items[0].reasons}
    world.db.signal("view", "i1", user="w")
    known = world.db.retrieve("for_you", user="w", explain=True).items
    assert "preference" in known[0].contributions
    assert all(reason.code != "ColdStart" for result in known for reason in result.reasons)


def test_more_likes_or_views_raise_an_item_for_every_user(world: World) -> None:
    """Fails if engagement is taken from what is for a user with history."""
    before = {r.id: r.raw for r in world.db.retrieve("for_you", user="u", limit=200).items}
    for name, id in (("like", "i50"), ("view", "i51")):
        world.db.signal(name, id)
        after = {r.id: r.raw for r in world.db.retrieve("for_you", user="u", limit=200).items}
        assert after[id] > before[id]


def test_following_and_notification(world: World) -> None:
    """Fails if what was seen is notified of, or what is neither followed nor liked."""
    world.db.relate("u", "follow", "ed")
    followed = [id for id, item in world.items.items() if item["creator"] == "ed"]
    page = world.db.retrieve("following", user="u", limit=200)
    assert [r.id for r in page.items] == sorted(
        followed, key=lambda each: (-world.items[each]["created_at"], each)
    )
    page = world.db.retrieve("notification", user="u", limit=200)
    seen = {r.id for r in world.db.retrieve("new", user="u", where="not unseen", limit=200).items}
    liked = {id for id in world.items if world.affinity("u", id) > 0}
    assert {r.id for r in page.items} == (liked | set(followed)) - seen
    for result in page.items:
        expected = world.affinity("u", result.id) + world.recency(result.id, 24)
        assert result.raw == pytest.approx(expected, abs=1e-9)
    (first, *_) = sorted(seen)
    assert world.db.explain(first, profile="notification", user="u").absence[0].code == "Seen"
    assert world.db.retrieve("notification").total == world.db.retrieve("following").total == 0


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_search_for_a_user(world: World, p: float) -> None:
    """``raw = text_score + M * 0.5 * p * (0.5 preference + 0.5 affinity)``; at p = 0 the order by text.

    Fails if M is of a page, the halves are left out, or those beyond `rerank` are moved.
    """
    db = world.db
    plain = db.search("lamp", limit=1000)
    for user in ("u", "v"):
        page = db.search("lamp", user=user, personalization=p, limit=1000, explain=True)
        assert page.total == 90
        m = max(result.text_score for result in plain.items)
        for result in page.items:
            parts = [world.preference(user, result.id), world.affinity(user, result.id)]
            expected = [m * 0.5 * p * 0.5 * part for part in parts]
            named = [result.contributions.get(f"behaviour.{x}", 0.0) for x in ("preference", "affinity")]
            assert named == pytest.approx(expected, abs=1e-6)
            assert result.raw == result.score == sum_of(result.contributions)
            assert result.raw == pytest.approx(result.text_score + sum(expected), abs=1e-6)
            codes = {reason.code for reason in result.reasons}
            assert ("PreferenceMatch" in codes) == (named[0] != 0)
            assert ("CreatorAffinity" in codes) == (named[1] != 0)
        raws = [(-result.raw, result.id) for result in page.items]
        assert raws == sorted(raws)
        if p == 0:
            assert [r.id for r in page.items] == [r.id for r in plain.items]
        ids, scores = db.top("lamp", k=20, user=user, personalization=p)
        assert ids == [r.id for r in page.items[:20]]
        assert scores == [r.raw for r in page.items[:20]]
        part = db.search("lamp", user=user, personalization=p, offset=30, limit=9)
        assert [r.id for r in part.items] == [r.id for r in page.items[30:39]]
        few = db.search("lamp", user=user, personalization=p, rerank=10, limit=1000).items
        moved = {r.id for r in few if "behaviour.preference" in r.contributions}
        assert moved == ({r.id for r in plain.items[:10]} if p else set())
        why = db.explain(page.items[3].id, text="lamp", user=user)
        assert why.rank == [r.id for r in db.search("lamp", user=user, limit=1000).items].index(why.id) + 1
    stranger = db.search("lamp", user="w", personalization=p, limit=1000)
    assert [(r.id, r.raw) for r in stranger.items] == [(r.id, r.raw) for r in plain.items]


def test_the_default_dial_is_three_tenths() -> None:
    world = World(1)
    default = world.db.search("lamp", user="u", limit=90).items
    told = world.db.search("lamp", user="u", limit=90, personalization=0.3).items
    assert [(r.id, r.raw) for r in default] == [(r.id, r.raw) for r in told]
    assert "behaviour.affinity" in default[0].contributions


def sum_of(contributions: Any) -> float:
    raw = 0.0
    for value in contributions.values():
        raw += value
    return raw


def test_taste_is_of_the_past_and_of_another_process(tmp_path: Any) -> None:
    """Fails if as_of ranks by what the user did later, or a process misses what another one wrote."""
    with germane.open(tmp_path / "s", Schema(SIGNALS, PROFILES)) as one, germane.open(tmp_path / "s") as two:
        for id, vector in (("a", [1, 0]), ("b", [0, 1])):
            one.put(Item(id=id, title="lamp", creator=f"c{id}", embedding=vector))
        first = one.signal("like", "a", user="u").seq
        for _ in range(3):
            two.signal("like", "b", user="u")
        for db in (one, two):
            assert [r.id for r in db.retrieve("leaning", user="u").items] == ["b", "a"]
            assert [r.id for r in db.retrieve("leaning", user="u", as_of=first).items] == ["a", "b"]
            assert [r.id for r in db.search("lamp", user="u").items] == ["b", "a"]
            assert [r.id for r in db.search("lamp", user="u", as_of=first).items] == ["a", "b"]


def cosine(world: World, one: str, other: str) -> float:
    a, b = (world.items[id]["embedding"] or [0.0] * 8 for id in (one, other))
    lengths = math.hypot(*a) * math.hypot(*b)
    return float(math.fsum(map(mul, a, b)) / lengths) if lengths else 0.0


def test_similar_to_an_item(world: World) -> None:
    """Fails if the item itself is among the candidates, or what has no direction."""
    id = next(id for id, item in world.items.items() if any(item["embedding"] or ()))
    world.db.delete("i89")
    page = world.db.retrieve("new", similar_to=id, limit=200)
    has_vector = {each for each, item in world.items.items() if any(item["embedding"] or ())}
    assert {r.id for r in page.items} == has_vector - {id, "i89"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("germane.ranking.retrieve.candidates.SIMILAR", 5)
        page = world.db.retrieve("new", similar_to=id, limit=2)
        near = sorted(has_vector - {id, "i89"}, key=lambda each: -cosine(world, id, each))[:5]
        assert page.total == 5
        rest = world.db.retrieve(cursor=page.cursor)
        assert {r.id for r in (*page.items, *rest.items)} == set(near)
        far = next(each for each in has_vector - {id, "i89"} if each not in near)
        why = world.db.explain(far, profile="new", similar_to=id)
        assert why.absence[0].detail == {"candidates": (f"similar_to={id}",)}
    bare = next(id for id, item in world.items.items() if item["embedding"] is None)
    assert world.db.retrieve("new", similar_to=bare).total == 0
    with pytest.raises(NotFound, match="no item 'i89' that others could be similar to"):
        world.db.retrieve("new", similar_to="i89")


@pytest.mark.parametrize("balance", [1.0, 0.7, 0.2, 0.0])
def test_pages_are_spread_over_unlike_items(world: World, balance: float) -> None:
    """lambda * score - (1 - lambda) * max cosine, over the best 10 * limit; pages do not repeat.

    Fails if likeness is to the last item alone, if the pool is the whole order, or a muted item is preferred.
    """
    limit, given = 4, Diversity(mmr=balance, max_per_creator=2)
    world.db.relate("u", "mute", "ann")
    left = list(world.db.retrieve("leaning", user="u", limit=200).items)
    page = world.db.retrieve("leaning", user="u", limit=limit, diversity=given)
    for _ in range(3):
        pool = left[: 10 * limit]
        chosen: list[Any] = []
        held: list[Any] = []
        while len(chosen) < limit and pool:

            def value(result: Any, shown: list[Any] = chosen) -> tuple[bool, float]:
                alike = max((cosine(world, result.id, other.id) for other in shown), default=0.0)
                return result.creator != "ann", balance * result.score - (1 - balance) * alike

            best = max(pool, key=value)
            pool.remove(best)
            full = best.creator and [other.creator for other in chosen].count(best.creator) >= 2
            (held if full else chosen).append(best)
        assert [r.id for r in page.items] == [r.id for r in chosen]
        gone = {r.id for r in (*chosen, *held)}
        left = [*held, *(r for r in left if r.id not in gone)]
        page = world.db.retrieve(cursor=page.cursor, limit=limit)
