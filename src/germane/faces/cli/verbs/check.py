"""``germane check``, ``rebuild`` and ``gc``: is the store sound, make it so, and keep it small."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from germane.faces.cli import failures, store
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import counted, print_json, say

if TYPE_CHECKING:
    from germane.model.reports import CheckReport

MENDABLE = ("journal", "tables", "text", "catalog", "checkpoint")
"""Parts that a rebuild may mend; of the journal, the pages of tables that are folded from the log."""

EXAMPLES = """\b
Examples:
  germane check
  germane check --repair

Exit code 1 says that something is wrong.
"""

REBUILD_EXAMPLES = """\b
Examples:
  germane rebuild
"""


GC_EXAMPLES = """\b
Examples:
  germane gc
  germane gc --run
"""


def check(
    ctx: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild the views that are not as they should be.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Check the log, its content, and every view of it."""
    given = Given.of(ctx, db, as_json)
    with store.existing(given.db, read_only=not repair) as database:
        report = database.check(repair)
    if given.as_json:
        print_json(report)
    else:
        for finding in report.findings:
            say(f"{finding.part}: {finding.detail}{' (repaired)' if finding.repaired else ''}")
        say(_verdict(report, repair))
    if not report.ok:
        raise typer.Exit(failures.FAILED_CHECK)


def rebuild(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Throw every view away and build it anew from the log."""
    given = Given.of(ctx, db, as_json)
    began = time.perf_counter()
    with store.existing(given.db) as database:
        seq = database.rebuild()
    if given.as_json:
        print_json({"seq": seq})
        return
    say(f"Built every view anew from {counted(seq, 'event')}, in {time.perf_counter() - began:.1f} s.")


def gc(
    ctx: typer.Context,
    run: Annotated[
        bool, typer.Option("--run", help="Replace them; without this, only say what would be replaced.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Replace events beyond retention by what they came to.

    How long events are kept one by one is declared in the schema, as retention. Closing a store does the
    same when the oldest event is a tenth older than that.
    """
    given = Given.of(ctx, db, as_json)
    with store.existing(given.db, read_only=not run) as database:
        report = database.gc(dry_run=not run)
    if given.as_json:
        print_json(report)
        return
    done = "replaced" if run else "would be replaced"
    say(
        f"{counted(report.events, 'event')} {done} by what they came to, and "
        f"{counted(report.contents, 'content')} dropped."
        if report.events
        else "No event is older than the schema's retention."
    )


def _verdict(report: CheckReport, repair: bool) -> str:
    if not report.findings:
        return "The store is sound."
    if report.ok:
        return "Repaired: the store is sound now."
    left = [finding.part for finding in report.findings if not finding.repaired]
    if not repair and all(part in MENDABLE for part in left):
        advice = "'germane check --repair' builds what differs anew"
    else:
        advice = "restore a backup, or learn the sources into a new store"
    return f"The store is not sound ({counted(len(left), 'finding')}): {advice}."
