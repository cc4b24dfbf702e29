"""Does a session raise what an agent uses next? Recorded airline sessions, replayed as sessions.

python -m benchmarks.airline --data PATH       # the folder that holds tau-airline

The knowledge base holds every flight, reservation and customer that any tool of any session returned. Each
recorded session is told step by step: what the customer says is annotated, what a tool returns is viewed, and
what the agent's next call names is rewarded. Before each such call the store is asked, with the session and
without it: by a search for what the customer said last, and by what was rewarded and viewed most so far. The
session knows only what came before; so do the counts.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, save
from germane import Database, Item, Profile, Schema, Session, SessionWeights, Signal

STEP = 10.0
LIMIT = 100
POPULAR = Profile("popular", boosts=["reward.decayed", "0.1 view.decayed"])
SCHEMA = Schema([Signal("reward", half_life="7d"), Signal("view", half_life="7d")], [POPULAR])
WAYS: dict[str, SessionWeights | None] = {
    "without": None,
    "default": SessionWeights(),
    "hint alone": SessionWeights(velocity=0, entity=0),
    "velocity alone": SessionWeights(hint=0, entity=0),
    "entity alone": SessionWeights(hint=0, velocity=0),
    "words": SessionWeights(keywords="words"),
    "scale 1": SessionWeights(scale=1),
}
Message = dict[str, Any]
Ranks = dict[str, list[float]]


class Clock:
    """A time that moves by steps."""

    def __init__(self) -> None:
        self.now = 1.7e9

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def main() -> None:
    """Replay, print and keep the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    path = parser.parse_args().data / "tau-airline" / "sessions.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        told = [json.loads(line)["messages"] for line in file]
    found = replay(told)
    save("airline", {"environment": environment(), **found})
    for row in found["rows"]:
        print(
            f"{row['surface']:>8} {row['which']:>4} {row['way']:>14}: n {row['cases']}, MRR {row['mrr']:.3f},"
            f" HR@1 {row['hr1']:.3f}, HR@5 {row['hr5']:.3f}, HR@10 {row['hr10']:.3f};"
            f" MRR against without {row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"
        )


def replay(told: list[list[Message]]) -> dict[str, Any]:
    """Return the figures of recorded sessions, each a list of messages."""
    clock = Clock()
    db = germane.open(schema=SCHEMA, clock=clock)
    items = {str(item.id): item for messages in told for item in returned(messages)}
    db.put_many(items.values())
    cases: list[dict[str, Any]] = []
    for number, messages in enumerate(told):
        cases += _replayed(db, clock, number, messages, set(items))
    rows = []
    for surface in ("search", "retrieve"):
        for which in ("all", "new"):
            chosen = [each for each in cases if which == "all" or each["is_new"]]
            rows += [_row(surface, which, way, chosen) for way in WAYS]
    return {"items": len(items), "sessions": len(told), "rows": rows}


def _replayed(
    db: Database, clock: Clock, number: int, messages: list[Message], known: set[str]
) -> Iterator[dict[str, Any]]:
    session = db.start_session(user=f"customer {number}", agent="airline")
    said, seen = "", set[str]()
    for message in messages:
        clock.now += STEP
        if message["role"] == "user" and message["content"]:
            said = str(message["content"])
            session.annotate(said[:10_000])
        for call in message.get("tool_calls") or ():
            wanted = [id for id in used(call["function"]) if id in known]
            for id in wanted:
                yield {
                    "session": number,
                    "is_new": id not in seen,
                    **{f"search {way}": _rank(db, "search", said, session, weights, id)
                       for way, weights in WAYS.items()},
                    **{f"retrieve {way}": _rank(db, "retrieve", said, session, weights, id)
                       for way, weights in WAYS.items()},
                }  # fmt: skip
            for id in wanted:
                session.signal("reward", id)
                seen.add(id)
        if message["role"] == "tool":
            for item in of_result(message):
                session.signal("view", str(item.id))
                seen.add(str(item.id))
    session.close()


def _rank(
    db: Database, surface: str, said: str, session: Session, weights: SessionWeights | None, wanted: str
) -> int:
    """Return the place of an item, 0 when it is beyond the page."""
    of = session if weights is not None else None
    if surface == "retrieve":
        page = db.retrieve("popular", session=of, session_weights=weights, limit=LIMIT)
    else:
        text = " ".join(word for word in said.replace('"', " ").split() if word[0] not in "+-") or "flight"
        page = db.search(text, session=of, session_weights=weights, limit=LIMIT)
    ids = [each.id for each in page.items]
    return ids.index(wanted) + 1 if wanted in ids else 0


def _row(surface: str, which: str, way: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    ranks = np.array([each[f"{surface} {way}"] for each in cases])
    bare = np.array([each[f"{surface} without"] for each in cases])
    reciprocal, before = _reciprocal(ranks), _reciprocal(bare)
    low, high = _interval(reciprocal - before, np.array([each["session"] for each in cases]))
    there = ranks > 0
    return {
        "surface": surface,
        "which": which,
        "way": way,
        "cases": len(cases),
        "mrr": float(reciprocal.mean()),
        **{f"hr{k}": float((there & (ranks <= k)).mean()) for k in (1, 5, 10)},
        "difference": float((reciprocal - before).mean()),
        "low": low,
        "high": high,
    }


def _reciprocal(ranks: Any) -> Any:
    return np.where(ranks > 0, 1.0 / np.maximum(ranks, 1), 0.0)


def _interval(values: Any, sessions: Any) -> tuple[float, float]:
    """Return the 95 % interval of a mean, drawing whole sessions again and again."""
    numbers = np.unique(sessions)
    sums = np.array([values[sessions == number].sum() for number in numbers])
    counts = np.array([(sessions == number).sum() for number in numbers])
    drawn = np.random.default_rng(1).integers(0, len(numbers), (2_000, len(numbers)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def returned(messages: list[Message]) -> Iterator[Item]:
    """Yield the items that the tools of a session returned."""
    for message in messages:
        if message["role"] == "tool":
            yield from of_result(message)


def of_result(message: Message) -> Iterator[Item]:
    """Yield the items in the result of a tool: flights, reservations, customers."""
    try:
        found = json.loads(message["content"])
    except (TypeError, ValueError):
        return
    if isinstance(found, dict) and "reservation_id" in found:
        id, user = str(found["reservation_id"]), str(found.get("user_id"))
        yield _item(id, f"Reservation {id}", found, user)
        for flight in found.get("flights", ()):
            yield from _flight(flight, str(flight.get("date")))
    elif isinstance(found, dict) and "payment_methods" in found:
        name = found.get("name", {})
        email = str(found.get("email", ""))
        id = str(message.get("user_id") or email)
        yield _item(id, f"Customer {name.get('first_name')} {name.get('last_name')}", found, None)
    elif isinstance(found, list):
        for each in found:
            for flight in each if isinstance(each, list) else [each]:
                if isinstance(flight, dict):
                    yield from _flight(flight, str(flight.get("date")))


def _flight(flight: Message, date: str) -> Iterator[Item]:
    number = flight.get("flight_number")
    if number is None:
        return
    route = f"{flight.get('origin')}-{flight.get('destination')}"
    yield _item(str(number), f"Flight {number} {route}", {**flight, "date": date}, route)


def _item(id: str, title: str, fields: Message, creator: str | None) -> Item:
    plain = {name: value for name, value in fields.items() if isinstance(value, (str, int, float, bool))}
    return Item(id=id, title=title, body=json.dumps(fields)[:4_000], type="text/plain", metadata=plain,
                creator=creator, created_at=1.6e9)  # fmt: skip


def used(function: Message) -> list[str]:
    """Return what the arguments of a call name: a reservation, or flights."""
    try:
        given = json.loads(function["arguments"])
    except (TypeError, ValueError):
        return []
    ids = [str(given["reservation_id"])] if "reservation_id" in given else []
    flights = given.get("flights")
    named = flights if isinstance(flights, list) else []
    ids += [str(each["flight_number"]) for each in named if "flight_number" in each]
    return list(dict.fromkeys(ids))


if __name__ == "__main__":
    main()
