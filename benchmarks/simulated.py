"""The tables and plots of the simulated worlds in `docs/quality.md`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.environment import results
from benchmarks.report import table
from germane.signals.decay import FloatArray

Results = dict[str, Any]
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d6a9f", "#b08900", "#444444", "#2a9d8f", "#d16ba5", "#999999")
LEVEL, AFTER = 4, 3
"""Rounds that make up the level before the change and at the end, and those right after it."""
NEAR = 0.9
PLOTTED = {
    "feeds": (
        "same for all", "for_you", "for_you, no again", "for_you, other weights", "regression",
        "item-item", "newest", "engagement", "random",
    ),
    "searches": ("same for all", "dial 0", "dial 0.1", "dial 0.3", "dial 0.6", "dial 1", "for_you, dial 0.3"),
}  # fmt: skip
COMPUTED = ("same for all", "random")
_T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 11: 2.201}
"""Student's t for a two-sided 95 % interval, by degrees of freedom."""


def interval(values: FloatArray, kinds: Sequence[bool] | None = None) -> tuple[float, float]:
    """Return the mean of some worlds' values, and half the width of its 95 % interval by Student's t.

    Worlds of two kinds are a sample of each: what kinds differ by does not widen the interval.

    Examples
    --------
    >>> mean, half = interval(np.array([0.25, 0.5, 0.75]))
    >>> mean, round(half, 3)
    (0.5, 0.621)
    >>> interval(np.array([0.25, 0.25, 0.75, 0.75]), [True, True, False, False])
    (0.5, 0.0)
    """
    of = np.zeros(len(values), np.bool_) if kinds is None else np.asarray(kinds, np.bool_)
    groups = [values[of == kind] for kind in np.unique(of)]
    variance = sum((len(each) / len(values)) ** 2 * each.var(ddof=1) / len(each) for each in groups)
    return float(values.mean()), float(_T95[len(values) - len(groups)] * math.sqrt(variance))


def until(curve: Iterable[float], level: float) -> int | None:
    """Return in which round, from 1, a curve comes to nine tenths of a level; None if it never does.

    Examples
    --------
    >>> until([0.25, 0.4, 0.46, 0.5], 0.5), until([0.25], 0.5)
    (3, None)
    """
    return next((number for number, share in enumerate(curve, 1) if share >= NEAR * level), None)


def shares(part: str, called: str, of: str = "got", name: str = "simulator") -> FloatArray:
    """Return what a system's pages were worth as shares of the best: float64[worlds, rounds]."""
    whole = "weights" if part == "weights" else part
    bounds = "searches" if part == "searches" else "feeds"
    rows = []
    for world in results(name)["worlds"]:
        found = world["bounds"][bounds]
        got = found[called] if called in COMPUTED else world[whole][called]
        best = np.array(found["best"][of])
        rows.append(np.divide(got[of], best, out=np.full(len(best), np.nan), where=best > 0))
    return np.array(rows)


def _fades(name: str = "simulator") -> Any:
    return np.array([world["fading"] > 0 for world in results(name)["worlds"]])


def _percent(values: FloatArray, kinds: Sequence[bool] | None = None) -> str:
    mean, half = interval(values, kinds)
    return f"{mean:.1%} ± {100 * half:.1f}"


def _points(values: FloatArray, kinds: Sequence[bool]) -> str:
    mean, half = interval(values, kinds)
    return f"{100 * mean:+.1f} ± {100 * half:.1f}"


def _periods(found: FloatArray, change: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    return (
        found[:, change - LEVEL : change].mean(axis=1),
        found[:, change : change + AFTER].mean(axis=1),
        found[:, -LEVEL:].mean(axis=1),
    )


def _row(part: str, called: str, against: str) -> list[str]:
    settings = results("simulator")["settings"]
    change, arrival = settings["change"], settings["arrival"]
    found, fades = shares(part, called), _fades()
    before, after, end = _periods(found, change)
    whole, curve, level = found.mean(axis=1), found.mean(axis=0), float(before.mean())
    learned, adapted = until(curve[:change], level), until(curve[change:], level)
    newcomers = shares(part, called, "newcomers").mean(axis=0)[arrival:change]
    known = until(newcomers, level)
    if called in COMPUTED:
        learning = ["", "", "", ""]
    else:
        learning = [
            _counted(learned, part, called, 0),
            _counted(adapted, part, called, change),
            f"{newcomers[0]:.1%}",
            "-" if known is None else str(known),
        ]
    less = whole - shares(part, against).mean(axis=1)
    return [
        called,
        _percent(whole, fades),
        _percent(whole[~fades]),
        _percent(whole[fades]),
        *(["", ""] if called == against else [_points(less, fades), f"{(less > 0).sum()} of {len(less)}"]),
        *(f"{each.mean():.1%}" for each in (before, after, end)),
        *learning,
    ]


def _counted(rounds: int | None, part: str, called: str, start: int) -> str:
    if rounds is None:
        return "-"
    found = results("simulator")
    events = np.mean([world[part][called]["events"] for world in found["worlds"]], axis=0)
    users = found["settings"]["users"] / (2 if part == "searches" else 1)
    return f"{rounds} ({events[start : start + rounds].sum() / users:.0f})"


def simulated() -> str:
    """Show the share of the best that feeds and searches reach."""
    parts = []
    world = results("simulator")["worlds"][0]
    for title, part, against in (("Feeds", "feeds", "for_you"), ("Searches", "searches", "dial 0")):
        names = [*COMPUTED, *world[part]]
        rows = [_row(part, called, against) for called in names]
        rows.sort(key=lambda row: -float(row[1].partition("%")[0]))
        head = [
            "ranking", "all visits", "lasting", "fading", f"against {against}, points", "worlds better",
            "before the change", "right after", "at the end", "visits (events) to learn", "to adapt",
            "newcomer's first visit", "newcomer's visits to learn",
        ]  # fmt: skip
        parts.append(f"**{title}**, share of the best possible\n\n{table(head, rows)}")
        parts.append(f"![{title}: share of the best possible over time](quality-{part}.svg)")
    same, pages = first_pages()
    parts.append(
        f"First pages of users without history that `for_you` ranked as without history: {same} of {pages}."
    )
    return "\n\n".join(parts)


def first_pages() -> tuple[int, int]:
    """Return how many first pages of `for_you` were those of the ranking without history, of how many."""
    runs = [world["feeds"]["for_you"] for world in results("simulator")["worlds"]]
    told = [run["first_pages_as_without_history"] for run in runs]
    return sum(same for same, _ in told), sum(pages for _, pages in told)


def weights() -> str:
    """Show what other weights of `for_you` are worth in worlds of their own."""
    found = results("simulator-weights")
    change, fades = found["settings"]["change"], _fades("simulator-weights")
    rows = []
    first = shares("weights", "0", name="simulator-weights").mean(axis=1)
    for number, (preference, engagement, recency, hours, again) in enumerate(found["settings"]["weights"]):
        of = shares("weights", str(number), name="simulator-weights")
        whole = of.mean(axis=1)
        rows.append(
            [
                f"{preference:g}",
                f"{engagement:g}",
                f"{recency:g} of {hours} h",
                f"{again:g}",
                _percent(whole, fades),
                f"{whole[~fades].mean():.1%}",
                f"{whole[fades].mean():.1%}",
                "" if number == 0 else _points(whole - first, fades),
                *(f"{each.mean():.1%}" for each in _periods(of, change)),
            ]
        )
    head = ["preference", "engagement", "recency", "again", "all visits", "lasting", "fading",
            "against the first, points", "before the change", "right after", "at the end"]  # fmt: skip
    return table(head, rows)


def plot(part: str) -> str:
    """Return the curves of feeds or searches as SVG: means over the worlds."""
    width, height, left, top, right = 780, 340, 48, 16, 220
    steps, change = (int(results("simulator")["settings"][name]) for name in ("rounds", "change"))

    def x(step: float) -> float:
        return left + (width - left - right) * step / (steps - 1)

    def y(share: float) -> float:
        return top + (height - top - 48) * (1 - share)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for tenth in range(0, 11, 2):
        at = y(tenth / 10)
        lines.append(f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{tenth * 10} %</text>')
    lines += [
        f'<text x="{x(step):.1f}" y="{y(0) + 16:.1f}" text-anchor="middle">visit {step + 1}</text>'
        for step in range(0, steps, 10)
    ]
    middle = x(change - 0.5)
    lines.append(
        f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{top}" y2="{y(0):.1f}" stroke="#999"'
        ' stroke-dasharray="4"/>'
    )
    lines.append(f'<text x="{middle:.1f}" y="{height - 12}" text-anchor="middle">tastes change</text>')
    for number, called in enumerate(PLOTTED[part]):
        colour = COLOURS[number]
        curve = shares(part, called).mean(axis=0)
        points = " ".join(f"{x(step):.1f},{y(share):.1f}" for step, share in enumerate(curve.tolist()))
        dashed = ' stroke-dasharray="6 3"' if called in COMPUTED else ""
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>')
        at = top + 12 + number * 18
        lines.append(f'<text x="{width - right + 16}" y="{at}" fill="{colour}">{called}</text>')
    return "\n".join([*lines, "</svg>", ""])


TABLES = {"simulated": simulated, "simulated-weights": weights}
"""What stands between the markers of the page."""
