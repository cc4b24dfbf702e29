"""Writes the tables of the pages of benchmarks and their plots, so that no figure is written by hand.

python -m benchmarks.report            # write
python -m benchmarks.report --check    # fail if the page is not what the results say
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.environment import results

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
PAGES = (PAGE, PAGE.parent / "quality.md")
_MARKED = re.compile(r"(<!-- begin (?P<name>[a-z-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)

Results = dict[str, Any]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(table(["a", "b"], [[1, 2]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine(*names: str) -> str:
    """Say where each benchmark ran, and with what."""
    lines = []
    for name in names:
        at = results(name)["environment"]
        packages = ", ".join(f"{package} {version}" for package, version in at["packages"].items())
        busy = "load unknown" if at.get("load_before") is None else f"load {at['load_before']} before"
        where = f"{at['processor']}, {at['cores']} cores ({busy}), {at['system']}"
        lines.append(f"- {name}: {where}, Python {at['python']}, {packages}")
    return "\n".join(lines)


def requirement() -> str:
    """Show what must hold on each collection, and whether it does."""
    rows = []
    for each in results("quality")["collections"]:
        of = each["requirement"]
        rows.append(
            [
                each["name"],
                of["system"],
                _four(of["ndcg@10"]),
                _four(of["reference_value"]),
                "yes" if of["met"] else "**no**",
                "; ".join(of["variants_above"]) or "none",
                f"{_four(of['as_typed'])}, {'yes' if of['met_as_typed'] else '**no**'}",
            ]
        )
    head = [
        "collection",
        "setting",
        "nDCG@10",
        "bm25",
        "at least bm25",
        "variants of bm25 above it",
        "with questions as typed",
    ]
    return table(head, rows)


def steps() -> str:
    """Show the way from the reference to Germane, one change at a time."""
    collections = results("quality")["collections"]
    rows = []
    for each in collections:
        values = [step["ndcg@10"] for step in each["steps"]]
        changes = [f"{_four(b)} ({b - a:+.4f})" for a, b in pairwise(values)]
        rows.append([each["name"], _four(values[0]), *changes])
    return table(["collection", *(step["step"] for step in collections[0]["steps"])], rows)


def quality() -> str:
    """Show every system on every collection."""
    return "\n\n".join(_collection(each) for each in results("quality")["collections"])


def _collection(each: Results) -> str:
    against = {of["system"]: of["ndcg@10"] for of in each["against_reference"]}
    rows = []
    for system in each["systems"]:
        cells = [system["name"], _interval(system["ndcg@10"]), _interval(system["recall@100"])]
        if (other := against.get(system["name"])) is not None:
            cells += [
                f"{other['mean']:+.4f} ({other['low']:+.4f} to {other['high']:+.4f})",
                f"{other['p']:.3f}",
                f"{other['better']} / {other['equal']} / {other['worse']}",
            ]
        else:
            cells += ["", "", ""]
        rows.append(cells)
    check = each["bm25s_check"]
    return "\n".join(
        [
            f"**{each['name']}**: {each['documents']:,} documents, {each['queries']:,} queries,"
            f" {each['judgements']:,} judgements.",
            "",
            table(
                ["system", "nDCG@10", "R@100", "nDCG@10 against bm25", "p", "queries better / equal / worse"],
                rows,
            ),
            "",
            f"bm25s against the plain formula: largest difference {check['largest_difference']:.0e} of the"
            f" best score; first ten differ for {check['rankings_differ']} queries.",
        ]
    )


def losses() -> str:
    """Show the queries that fall furthest behind the reference."""
    parts = []
    for each in results("quality")["collections"]:
        if not each["losses"]:
            continue
        names = list(each["losses"][0]["place_of_first_answer"])
        rows = [
            [
                loss["query"].replace("|", r"\|"),
                f"{loss['difference']:+.3f}",
                *(loss["place_of_first_answer"][name] or f"beyond {_depth()}" for name in names),
            ]
            for loss in each["losses"][:5]
        ]
        head = ["query", "nDCG@10", *(f"place, {name}" for name in names)]
        parts.append(f"**{each['name']}**\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def learning() -> str:
    """Show what was learned, and what learning it again costs."""
    rows = [
        [
            each["name"],
            f"{each['documents']:,} of {each['files']:,}",
            f"{each['sections']:,}",
            len(each["errors"]),
            len(each["skipped"]),
            f"{each['learn_s']:.2f}",
            f"{each['sections_per_s']:,.0f}",
            f"{each['learn_again_s']:.3f}",
            f"{each['share']:.1%}",
            "yes" if each["holds"] else "**no**",
        ]
        for each in results("learning")["trees"]
    ]
    head = [
        "tree",
        "documents of files",
        "sections",
        "errors",
        "skipped",
        "learn, s",
        "sections/s",
        "again, s",
        "share",
        "nothing changed, and below 20 %",
    ]
    return table(head, rows)


def first_search() -> str:
    """Show the first search of a process, and sizes."""
    rows = [
        [
            each["name"],
            f"{each['index_and_close_s']:.2f}",
            f"{each['search_command_s']:.2f}",
            f"{each['open_and_search_s'] * 1000:.0f}",
            f"{each['page_s'] * 1000:.1f}",
            _megabytes(each["source_bytes"]),
            _megabytes(each["store_bytes"]),
            f"{each['store_bytes'] / each['source_bytes']:.1f}",
        ]
        for each in results("learning")["trees"]
    ]
    head = [
        "tree",
        "text index and close, s",
        "`germane search`, cold, s",
        "open and first page, ms",
        "a page of 20 when warm, ms",
        "source, MB",
        "store, MB",
        "store / source",
    ]
    return table(head, rows)


def signals() -> str:
    """Show what is recorded in a second, each contestant beside the others."""
    found = results("signals")
    contestants = found["contestants"]
    ours = contestants[0]["events_per_s"]
    return table(
        ["task", *(f"{each['name']}, events/s" for each in contestants)],
        [
            [
                told,
                *(
                    f"{each['events_per_s'][task]:,.0f}" if task in each["events_per_s"] else "-"
                    for each in contestants
                ),
            ]
            for task, told in found["settings"]["tasks"].items()
            if task in ours
        ],
    )


def retrieval() -> str:
    """Show the best of many by five signals, each system beside Germane."""
    parts = []
    for size in results("retrieve")["sizes"]:
        systems = {each["name"]: each for each in size["systems"]}
        busy = ", ".join(f"{name} {each['load_before']}" for name, each in systems.items())
        rows = [
            [f"best 20, {shape}", *(_best(each, shape) for each in systems.values())]
            for shape in systems["germane"]["top"]
        ]
        for key, label in (
            ("signal_per_s", "signals written a second"),
            ("windowed_per_s", "counts a second"),
        ):
            rows.append([label, *(f"{each[key]:,.0f}" if key in each else "-" for each in systems.values())])
        with_more = table(
            ["Germane, with", *systems["germane"]["with"]],
            [
                [name, *(_best({"top": of}, name) for of in systems["germane"]["with"].values())]
                for name in next(iter(systems["germane"]["with"].values()))
            ],
        )
        union = systems["Redis"]["union_s"]
        other = systems["germane"]["after another process"]
        parts += [
            f"**{size['items']:,} items** (load before each: {busy})",
            table(["p50 / p99, us", *systems], rows),
            f"Redis, the sum made at query time (`ZUNIONSTORE`): {union:.2f} s. Germane, after a write by"
            f" another process: {other['p50_us']:,.0f} / {other['p99_us']:,.0f} us.",
            with_more,
        ]
    return "\n\n".join(parts)


def personal() -> str:
    """Show how long a page for a user takes."""
    found = results("personal")
    of = found["settings"]
    told = (
        f"{of['items']:,} items with vectors of {of['dimension']}, {of['events']:,} events of"
        f" {of['users']:,} users. The first `for_you` of a process: {found['first_s']:.1f} s."
    )
    rows = [
        [name, *(f"{each[key]:,.0f}" for key in ("p50_us", "p99_us", "median_p50_us", "median_p99_us"))]
        for name, each in found["cases"].items()
    ]
    head = ["page of 20", "p50, us", "p99, us", "median of repeats, p50", "p99"]
    return f"{told}\n\n{table(head, rows)}"


def budgets() -> str:
    """Show what was asked for beside what was measured."""
    pages = results("personal")["cases"]
    seen = {each["from"]: each for each in results("reactivity")["measured"] if each["items"] == 1_000}
    (recorded,) = (one for one in results("signals")["contestants"] if one["name"] == "germane")
    per_s = recorded["events_per_s"]
    rows = []

    def below(what: str, budget_ms: float, found: Results) -> None:
        p50, p99 = found["p50_us"] / 1_000, found["p99_us"] / 1_000
        is_met = "yes" if p99 < budget_ms else "**no**"
        rows.append([what, f"p99 below {budget_ms:g} ms", f"p50 {p50:.2f}, p99 {p99:.2f} ms", is_met])

    def above(what: str, budget: int, found: float) -> None:
        rows.append([what, f"{budget:,} a second", f"{found:,.0f}", "yes" if found >= budget else "**no**"])

    below("100 given candidates, for a user with history", 0.5, pages["100 given candidates, `for_you`"])
    below("100 given candidates, five boosts", 0.5, pages["100 given candidates, five boosts"])
    below("a signal, until the next ranking shows it, same process", 1, seen["the same process"])
    below("the same, from another process", 10, seen["another process"])
    above("signals, one call each, bare", 60_000, per_s["calls"])
    above("signals, one call each, with user and event id", 30_000, per_s["calls_identified"])
    above("signals, columns of arrays", 1_000_000, per_s["columns_of_arrays"])
    return table(["what", "budget", "measured", "met"], rows)


def opening() -> str:
    """Show the first readings of a process that opens a large store."""
    found = results("opening")
    rows = [
        [
            name.replace("_", " "),
            f"{each['decayed_s']:.2f}",
            f"{each['decayed_and_where_s']:.2f}",
            f"{each['bytes_a_row']:.0f}",
            f"{each['resident_mb']:,.0f}",
        ]
        for name, each in found.items()
        if name.startswith("after")
    ]
    head = ["opened", "first score, s", "score and filter, s", "bytes an item and signal", "resident, MB"]
    return table(head, rows)


def reactivity() -> str:
    """Show how soon a signal is in the ranking."""
    rows = [
        [f"{each['items']:,}", each["from"], f"{each['p50_us'] / 1e3:.1f}", f"{each['p99_us'] / 1e3:.1f}"]
        for each in results("reactivity")["measured"]
    ]
    return table(["items", "asked by", "p50, ms", "p99, ms"], rows)


def sessions() -> str:
    """Show what a session adds to the time of a query."""
    names = {"top": "`top`", "search": "`search`", "retrieve": "`retrieve`"}
    rows = [
        [
            names[each["surface"]],
            f"{each['candidates']:,}",
            str(each["keywords"]),
            *(f"{each[name]:.2f}" for name in ("without_ms", "with_ms", "added_ms", "budget_ms")),
        ]
        for each in results("sessions")["rows"]
    ]
    head = ["query", "candidates", "keywords", "without, ms", "with, ms", "added, ms", "budget, ms"]
    return table(head, rows)


def airline() -> str:
    """Show whether sessions raise what an agent uses next."""
    rows = [
        [
            f"`{each['surface']}`",
            "any" if each["which"] == "all" else "new to the session",
            each["way"],
            *(f"{each[name]:.3f}" for name in ("mrr", "hr1", "hr10")),
            f"{each['difference']:+.3f} ({each['low']:+.3f} to {each['high']:+.3f})",
        ]
        for each in results("airline")["rows"]
    ]
    head = ["query", "next item", "session", "MRR", "HR@1", "HR@10", "MRR against without"]
    return table(head, rows)


def popularity() -> str:
    """Show what rankings by popularity tell of the next day."""
    parts = []
    for each in results("popularity")["logs"]:
        forward = each["forward"]
        against = forward["decayed_against_undecayed"]
        rows = [
            [name.removeprefix("d") if name != "undecayed" else "none", _interval(of)]
            for name, of in forward["ndcg"].items()
        ]
        parts += [
            f"**{each['name']}**: {each['events']:,} events,"
            f" imported at {each['events_per_s']:,.0f} a second."
            f" {_agreement(each['agreement'])}",
            table(["half-life", "nDCG@20 of the next day"], rows),
            f"Chosen on the first {forward['steps_to_choose']} steps: {forward['half_life']}; on the other"
            f" {forward['steps_judged']}, against no decay: {against['mean']:+.4f} ({against['low']:+.4f} to"
            f" {against['high']:+.4f}), p {against['p']:.4f}, better / equal / worse"
            f" {against['better']} / {against['equal']} / {against['worse']}.",
        ]
    return "\n\n".join(parts)


def _agreement(of: Results) -> str:
    orders = (of["trending_in_the_same_order"], of["most_viewed_in_the_same_order"])
    told = ", ".join("yes" if is_same else "**no**" for is_same in orders)
    return (
        f"Counts that differ from a plain computation: {of['counts_that_differ']}; greatest relative error"
        f" of a decayed score: {of['decayed_greatest_relative_error']:.0e}; `trending` and `most_viewed` in"
        f" the same order: {told}."
    )


def _best(of: Results, shape: str) -> str:
    found = of.get("top", {}).get(shape)
    return f"{found['p50_us']:,.0f} / {found['p99_us']:,.0f}" if found else "-"


def _depth() -> int:
    return int(results("quality")["settings"]["depth"])


def _four(value: float) -> str:
    return f"{value:.4f}"


def _interval(of: Results) -> str:
    return f"{of['mean']:.4f} ({of['low']:.4f} to {of['high']:.4f})"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}"


TABLES: dict[str, Callable[[], str]] = {
    "machine": lambda: machine(
        "quality",
        "learning",
        "speed",
        "signals",
        "retrieve",
        "personal",
        "reactivity",
        "opening",
        "popularity",
    ),
    "requirement": requirement,
    "steps": steps,
    "quality": quality,
    "losses": losses,
    "learning": learning,
    "first-search": first_search,
    "signals": signals,
    "retrieval": retrieval,
    "personal": personal,
    "budgets": budgets,
    "reactivity": reactivity,
    "opening": opening,
    "popularity": popularity,
    "sessions": sessions,
    "airline": airline,
}
"""What stands between the markers of the page."""


def written(page: str) -> str:
    """Return a page with every table as the results give it."""
    from benchmarks import recommended, timed  # which are made with what is here

    tables = {**TABLES, **recommended.TABLES, **timed.TABLES}
    assert len(tables) == sum(map(len, (TABLES, recommended.TABLES, timed.TABLES)))

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}\n{tables[match['name']]()}\n\n{match[3]}"

    return _MARKED.sub(fill, page)


def plots() -> dict[Path, str]:
    """Return the plots that the pages show, by their files."""
    from benchmarks import simulated, timed

    found = {PAGE.parent / f"quality-{part}.svg": simulated.plot(part) for part in ("feeds", "searches")}
    return {**found, PAGE.parent / "speed.svg": timed.plot()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if something is out of date"
    )
    given = parser.parse_args()
    wanted = {page: written(page.read_text(encoding="utf-8")) for page in PAGES} | plots()
    if given.check:
        wrong = [path.name for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
        sys.exit(f"not what the results say: {', '.join(wrong)}" if wrong else 0)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
