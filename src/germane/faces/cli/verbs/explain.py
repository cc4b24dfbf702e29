"""``germane explain``: why an item stands where it stands, or why it is not there."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store, values
from germane.faces.cli.feed import print_explanation
from germane.faces.cli.options import AsOf, Collection, Db, Given, Json, Session, User, Where
from germane.faces.cli.output import print_json

EXAMPLES = """\b
Examples:
  germane explain lamp-7 --profile trending
  germane explain lamp-7 --profile top:24h --where "meta.price < 10" --limit 50
  germane explain lamp-7 --text "red lamp"
"""


def explain(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The item.", show_default=False)],
    profile: Annotated[
        str | None,
        typer.Option(metavar="PROFILE", help="Of the ranking (default: for_you).", show_default=False),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Explain its place in a search for this.", show_default=False),
    ] = None,
    user: User = None,
    session: Session = None,
    where: Where = None,
    collection: Collection = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="That only these were ranked; may be repeated.", show_default=False),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="SEED", help="What shuffle drew by.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Items of the page in question.")] = 20,
    as_of: AsOf = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say why an item has its place in a ranking, or has none."""
    given = Given.of(ctx, db, as_json)
    with store.reading(given.db) as database:
        why = database.explain(
            id,
            profile=profile,
            text=text,
            user=user,
            session=session,
            where=where,
            collections=collection or None,
            candidates=candidates or None,
            seed=seed,
            limit=limit,
            as_of=values.as_of(as_of),
        )
    if given.as_json:
        print_json(why)
        return
    name = profile or ("search" if text is not None else "for_you")
    print_explanation(name if text is None else f"{name} for {text}", why)
