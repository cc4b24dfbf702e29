"""``germane learn``: files and folders become searchable sections."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import counted, print_json, say
from germane.faces.cli.progress import bar
from germane.model.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from germane.model.reports import LearnReport, Skipped

SHOWN = 20
"""Errors that are listed; the others are counted."""

EXAMPLES = """\b
Examples:
  germane learn docs/ README.md
  germane learn ~/notes --collection notes --tag private
  curl -s https://example.org/page.md | germane learn - --docid page --title "A page"
"""


def learn(
    ctx: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files and folders; '-' reads Markdown from stdin.")
    ],
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="A tag of every section; may be repeated.", show_default=False),
    ] = None,
    collection: Annotated[str, typer.Option(metavar="NAME", help="The collection they lie in.")] = "main",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With '-': the document's title.", show_default=False)
    ] = None,
    docid: Annotated[
        str | None,
        typer.Option(
            metavar="DOCID", help="With '-': the document's id, to learn it again later.", show_default=False
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every file that was skipped.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Learn files and folders: Markdown (also .mdx) and plain text.

    Headings become sections. Learned again, what changed is changed, sections keep their ids, and what
    is gone is retired. The store is made if there is none. Ctrl-C is safe: the same command goes on.
    """
    given = Given.of(ctx, db, as_json)
    from_stdin = "-" in paths
    if from_stdin and len(paths) > 1:
        raise Misuse("'-' (stdin) stands alone: learn the other paths with a second command")
    if not from_stdin and (title is not None or docid is not None):
        raise Misuse("--title and --docid are for one document on stdin: type 'germane learn - --title TEXT'")
    for path in () if from_stdin else paths:
        if not Path(path).expanduser().exists():  # before a store is made for nothing
            raise NotFound(f"there is no file or folder {path!r}: learn takes paths, and '-' for stdin")
    text = _stdin() if from_stdin else ""
    with bar() as progress, store.made(given.db) as database:
        if from_stdin:
            report = database.learn_text(
                text, title=title, docid=docid, tags=tag or (), collection=collection
            )
        else:
            report = database.learn(paths, tags=tag or (), collection=collection, progress=progress.files)
        folder = database.path
        progress.say("writing the index")
    if given.as_json:
        print_json(report)
        return
    say(f"Learned {counted(report.documents, 'document')} in {report.took_ms / 1000:.1f} s, into {folder}.")
    _print_report(report, verbose)
    if report.added:
        say("Next: 'germane search WORDS'.")


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            "stdin",
            f"is no UTF-8 (at byte {error.start}): convert it first, as in 'iconv -f latin1 -t utf-8'",
        ) from None


def _print_report(report: LearnReport, verbose: bool) -> None:
    say(
        f"Sections: {report.added:,} added, {report.changed:,} changed, "
        f"{report.unchanged:,} unchanged, {report.removed:,} removed."
    )
    if report.skipped:
        say(f"Skipped {len(report.skipped):,}{':' if verbose else ' (-v lists them):'}")
        _print_each(report.skipped) if verbose else _print_reasons(report.skipped)
    if report.errors:
        say(f"{counted(len(report.errors), 'problem')}:")
        _print_each(report.errors[: None if verbose else SHOWN])
        if not verbose and len(report.errors) > SHOWN:
            say(f"  and {len(report.errors) - SHOWN:,} more")


def _print_each(entries: Sequence[Skipped]) -> None:
    for entry in entries:
        say(f"  {entry.path}: {entry.reason}")


def _print_reasons(entries: Sequence[Skipped]) -> None:
    for reason, count in Counter(entry.reason for entry in entries).most_common():
        say(f"  {count:,}: {reason}")
