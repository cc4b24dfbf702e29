"""What a session adds to a score, in plain Python, written from the definitions alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Given = tuple[str, str, float, float]
"""Signal, item, weight, time."""


@dataclass(frozen=True)
class Thing:
    """An item as a session looks at it."""

    id: str
    title: str | None = None
    creator: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def values(self) -> list[str]:
        """Everything that a keyword may lie in."""
        told = [self.title or "", *self.tags]
        for value in self.metadata.values():
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(each, bool):
                    told.append("true" if each else "false")
                elif isinstance(each, datetime):
                    told.append(each.isoformat())
                else:
                    told.append(str(each))
        return told


def keywords(annotations: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in annotations:
        for word in text.split():
            if word.lower() not in found:
                found.append(word.lower())
    return found


def hint(thing: Thing, annotations: Iterable[str]) -> float:
    words = keywords(annotations)
    if not words:
        return 0.0
    matched = [word for word in words if any(word in value.lower() for value in thing.values())]
    return len(matched) / len(words)


def net(
    signals: Iterable[Given], half_lives: Mapping[str, float | None], against: set[str], now: float
) -> dict[str, float]:
    total: dict[str, float] = {}
    for name, item, weight, at in signals:
        half_life = half_lives[name]
        decayed = weight * (1.0 if half_life is None else 2.0 ** (-(now - at) / half_life))
        total[item] = total.get(item, 0.0) + (-decayed if name in against else decayed)
    return total


def velocity(signals: Iterable[Given], half_life: float, now: float) -> float:
    reward = sum(w * 2.0 ** (-(now - at) / half_life) for name, _, w, at in signals if name == "reward")
    reward = max(reward, 0.0)
    return float(reward / (reward + 1))


def entity(thing: Thing, nets: Mapping[str, float], things: Mapping[str, Thing]) -> float:
    e = nets.get(thing.id, 0.0)
    if thing.creator is not None:
        e += 0.5 * sum(
            weight
            for id, weight in nets.items()
            if id != thing.id and id in things and things[id].creator == thing.creator
        )
    return e / (1 + abs(e))
