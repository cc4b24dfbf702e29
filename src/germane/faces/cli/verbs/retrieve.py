"""``germane retrieve``: items ranked by a profile."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.faces.cli import store, values
from germane.faces.cli.failures import Misuse
from germane.faces.cli.feed import print_feed
from germane.faces.cli.options import AsOf, Collection, Db, Given, Json, Where
from germane.faces.cli.output import print_json, say

if TYPE_CHECKING:
    from germane.model.diversity import Diversity

EXAMPLES = """\b
Examples:
  germane retrieve trending
  germane retrieve top:24h --where "meta.genre = 'jazz'" --limit 50
  germane retrieve hot --max-per-creator 2 --max-share meta.format=0.6 --relax
  germane retrieve my_profile@2 --candidates lamp-7 --candidates lamp-8 --explain
"""


def retrieve(
    ctx: typer.Context,
    profile: Annotated[
        str, typer.Argument(metavar="PROFILE", help="Built in, as trending, or of the schema.")
    ] = "for_you",
    user: Annotated[
        str | None, typer.Option(metavar="NAME", help="Rank for this user.", show_default=False)
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Rank for this session.", show_default=False)
    ] = None,
    where: Where = None,
    collection: Collection = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Rank only this item; may be repeated.", show_default=False),
    ] = None,
    similar_to: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Rank the items that are nearest to this one.", show_default=False),
    ] = None,
    max_per_creator: Annotated[
        int | None, typer.Option(metavar="N", help="Items of one creator on a page.", show_default=False)
    ] = None,
    max_share: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=SHARE",
            help="Greatest share of a page for one value of a field; may be repeated.",
            show_default=False,
        ),
    ] = None,
    mmr: Annotated[
        float | None,
        typer.Option(
            metavar="LAMBDA",
            help="Spread a page over unlike items: 1 by score alone, 0 by likeness.",
            show_default=False,
        ),
    ] = None,
    relax: Annotated[
        bool, typer.Option("--relax", help="Fill a page that these limits leave short.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", help="Items to show, 1 to 1000.")] = 20,
    cursor: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Go on after a page, by its cursor.", show_default=False),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(metavar="SEED", help="What exploration and shuffle draw by.", show_default=False),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is the sum of.")] = False,
    as_of: AsOf = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Rank items by a profile, the best first.

    A profile weighs what people did with items, how old they are, and what they are. 'germane schema show'
    prints those that the store declares.
    """
    given = Given.of(ctx, db, as_json)
    arguments: dict[str, Any] = {
        "user": user, "session": session, "where": where, "collections": collection or None,
        "candidates": candidates or None, "similar_to": similar_to,
        "diversity": _diversity(max_per_creator, max_share or (), mmr, relax),
        "limit": limit, "cursor": cursor, "seed": seed, "explain": explain, "as_of": values.as_of(as_of),
    }  # fmt: skip
    with store.reading(given.db) as database:
        page = database.retrieve(profile, **arguments)
        is_empty = not page.total and not given.as_json and not database.stats().items
    if given.as_json:
        print_json(page)
        return
    options = [
        *(("--db", given.db) if given.db else ()),
        f"--cursor={page.cursor}",  # one word, for cursors that begin with "-"
        *(("--limit", str(limit)) if limit != 20 else ()),
        *(("--explain",) if explain else ()),
    ]
    print_feed("" if cursor else profile, page, explain, f"germane retrieve {shlex.join(options)}")
    if is_empty:
        say("The store is empty: 'germane learn PATH' fills it.")
    elif not page.total:
        say(f"'germane explain ID --profile {shlex.quote(profile)}' says why an item is not there.")


def _diversity(
    max_per_creator: int | None, max_share: Sequence[str], mmr: float | None, relax: bool
) -> Diversity | None:
    if max_per_creator is None and not max_share and mmr is None:
        if relax:
            raise Misuse("--relax goes with --max-per-creator or --max-share")
        return None
    from germane.model.diversity import Diversity

    shares = values.shares(max_share)
    return Diversity(max_per_creator=max_per_creator, max_share=shares, mmr=mmr, relax=relax)
