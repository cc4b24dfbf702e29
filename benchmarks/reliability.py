"""Trials of reliability at length.

python -m benchmarks.reliability two-writers --seconds 60
python -m benchmarks.reliability kills --count 50
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.environment import environment, load, save
from benchmarks.trials import kills, two_writers


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    trials = parser.add_subparsers(dest="trial", required=True)
    side_by_side = trials.add_parser("two-writers", help="two processes write at once")
    side_by_side.add_argument("--seconds", type=float, default=60.0)
    killed = trials.add_parser("kills", help="a writer is killed again and again, and its log torn off")
    killed.add_argument("--count", type=int, default=50)
    for each in (side_by_side, killed):
        each.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    before = load()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if given.trial == "two-writers":
            results = two_writers(Path(folder), given.seconds, given.seed)
        else:
            results = kills(Path(folder), given.count, given.seed)
    results = {"environment": environment(before), "took_s": round(time.perf_counter() - began, 1), **results}
    print(summary(results))
    path = save(f"reliability-{given.trial}", results)
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


def summary(results: dict[str, Any]) -> str:
    """Say in words what a trial showed; it raises when it shows anything else."""
    lines = []
    if results["trial"] == "two-writers":
        lines.append(f"Two processes wrote at once for {results['seconds']:g} s.")
        for each in results["writers"]:
            told = ", ".join(f"{count:,} {kind}" for kind, count in each["kinds"].items())
            lines += [
                f"  {each['name']}: {each['steps']:,} writes acknowledged ({told});"
                f" median {each['median_ms']} ms, p99 {each['p99_ms']} ms, longest {each['longest_ms']} ms",
                f"    looked {each['looks']:,} times for the other's last write, and saw it each time",
                f"    {each['items']:,} items and {each['documents']:,} documents stand as written;"
                f" {each['searched']:,} searched by a word of their own",
            ]
        lines.append("Nothing lost, nothing doubled.")
    else:
        lines += [
            f"{results['kills']} kills at random moments; {results['acknowledged']:,} writes acknowledged"
            " before them, all there.",
            f"{results['interrupted_writes']} kills fell into a write: {results['interrupted_and_kept']} of"
            " these writes were there whole, or up to one of their commits; the others not at all.",
            f"{results['watched']} times this process had the store open meanwhile, and saw the same.",
            f"{results['torn']} copies with the write-ahead log cut at a random place: each opened with a"
            " beginning of what was written, whole, and its check was clean.",
        ]
    lines.append(
        f"check: {results['check']}; rebuilt twice: {results['rebuild']}; {results['events']:,} events,"
        f" {results['live_items']:,} live items ({results['took_s']} s in all)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
