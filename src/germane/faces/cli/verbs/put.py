"""``germane put``: put one item."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from germane.faces.cli import store, values
from germane.faces.cli.failures import Misuse
from germane.faces.cli.files import decoded, read, type_of
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say, warn

EXAMPLES = """\b
Examples:
  germane put --id lamp-7 --title "Desk lamp" --body "Warm light." --meta price=30 --tag lamp
  germane put --title "How to parse" --file parse.py
  fortune | germane put --title "Today" -
"""


def put(
    ctx: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="-", help="'-' reads the body from stdin.", show_default=False)
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Its id (default: the hash of its content).", show_default=False),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Its title.", show_default=False)] = None,
    body: Annotated[str | None, typer.Option(metavar="TEXT", help="Its body.", show_default=False)] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A file that holds its body.", show_default=False)
    ] = None,
    type: Annotated[
        str | None,
        typer.Option(
            metavar="MIME",
            help="Type of the body (default: by the file's suffix, or text/markdown).",
            show_default=False,
        ),
    ] = None,
    description: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A description, searched too.", show_default=False)
    ] = None,
    creator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who made it.", show_default=False)
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Metadata: a JSON number, boolean, string or list, or else text; may be repeated.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="A tag; may be repeated.", show_default=False)
    ] = None,
    collection: Annotated[str, typer.Option(metavar="NAME", help="The collection it lies in.")] = "main",
    kind: Annotated[str, typer.Option(metavar="NAME", help="What sort of thing it is.")] = "default",
    lang: Annotated[
        str | None,
        typer.Option(metavar="LANG", help="Its language (default: the store's).", show_default=False),
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
    """Put one item, and print its id.

    Under an id that exists it becomes the new version. The store is made if there is none. To put whole
    files and folders of text, use learn.
    """
    from germane.model.items import Item

    given = Given.of(ctx, db, as_json)
    if source not in (None, "-"):
        raise Misuse(
            f"put takes no {source!r} here: give text with --body TEXT, a file with --file PATH, "
            "or '-' for stdin"
        )
    if sum(each is not None for each in (source, body, file)) > 1:
        raise Misuse("--body, --file and '-' are three ways to give one body: give one of them")
    content: str | bytes = body or ""
    if file is not None:
        content = read(file)
        type = type or type_of(file, content)
    elif source is not None:
        content = decoded(sys.stdin.buffer.read())
        type = type or ("text/markdown" if isinstance(content, str) else "application/octet-stream")
    if not content and not title and not description:
        raise Misuse("there is nothing to put: give --body TEXT, --file PATH or '-' for stdin, or a --title")
    item = Item(
        id=id,
        title=title,
        body=content,
        type=type or "text/markdown",
        description=description,
        creator=creator,
        metadata=values.metadata(meta or ()),
        tags=tag or (),
        collection=collection,
        kind=kind,
        lang=lang,
        created_at=values.time(created_at),
        embedding=values.embedding(embedding),
    )
    with store.made(given.db) as database:
        put_id = database.put(item)
    if isinstance(content, bytes) and item.type.startswith("text/"):
        warn("the body is no UTF-8: it is kept as bytes, and only the title and description are searched")
    if given.as_json:
        print_json({"id": put_id, "rev": item.rev})
    else:
        say(put_id)
