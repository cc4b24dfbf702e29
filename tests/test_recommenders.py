"""What recommendations are held against: small logs with known answers."""

from __future__ import annotations

import pytest
from benchmarks.recommenders import Filled, Known, Neighbour, Popular

from germane.evaluation import Case, Story

DAY = 86_400.0


def story() -> Story:
    events = [
        ("u", "a", 0.0), ("u", "b", 60.0), ("v", "a", 120.0), ("v", "b", 130.0), ("v", "c", 9 * DAY),
        (None, "c", 9 * DAY), ("w", "a", 10 * DAY),
    ]  # fmt: skip
    users, items, at = zip(*events, strict=True)
    return Story.of_rows({"name": ["view"] * len(events), "item": items, "user": users, "at": at})


def case(user: str, told: Story) -> Case:
    return Case(int(11 * DAY * 1e6), user, ("x",), len(told), 0, None)


@pytest.mark.parametrize(("days", "wanted"), [(None, "abc"), (1.0, "cab")])
def test_popularity_counts_and_decays(days: float | None, wanted: str) -> None:
    """Fails when what was counted before is not halved as time goes on."""
    told = story()
    popular = Popular(Known(told), days)
    for place in range(0, len(told), 2):
        popular.learn(told, place, min(place + 2, len(told)))
    if days is not None:
        weights = {"a": 2**-10 * 2 + 1, "b": 2**-10 * 2, "c": 2**-1 * 2}
        wanted = "".join(sorted(weights, key=lambda item: (-weights[item], item)))
    assert "".join(popular.recommend(case("u", told), 10)) == wanted


def test_the_neighbour_knows_what_visits_hold_together() -> None:
    told = story()
    neighbour = Neighbour(Known(told))
    neighbour.learn(told, 0, len(told))
    assert neighbour.recommend(case("w", told), 10) == ["a", "b"]
    # Both were seen together by two users, so each also speaks for the other.
    assert neighbour.recommend(case("v", told), 10) == ["b", "a", "c"]


def test_empty_places_are_filled_without_repeats() -> None:
    told = story()
    known = Known(told)
    both = Filled(Neighbour(known), Popular(known))
    both.learn(told, 0, len(told))
    assert both.recommend(case("w", told), 10) == ["a", "b", "c"]
