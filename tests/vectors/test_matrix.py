"""The matrix of vectors: set, changed and removed in any order, seen as it was, near ones found exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.vectors.cosine import cosines, lengths, sums
from germane.vectors.matrix import Vectors

numbers = st.floats(-1e3, 1e3, width=32)
vectors = st.none() | st.tuples(numbers, numbers, numbers)


@given(st.lists(st.tuples(st.integers(0, 150), vectors), max_size=60), st.booleans())
def test_what_was_set_last_is_there_and_what_was_seen_stays(
    steps: list[tuple[int, tuple[float, ...] | None]], looks: bool
) -> None:
    """Fails if a row is reused or changed in an array that a reader still has."""
    made, known, seen = Vectors(), dict[int, tuple[float, ...]](), []
    for ordinal, vector in steps:
        made.set(ordinal, None if vector is None else np.array(vector, np.float32))
        known.pop(ordinal, None)
        if vector is not None:
            known[ordinal] = vector
        if looks:
            seen.append((made.seen(), dict(known)))
    for rows, expected in [*seen, (made.seen(), known)]:
        for ordinal in range(152):
            vector_of = rows.vector(ordinal)
            assert (None if vector_of is None else tuple(vector_of.tolist())) == expected.get(ordinal)
        held = rows.rows(np.array(sorted(expected), np.int64))
        assert np.array_equal(rows.norms[held], lengths(rows.matrix[held]))
        assert rows.items[held].tolist() == sorted(expected)
    assert len(made) == len(known)
    told = made.to_arrays()
    again = Vectors.from_arrays(told["items"], told["matrix"])
    again.set(3, None)
    again.set(151, np.ones(3, np.float32)) if known else None
    for name, array in made.to_arrays().items():
        assert np.array_equal(array, told[name])


@pytest.mark.parametrize("looks_every", [1, 7, 1_000])
def test_vectors_that_change_often_keep_no_rows_for_good(looks_every: int) -> None:
    """Fails if rows are moved without what they are of, or if those that were given up are kept."""
    dice = np.random.default_rng(3)
    made, known, seen = Vectors(), dict[int, list[float]](), []
    for step in range(600):
        ordinal = int(dice.integers(0, 50))
        vector = dice.normal(size=3).astype(np.float32)
        made.set(ordinal, vector if step % 5 else None)
        known.pop(ordinal, None)
        if step % 5:
            known[ordinal] = vector.tolist()
        if step % looks_every == 0:
            seen.append((made.seen(), dict(known)))
    for rows, expected in [*seen, (made.seen(), known)]:
        ordinals = np.array(sorted(expected), np.int64)
        held = rows.rows(ordinals)
        assert rows.items[held].tolist() == ordinals.tolist()
        assert rows.matrix[held].tolist() == [expected[ordinal] for ordinal in ordinals.tolist()]
        assert np.array_equal(rows.norms[held], lengths(rows.matrix[held]))
        assert np.count_nonzero(rows.items >= 0) == len(expected)
        assert len(rows.matrix) <= 2 * 64
    assert len(made) == len(known)


def test_the_bits_of_a_cosine_do_not_depend_on_how_many_are_computed() -> None:
    """Fails if sums are those of a matrix product, which adds in the order that suits it."""
    dice = np.random.default_rng(1)
    for dimension in (1, 2, 3, 7, 128, 301):
        matrix = dice.normal(size=(3_000, dimension)).astype(np.float32)
        vector = dice.normal(size=dimension).astype(np.float32)
        together = cosines(matrix, lengths(matrix), vector)
        for row in (0, 1, 2_047, 2_048, 2_999):
            one = matrix[row : row + 1]
            assert cosines(one, lengths(one), vector)[0] == together[row]
            products = [float(a) * float(b) for a, b in zip(one[0], vector, strict=True)]
            scale = math.sqrt(math.fsum(float(a) ** 2 for a in one[0]))
            scale *= math.sqrt(math.fsum(float(b) ** 2 for b in vector))
            assert together[row] == pytest.approx(math.fsum(products) / scale, rel=1e-12, abs=1e-14)


@given(st.lists(numbers, min_size=1, max_size=40))
def test_sums_add_every_number_once(row: list[float]) -> None:
    assert sums(np.array([row]))[0] == pytest.approx(math.fsum(row), abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e30])
def test_the_nearest_are_among_the_near(scale: float) -> None:
    """Fails if rough cosines decide, near ties of which float32 gets wrong, or reach their limits."""
    dice = np.random.default_rng(2)
    made = Vectors()
    centre = dice.normal(size=64)
    for ordinal in range(2, 1_500):
        near = centre + dice.normal(size=64) * 1e-4
        made.set(ordinal, (near * scale).astype(np.float32))
    made.set(1, np.zeros(64, np.float32))
    rows, vector = made.seen(), centre.astype(np.float32)
    among = np.arange(1_600) % 3 > 0
    everything = np.flatnonzero(among)
    exact = rows.cosines(vector, everything)
    for wanted in (1, 10, 100, 5_000):
        found = rows.near(vector, among, wanted)
        assert among[found].all()
        best = everything[np.argsort(-exact, kind="stable")][: min(wanted, 990)]
        assert set(best[exact[np.searchsorted(everything, best)] > 0].tolist()) <= set(found.tolist())
    assert len(rows.near(np.zeros(64, np.float32), among, 3)) == 0
