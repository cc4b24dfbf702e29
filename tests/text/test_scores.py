"""Properties of the parts of a score."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.model.weights import SearchWeights
from germane.text.arrays import offsets
from germane.text.bm25f import field_score, idf
from germane.text.freshness import freshness
from germane.text.postings import nearness
from germane.text.zone import is_early, zone

positions = st.lists(st.lists(st.integers(0, 30), max_size=5).map(sorted), min_size=1, max_size=5)


def proximity(lists: list[list[int]]) -> float:
    """The kernel's, which is given the words that occur."""
    present = [at for at in lists if at]
    if len(present) < 2:
        return 0.0
    starts = offsets(np.array([len(at) for at in present]))
    return float(
        nearness(
            np.array([*chain.from_iterable(present)]),
            starts,
            len(present),
            len(lists),
            np.empty((4, 100), np.int64),
        )
    )


def brute_force(lists: list[list[int]]) -> float:
    """Take every window of positions, however long it takes."""
    count = len(lists)
    best = 0.0
    everything = sorted({p for at in lists for p in at})
    for low in everything:
        for high in everything:
            held = sum(any(low <= p <= high for p in at) for at in lists)
            for j in range(2, held + 1):
                best = max(best, ((j - 1) / max(high - low, j - 1)) * (j / count))
    return best


@given(positions)
def test_proximity_is_the_best_window_of_all(lists: list[list[int]]) -> None:
    assert proximity(lists) == brute_force(lists)


@given(positions, st.data())
def test_another_matching_word_never_lowers_proximity(lists: list[list[int]], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(lists) - 1))
    without = [*lists[:which], [], *lists[which + 1 :]]
    assert 0.0 <= proximity(without) <= proximity(lists) <= 1.0


@given(st.integers(2, 6), st.integers(0, 50))
def test_proximity_is_one_exactly_side_by_side(count: int, start: int) -> None:
    assert proximity([[start + at] for at in range(count)]) == 1.0
    assert proximity([[start + 2 * at] for at in range(count)]) < 1.0
    assert proximity([[start], *([] for _ in range(count - 1))]) == 0.0


@given(st.integers(0, 10**9), st.data())
def test_a_rarer_word_weighs_more_and_none_less_than_nothing(sections: int, data: st.DataObject) -> None:
    df = data.draw(st.integers(0, sections))
    assert idf(sections, df) > 0 or sections == df
    if df:
        assert idf(sections, df - 1) > idf(sections, df)


@given(st.integers(1, 1000), st.integers(1, 1000), st.floats(0.1, 1000), st.floats(0, 10), st.floats(0, 1))
def test_a_field_score_rises_with_tf_and_falls_with_length(
    tf: int, length: int, average: float, k1: float, b: float
) -> None:
    weights = SearchWeights(k1=k1, b=b)

    def score(tf: int, length: int) -> float:
        return float(
            field_score(np.array([tf], np.int32), np.array([length], np.int32), average, 1.0, weights)[0]
        )

    assert 0 < score(tf, length) <= k1 + 1 + 1e-9
    assert score(tf + 1, length) >= score(tf, length) * (1 - 1e-12)
    assert score(tf, length + 1) <= score(tf, length) * (1 + 1e-12)


def test_zone_is_a_strict_fifth() -> None:
    assert is_early(np.array([0, 1, 2]), np.array([10, 10, 10])).tolist() == [True, True, False]
    assert zone(np.zeros((1, 0), np.uint8)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("age_days", "half_life", "value"), [(0, 30, 1.0), (30, 30, 0.5), (60, 30, 0.25), (-5, 30, 1.0)]
)
def test_freshness_halves(age_days: int, half_life: float, value: float) -> None:
    day = 86_400_000_000
    assert freshness(np.array([-age_days * day]), 0, half_life).tolist() == [value]
    assert freshness(np.array([-(2**62)]), 2**62, 1e-6).tolist() == [0.0]
