"""The parts of the benchmarks that can be wrong without anyone noticing: formulas, tests, inputs, the page.

Mutations that these tests were seen to fail under: `K1` 1.3, `deltas` without a sign in the randomization
test, quotes dropped from `front_matter`, a figure changed by hand in `docs/benchmarks.md`; for speed: `B`
0.7 in `Exact`, `>` for `>=` in `overlap`, words drawn from two bands of three, a word fewer in a section,
`ask_phrase` of FTS5 as any of the words, 0.6 replaced by 0.7 in `budgets`.
"""

import doctest
import importlib
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks import speed, timed, zipf
from benchmarks.bm25 import Exact, overlap, plain_scores, ranking
from benchmarks.corpora import as_words
from benchmarks.engines import ENGINES, SHARES, engine
from benchmarks.engines.worker import mark
from benchmarks.environment import results
from benchmarks.questions import QUESTIONS
from benchmarks.report import PAGES, plots, written
from benchmarks.significance import difference, interval
from benchmarks.trees import TREES, front_matter
from hypothesis import given
from hypothesis import strategies as st

from germane.knowledge.frontmatter import read_front_matter


@pytest.mark.parametrize(
    "name",
    [
        *("bm25", "corpora", "engines.worker", "feeds", "report", "significance", "simulated", "simulator"),
        *("speed", "trees", "world", "zipf"),
    ],
)
def test_the_examples_of_a_module(name: str) -> None:
    tried = doctest.testmod(importlib.import_module(f"benchmarks.{name}"))
    assert tried.attempted
    assert not tried.failed


def test_plain_bm25_on_numbers_worked_by_hand() -> None:
    documents = [["red", "fox"], ["red", "red", "apple", "tree"], ["sky"]]
    (scores,) = plain_scores(documents, [["red", "fox", "unknown"]])
    # Mean length 7/3; norms 1.2 * (0.25 + 0.75 * length / mean).
    red, fox = math.log(1.5 / 2.5 + 1), math.log(2.5 / 1.5 + 1)
    assert scores == pytest.approx(
        [(red + fox) / (1 + 1.0714285714285714), red * 2 / (2 + 1.842857142857143), 0.0]
    )
    assert ranking(scores, 10) == [0, 1]


def test_a_repeated_word_of_a_query_counts_each_time() -> None:
    once, twice = plain_scores([["red"], ["fox"]], [["red"], ["red", "red"]])
    assert twice == pytest.approx(2 * once)


def test_bm25_of_a_few_terms_is_that_of_all() -> None:
    documents = [["red", "fox"], ["red", "red", "apple", "tree"], ["sky"]]
    exact = Exact(documents, ["red", "fox", "unknown"])
    (wanted,) = plain_scores(documents, [["red", "fox", "unknown"]])
    assert exact.scores(["red", "fox", "unknown"]) == pytest.approx(wanted)
    assert (exact.size, exact.holds(["red", "fox"]), exact.holds(["unknown"])) == (3, 2, 0)


def test_overlap_takes_any_of_equal_scores_and_no_lesser_one() -> None:
    scores = np.array([3.0, 2.0, 2.0, 1.0, 0.0])
    assert overlap(scores, [2, 0], 2) == 1
    assert overlap(scores, [0, 3], 2) == 0.5
    assert overlap(scores, [0], 2) == 0.5
    assert overlap(np.zeros(3), [0], 2) is None


def test_words_of_queries_come_from_each_band_as_often() -> None:
    for length in speed.LENGTHS.values():
        asked = zipf.queries(length, 2000, seed=1)
        assert zipf.bands_of(asked) == pytest.approx([1 / 3] * 3, abs=0.04)
        assert not set(" ".join(asked).split()) & set(zipf.vocabulary()[: zipf.COMMON])
        assert all(len(set(query.split())) == length for query in asked)
        assert not set(asked) <= set(zipf.queries(length, 2000, seed=0))


def test_the_first_sections_are_the_same_of_any_number() -> None:
    many = list(zipf.sections(10_500))
    assert list(zipf.sections(3)) == many[:3]
    assert len(many) == 10_500
    shared = sum(zipf.vocabulary()[30] in text.split() for text in many) / len(many)
    wanted = 1 - (1 - 1 / 31 / sum(1 / n for n in range(1, zipf.VOCABULARY + 1))) ** zipf.WORDS
    assert shared == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("name", [name for name, module in ENGINES.items() if module != "lucene"])
def test_an_engine_finds_what_bm25_finds_and_what_is_added(name: str, tmp_path: Path) -> None:
    try:
        one = engine(name)
    except ImportError as error:
        pytest.skip(f"{name} is not installed: {error}")
    texts = list(zipf.sections(200))
    asked = zipf.vocabulary()[40:60]
    exact = Exact((speed.stems(text) for text in texts), asked)
    engine(SHARES.get(name, name)).build(texts, tmp_path / "index")
    one.open(tmp_path / "index")
    assert one.version()
    for word in asked:
        assert overlap(exact.scores([word]), one.ids(one.ask(word, 5)), 5) == 1
    if one.has_phrases:
        pair = zipf.phrases(texts, 1, seed=1)[0]
        found = one.ids(one.ask_phrase(pair, 5))
        assert found
        assert all(f" {pair} " in f" {texts[number]} " for number in found)
    if one.can_add:
        one.add(200, f"{texts[0]} {mark(200)}")
        assert one.ids(one.ask(mark(200), 5)) == [200]


def test_scores_of_germane_alone_are_those_of_bm25(tmp_path: Path) -> None:
    one = engine("germane")
    texts = list(zipf.sections(300))
    asked = zipf.queries(4, 10, seed=1)
    exact = Exact((speed.stems(text) for text in texts), " ".join(asked).split())
    one.build(texts, tmp_path / "index")
    one.open(tmp_path / "index")
    answers = [one.exact(query, 10) for query in asked]
    found = speed.agreement(exact, asked, {"exact": answers})
    assert found["overlap"] == 1
    assert found["furthest_score"] < 1e-9


def measured(p50: float) -> timed.Figures:
    """Return figures of an engine as `benchmarks.speed` gives them."""
    return {
        "built": {"sections_per_core_s": 30_000.0, "wall_s": 3.0, "peak_bytes": 9e7, "bytes": 5e7},
        "open_s": 0.01,
        "first_s": 0.02,
        "memory": {"opened": 4e7, "asked": 9e7},
        "visible_us": 700.0,
        "kinds": {
            "1 word": {"p50_us": p50, "p99_us": 3 * p50, "overlap": 0.97},
            "phrase": {"p50_us": p50, "p99_us": 3 * p50},
        },
    }


def test_tables_and_plot_of_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {"germane": 10, "germane page": 600, "tantivy": 20, "Lucene": 15}
    told = {"matching": {"p10": 1, "p50": 2, "p90": 3}, "words_by_band": [0.3, 0.3, 0.4]}

    def sized(sections: int, factor: int) -> timed.Figures:
        kinds = {kind: {"queries": 9, "examples": ["ba"], **told} for kind in ("1 word", "phrase")}
        each = [{"name": name, **measured(p50 * factor)} for name, p50 in systems.items()]
        return {"name": "made", "sections": sections, "bytes": 6e7, "asked": kinds, "systems": each}

    at = {"engines": {"tantivy": "0.27"}, "missing": {"Xapian": "no module"}}
    made = {
        "speed": {"environment": at, "collections": [sized(1000, 1)]},
        "speed-large": {"environment": at, "collections": [sized(10_000, 4)]},
    }
    told = {**made, "where": {"index_bytes": 50_000_000}}
    monkeypatch.setattr(timed, "results", told.__getitem__)
    monkeypatch.setattr(timed, "collections", lambda name="speed": made[name]["collections"])
    assert "| germane / fastest rival | 0.67 / 0.67 | 0.67 / 0.67 |  |" in timed.speed()
    assert "Xapian could not be had: no module" in timed.speed()
    assert "| germane | 4.0 | 4.0 |" in timed.large()
    rows = timed.budgets().splitlines()
    assert [row.rpartition(" | ")[2].strip(" |") for row in rows[2:]] == [
        *("**no**", "yes", "**no**", "**no**"),  # 0.67 of the fastest; the phrase; pages
        *("yes", "yes", "yes", "yes", "**no**", "**no**"),
    ]
    assert timed.plot().count("<circle") == 8


def test_equal_systems_differ_by_chance_alone() -> None:
    values = np.random.default_rng(1).random(50)
    found = difference(values, values)
    assert (found.mean, found.low, found.high, found.p, found.equal) == (0.0, 0.0, 0.0, 1.0, 50)


def test_a_small_steady_difference_is_told_from_noise() -> None:
    random = np.random.default_rng(1)
    values = random.random(200)
    steady = difference(values + 0.01, values)
    noise = difference(values + random.normal(0, 0.2, 200), values)
    assert steady.p < 0.001
    assert noise.p > 0.05
    assert noise.low < 0 < noise.high


def test_an_interval_is_as_wide_as_theory_says() -> None:
    found = interval(np.array([0.0, 1.0] * 200))
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / 20, rel=0.1)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('Who said "I came"?', "Who said I came ?"),
        ("Personen und -organisationen", "Personen und organisationen"),
        ("a well-known 6-3 +win", "a well-known 6-3 win"),
        ('- " +', ""),
    ],
)
def test_a_question_as_plain_words(typed: str, words: str) -> None:
    assert as_words(typed) == words


def test_an_operator_that_stays_is_an_error() -> None:
    with pytest.raises(ValueError, match="still holds an operator"):
        as_words("what is title:ownership")


@given(
    st.dictionaries(
        st.sampled_from(["title", "description", "status", "requires"]),
        st.text(
            st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1
        ),
    )
)
def test_front_matter_comes_back_as_it_went_in(fields: dict[str, str]) -> None:
    found = read_front_matter(front_matter(fields) + "text")
    assert found.problem is None
    assert found.metadata == fields


def test_every_tree_has_ten_searches() -> None:
    assert {name: len(each) for name, each in QUESTIONS.items()} == dict.fromkeys(TREES, 10)


def test_the_page_says_what_the_results_say() -> None:
    for path in PAGES:
        page = path.read_text("utf-8")
        assert written(page) == page
    for path, plot in plots().items():
        assert path.read_text("utf-8") == plot


def test_the_results_hold_what_must_hold() -> None:
    assert all(each["requirement"]["met"] for each in results("quality")["collections"])
    assert all(each["holds"] and not each["errors"] for each in results("learning")["trees"])
