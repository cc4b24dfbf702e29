"""The oracle's statistics and scores, against numbers worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import scores
from .search import Hit, Oracle, TermCount
from .sections import Section


def section(
    name: str, title: str | None, body: str, kind: str = "text/plain", created_at: float = 0.0
) -> Section:
    return Section(name, title, None, body, kind, "english", ("t",), (), "main", created_at)


THREE = Oracle(
    [
        section("a", "red fox", "the red fox runs"),
        section("b", None, "red apple"),
        section("c", None, "fox", "text/x-python"),
        section("d", None, "...", "text/plain"),
        section("e", None, "fox", "image/png"),
    ]
)
IDF = 0.4700036292457356  # ln((3 - 2 + 0.5) / (2 + 0.5) + 1) = ln 1.6, for red as for fox


def by_id(hits: list[Hit]) -> dict[str, Hit]:
    return {hit.id: hit for hit in hits}


def test_statistics() -> None:
    statistics = THREE.statistics()
    assert statistics.N == 3
    assert statistics.avgdl == {"heading": 2.0, "body": 3.0, "code": 1.0}
    assert statistics.total_terms == 5  # red fox the run appl
    assert statistics.total_tokens == 9
    assert statistics.mean_length == 3.0
    assert (THREE.df(["fox"]), THREE.df(["fox", "red"]), THREE.df(["none"])) == (2, 3, 0)
    assert Oracle([]).statistics().mean_length == 0.0


def test_bm25f_by_hand() -> None:
    hits = THREE.search("fox").hits
    assert [hit.id for hit in hits] == ["a", "c"]
    # a, heading: tf 1, length 2 of 2: 2.2 / 2.2; body: tf 1, length 4 of 3: 2.2 / (1 + 1.2 * 1.25) = 0.88
    assert [name for name, _ in hits[0].contributions] == [
        *("text.fox.heading", "text.fox.body", "proximity", "zone")
    ]
    assert [value for _, value in hits[0].contributions] == pytest.approx([2 * IDF, 0.88 * IDF, 0.0, 0.5])
    assert hits[0].score == pytest.approx(2.88 * IDF + 0.5)
    assert dict(hits[1].contributions) == pytest.approx(
        {"text.fox.code": 1.5 * IDF, "proximity": 0.0, "zone": 0.5}
    )


def test_contributions_follow_the_query_and_sum_to_the_score() -> None:
    hit = THREE.search("fox red", zone=0.0).hits[0]
    assert [name for name, _ in hit.contributions] == [
        *("text.fox.heading", "text.fox.body", "text.red.heading", "text.red.body", "proximity")
    ]
    total = 0.0
    for _, value in hit.contributions:
        total += value
    assert hit.score == total == pytest.approx(2 * 2.88 * IDF + 1.0)
    assert hit.matched == ["fox", "red"]


def test_the_greatest_score_is_first() -> None:
    assert [hit.id for hit in THREE.search("apple fox", heading=0.0).hits] == ["b", "c", "a"]


def test_the_parameters() -> None:
    hit = by_id(THREE.search("fox", heading=3, body=5, k1=2, b=0.5, proximity=0, zone=0).hits)["a"]
    # body: 3 / (1 + 2 * (0.5 + 0.5 * 4 / 3)) = 3 / (10 / 3) = 0.9
    assert [value for _, value in hit.contributions] == pytest.approx([3 * IDF, 5 * 0.9 * IDF])
    assert by_id(THREE.search("fox", code=7, proximity=0, zone=0).hits)["c"].score == pytest.approx(7 * IDF)


def test_a_word_in_a_field() -> None:
    hit = THREE.search("body:fox", proximity=0).hits[0]
    assert dict(hit.contributions) == pytest.approx({"text.fox.body": 0.88 * IDF, "zone": 0.0})


def test_stop_words_are_not_scored_beside_others() -> None:
    hit = THREE.search('"the red fox"').hits[0]
    assert not any(name.startswith("text.the.") for name, _ in hit.contributions)
    assert hit.matched == ["red", "fox"]
    assert THREE.search("the").hits[0].contributions[0][0] == "text.the.body"


def test_the_order_of_equal_scores_is_by_code_point() -> None:
    oracle = Oracle([section(name, None, "fox") for name in ("b", "é", "B", "a", "𐀀", "\uffff")])
    assert [hit.id for hit in oracle.search("fox").hits] == ["B", "a", "b", "é", "\uffff", "𐀀"]
    assert {hit.score for hit in oracle.search("tag:t").hits} == {0.0}
    assert oracle.search("tag:t").hits[0] == Hit("B", 0.0, [], [])


def test_a_compound_has_no_proximity_of_its_own() -> None:
    oracle = Oracle([section("a", None, "getUser x x x x x")])
    values = dict(oracle.search("getUser").hits[0].contributions)
    assert list(values) == ["text.get.body", "text.user.body", "text.getuser.body", "proximity", "zone"]
    assert (values["proximity"], values["zone"]) == (0.0, 0.5)
    assert dict(oracle.search("get user").hits[0].contributions)["proximity"] == 1.0
    assert dict(oracle.search("getUser x").hits[0].contributions)["proximity"] == 1.0
    assert dict(oracle.search("getUser xqrUser").hits[0].contributions)["proximity"] == pytest.approx(2 / 3)
    assert oracle.search("x Get_User").hits[0].matched == ["x", "Get", "User"]
    assert oracle.search("x getUser").hits[0].matched == ["x", "get", "User", "getUser"]


def test_a_run_of_bigrams_has_proximity() -> None:
    oracle = Oracle([section("a", None, "信息检索")])
    assert dict(oracle.search("信息检索").hits[0].contributions)["proximity"] == 1.0
    hit = oracle.search("索").hits[0]
    assert dict(hit.contributions)["text.索.body"] == pytest.approx(math.log(0.5 / 1.5 + 1))


def test_a_name_is_taken_once() -> None:
    hit = Oracle([section("a", None, "getUser getuser")]).search("getUser getuser").hits[0]
    assert [name for name, _ in hit.contributions][2:4] == ["text.getuser.body", "text.getuser#2.body"]


@pytest.mark.parametrize(
    ("occurrences", "value"),
    [
        ([[0]], 0.0),
        ([[0], []], 0.0),
        ([[0], [1]], 1.0),
        ([[4], [4]], 1.0),
        ([[0], [3]], 1 / 3),
        ([[9, 0], [3, 7]], 1 / 2),
        ([[0], [1], []], 2 / 3),
        ([[0], [1], [50]], 2 / 3),
        ([[0], [2], [3]], 2 / 3),
        ([[0], [4], [5]], 2 / 3),
        ([[0], [2], [4]], 1 / 2),
        ([[0, 10], [20, 11], [12]], 1.0),
    ],
)
def test_proximity(occurrences: list[list[int]], value: float) -> None:
    assert scores.proximity(occurrences) == pytest.approx(value)


places = st.lists(st.integers(0, 30), min_size=1, max_size=4)


@given(st.lists(places, min_size=1, max_size=4), places)
def test_another_matching_word_never_lowers_proximity(words: list[list[int]], more: list[int]) -> None:
    assert 0.0 <= scores.proximity([*words, []]) <= scores.proximity([*words, more]) <= 1.0


def test_zone() -> None:
    assert scores.zone([[1], [2], [], [9, 0]], 10) == 0.5  # 5 * 2 is not below 10
    assert scores.zone([[0]], 1) == 1.0
    oracle = Oracle([section("a", None, "x q r s t u v w fox z")])
    assert dict(oracle.search("q fox the zebra").hits[0].contributions)["zone"] == pytest.approx(0.5 / 3)


def test_freshness() -> None:
    day = 86400.0
    oracle = Oracle([section("a", None, "fox", created_at=10 * day)])
    last = [
        oracle.search("fox", freshness=2.0, now=now * day).hits[0].contributions[-1] for now in (40, 70, 5)
    ]
    assert last == [("freshness", 1.0), ("freshness", 0.5), ("freshness", 2.0)]
    assert "freshness" not in dict(oracle.search("fox", now=40 * day).hits[0].contributions)
    assert oracle.search("fox", freshness=1.0, half_life_days=10.0, now=20 * day).hits[
        0
    ].score == pytest.approx(scores.idf(1, 1) + 0.5 + 0.5)


def test_stats() -> None:
    stats = THREE.stats("the fox red zebra apples")
    assert (stats.total, stats.loosened) == (3, False)
    assert stats.terms == [
        *(TermCount("fox", 3, 2), TermCount("red", 3, 2), TermCount("apples", 1, 1), TermCount("zebra", 0, 0))
    ]
    assert THREE.stats("title:fox").terms == [TermCount("fox", 1, 1)]
    assert THREE.stats("red apple", match="all").terms == [TermCount("apple", 1, 1), TermCount("red", 1, 1)]
    assert THREE.stats("tag:t").terms == []
