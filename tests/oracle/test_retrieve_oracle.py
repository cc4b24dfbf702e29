"""The oracle of RETRIEVE, against numbers worked by hand."""

import math
from typing import Any

import pytest

from . import readings, terms
from .profiles import BUILT_IN, parse_form, parse_gate, parse_strategy, parse_weighted, summands
from .readings import SECOND, Store
from .retrieve import candidates, eligible, form_values, one_page, order, pages, scored, slots

HOUR = 3_600 * SECOND
NOW = 1_000 * HOUR


def item(id: str, creator: str | None = None, **given: Any) -> dict[str, Any]:
    values = {"collection": "main", "tags": (), "metadata": {}, "created_at": NOW, "live": True}
    return {"id": id, "creator": creator, **values, **given}


def store(items: list[dict[str, Any]], *events: tuple[Any, ...], half_life: float | None = 3_600) -> Store:
    """Events are (name, item, hours ago, weight, user); the last two may be left out."""
    defaults = (None, None, None, 1.0, None)
    rows = [(*event, *defaults[len(event) :]) for event in events]
    declared = {"half_life": half_life, "windows": list(readings.WINDOWS)}
    return {
        "signals": dict.fromkeys(("view", "like", "dislike", "share"), declared),
        "items": items,
        "events": [
            {"name": name, "item": id, "at": NOW - round(ago * HOUR), "weight": weight, "user": user}
            for name, id, ago, weight, user in rows
        ],
    }


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in found]


def test_the_three_readings() -> None:
    made = store([item("a")], ("view", "a", 1), ("view", "a", 3, 8.0), ("view", "a", -1, 100.0))
    assert readings.decayed(made, "view", "a", NOW) == pytest.approx(0.5 + 1.0)
    assert readings.decayed(made, "view", "a", NOW + 2 * HOUR) == pytest.approx(0.125 + 0.25 + 50)
    assert readings.count(made, "view", "a", "all", NOW) == 2
    assert readings.count(made, "view", "a", "1h", NOW) == 0  # a whole hour ago is out
    assert readings.count(made, "view", "a", "1h", NOW - 1) == 1
    assert readings.count(made, "view", "a", "1h", NOW - 2 * HOUR - 1) == 1
    assert readings.velocity(made, "view", "a", "24h", NOW) == 2 / 86_400
    assert readings.velocity(made, "view", "a", "all", NOW) == 0.0
    assert readings.decayed(made, "none", "a", NOW) == readings.count(made, "none", "a", "all", NOW) == 0
    assert readings.decayed(store([item("a")], ("view", "a", 9, 2.0), half_life=None), "view", "a", NOW) == 2


def test_a_window_ends_with_its_minute() -> None:
    made = store([item("a")])
    made["events"] = [{"name": "view", "item": "a", "user": None, "weight": 1.0, "at": NOW + 59 * SECOND}]
    assert readings.count(made, "view", "a", "1h", NOW + HOUR - 1) == 1
    assert readings.count(made, "view", "a", "1h", NOW + HOUR) == 0


def test_ratio_and_reach() -> None:
    items = [item("a"), item("b"), item("gone", live=False)]
    made = store(
        items,
        *[("view", "a", 1, 1.0, "u")] * 3,
        ("like", "a", 1, 1.0, "v"),
        ("view", "b", 1),
        *[("like", "gone", 1)] * 9,
    )
    # p0 = 1 like / 4 views; a = (1 + 2.5) / (3 + 10), b = 2.5 / 11
    assert readings.ratio(made, "like", "view", "a", NOW) == pytest.approx(3.5 / 13)
    assert readings.ratio(made, "like", "view", "b", NOW) == pytest.approx(2.5 / 11)
    assert readings.ratio(store([item("a")]), "like", "view", "a", NOW) == 0.0
    assert [readings.reach(made, id, NOW) for id in "ab"] == [2, 0]


def test_terms_of_time_and_metadata() -> None:
    made = store([])
    old = item("a", created_at=NOW - 96 * HOUR, metadata={"price": 3, "huge": 1e200, "word": "x", "it's": 4})
    values = {
        term: terms.value(made, term, old, NOW, 0)
        for term in (
            "recency.48h",
            "recency.4d",
            "meta.price",
            "meta.huge",
            "meta.word",
            "meta.'it''s'",
            "created_at",
        )
    }
    assert list(values.values()) == [0.25, 0.5, 3.0, 1e100, 0.0, 4.0, (1_000 - 96) * 3_600.0]
    assert terms.value(made, "recency.48h", item("b", created_at=NOW + HOUR), NOW, 0) == 1.0


def test_engagement_hot_and_rising() -> None:
    it = item("a", created_at=NOW - 48 * HOUR)
    made = store([it], ("view", "a", 0), ("like", "a", 1, 2.0), ("share", "a", 2, 4.0))
    assert terms.value(made, "engagement", it, NOW, 0) == pytest.approx(math.log(1 + 1 + 3 + 5))
    likes = store([it], *[("like", "a", 5)] * 12, *[("dislike", "a", 5)] * 2)
    assert terms.value(likes, "hot", it, NOW, 0) == pytest.approx(1 / 50**1.8)
    hated = store([it], *[("dislike", "a", 5)] * 100)
    assert terms.value(hated, "hot", it, NOW, 0) == pytest.approx(-2 / 50**1.8)
    views = store([it], *[("view", "a", 0.5)] * 3, *[("view", "a", 20)] * 21)
    assert terms.value(views, "rising", it, NOW, 0) == pytest.approx(8 / 6 / 2)


def test_controversial_wilson_and_gem() -> None:
    it = item("a")
    made = store([it], *[("like", "a", 1)] * 3, *[("dislike", "a", 1)], *[("view", "a", 1)] * 90)
    assert terms.value(made, "controversial", it, NOW, 0) == pytest.approx(3 / 16 * math.log(5))
    assert terms.value(store([it]), "controversial", it, NOW, 0) == 0.0
    # wilson of 3 of 90, by its definition: p and the bound b meet (p - b)^2 = z^2 b (1 - b) / n
    bound = terms.value(made, "wilson", it, NOW, 0)
    assert (3 / 90 - bound) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / 90)
    assert 0 < bound < 3 / 90
    assert terms.value(made, "gem", it, NOW, 0) == pytest.approx(bound / 2)
    assert (
        terms.value(store([it]), "wilson", it, NOW, 0) == terms.value(store([it]), "gem", it, NOW, 0) == 0.0
    )
    # more likes than views: of four likes, all four; p = 1 gives n / (n + z^2)
    assert terms.value(store([it], *[("like", "a", 1)] * 4), "wilson", it, NOW, 0) == pytest.approx(
        4 / (4 + 1.96**2)
    )


def test_shuffle_is_drawn_from_seed_and_id() -> None:
    it = item("a")
    # blake2b(b"7\0a", digest_size=8) read as a fraction of 2^64
    assert terms.uniform(7, "a") == int("8e337ab62429cd18", 16) // 2**11 / 2**53
    assert terms.value(store([it]), "shuffle", it, NOW, 7) == terms.uniform(7, "a") * 0.1
    assert terms.uniform(7, "a") != terms.uniform(8, "a")


def test_transforms() -> None:
    assert terms.log1p(-(math.e - 1)) == pytest.approx(-1.0)
    assert [terms.saturate(x, 3) for x in (3, -3, 0, 9)] == [0.5, -0.5, 0.0, 0.75]
    assert terms.minmax([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert terms.minmax([5.0, 5.0]) == [0.0, 0.0]
    assert terms.rank([5.0, 1.0, 5.0]) == [0.5, 0.0, 0.5]
    assert terms.rank([5.0]) == [0.0]


def test_printed_forms() -> None:
    assert parse_form("reach") == ("reach", [])
    assert parse_form("minmax(saturate(0.5)(log1p(like.count.1h)))") == (
        "like.count.1h",
        [("log1p", 0.0), ("saturate", 0.5), ("minmax", 0.0)],
    )
    assert parse_weighted("-0.5 log1p(reach)") == (-0.5, "log1p(reach)")
    assert parse_weighted("reach") == (1.0, "reach")
    assert parse_weighted("meta.'a b'") == (1.0, "meta.'a b'")
    assert parse_gate("view.count.all >= 10") == ("view.count.all", 10.0)
    assert parse_strategy("signal(engagement, 500)") == ("signal", "engagement", 500)
    assert parse_strategy("fresh(200)") == ("fresh", "", 200)
    assert parse_strategy("all") == ("all", "", 0)
    assert summands({"boosts": ["2 reach"], "penalties": ["meta.price"]}) == [
        ("reach", 2.0, "reach"),
        ("-meta.price", -1.0, "meta.price"),
    ]
    assert summands({"sort": "-created_at"}) == [("-created_at", -1.0, "created_at")]


FIVE = [
    item("a", "x", created_at=NOW - HOUR, metadata={"n": 1}),
    item("b", "y", created_at=NOW, metadata={"n": 2}, collection="other"),
    item("c", "x", created_at=NOW, metadata={"n": 3}),
    item("d", None, created_at=NOW - HOUR, metadata={"n": -4}),
    item("e", "y", live=False, metadata={"n": 9}),
]


@pytest.mark.parametrize(
    ("profile", "options", "expected"),
    [
        ({}, {}, "abcd"),
        ({"candidates": ["fresh(3)"]}, {}, "abc"),
        ({"candidates": ["signal(meta.n, 2)"]}, {}, "bc"),
        ({"candidates": ["signal(meta.n, 9)"]}, {}, "abc"),  # above 0 only
        ({"candidates": ["fresh(1)", "signal(meta.n, 1)"]}, {}, "bc"),
        ({"candidates": ["ids"]}, {}, ""),
        ({"candidates": ["ids"]}, {"ids": ["d", "e", "nobody"]}, "d"),
        ({"candidates": ["ids", "fresh(1)"]}, {"ids": ["d"]}, "bd"),
        ({"candidates": ["fresh(1)"]}, {"ids": ["d"]}, "d"),
        ({}, {"collections": ["other"]}, "b"),
        ({}, {"where": lambda it: it["creator"] == "x"}, "ac"),
        ({}, {"hidden": ["a"], "blocked": ["y"]}, "cd"),
        ({"candidates": ["signal(meta.n, 1)"]}, {"hidden": ["c"]}, ""),  # afterwards, too
        ({"gates": ["meta.n >= 2"]}, {}, "bc"),
        ({"gates": ["meta.n >= 2", "reach >= 1"]}, {}, ""),
        ({"candidates": ["signal(meta.n, 2)"]}, {"collections": ["main"]}, "c"),  # filtered afterwards
    ],
)
def test_candidates(profile: dict[str, Any], options: dict[str, Any], expected: str) -> None:
    assert ids(candidates(store(FIVE), profile, NOW, **options)) == list(expected)


def test_scores_and_contributions() -> None:
    made = store(FIVE)
    profile = {"boosts": ["2 meta.n", "minmax(meta.n)"], "penalties": ["0.5 rank(meta.n)"]}
    found = candidates(made, profile, NOW)
    assert form_values(made, "rank(meta.n)", found, NOW) == [1 / 3, 2 / 3, 1.0, 0.0]
    hits = scored(made, profile, found, NOW)
    assert hits["c"].contributions == [("meta.n", 6.0), ("minmax(meta.n)", 1.0), ("-rank(meta.n)", -0.5)]
    assert [hits[id].raw for id in "abcd"] == pytest.approx([2 + 5 / 7 - 1 / 6, 4 + 6 / 7 - 1 / 3, 6.5, -8])
    assert (hits["c"].score, hits["d"].score) == (1.0, 0.0)
    assert [hit.score for hit in scored(made, {}, found, NOW).values()] == [1.0] * 4
    assert form_values(made, "minmax(meta.n)", [], NOW) == []


def test_order_puts_muted_last_and_ties_by_code_point() -> None:
    items = [item("é", "x"), item("z", "x"), item("𝒳", "y"), item("\uffee", "y")]
    raws = {"é": 1.0, "z": 1.0, "𝒳": 1.0, "\uffee": 1.0}
    assert ids(order(items, raws)) == ["z", "é", "\uffee", "𝒳"]
    assert ids(order(items, raws | {"𝒳": 2.0}, muted_creators=["y"])) == ["z", "é", "𝒳", "\uffee"]
    assert ids(order(items, raws, muted_items=["z"])) == ["é", "\uffee", "𝒳", "z"]


def test_one_greedy_pass_a_page() -> None:
    ordered = [item(id, id[0]) for id in ("a1", "a2", "a3", "b1", "b2", "a4", "c1")]
    profile = {"max_per_creator": 1}
    page, held = one_page(ordered, profile, 2)
    assert (page.ids, page.held_back, held) == (["a1", "b1"], {"max_per_creator": 2}, {"a2", "a3"})
    assert [made.ids for made in pages(ordered, profile, 2)] == [
        ["a1", "b1"],
        ["a2", "b2"],
        ["a3", "c1"],
        ["a4"],
    ]
    assert one_page(ordered, profile, 5)[0].ids == ["a1", "b1", "c1"]
    relaxed, held = one_page(ordered, profile | {"relax": True}, 5)
    assert (relaxed.ids, relaxed.held_back) == (["a1", "b1", "c1", "a2", "a3"], {"max_per_creator": 2})
    assert held == {"b2", "a4"}
    assert [made.ids for made in pages(ordered, {}, 4)] == [["a1", "a2", "a3", "b1"], ["b2", "a4", "c1"]]


def test_shares() -> None:
    formats = ["p", "p", "p", "q", "p", None, None]
    ordered = [item(str(n), metadata={"f": f} if f else {}) for n, f in enumerate(formats)]
    assert one_page(ordered, {"max_share": {"meta.f": 0.5}}, 4)[0].ids == ["0", "1", "3", "5"]
    assert one_page(ordered, {"max_share": {"meta.f": 0.1}}, 4)[0].ids == ["0", "3", "5", "6"]
    tagged = [item("a", tags=("t", "u")), item("b", tags=("u",)), item("c", tags=("v",))]
    assert one_page(tagged, {"max_share": {"tags": 0.5}}, 2)[0].ids == ["a", "c"]
    assert one_page(tagged, {"max_share": {"tags": 0.5}}, 2)[0].held_back == {"max_share tags": 1}


def test_slots_of_exploration() -> None:
    assert slots(0.1, 20) == [9, 19]
    assert slots(0.1, 9) == []
    assert slots(0.0, 20) == []
    assert slots(0.4, 5) == [1, 4]
    assert slots(0.5, 5) == [1, 3]
    assert len(slots(0.29, 100)) == 29  # which as a product of floats would be 28.999...
    assert slots(0.3, 10) == [2, 5, 9]


def test_who_is_eligible_for_exploration() -> None:
    items = [item("new", "x"), item("old", "x", created_at=NOW - 24 * HOUR), item("other", "y", created_at=0)]
    items += [item("nobody's", created_at=0)]
    assert eligible(items, ["other"], NOW) == {"new", "old"}
    assert eligible(items, [], NOW, known=["x"]) == {"new", "other"}
    assert eligible(items, [], NOW, seen=["new"], known=["x"]) == {"other"}


def test_the_built_in_profiles_parse() -> None:
    made = store([item("a")], ("view", "a", 0.5, 1.0, "u"))
    for name, profile in BUILT_IN.items():
        found = candidates(made, profile, NOW)
        assert set(scored(made, profile, found, NOW)) <= {"a"}, name
    (hit,) = scored(made, BUILT_IN["top:24h"], made["items"], NOW).values()
    # the view is half a half-life old: 2^-0.5
    x = math.log(1 + 2**-0.5)
    assert hit.contributions == [
        ("view.count.24h", 1.0),
        ("like.count.24h", 0.0),
        ("share.count.24h", 0.0),
        ("saturate(1)(engagement)", pytest.approx(0.5 * x / (x + 1))),
    ]
