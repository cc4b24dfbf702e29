"""Metrics against values that were worked out by hand."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np
import pytest

from germane.evaluation import Case, Measured
from germane.evaluation.metrics import NAMES, Tally, band_of, events_to_adapt, values


def wanting(*wanted: str, upto: int = 0, before: int = 0) -> Case:
    return Case(at=0, user="u", wanted=wanted, upto=upto, before=before, last=None)


def by_bands(means: dict[int, float]) -> Measured:
    """Return what was worth so much in bands, named by their least numbers."""
    bands = {band_of(least): (3, mean) for least, mean in means.items()}
    return Measured({name: np.zeros(0) for name in NAMES}, 0.0, None, 0.0, bands)


@pytest.mark.parametrize(
    ("shown", "wanted", "k", "expected"),
    [
        # Two of three wanted items, and room for two: all that could be.
        ("ab", "abc", 2, (1.0, 1.0, 1.0, 1.0, 1.0)),
        # One of three at the second place of two.
        ("xb", "abc", 2, (1.0, 0.5, (1 / log2(3)) / (1 + 1 / log2(3)), 0.5, 0.0)),
        # One of three at the third place of four.
        ("xyaz", "abc", 4, (1.0, 1 / 3, 0.5 / (1 + 1 / log2(3) + 0.5), 1 / 3, 1.0)),
        # Behind the k-th place it is not shown.
        ("xya", "a", 2, (0.0, 0.0, 0.0, 0.0, 0.0)),
        ("", "a", 2, (0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_what_a_list_is_worth(shown: str, wanted: str, k: int, expected: tuple[float, ...]) -> None:
    """Fails when recall is of all wanted items, and not of as many as there is room for."""
    assert values(list(shown), wanting(*wanted), k) == pytest.approx(expected, rel=1e-12)


def test_what_lists_hold() -> None:
    """Fails when coverage is of an item more, diversity is 1, or novelty counts another event or item."""
    tally = Tally(3, {"a": "ann", "b": "ann", "c": "bea"})
    # Two creators of three items: 2/3. Bits: 8/2, 8/4 and 8/1 of 7 events and one more.
    tally.add(["a", "b", "c", "beyond"], wanting("a", upto=7), Counter(a=1, b=3, other=3))
    # One creator of one item: 1. What nobody made does not count. Bits: 16/8 and 16/2.
    tally.add(["a", "d"], wanting("x", upto=15, before=4), Counter(a=7, d=1, other=7))
    found = tally.measured(8)
    assert found.coverage == 4 / 8
    assert found.diversity == pytest.approx((2 / 3 + 1) / 2, rel=1e-12)
    assert found.novelty == pytest.approx((2 + 1 + 3 + 1 + 3) / 5, rel=1e-12)
    assert found.by_history == {"0": (1, 1.0), "1-4": (1, 0.0)}
    assert [found.mean(name) for name in NAMES] == [0.5] * 5


def test_nothing_shown_is_worth_nothing() -> None:
    tally = Tally(3, {})
    tally.add([], wanting("a"), Counter())
    found = tally.measured(0)
    assert (found.coverage, found.diversity, found.novelty, found.mean("hr")) == (0.0, None, 0.0, 0.0)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        # Worth as much is not worth more.
        ({0: 0.2, 1: 0.5}, {0: 0.2, 1: 0.4}, 1),
        ({0: 0.2}, {0: 0.2}, None),
        ({0: 0.3, 1: 0.4}, {0: 0.2, 1: 0.4}, None),
        # More, then less, and then more for good.
        ({0: 0.3, 1: 0.1, 5: 0.4, 20: 0.5}, dict.fromkeys((0, 1, 5, 20), 0.2), 5),
        ({0: 0.3, 100: 0.4}, {0: 0.2, 100: 0.2}, 0),
        # A band that one of them has no case in says nothing.
        ({0: 0.3, 5: 0.4}, {1: 0.9, 5: 0.2}, 5),
    ],
)
def test_from_how_many_events_on_one_is_worth_more(
    ours: dict[int, float], theirs: dict[int, float], expected: int | None
) -> None:
    """Fails when bands in which both are worth the same count for ours."""
    assert events_to_adapt(by_bands(ours), by_bands(theirs)) == expected
