"""``germane delete``: take an item or a document out of every answer."""

from __future__ import annotations

from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

EXAMPLES = """\b
Examples:
  germane delete lamp-7
  germane delete --document guide/start.md
"""


def delete(
    ctx: typer.Context,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The item.", show_default=False)] = None,
    document: Annotated[
        str | None,
        typer.Option(
            metavar="DOCID", help="A document, with the sections no other document lists.", show_default=False
        ),
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Take an item or a document out of every answer.

    Its revisions are kept, and putting or learning it again brings it back. What is not there is no
    error: the answer says so.
    """
    if (id is None) == (document is None):
        raise Misuse("delete takes an ID or --document DOCID, one of them: type 'germane delete ID'")
    given = Given.of(ctx, db, as_json)
    with store.existing(given.db) as database:
        receipt = database.delete(id) if id is not None else database.delete_document(document or "")
    if given.as_json:
        print_json(receipt)
        return
    what = "item" if id is not None else "document"
    say(
        f"Deleted {what} {receipt.id}."
        if receipt.changed
        else f"There is no {what} {receipt.id}: nothing to delete."
    )
