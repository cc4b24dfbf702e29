"""Weights of ``for_you``: which do best on the validation slices of real logs?

Between 60 and 80 % of each log, at each visit, the terms of the built-in profile are asked what they say of
the candidates; then every setting of a grid is tried. No later event has a part in it. Many settings are as
good as the best on these logs, whose items have neither vectors nor creators; so of those within 2 % of the
best, the one was taken that is best in simulated worlds (`benchmarks.simulator --choose`).

python -m benchmarks.weights --data PATH
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environment import environment, load, save
from benchmarks.recommend import HELD_OUT, METRIC, SPLIT, TO_CHOOSE, K, logs
from germane import Profile
from germane.evaluation.probe import Probed, probe, worth
from germane.evaluation.replay import chosen
from germane.model.builtin import COLD_START, FOR_YOU

AGAIN = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
RECENCY = (0.0, 0.01, 0.03, 0.05, 0.07, 0.1, 0.2, 0.4)
ENGAGEMENT = 0.1
"""Fixed, for only ratios matter here."""
NEAR = 0.98
"""Share of the best mean that counts as as good."""
PROBE = Profile(
    "for_you",
    candidates=FOR_YOU.candidates,
    boosts=["saturate(3)(engagement)", "recency.168h", "saturate(1)(again)"],
)


def tried(cases: dict[str, list[Probed]], weights: list[tuple[float, ...]]) -> list[dict[str, Any]]:
    """Return what settings are worth on each log, and on average."""
    found = []
    for setting in weights:
        by_log = {name: worth(probed, np.array(setting), K, METRIC) for name, probed in cases.items()}
        found.append({"weights": setting, "by_log": by_log, "mean": sum(by_log.values()) / len(by_log)})
    return found


def best(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the setting of the greatest mean."""
    return max(found, key=lambda each: each["mean"])


def main() -> None:
    """Try all settings on all logs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the logs")
    data = parser.parse_args().data
    busy = load()
    warm: dict[str, list[Probed]] = {}
    cold: dict[str, list[Probed]] = {}
    for name, read in logs(data).items():
        story = read()
        found = probe(story, PROBE, chosen(story, SPLIT, HELD_OUT, TO_CHOOSE, 0))
        warm[name] = [each for each in found if each.case.before]
        cold[name] = [each for each in found if not each.case.before]
        print(f"{name}: {len(warm[name])} visits of users with history, {len(cold[name])} of others")
    with_history = tried(warm, [(ENGAGEMENT, recency, again) for again, recency in product(AGAIN, RECENCY)])
    without = tried(cold, [(1 - recency, recency, 0.0) for recency in RECENCY])
    for title, settings, profile in (
        ("with history", with_history, FOR_YOU), ("without", without, COLD_START)
    ):  # fmt: skip
        print(f"{title}: best {best(settings)}; built in: {', '.join(map(str, profile.boosts))}")
        near = [each["weights"] for each in settings if each["mean"] >= NEAR * best(settings)["mean"]]
        print(f"as good: {near}")
    path = save(
        "weights",
        {
            "environment": environment(load_before=busy),
            "settings": {
                "k": K,
                "metric": METRIC,
                "validation": [SPLIT, HELD_OUT],
                "cases": TO_CHOOSE,
                "near": NEAR,
            },
            "terms": [str(boost.form) for boost in PROBE.boosts],
            "cases": {name: [len(warm[name]), len(cold[name])] for name in warm},
            "with_history": {"tried": with_history, "best": best(with_history)},
            "without": {"tried": without, "best": best(without)},
        },
    )
    print(f"written to {path}")


if __name__ == "__main__":
    main()
