"""The oracle of people, against numbers worked by hand."""

import math
from typing import Any

import pytest

from . import people
from .profiles import WITH_HISTORY, origin, related
from .readings import Store
from .retrieve import candidates, scored
from .terms import value

DAY = 86_400_000_000
NOW = 2_000 * DAY


def item(id: str, creator: str | None = None, embedding: Any = None, **given: Any) -> dict[str, Any]:
    values = {"collection": "main", "tags": (), "metadata": {}, "created_at": NOW, "live": True}
    return {"id": id, "creator": creator, "embedding": embedding, **values, **given}


def store(items: list[dict[str, Any]], *events: tuple[Any, ...], user: str | None = "u") -> Store:
    """Events are (user, name, item, days ago, days ago that it was recorded); the last may be left out."""
    by_id = {each["id"]: each for each in items}
    told = {"half_life": None, "windows": ["all"], "preference": 0.5, "affinity_half_life": 86_400.0}
    return {
        "signals": {
            "like": {**told, "polarity": 1, "affinity": 1.0},
            "skip": {**told, "polarity": -1, "affinity": -3.0},
        },
        "items": items,
        "events": [
            {
                "user": who,
                "name": name,
                "item": id,
                "at": NOW - int(ago * DAY),
                "recorded_at": NOW - int((recorded[0] if recorded else ago) * DAY),
                "weight": 1.0,
                **{field: by_id[id][field] for field in ("creator", "embedding")},
            }
            for who, name, id, ago, *recorded in events
        ],
        "user": user,
        "follows": {"cy"},
    }


def test_leaning_is_a_moving_average_in_the_order_in_which_events_counted() -> None:
    items = [item("a", embedding=[1, 0]), item("b", embedding=[0, 1]), item("c")]
    a = 0.5 / (1 + math.log(2))
    made = store(
        items, ("u", "like", "a", 2), ("u", "like", "c", 2), ("v", "like", "b", 1), ("u", "skip", "b", 1)
    )
    assert people.leaning(made, NOW) == pytest.approx([(1 - a) * 0.5, -a])
    late = store(items, ("u", "like", "a", 1, 1), ("u", "like", "b", 9, 1))  # late, and second all the same
    assert people.leaning(late, NOW) == pytest.approx([(1 - a) * 0.5, a])
    ahead = store(items, ("u", "like", "a", 1, 3), ("u", "like", "b", 2, 2))  # recorded before its time
    assert people.leaning(ahead, NOW) == pytest.approx([a, (1 - a) * 0.5])
    assert people.leaning(ahead, NOW - DAY - 1) == [0.0, 0.5]
    assert people.leaning(store(items), NOW) is None
    assert value(late, "preference", items[0], NOW, 0) == pytest.approx(
        (1 - a) * 0.5 / math.hypot((1 - a) * 0.5, a)
    )
    assert value(late, "preference", items[2], NOW, 0) == 0.0


def test_affinity_is_to_the_creator_of_then_and_halves_by_the_day() -> None:
    items = [item("a", "ann"), item("b", "bob"), item("c", "ann"), item("d")]
    made = store(
        items, ("u", "like", "a", 0), ("u", "like", "c", 2), ("u", "skip", "b", 1), ("u", "like", "d", 0)
    )
    assert people.affinity(made, items[2], NOW) == pytest.approx(1.25 / 2.25)
    assert people.affinity(made, items[1], NOW) == pytest.approx(-1.5 / 2.5)
    assert people.affinity(made, items[3], NOW) == 0.0
    items[0]["creator"] = "bob"
    assert people.affinity(made, items[0], NOW) == pytest.approx(-1.5 / 2.5)
    assert people.affinity({**made, "user": None}, items[1], NOW) == 0.0


def test_cooccurrence_sums_pairs_within_thirty_days() -> None:
    items = [item(id) for id in "abc"]
    made = store(
        items, ("u", "like", "a", 30), ("u", "like", "b", 60), ("u", "like", "c", 0), ("v", "skip", "a", 60),
        ("v", "like", "b", 60),
    )  # fmt: skip
    # a and b: u's pair is half as old as the later, v's a quarter; two signals on each.
    assert people.pairs(made, NOW)["a", "b"] == pytest.approx((0.5 + 0.25) / 2)
    assert people.pairs(made, NOW)["c", "a"] == pytest.approx(1 / math.sqrt(2))
    assert ("c", "b") not in people.pairs(made, NOW)
    # For u: what goes with c, now, and with b, two half-lives ago; nothing goes with itself.
    assert people.cooccurrence(made, items[0], NOW) == pytest.approx(1 / math.sqrt(2) + 0.25 * 0.375)
    assert people.cooccurrence({**made, "origin": "b"}, items[0], NOW) == pytest.approx(0.375)
    assert people.cooccurrence({**made, "user": "v"}, items[0], NOW) == pytest.approx(0.25 * 0.375)
    assert people.again(made, items[0], NOW) == pytest.approx(2 ** (-1 / 3))
    assert people.again({**made, "user": "v"}, items[0], NOW) == pytest.approx(-(2 ** (-2 / 3)))


def test_before_the_horizon_nothing_counts() -> None:
    items = [item(id) for id in "ab"]
    long_ago = [("u", "like", "a", 1_000), ("u", "like", "b", 1_000)]
    assert people.pairs(store(items, *long_ago, ("v", "like", "a", 11)), NOW)["a", "b"] > 0
    made = store(items, *long_ago, ("v", "like", "a", 9))
    assert people.pairs(made, NOW) == {}
    assert people.again(made, items[0], NOW) == 0.0
    assert people.latest(made, NOW) == []


def test_candidates_of_people() -> None:
    items = [
        item("a", "ann", [1, 0], tags=("x", "y")),
        item("b", "cy", [3, 4], tags=("y",), created_at=NOW - DAY),
        item("c", "cy", [0, 0]),
        item("d"),
    ]
    made = store(items, ("u", "like", "a", 0))

    def ids(*strategies: str, **given: Any) -> list[str]:
        return [each["id"] for each in candidates(made, {"candidates": list(strategies)}, NOW, **given)]

    assert ids("nearest(9)") == ["a", "b"]
    assert ids("nearest(1)") == ["a"]
    assert ids("following(9)") == ["b", "c"]
    assert ids("following(1)") == ["c"]
    assert ids("related(a, 9)") == ["b"]
    assert ids("related(9)") == ids("signal(again, 3)") == ["a"]
    assert ids("related(a, 1)", "signal(cosine, 9)") == ["a", "b"]
    assert ids("all", similar_to="b") == ["a"]
    assert [each["id"] for each in candidates(made, {"unseen": True}, NOW)] == ["b", "c", "d"]
    hits = scored(made, related("a"), [items[1]], NOW)
    assert hits["b"].contributions == [("cooccurrence", 0.0), ("cosine", 0.6), ("shared_tags", 0.5)]
    assert origin(WITH_HISTORY) is None
    engagement = math.log1p(3)
    (hit,) = scored(made, WITH_HISTORY, [items[0]], NOW).values()
    assert hit.raw == pytest.approx(0.4 + 0.1 * engagement / (engagement + 3) + 0.07 + 0.15 + 0.1)
