"""The tables of `docs/quality.md`, from the results of `recommend`; those of the simulator are beside."""

from __future__ import annotations

from typing import Any

from benchmarks import simulated
from benchmarks.environment import results
from benchmarks.report import machine, table

Results = dict[str, Any]


def recommend() -> str:
    """Show every system on every log."""
    return "\n\n".join(_log(each) for each in results("recommend")["logs"])


def _log(each: Results) -> str:
    k = results("recommend")["settings"]["k"]
    rows = []
    for system in each["systems"]:
        against = system.get("against_decayed_popularity")
        ndcg = system["intervals"]["ndcg"]
        rows.append(
            [
                system["name"],
                *(f"{system[metric]:.3f}" for metric in ("hr", "recall")),
                f"{ndcg['mean']:.3f} ({ndcg['low']:.3f} to {ndcg['high']:.3f})",
                f"{system['mrr']:.3f}",
                _against(None if against is None else against["ndcg"]),
                _against(system.get("personal_against")),
                "-" if system["cold_ndcg"] is None else f"{system['cold_ndcg']:.3f}",
                f"{system['coverage']:.1%}",
                f"{system['novelty']:.1f}",
                "-" if system.get("events_to_adapt") is None else system["events_to_adapt"],
            ]
        )
    rows.sort(key=lambda row: row[3], reverse=True)
    head = [
        "system", f"HR@{k}", f"recall@{k}", f"nDCG@{k}", f"MRR@{k}", "against decayed popularity",
        "`personal` against it",
        "nDCG, first visits", "coverage", "novelty, bits", "better from event",
    ]  # fmt: skip
    return "\n".join(
        [
            f"**{each['name']}**: {each['events']:,} events, {each['items']:,} items,"
            f" {each['users']:,} users; {each['cases']:,} visits asked, {each['cold']:,} of them a"
            f" user's first; decayed popularity halves in {each['half_life_days']:g} days.",
            "",
            table(head, rows),
        ]
    )


def _against(of: Results | None) -> str:
    return "" if of is None else f"{of['mean']:+.3f}, p {of['p']:.4f}"


def by_history() -> str:
    """Show what systems are worth to users with so much history."""
    parts = []
    for each in results("recommend")["logs"]:
        bands = list(each["systems"][0]["by_history"])
        counts = [f"{band} ({each['systems'][0]['by_history'][band]['cases']:,})" for band in bands]
        rows = [
            [system["name"], *(f"{system['by_history'][band]['ndcg']:.3f}" for band in bands)]
            for system in each["systems"]
        ]
        parts.append(
            f"**{each['name']}**, by a user's events so far (visits)\n\n{table(['system', *counts], rows)}"
        )
    return "\n\n".join(parts)


TABLES = {
    "recommend-machine": lambda: machine("recommend", "simulator"),
    "recommend": recommend,
    "by-history": by_history,
    **simulated.TABLES,
}
"""What stands between the markers of the page."""
