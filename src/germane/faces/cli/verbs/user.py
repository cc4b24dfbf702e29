"""``germane user``: show what is known of a user."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import counted, print_json, say

EXAMPLES = """\b
Examples:
  germane user show ann
  germane user show ann --json
"""

SHOWN = 10
"""Creators whose affinity is shown to people; JSON has them all."""


def user(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="show", help="What to do.", show_default=False)],
    name: Annotated[str, typer.Argument(metavar="USER", help="The user.", show_default=False)],
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what is known of a user."""
    given = Given.of(ctx, db, as_json)
    if action != "show":
        raise Misuse("type 'germane user show USER'")
    with store.reading(given.db) as database:
        state = database.user(name)
    if given.as_json:
        print_json(state)
        return
    say(f"{state.user} has seen {counted(state.seen, 'item')}; {counted(state.signals, 'signal')} recorded.")
    for relation, targets in state.relations.items():
        if targets:
            say(f"{relation:<8} {', '.join(targets)}")
    if state.affinities:
        first = list(state.affinities.items())[:SHOWN]
        more = ", ..." if len(state.affinities) > SHOWN else ""
        say(f"{'likes':<8} {', '.join(f'{creator} {value:.2f}' for creator, value in first)}{more}")
