"""The tables of `docs/quality.md`, from the results of `recommend`; those of the simulator are beside."""

from __future__ import annotations

from typing import Any

from benchmarks import simulated
from benchmarks.environment import results
from benchmarks.report import machine, table

Results = dict[str, Any]


def recommend() -> str:
    """Show every system on every log, at visits."""
    return "\n\n".join(_log(each, "visits") for each in results("recommend")["logs"])


def steps() -> str:
    """Show what is related, and the others, at steps from one item to another."""
    return "\n\n".join(_log(each, "steps") for each in results("recommend")["logs"])


def _log(each: Results, kind: str) -> str:
    k, found = results("recommend")["settings"]["k"], each[kind]
    ours, plain = found["ours"], found["best_not_personal"]
    rows = []
    for system in sorted(found["systems"], key=lambda system: -system["ndcg"]):
        ndcg = system["intervals"]["ndcg"]
        name = system["name"]
        rows.append(
            [
                f"**{name}**"
                if name == ours
                else f"{name} (best of those for nobody)"
                if name == plain
                else name,
                *(f"{system[metric]:.3f}" for metric in ("hr", "recall")),
                f"{ndcg['mean']:.3f} ({ndcg['low']:.3f} to {ndcg['high']:.3f})",
                _against(system.get("ours_against")),
                "-" if system["cold_ndcg"] is None else f"{system['cold_ndcg']:.3f}",
                f"{system['coverage']:.1%}",
                f"{system['novelty']:.1f}",
                "-" if system.get("events_to_adapt") is None else system["events_to_adapt"],
            ]
        )
    head = [
        "system", f"HR@{k}", f"recall@{k}", f"nDCG@{k}", f"nDCG of `{ours}` against it", "nDCG, first visits",
        "coverage", "novelty, bits", "better from event",
    ]  # fmt: skip
    asked = f"{found['cases']:,} {kind} asked"
    if found["cold"]:
        asked += f", {found['cold']:,} of them a user's first"
    if kind == "steps":
        for row in (head, *rows):
            del row[5]
    return "\n".join(
        [
            f"**{each['name']}**: {each['events']:,} events, {each['items']:,} items,"
            f" {each['users']:,} users; {asked}; decayed popularity halves in"
            f" {each['half_life_days']:g} days.",
            "",
            table(head, rows),
        ]
    )


def _against(of: Results | None) -> str:
    if of is None:
        return ""
    ndcg = of["ndcg"]
    return f"{ndcg['mean']:+.3f} ({ndcg['low']:+.3f} to {ndcg['high']:+.3f}), p {ndcg['p']:.4f}"


def by_history() -> str:
    """Show what systems are worth to users with so much history."""
    parts = []
    for each in results("recommend")["logs"]:
        systems = each["visits"]["systems"]
        bands = list(systems[0]["by_history"])
        counts = [f"{band} ({systems[0]['by_history'][band]['cases']:,})" for band in bands]
        rows = [
            [system["name"], *(f"{system['by_history'][band]['ndcg']:.3f}" for band in bands)]
            for system in systems
        ]
        parts.append(
            f"**{each['name']}**, by a user's events so far (visits)\n\n{table(['system', *counts], rows)}"
        )
    return "\n\n".join(parts)


def weights() -> str:
    """Show what settings of ``for_you`` were worth on the validation slices."""
    found = results("weights")
    warm, cold = found["with_history"], found["without"]
    recencies = sorted({each["weights"][1] for each in warm["tried"]})
    agains = sorted({each["weights"][2] for each in warm["tried"]})
    means = {tuple(each["weights"][1:]): each["mean"] for each in warm["tried"]}
    near = found["settings"]["near"]

    def cell(mean: float, of: Results) -> str:
        return f"**{mean:.4f}**" if mean >= near * of["best"]["mean"] else f"{mean:.4f}"

    rows = [[f"{again:g}", *(cell(means[recency, again], warm) for recency in recencies)] for again in agains]
    row = [cell(each["mean"], cold) for each in cold["tried"]]
    return "\n\n".join(
        [
            "With history: weight of saturate(1)(again) down, of recency.168h across,"
            f" beside {warm['best']['weights'][0]:g} saturate(3)(engagement)",
            table(["again", *(f"{recency:g}" for recency in recencies)], rows),
            "Without history: weight of recency.168h, the rest of 1 being that of saturate(3)(engagement)",
            table([f"{each['weights'][1]:g}" for each in cold["tried"]], [row]),
        ]
    )


TABLES = {
    "recommend-machine": lambda: machine("weights", "recommend", "simulator-weights", "simulator"),
    "weights": weights,
    "recommend": recommend,
    "related": steps,
    "by-history": by_history,
    **simulated.TABLES,
}
"""What stands between the markers of the page."""
