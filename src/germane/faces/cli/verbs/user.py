"""``germane user``: show what is known of a user, or forget it."""

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
  germane user forget ann
  germane user forget ann --erase
"""

SHOWN = 10
"""Creators whose affinity is shown to people; JSON has them all."""
LEAST = 0.005
"""What an affinity must still be to be shown to people."""


def user(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="show|forget", help="What to do.", show_default=False)],
    name: Annotated[str, typer.Argument(metavar="USER", help="The user.", show_default=False)],
    erase: Annotated[
        bool, typer.Option("--erase", help="With forget: the user's signals go, too, and count no more.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what is known of a user, or forget it.

    Forgetting removes the user from every event, and the user's relations; the signals stay and are
    nobody's, unless --erase is given. No file of the store holds a byte of the user afterwards. What
    contents and creators say is not touched, nor are backups.
    """
    given = Given.of(ctx, db, as_json)
    if action == "forget":
        _forget(given, name, erase)
    elif action == "show" and not erase:
        _show(given, name)
    else:
        raise Misuse("type 'germane user show USER', or 'germane user forget USER [--erase]'")


def _show(given: Given, name: str) -> None:
    with store.reading(given.db) as database:
        state = database.user(name)
    if given.as_json:
        print_json(state)
        return
    say(f"{state.user} has seen {counted(state.seen, 'item')}; {counted(state.signals, 'signal')} recorded.")
    for relation, targets in state.relations.items():
        if targets:
            say(f"{relation:<8} {', '.join(targets)}")
    if any(abs(value) >= LEAST for value in state.affinities.values()):
        told = {creator: value for creator, value in state.affinities.items() if abs(value) >= LEAST}
        first = list(told.items())[:SHOWN]
        more = ", ..." if len(told) > SHOWN else ""
        say(f"{'likes':<8} {', '.join(f'{creator} {value:.2f}' for creator, value in first)}{more}")


def _forget(given: Given, name: str, erase: bool) -> None:
    with store.existing(given.db) as database:
        report = database.forget(name, erase)
    if given.as_json:
        print_json(report)
        return
    if not (report.events or report.folded or report.files):
        say(f"Nothing is known of {name}.")
        return
    say(f"{name} is forgotten: {counted(report.events, 'event')} changed.")
    if erase and report.folded:
        say(f"{counted(report.folded, 'signal')} beyond retention stay counted, as nobody's.")
    if report.sketched:
        say(f"{counted(report.sketched, 'item')} beyond retention may count one distinct user more.")
