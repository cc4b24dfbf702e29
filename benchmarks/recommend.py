"""Recommendations on real logs: do Germane's profiles show what people then come to, and who does better?

A shop's invoices, the edits of the EIPs and a blog's requests are told again, forward in time. At each visit
of the last fifth (drawn by a seed where there are many) every system is asked for its best ten of the whole
catalogue, from what was known before; what the user then did says what the list was worth. So it is at steps
from one item to another, for what is related. Half-lives and weights are chosen between 60 and 80 % of a
log (see `benchmarks.weights`).

python -m benchmarks.recommend --data PATH
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import environment, load, save
from benchmarks.recommenders import Filled, Implicit, Known, Neighbour, Popular, Similar
from benchmarks.significance import difference, interval
from germane import Item, Profile, Schema, Signal
from germane.evaluation import Recommender, Replay, Story, replay
from germane.evaluation.metrics import events_to_adapt

K = 10
CASES = 1_000
TO_CHOOSE = 400
SPLIT, HELD_OUT = 0.6, 0.8
DAYS = (1.0, 3.0, 7.0, 14.0, 30.0, 60.0)
METRIC = "ndcg"


def story(data: Path, name: str, actions: tuple[str, ...], items: list[Item] | None = None) -> Story:
    """Return the story of a log of the data folder; each event is a view."""
    with gzip.open(data / name / "events.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["action"] in actions]
    columns: dict[str, Any] = {
        "name": ["view"] * len(rows),
        "item": [row["item"][:200] for row in rows],
        "user": [None if row["user"] in ("", "-") else row["user"] for row in rows],
        "at": [datetime.fromisoformat(row["ts"]).replace(tzinfo=UTC).timestamp() for row in rows],
    }
    return Story.of_rows(columns, items, Schema([Signal("view", half_life="7d")]))


def logs(data: Path) -> dict[str, Callable[[], Story]]:
    """Return how each log is read."""
    return {
        "shop": lambda: story(data, "online-retail", ("buy",)),
        "EIPs": lambda: story(data, "eips", ("add", "edit"), proposals(data)),
        "web log": lambda: story(data, "weblog", ("view",)),
    }


def proposals(data: Path) -> list[Item]:
    """Return the EIPs as items, with type and category as tags; others that were edited go without."""
    with gzip.open(data / "eips" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        docs = {doc["id"]: doc for doc in map(json.loads, file)}
    with gzip.open(data / "eips" / "events.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["action"] in ("add", "edit")]
    first = {row["item"]: row["ts"] for row in reversed(rows)}
    made = []
    for id, at in first.items():
        doc = docs.get(id, {})
        tags = [doc[name] for name in ("type", "category") if doc.get(name)]
        created = datetime.fromisoformat(at).replace(tzinfo=UTC)
        made.append(Item(id=id, title=doc.get("title") or id, tags=tags, created_at=created))
    return made


PERSONAL = Profile(
    "personal",
    candidates=["related(500)", "signal(engagement, 500)", "fresh(200)"],
    boosts=["0.3 saturate(1)(again)", "0.1 saturate(1)(cooccurrence)", "0.3 saturate(3)(engagement)"],
)
"""What a user does again, and co-occurrence, beside engagement: a declared profile."""
PROFILES: list[str | Profile] = [
    "for_you",
    PERSONAL,
    Profile("again", candidates=["signal(again, 500)"], boosts=["again"]),
    Profile("cooccurrence", candidates=["related(500)"], boosts=["cooccurrence"]),
    Profile("engagement", candidates=["signal(engagement, 500)"], boosts=["engagement"]),
    Profile("views_decayed", boosts=["view.decayed"]),
    Profile("views", boosts=["view.count.all"]),
]
STEPS: list[str | Profile] = ["related", "for_you"]
NOT_PERSONAL = ("most popular", "decayed popularity", "engagement", "views_decayed", "views")


def others(known: Known, days: float) -> dict[str, Recommender]:
    """Return what Germane is held against; who has no answer shows decayed popularity."""
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import BM25Recommender, CosineRecommender

    def filled(one: Recommender) -> Recommender:
        return Filled(one, Popular(known, days))

    return {
        "most popular": Popular(known),
        "decayed popularity": Popular(known, days),
        "neighbour, recent history": filled(Neighbour(known)),
        "implicit item-item, BM25": filled(Implicit(known, lambda: BM25Recommender(K=200, num_threads=1))),
        "implicit item-item, cosine": filled(
            Implicit(known, lambda: CosineRecommender(K=200, num_threads=1))
        ),
        "implicit ALS": filled(
            Implicit(
                known, lambda: AlternatingLeastSquares(factors=64, random_state=2, num_threads=1), is_als=True
            )
        ),
    }


def similar(known: Known) -> dict[str, Recommender]:
    """Return what has items similar to one."""
    from implicit.als import AlternatingLeastSquares
    from implicit.nearest_neighbours import BM25Recommender

    return {
        "implicit similar items, BM25": Similar(known, lambda: BM25Recommender(K=200, num_threads=1)),
        "implicit similar items, ALS": Similar(
            known, lambda: AlternatingLeastSquares(factors=64, random_state=2, num_threads=1)
        ),
    }


def half_life(of: Story, known: Known) -> float:
    """Return the half-life in days at which decayed popularity is worth most on the validation slice."""
    asked: dict[str, Recommender] = {str(days): Popular(known, days) for days in DAYS}
    found = replay(of, (), at=K, split=SPLIT, until=HELD_OUT, limit=TO_CHOOSE, others=asked)
    return max(DAYS, key=lambda days: found.measured[str(days)].mean(METRIC))


def study(name: str, of: Story) -> dict[str, Any]:
    """Return what every system is worth on one log: at visits, and at steps from one item to another."""
    known = Known(of)
    days = half_life(of, known)
    return {
        "name": name,
        "events": len(of),
        "items": len(known.ids),
        "users": len(known.users) - (None in known.users),
        "half_life_days": days,
        "visits": asked(name, of, PROFILES, others(known, days), "visit", "for_you"),
        "steps": asked(name, of, STEPS, {**others(known, days), **similar(known)}, "step", "related"),
    }


def asked(
    name: str,
    of: Story,
    profiles: list[str | Profile],
    rivals: dict[str, Recommender],
    each: str,
    ours: str,
) -> dict[str, Any]:
    """Return what systems are worth at one kind of cases, and one of them against each other one."""
    began = time.perf_counter()
    found = replay(
        of, profiles, at=K, split=HELD_OUT, limit=CASES, each=each, others=rivals,
        progress=lambda done, total: print(f"\r{name}: {done} of {total}", end="", flush=True),
    )  # fmt: skip
    print(f"\r{name}: {len(found.cases)} {each}s in {time.perf_counter() - began:.0f} s")
    plain = max(
        (one for one in NOT_PERSONAL if one in found.measured),
        key=lambda one: found.measured[one].mean(METRIC),
    )
    return {
        "ours": ours,
        "best_not_personal": plain,
        "cases": len(found.cases),
        "cold": sum(case.before == 0 for case in found.cases),
        "systems": [_system(found, one, ours) for one in found.measured],
    }


def _system(found: Replay, name: str, ours: str) -> dict[str, Any]:
    each, reference, popular = (found.measured[one] for one in (name, ours, "decayed popularity"))
    cold = np.array([case.before == 0 for case in found.cases])
    made: dict[str, Any] = {"name": name, **each.plain()}
    made["intervals"] = {metric: vars(interval(values)) for metric, values in each.by_case.items()}
    made["cold_ndcg"] = float(each.by_case["ndcg"][cold].mean()) if cold.any() else None
    if name != ours:
        made["ours_against"] = {
            metric: difference(reference.by_case[metric], each.by_case[metric]).plain()
            for metric in ("ndcg", "hr", "recall")
        }
    if each is not popular:
        made["events_to_adapt"] = events_to_adapt(each, popular)
    return made


def main() -> None:
    """Measure all logs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recommend", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    data = parser.parse_args().data
    busy = load()
    found = [study(name, read()) for name, read in logs(data).items()]
    path = save(
        "recommend",
        {
            "environment": environment("implicit", "scipy", load_before=busy),
            "settings": {"k": K, "cases": CASES, "split": HELD_OUT, "validation": [SPLIT, HELD_OUT]},
            "logs": found,
        },
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
