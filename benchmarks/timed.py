"""Tables and plot of what `benchmarks.speed` measured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from benchmarks.engines import SHARES
from benchmarks.engines.worker import PHRASE
from benchmarks.environment import RESULTS, results
from benchmarks.report import table
from benchmarks.zipf import BANDS

OURS, PAGE, LARGE = "germane", "germane page", "speed-large"
COLOURS = ("#d62728", "#ff9896", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#7f7f7f")

_KEYS = ("p50_us", "p99_us")
_COSTS = (
    "system",
    "sections per core-second",
    "build, wall s",
    "its peak, MB",
    "on disk, MB",
    "open, ms",
    "with first answer, ms",
    "resident, MB: open / asked",
    "one more visible, ms",
)

Figures = dict[str, Any]


def collections(name: str = "speed") -> list[Figures]:
    """Return what was measured on each collection of texts; nothing where it was not measured yet."""
    if not (RESULTS / f"{name}.json").is_file():
        return []
    found: list[Figures] = results(name).get("collections", [])
    return found


def speed() -> str:
    """Show every engine on every collection of the usual size."""
    if not (found := collections()):
        return ""
    return "\n\n".join([_took_part("speed"), *map(shown, found)])


def large() -> str:
    """Show what a million sections cost, and what a query takes of them against a hundred thousand."""
    if not (found := collections(LARGE)):
        return ""
    parts = [_took_part(LARGE), *map(shown, found)]
    if small := collections():
        parts.append(grown(small[0], found[0]))
    return "\n\n".join(parts)


def _took_part(name: str) -> str:
    at = results(name)["environment"]
    told = f"Took part: {', '.join(f'{engine} {version}' for engine, version in at['engines'].items())}."
    for engine, why in at["missing"].items():
        told += f" {engine} could not be had: {why}."
    return told


def shown(collection: Figures) -> str:
    """Return the two tables of a collection: what an index costs, and what a query takes."""
    systems = collection["systems"]
    kinds = list(collection["asked"])
    compared = [kind for kind in kinds if any("overlap" in of["kinds"].get(kind, {}) for of in systems)]
    rows = [[of["name"], *(_times(of, kind) for kind in kinds), *_overlaps(of, compared)] for of in systems]
    if (ratios := against(systems, kinds)) is not None:
        rows.append(["germane / fastest rival", *ratios, *("" for _ in compared)])
    built = [of for of in systems if "built" in of]
    return "\n\n".join(
        [
            f"**{collection['name']}** ({_mb(collection['bytes'])} MB of text)",
            table(
                ["system", *(f"{kind}, p50 / p99 us" for kind in kinds)]
                + [f"best 10 as exact, {kind}" for kind in compared],
                rows,
            ),
            table(
                _COSTS,
                [_cost(of) for of in built],
            ),
        ]
    )


def against(systems: list[Figures], kinds: Iterable[str]) -> list[str] | None:
    """Return Germane's p50 and p99 as shares of the least of the rivals', kind by kind."""
    ours = next((of for of in systems if of["name"] == OURS), None)
    rivals = [of for of in systems if of["name"] not in (OURS, *SHARES)]
    if ours is None or not rivals:
        return None
    return [
        " / ".join(
            f"{ours['kinds'][kind][key] / fastest(rivals, kind, key)[1]:.2f}" for key in ("p50_us", "p99_us")
        )
        for kind in kinds
    ]


def fastest(rivals: Iterable[Figures], kind: str, key: str) -> tuple[str, float]:
    """Return who took least, and how much."""
    name, least = min(
        ((of["name"], of["kinds"][kind][key]) for of in rivals if kind in of["kinds"]),
        key=lambda each: each[1],
    )
    return str(name), float(least)


def _times(of: Figures, kind: str) -> str:
    found = of["kinds"].get(kind)
    return f"{found['p50_us']:,.0f} / {found['p99_us']:,.0f}" if found else "-"


def _overlaps(of: Figures, kinds: list[str]) -> list[str]:
    found = (of["kinds"].get(kind, {}).get("overlap") for kind in kinds)
    return ["" if share is None else f"{share:.1%}" for share in found]


def _cost(of: Figures) -> list[str]:
    built, memory = of["built"], of["memory"]
    return [
        of["name"],
        f"{built['sections_per_core_s']:,.0f}",
        f"{built['wall_s']:.1f}",
        _mb(built["peak_bytes"]),
        _mb(built["bytes"]),
        f"{of['open_s'] * 1000:,.1f}",
        f"{of['first_s'] * 1000:,.1f}",
        f"{_mb(memory['opened'])} / {_mb(memory['asked'])}",
        f"{of['visible_us'] / 1000:,.2f}" if "visible_us" in of else "-",
    ]


def grown(small: Figures, big: Figures) -> str:
    """Return how many times longer queries take of the larger collection."""
    before = {of["name"]: of for of in small["systems"]}
    rows = [
        [of["name"], *(f"{of['kinds'][k]['p50_us'] / was['kinds'][k]['p50_us']:.1f}" for k in of["kinds"])]
        for of in big["systems"]
        if (was := before.get(of["name"]))
    ]
    times = f"p50 of {big['sections']:,} as a multiple of that of {small['sections']:,}"
    return f"{times}:\n\n{table(['system', *big['asked']], rows)}"


def asked() -> str:
    """Show what the queries are."""
    rows = []
    for collection in collections():
        for kind, of in collection["asked"].items():
            matching, bands = of.get("matching"), of.get("words_by_band")
            rows.append(
                [
                    kind,
                    of["queries"],
                    " / ".join(f"{share:.0%}" for share in bands) if bands else "",
                    " / ".join(f"{matching[key]:,.0f}" for key in ("p10", "p50", "p90")) if matching else "",
                    "; ".join(of["examples"]),
                ]
            )
    if not rows:
        return ""
    bands_told = " / ".join(f"{above:.1%} to {up_to:.1%}" for above, up_to in BANDS)
    head = ["kind", "queries", f"words in {bands_told} of the sections"]
    return table([*head, "sections with one of the words, p10 / p50 / p90", "the first"], rows)


def budgets() -> str:
    """Show what was asked for beside what was measured, on made-up sections."""
    rows: list[list[str]] = []

    def add(what: str, budget: str, measured: str, is_met: bool) -> None:
        rows.append([what, budget, measured, "yes" if is_met else "**no**"])

    for small in collections()[:1]:
        by_name = {of["name"]: of for of in small["systems"]}
        ours, page = by_name[OURS], by_name[PAGE]
        rivals = [of for name, of in by_name.items() if name not in (OURS, *SHARES)]
        for kind, of in ours["kinds"].items():
            p50, p99 = of["p50_us"], of["p99_us"]
            if kind == PHRASE and "tantivy" not in by_name:
                continue
            if kind == PHRASE:
                least = by_name["tantivy"]["kinds"][kind]["p50_us"]
                add(
                    "`top`, phrase of two words",
                    f"p50 <= tantivy's {least:,.0f} us",
                    f"p50 {p50:,.0f} us",
                    p50 <= least,
                )
                continue
            who, least = fastest(rivals, kind, "p50_us")
            of_who = by_name[who]["kinds"][kind]["p99_us"]
            add(
                f"`top`, {kind}",
                f"p50 <= 0.6 of {who}'s {least:,.0f} us, p99 <= its {of_who:,.0f} us",
                f"p50 {p50 / least:.2f} times it ({p50:,.0f} us), p99 {p99:,.0f} us",
                p50 <= 0.6 * least and p99 <= of_who,
            )
        for kind, of in page["kinds"].items():
            p50, p99 = of["p50_us"] / 1000, of["p99_us"] / 1000
            add(
                f"`search`, {kind}, 20 results with snippets and total",
                "p50 < 0.5 ms, p99 < 2 ms",
                f"p50 {p50:.2f}, p99 {p99:.2f} ms",
                p50 < 0.5 and p99 < 2,
            )
        rate = ours["built"]["sections_per_core_s"]
        resident, seen = ours["memory"]["asked"] / 1e6, ours["visible_us"] / 1000
        add("`put_many` of plain text", "20,000 per core-second", f"{rate:,.0f}", rate >= 20_000)
        if (RESULTS / "where.json").is_file():
            disk = results("where")["index_bytes"] / 1e6
            store = ours["built"]["bytes"] / 1e6
            told = f"{disk:.1f} MB (the store with texts and log {store:.0f})"
            add("index on disk, with positions", "55 MB", told, disk <= 55)
        add("resident, all queries asked", "120 MB", f"{resident:.1f} MB", resident <= 120)
        add("one more section visible", "below 1 ms", f"{seen:.2f} ms", seen < 1)
        for big in collections(LARGE)[:1]:
            others = {of["name"]: of for of in big["systems"]}
            for kind, of in others[OURS]["kinds"].items():
                times = of["p50_us"] / ours["kinds"][kind]["p50_us"]
                least = others["Lucene"]["kinds"][kind]["p50_us"] if "Lucene" in others else math.inf
                add(
                    f"from {small['sections']:,} to {big['sections']:,} sections, {kind}",
                    "p50 at most 3.5 times, below Lucene's",
                    f"{times:.1f} times; {of['p50_us']:,.0f} us, Lucene {least:,.0f} us",
                    times <= 3.5 and of["p50_us"] < least,
                )
    return table(["what", "budget", "measured", "met"], rows) if rows else ""


def plot() -> str:
    """Return p50 and p99 of every engine and kind on a logarithmic scale, as SVG."""
    width, left, right, top, row = 780, 110, 130, 28, 13
    found = collections()
    groups = [
        (kind, [of for of in c["systems"] if kind in of["kinds"]]) for c in found for kind in c["asked"]
    ]
    names = list(dict.fromkeys(of["name"] for each in found for of in each["systems"]))
    colours = dict(zip(names, COLOURS, strict=False))
    times = [of["kinds"][kind][key] for kind, systems in groups for of in systems for key in _KEYS]
    low, high = (math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))) if times else (0, 1)

    def x(micros: float) -> float:
        return left + (width - left - right) * (math.log10(micros) - low) / (high - low)

    drawn: list[str] = []
    at = float(top)
    for kind, systems in groups:
        drawn.append(_text(left - 8, at + row * len(systems) / 2 + 4, kind, ' text-anchor="end"'))
        for of in systems:
            (p50, p99), y = (x(of["kinds"][kind][key]) for key in _KEYS), at + row / 2
            colour = colours[of["name"]]
            drawn += [
                _line(p50, y, p99, y, colour, 2),
                _line(p99, y - 4, p99, y + 4, colour, 2),
                f'<circle cx="{p50:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
            ]
            at += row
        at += row
    for number, name in enumerate(names):
        drawn.append(_text(width - right + 16, top + 12 + number * 18, name, f' fill="{colours[name]}"'))
    height = int(max(at, top + len(names) * 18) + 24)
    scale = []
    for power in range(low, high + 1):
        told = f"{10**power:,} us" if power < 3 else f"{10 ** (power - 3):,} ms"
        scale.append(_line(x(10.0**power), top - 8, x(10.0**power), height - 24, "#ddd", 1))
        scale.append(_text(x(10.0**power), height - 8, told, ' text-anchor="middle"'))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="12">'
    )
    back = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, back, *scale, *drawn, "</svg>", ""])


def _text(x: float, y: float, told: str, more: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{told}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, thick: int) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"'
        f' stroke-width="{thick}"/>'
    )


def _mb(count: float) -> str:
    return f"{count / 1e6:,.1f}"


def steps() -> str:
    """Show where the time of a query goes."""
    if not (RESULTS / "where.json").is_file():
        return ""
    found = results("where")["steps"]
    head = ["step, p50 us", *(f"{length} words" for length in found)]
    names = list(next(iter(found.values())))
    return table(head, [[name, *(f"{of[name]:.1f}" for of in found.values())] for name in names])


def started() -> str:
    """Show how long a cold search takes, and what is imported for it."""
    if not (RESULTS / "where.json").is_file():
        return ""
    found = results("where")
    cold, imports = found["cold"], found["imports"]
    count = found["settings"]["cold_sections"]
    told = (
        f"`germane search` over {count:,} sections takes {cold['search_s']:.2f} s as a process of its own"
        f" (budget 0.5), {cold['first_search_s']:.2f} s where no byte code was there yet (budget 2)."
    )
    shown = [[each["package"], f"{each['ms']:.0f}"] for each in imports if each["ms"] >= 1]
    rest = sum(each["ms"] for each in imports if each["ms"] < 1)
    return f"{told}\n\n{table(['imported', 'ms'], [*shown, ['others', f'{rest:.0f}']])}"


TABLES = {
    "speed": speed,
    "speed-large": large,
    "speed-asked": asked,
    "speed-budgets": budgets,
    "where": steps,
    "cold": started,
}
"""What stands between the markers of the page."""
