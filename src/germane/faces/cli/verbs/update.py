"""``germane update``: change an item in place."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from germane.faces.cli import store, values
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

EXAMPLES = """\b
Examples:
  germane update lamp-7 --meta price=25 --tag sale
  germane update lamp-7 --unset price --no-tags
"""


def update(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The item.", show_default=False)],
    meta: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Set a name of its metadata; may be repeated.", show_default=False
        ),
    ] = None,
    unset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY", help="Remove a name of its metadata; may be repeated.", show_default=False
        ),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TAG",
            help="All of its tags, in place of those it has; may be repeated.",
            show_default=False,
        ),
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove its tags.")] = False,
    creator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who made it.", show_default=False)
    ] = None,
    collection: Annotated[
        str | None, typer.Option(metavar="NAME", help="The collection it lies in.", show_default=False)
    ] = None,
    created_at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="ISO 8601 with a zone, or seconds since 1970.", show_default=False),
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(metavar="JSON", help="Its vector, a list of numbers.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Change an item in place: its metadata, tags, creator.

    Only what is given changes; tags are replaced as a whole. To change its title or body, put it again
    under its id.
    """
    if tag and no_tags:
        raise Misuse("--tag and --no-tags contradict each other: give one of them")
    metadata = values.metadata(meta or ())
    if both := metadata.keys() & set(unset or ()):
        raise Misuse(f"--meta and --unset both name {min(both)!r}: give one of them")
    given_values: dict[str, Any] = {
        "metadata": {**metadata, **dict.fromkeys(unset or ())} or None,
        "tags": tag or (() if no_tags else None),
        "creator": creator,
        "collection": collection,
        "created_at": values.time(created_at),
        "embedding": values.embedding(embedding),
    }
    changes = {field: value for field, value in given_values.items() if value is not None}
    if not changes:
        raise Misuse(
            "there is nothing to change: give --meta KEY=VALUE, --tag TAG "
            "or another option of 'germane update --help'"
        )
    given = Given.of(ctx, db, as_json)
    with store.existing(given.db) as database:
        receipt = database.update(id, **changes)
    if given.as_json:
        print_json(receipt)
        return
    say(f"Updated item {receipt.id}." if receipt.changed else f"Item {receipt.id} is like that already.")
