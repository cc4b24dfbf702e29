"""Popularity on real logs: is it computed right, and does decaying it help to tell what comes next?

Two logs are imported as columns. `trending`, counts and decayed scores are held against a plain computation
over the events. Then time goes forward: at every step, items are ranked by what was known until then, and the
ranking is judged by what people did on the day after. The half-life is chosen on the first third of the steps
and judged on the others.

python -m benchmarks.popularity --data PATH
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import germane
from benchmarks.environment import environment, load, save
from benchmarks.logs import DAY_SECONDS, Log, shop, weblog
from benchmarks.significance import difference, interval
from germane import Item, Profile, Schema, Signal
from germane.signals.decay import FloatArray

HALF_LIVES = ("6h", "12h", "1d", "3d", "7d", "14d", "30d", "60d")
CUTOFF = 20
REPEATS = 5
MINUTE = 60


def columns(log: Log, names: list[str], places: slice = slice(None)) -> dict[str, Any]:
    """Return events as `signal_many` takes them, each under all of the names."""
    items, at = log.items[places], log.at[places]
    return {
        "name": [name for name in names for _ in items],
        "item": items * len(names),
        "at": np.tile(at, len(names)),
    }


def store(log: Log, now: Any, signals: list[Signal], profiles: list[Profile]) -> germane.Database:
    """Return a store in memory that holds the log's items."""
    db = germane.open(None, Schema(signals, profiles), clock=now)
    db.put_many(Item(id=item, title=item, created_at=0.0) for item in dict.fromkeys(log.items))
    return db


def import_rate(log: Log, folder: Path) -> float:
    """Return events recorded per second, from columns into a folder; the median of several runs."""
    rates = []
    end = float(log.at[-1]) + 1
    given = columns(log, ["view"])
    for run in range(REPEATS):
        with germane.open(folder / f"{log.name}-{run}", clock=lambda: end) as db:
            db.put_many(Item(id=item, title=item) for item in dict.fromkeys(log.items))
            began = time.perf_counter()
            recorded = db.signal_many(given)
            rates.append(recorded / (time.perf_counter() - began))
    return median(rates)


def agreement(log: Log) -> dict[str, Any]:
    """Compare readings and `trending` with sums over the events."""
    end = float(log.at[-1]) + 1
    db = store(log, lambda: end, [Signal("view", half_life="7d"), Signal("share", half_life="7d")], [])
    db.signal_many(columns(log, ["view"]))
    decayed: Counter[str] = Counter()
    day: Counter[str] = Counter()
    for item, at in zip(log.items, log.at.tolist(), strict=True):
        decayed[item] += math.exp(-math.log(2) / (7 * DAY_SECONDS) * (end - at))  # type: ignore[assignment]
        day[item] += at // MINUTE * MINUTE > end - DAY_SECONDS
    counts = Counter(log.items)
    error = max(abs(db.decayed("view", item) - value) / value for item, value in decayed.items())
    wrong_counts = sum(
        db.count("view", item, "24h") != day[item] or db.count("view", item, "all") != counts[item]
        for item in counts
    )
    # trending, with views alone: its candidates are the 2,000 most viewed of the day.
    viewed = sorted((item for item in day if day[item]), key=lambda item: (-day[item], item))[:2_000]
    low, high = min(day[item] for item in viewed), max(day[item] for item in viewed)
    expected = {item: 0.3 * (day[item] - low) / (high - low) if high > low else 0.0 for item in viewed}
    order = sorted(expected, key=lambda item: (-expected[item], item))
    page = db.retrieve("trending", limit=1000)
    same_order = [result.id for result in page.items] == order[:1000]
    trending_error = max(abs(result.raw - expected[result.id]) for result in page.items)
    popular = db.retrieve("most_viewed", limit=1000)
    base = {item: counts[item] + 0.5 * decayed[item] / (decayed[item] + 1) for item in counts}
    by_base = sorted(base, key=lambda item: (-base[item], item))[:1000]
    return {
        "decayed_greatest_relative_error": error,
        "counts_that_differ": wrong_counts,
        "items": len(counts),
        "trending_candidates": page.total,
        "trending_in_the_same_order": same_order,
        "trending_greatest_error": trending_error,
        "most_viewed_in_the_same_order": [result.id for result in popular.items] == by_base,
    }


def forward(log: Log, step: float) -> dict[str, Any]:
    """Rank at every step, and judge by the day that follows; return what each ranking was worth."""
    names = {half_life: f"d{half_life}" for half_life in HALF_LIVES}
    signals = [Signal(name, half_life=half_life) for half_life, name in names.items()]
    profiles = [Profile(name, boosts=[f"{name}.decayed"]) for name in names.values()]
    profiles.append(Profile("undecayed", boosts=[f"{names['7d']}.count.all"]))
    now = [float(log.at[0])]
    db = store(log, lambda: now[0], signals, profiles)
    values: dict[str, list[float]] = {profile.name: [] for profile in profiles}
    known = 0
    moments = np.arange(log.at[0] + DAY_SECONDS, log.at[-1] - DAY_SECONDS + 1, step)
    for moment in moments.tolist():
        upto, end = np.searchsorted(log.at, (moment, moment + DAY_SECONDS)).tolist()
        now[0] = moment
        if upto > known:
            db.signal_many(columns(log, list(names.values()), slice(known, upto)))
            known = upto
        gains = Counter(log.items[upto:end])
        if gains:
            for profile in profiles:
                ids = [result.id for result in db.retrieve(profile.name, limit=CUTOFF).items]
                values[profile.name].append(_ndcg(ids, gains))
    return _judged(names, {name: np.array(each) for name, each in values.items()}, step)


def _judged(names: dict[str, str], values: dict[str, FloatArray], step: float) -> dict[str, Any]:
    steps = len(values["undecayed"])
    third = max(1, steps // 3)
    chosen = max(names, key=lambda half_life: float(values[names[half_life]][:third].mean()))
    ours, theirs = values[names[chosen]][third:], values["undecayed"][third:]
    return {
        "step_hours": step / 3600,
        "steps_to_choose": third,
        "steps_judged": steps - third,
        "half_life": chosen,
        "ndcg": {name: vars(interval(each[third:])) for name, each in values.items()},
        "decayed_against_undecayed": difference(ours, theirs).plain(),
    }


def _ndcg(ids: list[str], gains: Counter[str]) -> float:
    """Return nDCG at the cutoff, the gain of an item being how often it was chosen that day."""
    found = sum(gains[id] / math.log2(place + 2) for place, id in enumerate(ids))
    ideal = sorted(gains.values(), reverse=True)[:CUTOFF]
    return found / sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))


def main() -> None:
    """Measure both logs."""
    import tempfile

    parser = argparse.ArgumentParser(prog="python -m benchmarks.popularity", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    data = parser.parse_args().data
    busy = load()
    found = []
    # The web log is four days long: it is asked every three hours what the next 24 will bring.
    for log, step in ((weblog(data), 3 * 3600.0), (shop(data), float(DAY_SECONDS))):
        with tempfile.TemporaryDirectory() as folder:
            rate = import_rate(log, Path(folder))
        each = {
            "name": log.name,
            "events": len(log.items),
            "events_per_s": rate,
            "agreement": agreement(log),
            "forward": forward(log, step),
        }
        found.append(each)
        print(each)
    path = save("popularity", {"environment": environment(load_before=busy), "cutoff": CUTOFF, "logs": found})
    print(f"written to {path}")


if __name__ == "__main__":
    main()
