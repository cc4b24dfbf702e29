"""The tables and plots of `docs/quality.md`, from the results of `recommend` and `simulator`."""

from __future__ import annotations

from typing import Any

from benchmarks.environment import results
from benchmarks.report import machine, table

Results = dict[str, Any]
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d6a9f", "#b08900", "#444444", "#2a9d8f")


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
    best = tuple(warm["best"]["weights"][1:])

    def cell(recency: float, again: float) -> str:
        mean = f"{means[recency, again]:.4f}"
        return f"**{mean}**" if (recency, again) == best else mean

    rows = [[f"{again:g}", *(cell(recency, again) for recency in recencies)] for again in agains]
    chosen = cold["best"]["weights"][1]
    row = [
        f"**{each['mean']:.4f}**" if each["weights"][1] == chosen else f"{each['mean']:.4f}"
        for each in cold["tried"]
    ]
    return "\n\n".join(
        [
            "With history: weight of saturate(1)(again) down, of recency.48h across,"
            f" beside {warm['best']['weights'][0]:g} saturate(3)(engagement)",
            table(["again", *(f"{recency:g}" for recency in recencies)], rows),
            "Without history: weight of recency.48h, the rest of 1 being that of saturate(3)(engagement)",
            table([f"{each['weights'][1]:g}" for each in cold["tried"]], [row]),
        ]
    )


def simulated() -> str:
    """Show the share of the best that feeds and searches reach."""
    found = results("simulator")
    parts = []
    for title, first, part in (("Feeds", "profile", "feeds"), ("Searches", "dial", "searches")):
        rows = [
            [
                each["name"],
                *(f"{each[name]:.1%}" for name in ("before_the_change", "after_the_change", "at_the_end")),
                *("-" if each[name] is None else f"{each[name]:.0f}"
                  for name in ("visits_to_learn", "visits_to_adapt")),
            ]
            for each in found[part]
        ]  # fmt: skip
        head = [first, "before the change", "right after", "at the end", "visits to learn", "visits to adapt"]
        parts.append(f"**{title}**, share of the best possible\n\n{table(head, rows)}")
        parts.append(f"![{title}: share of the best possible over time](quality-{part}.svg)")
    return "\n\n".join(parts)


def plot(part: str) -> str:
    """Return the curves of the simulator's feeds or searches as SVG."""
    width, height, left, top, right = 720, 320, 48, 16, 190
    curves = results("simulator")[part]
    steps = len(curves[0]["shares"])

    def x(step: int) -> float:
        return left + (width - left - right) * step / (steps - 1)

    def y(share: float) -> float:
        return top + (height - top - 32) * (1 - share)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for tenth in range(0, 11, 2):
        at = y(tenth / 10)
        lines.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{tenth * 10} %</text>')
    middle = (x(steps // 2 - 1) + x(steps // 2)) / 2
    lines.append(
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{top}" y2="{y(0):.1f}" stroke="#999"'
        ' stroke-dasharray="4"/>'
    )
    lines.append(f'<text x="{middle:.1f}" y="{height - 8}" text-anchor="middle">tastes change</text>')
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(step):.1f},{y(share):.1f}" for step, share in enumerate(curve["shares"]))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label = curve["name"] if part == "feeds" else f"dial {curve['name']}"
        at = top + 12 + number * 18
        lines.append(f'<text x="{width - right + 12}" y="{at}" fill="{colour}">{label}</text>')
    return "\n".join([*lines, "</svg>", ""])


TABLES = {
    "recommend-machine": lambda: machine("weights", "recommend", "simulator"),
    "weights": weights,
    "recommend": recommend,
    "steps": steps,
    "by-history": by_history,
    "simulated": simulated,
}
"""What stands between the markers of the page."""
