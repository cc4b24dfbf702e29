"""``germane replay``: what profiles would have shown, had they been asked while a log was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.faces.cli import events, store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import console, print_json, say, table
from germane.faces.cli.progress import bar
from germane.faces.cli.verbs.import_ import pair

if TYPE_CHECKING:
    from germane.evaluation import Replay, Story

EXAMPLES = """\b
Examples:
  germane replay
  germane replay --profile most_viewed --profile for_you --at 20
  germane replay log.tsv.gz --rename action=name --rename ts=at --profile related --each step
"""
File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="Events to tell again, as for import, instead of the store's.",
        show_default=False,
    ),
]
Rename = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=FIELD", help="Which column of the file is which field; may be repeated.",
        show_default=False,
    ),
]  # fmt: skip
At = Annotated[int, typer.Option("--at", metavar="N", help="Items that are asked for, 1 to 1000.")]
Sample = Annotated[
    int, typer.Option(min=0, metavar="N", help="Cases to ask at, drawn by the seed; 0 asks at all.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="What cases are drawn by.")]


def replay(
    ctx: typer.Context,
    file: File = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROFILE",
            help="Ask this; may be repeated. The others are held against the first.",
            show_default="most_viewed and for_you",
        ),
    ] = None,
    at: At = 10,
    sample: Sample = 1_000,
    split: Annotated[
        float, typer.Option(metavar="SHARE", help="Of the events, that come before the first case.")
    ] = 0.8,
    each: Annotated[
        str,
        typer.Option(
            metavar="visit|event|step",
            help="A case for each visit of a user, each event, or each event on another item than the last.",
        ),
    ] = "visit",
    seed: Seed = 0,
    rename: Rename = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Tell what profiles would have shown, and its worth.

    The log is told again from its beginning, and at each case they are asked.
    A case is a user who comes and does something. What was known before it is all that may be used, the whole
    catalogue is ranked, and what the user then did says what the list was worth.
    """
    from germane.evaluation import replay as run

    given = Given.of(ctx, db, as_json)
    story = told(given.db, file, rename)
    with bar() as shown:
        found = run(
            story, profile or ("most_viewed", "for_you"), at=at, limit=sample or None, split=split, each=each,
            seed=seed, progress=lambda done, total: shown.count("replaying", done, total),
        )  # fmt: skip
    if given.as_json:
        print_json(found.plain())
        return
    _print(found)


def told(db: str | None, file: str | None, rename: list[str] | None) -> Story:
    """Return the story of a file, or of the store."""
    from germane.evaluation import Story

    if file is None:
        if rename:
            raise Misuse("--rename is for the columns of a file: name one")
        with store.reading(db) as database:
            return Story.of_store(database)
    kind = events.format_of(file)
    if kind is None:
        raise Misuse("what is in the file is not told by its name: let it end in .jsonl, .csv or .tsv")
    pairs = dict(pair(each) for each in rename or ())
    columns: dict[str, list[Any]] = {}
    with events.opened(file) as source:
        for block in events.blocks(source, kind, pairs):
            for name in ("name", "item", "user", "weight", "at"):
                if name in block:
                    columns.setdefault(name, []).extend(block[name])
    return Story.of_rows(columns)


def _print(found: Replay) -> None:
    plain = found.plain()
    say(f"{plain['cases']:,} cases, {found.k} items each, held against {found.baseline}")
    rows = []
    for name, each in plain["profiles"].items():
        gain = each.get("ndcg_gain")
        rows.append(
            [
                name,
                *(f"{each[metric]:.4f}" for metric in ("hr", "recall", "ndcg", "mrr")),
                "" if gain is None else f"{gain['mean']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f})",
                f"{each['coverage']:.1%}",
                "-" if each["diversity"] is None else f"{each['diversity']:.2f}",
                f"{each['novelty']:.1f}",
                "-" if each.get("events_to_adapt") is None else str(each["events_to_adapt"]),
            ]
        )
    k = found.k
    metrics = tuple(f"{name}@{k}" for name in ("HR", "recall", "nDCG", "MRR"))
    others = ("coverage", "diversity", "novelty", "adapts after")
    shown = table("profile", *metrics, "nDCG gained (95 %)", *others, numbers=(*metrics, *others))
    for row in rows:
        shown.add_row(*row)
    console().print(shown)
