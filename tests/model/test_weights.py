"""The weights of a text score: their ranges and their types."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import InvalidArgument, SearchWeights

NAMES = SearchWeights.__struct_fields__


def test_the_defaults() -> None:
    weights = SearchWeights()
    assert (weights.heading, weights.body, weights.code, weights.k1, weights.b) == (2.0, 1.0, 1.5, 1.2, 0.75)
    assert (weights.proximity, weights.zone, weights.freshness, weights.half_life_days) == (
        1.0,
        0.5,
        0.0,
        30.0,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-0.001, 1e10, math.nan, math.inf, "1", None, True, 10**400])
def test_what_is_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidArgument) as caught:
        SearchWeights(**{name: value})
    greatest = {"b": "1", "half_life_days": "1e+09"}.get(name, "1e+06")
    least = "above 0 (at least 1e-6)" if name == "half_life_days" else "from 0"
    assert str(caught.value).startswith(f"weights.{name}: must be a number {least} to {greatest}, not ")
    assert caught.value.field == f"weights.{name}"


def test_edges() -> None:
    for name in NAMES:
        greatest = {"b": 1, "half_life_days": 10**9}.get(name, 10**6)
        value = getattr(SearchWeights(**{name: greatest}), name)
        assert value == greatest
        assert type(value) is float
    assert SearchWeights(k1=0, b=0, heading=0).k1 == 0
    with pytest.raises(InvalidArgument, match=r"half_life_days: .* not 0$"):
        SearchWeights(half_life_days=0)


@given(st.floats())
def test_any_number_is_a_weight_or_refused(value: float) -> None:
    for name in NAMES:
        try:
            weights = SearchWeights(**{name: value})
        except InvalidArgument as error:
            assert error.field == f"weights.{name}"
        else:
            assert getattr(weights, name) == value


def test_weights_are_immutable() -> None:
    with pytest.raises(AttributeError):
        SearchWeights().k1 = 2.0  # type: ignore[misc]
    assert hash(SearchWeights()) == hash(SearchWeights(body=1))
