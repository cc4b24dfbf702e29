"""``germane search``: the best sections for some words."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store, values
from germane.faces.cli.options import AsOf, Collection, Db, Given, Json, Session, User, Where
from germane.faces.cli.output import print_json
from germane.faces.cli.page import print_nothing, print_page, print_stats

EXAMPLES = """\b
Examples:
  germane search ownership borrow
  germane search '"move semantics" +closure -thread title:capture'
  germane search --match all --collection notes rust error handling
  germane search lamp --where "meta.price < 10 and not tags contains 'used'"
  germane search lamp --profile most_liked --personalization 0.5
  germane search lamp --as-of 2026-01-31T12:00:00Z
  germane search -- -v verbose
"""


def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="The query.", show_default=False)],
    limit: Annotated[int, typer.Option(metavar="N", help="Results to show, 1 to 1000.")] = 20,
    offset: Annotated[int, typer.Option(metavar="N", help="Results to leave out.")] = 0,
    mode: Annotated[
        str, typer.Option(metavar="sections|stats", help="Ranked sections, or counts of the words.")
    ] = "sections",
    match: Annotated[str, typer.Option(metavar="any|all", help="Which words a section must hold.")] = "any",
    user: User = None,
    session: Session = None,
    where: Where = None,
    collection: Collection = None,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="LANG", help="The query's language (default: all the store holds).", show_default=False
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="heading, body, code, proximity, zone, freshness, half_life_days, k1 or b; may be repeated.",
            show_default=False,
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(metavar="PROFILE", help="Add what this profile says of behaviour.")
    ] = "search",
    personalization: Annotated[
        float | None,
        typer.Option(metavar="P", help="How much of it, 0 to 1 (default: 0.3).", show_default=False),
    ] = None,
    rerank: Annotated[int, typer.Option(metavar="N", help="To how many of the best by text.")] = 1000,
    as_of: AsOf = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is the sum of.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Find the sections that say most about some words, best first.

    Words may be a "quoted phrase", +required, -excluded, or limited to a field with title:, body: or
    code:. tag:, type: and doc: select by an exact value. The shell takes quotes away: put a query with
    quotes into single ones. A filter compares id, type, tags, creator, document, collection, kind,
    created_at and meta.NAME by =, !=, <, <=, >, >=, in and contains, joined by and, or, not and ().
    """
    given = Given.of(ctx, db, as_json)
    text = " ".join(words)
    weights = values.weights(weight or ())
    with store.reading(given.db) as database:
        page = database.search(
            text,
            mode=mode,
            collections=collection or None,
            match=match,
            user=user,
            session=session,
            where=where,
            weights=weights,
            profile=profile,
            personalization=personalization,
            rerank=rerank,
            lang=lang,
            offset=offset,
            limit=limit,
            explain=explain,
            as_of=values.as_of(as_of),
        )
        held = database.stats() if page.total == 0 and not given.as_json else None
    if given.as_json:
        print_json(page)
    elif held is not None:
        print_nothing(text, collection or (), where, held)
    elif page.stats is not None:
        print_stats(page.stats)
    else:
        print_page(text, page, explain)
