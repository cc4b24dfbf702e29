"""Thirty searches on three documentation trees, and where the sections that answer them stand.

python -m benchmarks.searches --data PATH

The answers were chosen from the sources, not from the rankings. The report, which shows the top of each
first page as a reader sees it, is written to `results/searches.md`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import germane
from benchmarks.environment import RESULTS
from benchmarks.questions import QUESTIONS, Question
from benchmarks.trees import TREES
from germane import SearchWeights
from germane.database import Database
from germane.model.pages import Result

PAGE = 20
SHOWN = 5
DEPTH = 1_000
"""How far down an answer is looked for."""
OTHER_WEIGHTS = {
    "default": SearchWeights(),
    "code 1.0": SearchWeights(code=1.0),
    "code 0.5": SearchWeights(code=0.5),
    "heading 0.5": SearchWeights(heading=0.5),
    "no proximity, no zone": SearchWeights(proximity=0.0, zone=0.0),
}
NOISE = {
    "an mdBook include line": re.compile(r"\{\{#"),
    "what looks like a component's tag, mostly in code": re.compile(r"</?[A-Z][a-z]\w+(?:\s[^<>]*)?/?>"),
    "emphasis as typed": re.compile(r"\*\*"),
}


@dataclass(frozen=True)
class Searched:
    """A question, its first page, and the place of the first answer under each set of weights."""

    question: Question
    results: tuple[Result, ...]
    total: int
    places: dict[str, int | None]


def search(db: Database, questions: Sequence[Question]) -> Iterator[Searched]:
    """Ask questions."""
    for question in questions:
        pages = {
            name: db.search(question.text, weights=weights, limit=DEPTH)
            for name, weights in OTHER_WEIGHTS.items()
        }
        page = pages["default"]
        places = {name: place(question, each.items) for name, each in pages.items()}
        yield Searched(question, page.items[:PAGE], page.total, places)


def place(question: Question, results: Sequence[Result]) -> int | None:
    """Return the place of the first result that answers a question; None when none does."""
    return next((at for at, result in enumerate(results, 1) if answers(question, result)), None)


def answers(question: Question, result: Result) -> bool:
    """Tell whether a result is one of a question's answers."""
    return any(
        (result.path or "").endswith(path) and result.heading == heading for path, heading in question.answers
    )


def report(found: dict[str, list[Searched]]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# Thirty searches on three documentation trees"
    yield ""
    yield f"Made by `python -m benchmarks.searches --data PATH` with Germane {germane.__version__}."
    yield "A section that answers, chosen from the sources, is marked with ✓; matched words are bold."
    yield ""
    yield from _summary(found)
    for name, searches in found.items():
        yield f"## {name}"
        yield ""
        for number, each in enumerate(searches, 1):
            yield from _one(number, each)


def _summary(found: dict[str, list[Searched]]) -> Iterator[str]:
    yield "## Where the first answer stands"
    yield ""
    yield "| tree | searches | first | in the first five | on the first page | not there |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, searches in found.items():
        at = [each.places["default"] for each in searches]
        yield (
            f"| {name} | {len(at)} | {sum(p == 1 for p in at)} | {sum(p is not None and p <= 5 for p in at)}"
            f" | {sum(p is not None and p <= PAGE for p in at)} | {sum(p is None or p > PAGE for p in at)} |"
        )
    every = [each for searches in found.values() for each in searches]
    yield ""
    yield "Mean reciprocal place under other weights, over all thirty (too few to tune by: an indication):"
    yield ""
    yield "| weights | mean reciprocal place | in the first five |"
    yield "| --- | --- | --- |"
    for name in OTHER_WEIGHTS:
        at = [each.places[name] for each in every]
        yield (
            f"| {name} | {sum(1 / p for p in at if p) / len(at):.3f}"
            f" | {sum(p is not None and p <= 5 for p in at)} |"
        )
    snippets = [result.snippet for each in every for result in each.results]
    yield ""
    yield f"Of the {len(snippets)} snippets on the thirty first pages:"
    yield ""
    for what, pattern in NOISE.items():
        yield f"- {sum(bool(pattern.search(snippet)) for snippet in snippets)} hold {what}"
    yield f"- {sum(not snippet for snippet in snippets)} are empty"
    yield ""


def _one(number: int, each: Searched) -> Iterator[str]:
    at = each.places["default"]
    stands = f"not among the first {DEPTH:,}" if at is None else f"at place {at}"
    yield f"### {number}. {_code(each.question.text)}"
    yield ""
    yield f"{each.question.kind}; {each.total} matches; first answer {stands}."
    if each.question.remark:
        yield f"{each.question.remark}"
    yield ""
    for result in each.results[:SHOWN]:
        first, last = result.lines or (0, 0)
        mark = " ✓" if answers(each.question, result) else ""
        yield f"1. **{result.score:.2f}**{mark} {_code(f'{result.path}:{first}-{last}')}"
        yield f"   {_code(' > '.join(result.heading_path) or '(no heading)')}"
        yield ""
        yield f"   {_shown(result)}"
        yield ""


def _shown(result: Result) -> str:
    """Return a snippet with its matched words bold, and nothing else of it taken for Markdown."""
    if not result.snippet:
        return "(empty snippet)"
    pieces = []
    at = 0
    for start, end in result.highlights:
        pieces += [_plain(result.snippet[at:start]), f"**{_plain(result.snippet[start:end])}**"]
        at = end
    return "".join([*pieces, _plain(result.snippet[at:])])


def _plain(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", text)


def _code(text: str) -> str:
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searches", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds docs-trees/ and eips/")
    given = parser.parse_args()
    found: dict[str, list[Searched]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, lay_out in TREES.items():
            with germane.open() as db:
                db.learn(lay_out(given.data, Path(folder)))
                found[name] = list(search(db, QUESTIONS[name]))
    for name, searches in found.items():
        for each in searches:
            print(f"{name}: first answer at {each.places['default']}: {each.question.text}")
    path = RESULTS / "searches.md"
    path.write_text("\n".join(report(found)).rstrip() + "\n", encoding="utf-8")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
