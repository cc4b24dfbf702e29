"""``germane import``: record many events from a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.faces.cli import events, store
from germane.faces.cli.events import FIELDS
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say
from germane.faces.cli.progress import bar
from germane.model.errors import Error, InvalidArgument

if TYPE_CHECKING:
    from germane.database import Database

EXAMPLES = """\b
Examples:
  germane import events.jsonl
  germane import log.tsv --rename action=name --rename ts=at --put-items
  germane import history.csv.gz
  tail -n 1000 requests.jsonl | germane import --format jsonl -
"""


def import_(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Events, one a line; .gz too; - reads stdin.", show_default=False
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="jsonl, csv or tsv; by the suffix without it."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=FIELD",
            help=f"Which column is which of {', '.join(FIELDS)}; may be repeated.",
            show_default=False,
        ),
    ] = None,
    put_items: Annotated[
        bool, typer.Option("--put-items", help="Put an item for each id that is not there, titled by it.")
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Record many events from JSON lines, CSV or TSV.

    CSV and TSV begin with a line of names. Columns that are no field of an event are left out. Times are
    ISO 8601 (UTC where they name no zone) or seconds since 1970.
    """
    given = Given.of(ctx, db, as_json)
    columns = dict(pair(each) for each in rename or ())
    kind = form or events.format_of(file)
    if kind is None or kind not in events.FORMATS.values():
        raise Misuse("what is in the file is not told by its name: give --format jsonl, csv or tsv")
    recorded = done = 0
    known: set[Any] = set()
    with events.opened(file) as source, store.made(given.db) as database, bar() as shown:
        try:
            for block in events.blocks(source, kind, columns):
                with _counted_from(done):
                    if put_items:
                        _put_missing(database, block["item"], known)
                    recorded += database.signal_many(block)
                done += len(block["item"])
                shown.say(f"recorded {done:,} events")
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; the first {done:,} events stand in the store: import those after them"
            ) from None
    if given.as_json:
        print_json({"recorded": recorded})
        return
    say(f"Recorded {recorded:,} events.")


def _put_missing(database: Database, ids: Sequence[Any], known: set[Any]) -> None:
    """Put an item for each id that is not there, and know it from then on."""
    from germane.model.errors import NotFound
    from germane.model.items import Item

    missing = []
    for id in [id for id in dict.fromkeys(ids) if id not in known]:
        try:
            database.get(id)
        except NotFound:
            missing.append(Item(id=id, title=id))
    database.put_many(missing)
    known.update(ids)


@contextmanager
def _counted_from(done: int) -> Iterator[None]:
    """Let errors about rows of a block name the rows of the file."""
    try:
        yield
    except Error as error:
        row = _ROW.search(error.message)
        if row is None or not done:
            raise
        message = f"{error.message[: row.start(1)]}{int(row[1]) + done}{error.message[row.end(1) :]}"
        if isinstance(error, InvalidArgument):
            field, _, told = message.partition(": ")
            raise InvalidArgument(field, told) from None
        raise type(error)(message) from None


_ROW = re.compile(r"rows\[(\d+)\]")


def pair(text: str) -> tuple[str, str]:
    """Return which column of a file is which field, from ``COLUMN=FIELD``."""
    column, equals, field = text.partition("=")
    if not equals or field not in FIELDS:
        raise Misuse(f"{text!r} is not COLUMN=FIELD with a field of {', '.join(FIELDS)}: as in ts=at")
    return column, field
