"""The simulated worlds: what is known there by hand, and that rankings learn there."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from benchmarks.loops import Run, Store, bounds, run
from benchmarks.simulated import first_pages, interval, shares, until
from benchmarks.simulator import COLD
from benchmarks.world import (
    BASE,
    CHANGE,
    CREATOR,
    EXAMINED,
    FADING,
    PLACES,
    ROUNDS,
    SUBJECTS,
    TASTE,
    World,
    best_for_all,
    best_possible,
    utility,
)

LEARNED = 8
"""Rounds of a small run: enough to learn a taste."""


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def small(fading: float) -> World:
    """Return two items (one comes in round 2) of one creator, whom the only user likes after the change."""
    subjects, tastes = np.zeros((2, SUBJECTS)), np.zeros((2, 2, 1, SUBJECTS))
    subjects[0, 0] = subjects[1, 1] = 1.0
    tastes[0, 0, 0, 0], tastes[0, 1, 0, 0] = 1.0, 0.5
    tastes[1, :, 0, 1] = 1.0
    return World(
        seed=1,
        fading=fading,
        subjects=subjects,
        vectors=subjects,
        creators=np.zeros(2, np.int64),
        worth=np.array([0.25, -0.25]),
        comes=np.array([0.0, 2.0]),
        relevance=np.zeros((2, 1)),
        tastes=tastes,
        liked=np.array([[[False]], [[True]]]),
    )


def test_places_are_read_less_the_lower_they_are() -> None:
    assert EXAMINED[[0, 2, 6]] == pytest.approx([1.0, 1 / 2, 1 / 3])
    assert (np.diff(EXAMINED) < 0).all()
    assert len(EXAMINED) == PLACES


def test_a_page_is_worth_its_expected_likes() -> None:
    assert utility(np.array([0.5, 0.0, 0.2])) == pytest.approx(0.5 + 0.2 / 2)
    assert utility(np.array([])) == 0.0


def test_the_best_page_is_the_best_of_all_orders() -> None:
    """Fails when the best possible leaves chances in the order in which items come."""
    values = [0.1, 0.7, 0.3, 0.6]
    best = max(utility(np.array(order)) for order in permutations(values))
    assert best_possible(np.array(values)) == pytest.approx(best)
    assert best == pytest.approx(0.7 + 0.6 / math.log2(3) + 0.3 / 2 + 0.1 / math.log2(5))
    assert best_possible(np.full(PLACES + 5, 0.5)) == pytest.approx(0.5 * EXAMINED.sum())


def test_the_best_page_for_all_has_the_greatest_means() -> None:
    chances = np.array([[0.9, 0.2, 0.5], [0.0, 0.1, 0.5]])
    assert best_for_all(chances).tolist() == [2, 0, 1]


def test_chances_drift_change_and_fade_as_defined() -> None:
    """Fails when a taste does not move before the change, or age counts from the start."""
    world = small(fading=0.1)
    assert world.chances(0) == pytest.approx(np.array([[sigmoid(BASE + TASTE + 0.25)]]))
    drifted = 1 - 0.5 * 10 / CHANGE
    assert world.chances(10)[0] == pytest.approx(
        [sigmoid(BASE + TASTE * drifted + 0.25 - 1.0), sigmoid(BASE - 0.25 - 0.8)]
    )
    assert world.chances(CHANGE)[0, 1] == pytest.approx(
        sigmoid(BASE + TASTE + CREATOR - 0.25 - 0.1 * (CHANGE - 2))
    )


def test_items_come_one_round_after_another() -> None:
    world = World.drawn(3)
    told = [item.id for at in range(ROUNDS) for item in world.items(at)]
    assert len(told) == len(set(told)) == len(world.comes)
    assert [item.id for item in World.drawn(3).items(5)] == [item.id for item in world.items(5)]


@pytest.mark.parametrize("is_search", [False, True])
def test_nothing_is_worth_more_than_the_best(is_search: bool) -> None:
    world = World.drawn(3, FADING)
    found = bounds(world, is_search)
    best, same, random = (np.array(found[name].got) for name in ("best", "same for all", "random"))
    assert (best > same).all()
    assert (same > random).all()


def test_rounds_and_intervals_by_hand() -> None:
    assert until([0.2, 0.5, 0.89, 0.9], 1.0) == 4
    assert until([0.2], 1.0) is None
    mean, half = interval(np.array([0.0, 1.0]))
    assert mean == 0.5
    assert half == pytest.approx(12.706 / 2)
    # Two worlds of each kind, whose variances are 2 and 0: the mean of the kinds has a quarter of 2 / 2.
    mean, half = interval(np.array([0.0, 2.0, 9.0, 9.0]), [False, False, True, True])
    assert mean == 5.0
    assert half == pytest.approx(4.303 * math.sqrt(0.25))


def share(made: Run, best: Run) -> float:
    return sum(made.got[LEARNED // 2 :]) / sum(best.got[LEARNED // 2 :])


def test_who_learns_tastes_serves_better() -> None:
    """Fails when what users do moves no preference and no affinity, or moves them the wrong way."""
    world = World.drawn(11)
    best = bounds(world, rounds=LEARNED)["best"]
    personal = Store(world, "for_you", cold=COLD)
    assert share(run(world, personal, rounds=LEARNED), best) > 0.1 + share(
        run(world, Store(world, COLD), rounds=LEARNED), best
    )
    assert personal.first_pages
    assert all(personal.first_pages)


def test_a_personal_search_serves_better_than_text_alone() -> None:
    """Fails when the dial does nothing."""
    world = World.drawn(11)
    text, personal = (
        sum(run(world, Store(world, "search", dial), is_search=True, rounds=LEARNED).got)
        for dial in (0.0, 0.3)
    )
    assert personal > 1.02 * text


def test_the_results_hold_what_must_hold() -> None:
    same, pages = first_pages()
    assert same == pages > 0
    text, personal = (shares("searches", f"dial {dial}").mean(axis=1) for dial in ("0", "0.3"))
    assert interval(personal - text)[0] > 0
    assert (personal > text).all()
