"""RETRIEVE against the oracle: random stores, schemas, profiles, filters, gates, limits and pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import Diversity
from germane.ranking.retrieve import explain, feed, order, pipeline
from germane.signals import decay
from oracle import readings, retrieve, terms
from oracle.profiles import parse_form, parse_gate, parse_strategy, summands

from .worlds import World

EXAMPLES = settings().max_examples // 4
"""Each asks eight queries: 25 stores, and 1,250 in the deep profile."""
EXACT = ("count", "velocity", "meta", "created_at", "reach")
NEAR = 1e-9
KEPT = feed.KEPT


@contextmanager
def constants(**given: int) -> Iterator[None]:
    """Give constants of the product other values, wherever it uses them."""
    homes = {"BLOCK": decay.BLOCK, "FEW": order.FEW, "KEPT": feed.KEPT}
    with pytest.MonkeyPatch.context() as patch:
        assert explain, pipeline  # loaded before: who is loaded while a constant is changed keeps it for good
        for module in [module for name, module in sys.modules.items() if name.startswith("germane.")]:
            for constant, value in given.items():
                if getattr(module, constant, None) == homes[constant]:
                    patch.setattr(module, constant, value)
        yield


def looks_over_all(profile: dict[str, Any]) -> bool:
    forms = [parse_form(form) for _, _, form in summands(profile)]
    return any(name in ("minmax", "rank") for _, transforms in forms for name, _ in transforms)


def is_exact(term: str) -> bool:
    return any(part in EXACT for part in term.split("."))


def near(values: list[float], gap: float = NEAR) -> bool:
    """Whether some differ by so little that rounding could turn them round."""
    ordered = sorted(values)
    return any(0 < high - low <= gap * max(abs(high), abs(low), 1e-3) for low, high in pairwise(ordered))


def is_ambiguous(store: readings.Store, query: dict[str, Any], found: list[terms.Item], now: int) -> bool:
    """Whether the answer hangs on the last bits of a number that is not exact."""
    profile, seed = query["profile"], query["seed"]
    live = [item for item in store["items"] if item["live"]]
    for text in profile.get("candidates", ()):
        kind, term, n = parse_strategy(text)
        if kind == "signal" and not is_exact(term):
            values = [terms.value(store, term, item, now, seed) for item in live]
            cut = sorted(values, reverse=True)[n - 1 : n + 1]
            if near([*cut, 0.0]) or any(0 < abs(value) < 1e-12 for value in values):
                return True
    for gate in profile.get("gates", ()):
        term, threshold = parse_gate(gate)
        if not is_exact(term):
            for item in live:
                if near([terms.value(store, term, item, now, seed), threshold]):
                    return True
    for _, _, form in summands(profile):
        term, transforms = parse_form(form)
        names = [name for name, _ in transforms]
        if not is_exact(term) and ("rank" in names or "minmax" in names):
            values = [terms.value(store, term, item, now, seed) for item in found]
            if near(values) or (values and near([min(values), max(values)], 1e-5)):
                return True
    return False


def options(query: dict[str, Any]) -> dict[str, Any]:
    return {
        "candidates": query["ids"],
        "collections": query["collections"],
        "where": query["filter"][0] if query["filter"] else None,
        "seed": query["seed"],
        "user": query["user"],
    }


def check(world: World, query: dict[str, Any], kept: int) -> None:
    """Hold one query against the oracle: candidates, numbers, order, pages and explanations."""
    store, now, db = world.store(), world.now, world.db
    found = retrieve.candidates(
        store,
        query["profile"],
        now,
        seed=query["seed"],
        ids=query["ids"],
        collections=query["collections"],
        where=query["filter"][1] if query["filter"] else None,
        hidden=query["relations"]["hide"],
        blocked=query["relations"]["block"],
    )
    if is_ambiguous(store, query, found, now):
        return
    expected = retrieve.scored(store, query["profile"], found, now, query["seed"])
    # Everything on one page: which items, and their numbers.
    page = db.retrieve(query["name"], limit=1_000, diversity=Diversity(), explain=True, **options(query))
    shown = {result.id: result for result in page.items}
    assert page.total == len(found)
    assert sorted(shown) == sorted(expected)
    for id, hit in expected.items():
        compare(shown[id], hit, query)
    raws = {id: result.raw for id, result in shown.items()}
    muted = query["relations"]["mute"]
    ordered = retrieve.order(found, raws, muted_creators=muted, muted_items=muted)
    assert [result.id for result in page.items] == [item["id"] for item in ordered]
    spread = max(raws.values(), default=0.0) - min(raws.values(), default=0.0)
    for result in page.items:
        score = (result.raw - min(raws.values())) / spread if spread else 1.0
        assert result.score == pytest.approx(score, rel=1e-12, abs=1e-12)
    check_pages(db, query, ordered, kept)
    if query["profile"].get("exploration") and kept == KEPT and query["user"] is None:
        check_exploration(db, query, ordered, now)
    check_explanations(world, query, expected, ordered)


def compare(result: germane.Result, hit: retrieve.Hit, query: dict[str, Any]) -> None:
    assert list(result.contributions) == [name for name, _ in hit.contributions]
    assert result.raw == retrieve.left_to_right(result.contributions.items())
    scale = 0.0
    for (name, value), (_, weight, _) in zip(hit.contributions, summands(query["profile"]), strict=True):
        allowed = NEAR * max(abs(value), abs(weight))
        assert result.contributions[name] == pytest.approx(value, rel=0, abs=allowed), (hit.id, name)
        scale += allowed
    assert result.raw == pytest.approx(hit.raw, rel=NEAR, abs=scale)


def check_pages(db: germane.Database, query: dict[str, Any], ordered: list[terms.Item], kept: int) -> None:
    """The pages of a feed, by the product's own numbers, that were found right."""
    limits, limit = query["limits"], query["limit"]
    if query["profile"].get("exploration"):
        return
    expected = retrieve.pages(ordered, limits, limit) or [retrieve.Page([], {})]
    is_cut = len(ordered) > kept
    page = db.retrieve(query["name"], limit=limit, diversity=Diversity(**limits), **options(query))
    shown = []
    for number, wanted in enumerate(expected):
        ids = [result.id for result in page.items]
        shown += ids
        if number == 0 or not is_cut:
            assert ids == wanted.ids
            assert dict(page.held_back) == wanted.held_back
            assert page.total == len(ordered)
            assert page.offset == sum(len(each.ids) for each in expected[:number])
        if page.cursor is None:
            break
        page = db.retrieve(query["name"], limit=limit, cursor=page.cursor)
    if not is_cut:
        assert len(shown) == len(ordered)
    elif not limits:
        assert shown == [item["id"] for item in ordered][: len(shown)]
        assert len(shown) >= min(kept, len(ordered))
    assert not page.has_more
    assert page.cursor is None


def check_exploration(
    db: germane.Database, query: dict[str, Any], ordered: list[terms.Item], now: int
) -> None:
    """Places, who may stand there, and with what probability; the others stand by rank."""
    limit, by_rank = query["limit"], [item["id"] for item in ordered]
    page = db.retrieve(query["name"], limit=limit, diversity=Diversity(), explain=True, **options(query))
    ids = [result.id for result in page.items]
    eligible = retrieve.eligible(ordered, by_rank[:limit], now)
    slots = retrieve.slots(query["profile"]["exploration"], limit)[: len(eligible)]
    explored = {}
    for place, result in enumerate(page.items):
        for reason in result.reasons:
            if reason.code == "Exploration":
                explored[place] = result.id
                assert reason.detail["propensity"] == 1 / len(eligible)
    assert sorted(explored) == slots
    assert set(explored.values()) <= eligible
    assert len(set(ids)) == len(ids) == min(limit, len(by_rank))
    rest = [id for id in ids if id not in explored.values()]
    assert rest == [id for id in by_rank if id not in explored.values()][: len(rest)]
    again = db.retrieve(query["name"], limit=limit, diversity=Diversity(), **options(query))
    assert [result.id for result in again.items] == ids


def check_explanations(
    world: World, query: dict[str, Any], expected: dict[str, retrieve.Hit], ordered: list[terms.Item]
) -> None:
    """An item's place and numbers, or what keeps it out."""
    places = {item["id"]: place for place, item in enumerate(ordered, 1)}
    for id in world.dice.sample(sorted(world.known), min(4, len(world.known))):
        why = world.db.explain(id, profile=query["name"], limit=query["limit"], **options(query))
        assert (why.rank, why.ranked, why.total) == (places.get(id), id in places, len(ordered))
        codes = [reason.code for reason in why.absence]
        if id in expected:
            assert why.raw == pytest.approx(expected[id].raw, rel=1e-6, abs=1e-6) or abs(why.raw or 0) > 1e5
            assert why.raw == retrieve.left_to_right(why.contributions.items())
            assert codes == (["BeyondPage"] if places[id] > query["limit"] else [])
        else:
            item = world.known[id]
            inside = query["collections"] is None or item["collection"] in query["collections"]
            inside = inside and (query["filter"] is None or query["filter"][1](item))
            relations = query["relations"]
            is_negative = id in relations["hide"] or item["creator"] in relations["block"]
            allowed = {"Gate", "NotACandidate"} if inside else {"Filter"}
            if not item["live"]:
                allowed = {"NotLive"}
            elif is_negative:
                allowed |= {"HardNegative"}
            assert codes[0] in allowed
            assert ("HardNegative" in codes) <= is_negative


@settings(max_examples=EXAMPLES)
@given(
    seed=st.integers(0, 1 << 32),
    items=st.integers(0, 40),
    events=st.integers(0, 120),
    block=st.sampled_from([1, 3, 8, 1_024]),
    kept=st.sampled_from([3, 10, KEPT, KEPT]),
)
def test_retrieve_equals_the_oracle(seed: int, items: int, events: int, block: int, kept: int) -> None:
    """Fails when a block is left out that could hold one of the best, when equal sums come by another order
    than their ids', and when any formula differs.
    """
    with constants(BLOCK=block, KEPT=kept):
        world = World(seed, items, events)
        for _ in range(2):
            world.write()
            for _ in range(4):
                query = world.query()
                # What looks over all candidates has few of them, and is never bounded by blocks.
                few = order.FEW if looks_over_all(query["profile"]) or block == 1_024 else 0
                with constants(FEW=few):
                    check(world, query, kept)
