"""``germane get``: print an item, or what a document lists."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import console, counted, harmless, print_json, say, table
from germane.model.errors import NotFound

if TYPE_CHECKING:
    from germane.database import Database
    from germane.model.documents import Document
    from germane.model.items import Item

EXAMPLES = """\b
Examples:
  germane get lamp-7
  germane get photo-3 --body > photo.jpg
  germane get --document guide/start.md
"""


def get(
    ctx: typer.Context,
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The item.", show_default=False)] = None,
    document: Annotated[
        str | None, typer.Option(metavar="DOCID", help="A document instead of an item.", show_default=False)
    ] = None,
    rev: Annotated[
        str | None, typer.Option(metavar="REV", help="An earlier revision of the item.", show_default=False)
    ] = None,
    body: Annotated[bool, typer.Option("--body", help="Print the body alone, byte for byte.")] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Print an item: its fields, then its body as it was put.

    With --document, print a document: its fields, then its sections in order.
    """
    given = Given.of(ctx, db, as_json)
    if (id is None) == (document is None):
        raise Misuse("get takes an ID or --document DOCID, one of them: type 'germane get ID'")
    if document is not None and (rev is not None or body):
        raise Misuse("--rev and --body are for items: type 'germane get ID' with the id of a section")
    if body and given.as_json:
        raise Misuse("--body prints the body alone and --json a document: give one of them")
    with store.existing(given.db, read_only=True) as database:
        if document is not None:
            manifest = database.document(document)
            print_json(manifest) if given.as_json else _print_document(manifest)
            return
        item = _item(database, id or "", rev)
    if given.as_json:
        print_json(item)
    elif body:
        _print_raw(item.body)
    else:
        _print_item(item)


def _item(database: Database, id: str, rev: str | None) -> Item:
    try:
        return database.get(id, rev)
    except NotFound as error:
        try:
            database.document(id)
        except NotFound:
            raise error from None
        raise NotFound(f"{error.message}, but a document: type 'germane get --document {id}'") from None


def _print_item(item: Item) -> None:
    _print_fields(
        ("id", item.id),
        ("rev", item.rev),
        ("title", item.title),
        ("description", item.description),
        ("type", item.type),
        ("lang", item.lang),
        ("kind", item.kind),
        ("collection", item.collection),
        ("creator", item.creator),
        ("tags", ", ".join(item.tags)),
        ("created_at", item.created_at),
        *((f"meta {name}", value) for name, value in item.metadata.items()),
    )
    if isinstance(item.body, bytes):
        _print_fields(
            ("body", f"{counted(len(item.body), 'byte')}: 'germane get {item.id} --body' writes them")
        )
    elif item.body:
        say()
        # Verbatim, unless a terminal would take orders from it.
        shown = harmless(item.body) if sys.stdout.isatty() else item.body
        _print_raw(shown if shown.endswith("\n") else shown + "\n")


def _print_document(document: Document) -> None:
    _print_fields(
        ("docid", document.docid),
        ("title", document.title),
        ("path", document.path),
        *((f"meta {name}", value) for name, value in document.metadata.items()),
    )
    say()
    rows = table("lines", "section", "id", numbers=["lines"])
    for place in document.sections:
        heading = place.heading_path[-1] if place.heading_path else "(text before the first heading)"
        lines = f"{place.lines[0]}-{place.lines[1]}" if place.lines else ""
        rows.add_row(lines, "  " * max(0, place.level - 1) + harmless(heading), harmless(place.id))
    console().print(rows)


def _print_fields(*fields: tuple[str, object]) -> None:
    from rich.text import Text

    out = console()
    for name, value in fields:
        if value is None or value == "":
            continue
        shown = ", ".join(map(_shown, value)) if isinstance(value, tuple) else _shown(value)
        out.print(Text.assemble((f"{harmless(name):<12} ", "dim"), harmless(shown)), soft_wrap=True)


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _print_raw(body: str | bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(body.encode() if isinstance(body, str) else body)
    sys.stdout.buffer.flush()
