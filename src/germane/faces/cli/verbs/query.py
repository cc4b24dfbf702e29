"""``germane query``: a query in its textual form."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.statements import answer

EXAMPLES = """\b
Examples:
  germane query "RETRIEVE items USING PROFILE trending LIMIT 10"
  germane query "RETRIEVE items USING PROFILE hot WHERE meta.genre = 'jazz' DIVERSITY max_per_creator 2"
  germane query 'SEARCH "move semantics" MATCH all EXPLAIN'
"""


def query(
    ctx: typer.Context,
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="A RETRIEVE or a SEARCH, in quotes.", show_default=False),
    ],
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Answer a query in its textual form.

    Keywords may be in any case, clauses in any order. Names stand bare or in single quotes, the words of a
    SEARCH in double quotes. What does not parse is shown with a caret at the place.
    """
    given = Given.of(ctx, db, as_json)
    with store.reading(given.db) as database:
        answer(database, " ".join(text), given.as_json)
