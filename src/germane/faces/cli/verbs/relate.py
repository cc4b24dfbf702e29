"""``germane relate``: let a user follow, save, mute, hide or block something, or undo that."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

EXAMPLES = """\b
Examples:
  germane relate ann follow bob
  germane relate ann hide lamp-7
  germane relate ann hide lamp-7 --undo
"""


def relate(
    ctx: typer.Context,
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose relation.", show_default=False)],
    relation: Annotated[
        str,
        typer.Argument(metavar="RELATION", help="follow, save, mute, hide or block.", show_default=False),
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A creator to follow or block, an item to save or hide, either to mute.",
            show_default=False,
        ),
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Undo the relation.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Let a user follow, save, mute, hide or block something.

    What a user hid, and what a creator made whom they blocked, no query for that user returns; what they
    muted comes last.
    """
    given = Given.of(ctx, db, as_json)
    with store.existing(given.db) as database:
        receipt = (database.unrelate if undo else database.relate)(user, relation, target)
    if given.as_json:
        print_json(receipt)
        return
    state = "no more" if undo else "from now on"
    say(f"{user}: {relation} {target}, {state}." if receipt.changed else f"{user}: nothing changed.")
