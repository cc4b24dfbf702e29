"""The parts of the benchmarks that can be wrong without anyone noticing: formulas, tests, inputs, the page.

Mutations that these tests were seen to fail under: `K1` 1.3, `deltas` without a sign in the randomization
test, quotes dropped from `front_matter`, a figure changed by hand in `docs/benchmarks.md`.
"""

import doctest
import importlib
import math

import numpy as np
import pytest
from benchmarks.bm25 import plain_scores, ranking
from benchmarks.corpora import as_words
from benchmarks.environment import results
from benchmarks.questions import QUESTIONS
from benchmarks.report import PAGES, plots, written
from benchmarks.significance import difference, interval
from benchmarks.trees import TREES, front_matter
from hypothesis import given
from hypothesis import strategies as st

from germane.knowledge.frontmatter import read_front_matter


@pytest.mark.parametrize(
    "name", ["corpora", "feeds", "report", "significance", "simulated", "simulator", "trees", "world", "zipf"]
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
