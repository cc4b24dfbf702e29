"""``germane signal``: record what was done with an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.faces.cli import store, values
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

if TYPE_CHECKING:
    from germane.database import Database

EXAMPLES = """\b
Examples:
  germane signal view lamp-7
  germane signal like lamp-7 --user ann --event-id 5f1c
  germane signal view lamp-7 --at 2026-01-31T12:00:00Z --weight 0.5
"""


def signal(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A declared signal.", show_default=False)],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The item's id.", show_default=False)],
    user: Annotated[str | None, typer.Option(metavar="NAME", help="Who did it.", show_default=False)] = None,
    weight: Annotated[float, typer.Option(metavar="NUMBER", help="How much it counts.")] = 1.0,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="When: ISO 8601 with a zone, or seconds since 1970; now without it."
        ),
    ] = None,
    event_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Names the event: the same one again changes nothing.", show_default=False
        ),
    ] = None,
    page: Annotated[
        str | None, typer.Option(metavar="ID", help="The page that showed the item.", show_default=False)
    ] = None,
    position: Annotated[
        int | None, typer.Option(metavar="N", help="Where on the page, from 0.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Record that something was done with an item."""
    given = Given.of(ctx, db, as_json)
    event = {
        "name": name, "item": item, "user": user, "weight": weight, "at": at, "event_id": event_id,
        "page": page, "position": position,
    }  # fmt: skip
    with store.made(given.db) as database:
        record(database, event, given.as_json)


def record(database: Database, event: dict[str, Any], as_json: bool) -> None:
    """Record an event as it was typed, and say so."""
    receipt = database.signal(**event | {"at": values.time(event["at"], "at")})
    name, item = event["name"], event["item"]
    if as_json:
        print_json(receipt)
    else:
        say(f"{name} on {item} was recorded before." if receipt.duplicate else f"Recorded {name} on {item}.")
