"""``germane related``: the items that go with one."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.feed import print_feed
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json

EXAMPLES = """\b
Examples:
  germane related lamp-7
  germane related lamp-7 --limit 5 --json
"""


def related(
    ctx: typer.Context,
    item: Annotated[str, typer.Argument(metavar="ID", help="The item.", show_default=False)],
    limit: Annotated[int, typer.Option(metavar="N", help="Items to show, 1 to 1000.")] = 10,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what goes with an item.

    By what the same users did, and by tags in common.
    """
    given = Given.of(ctx, db, as_json)
    with store.reading(given.db) as database:
        page = database.related(item, limit=limit)
    if given.as_json:
        print_json(page)
        return
    options = [*(("--db", given.db) if given.db else ()), f"--cursor={page.cursor}"]
    print_feed(f"related:{item}", page, False, f"germane retrieve {shlex.join(options)}")
