"""``germane import``: record many events from a file."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say
from germane.model.errors import InvalidArgument

EXAMPLES = """\b
Examples:
  germane import events.jsonl
  germane import log.tsv --rename action=name --rename ts=at --put-items
  zcat events.csv.gz | germane import --format csv -
"""

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
FIELDS = ("name", "item", "user", "weight", "at", "event_id", "page", "position")


def import_(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Events, one a line; - reads stdin.", show_default=False)
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
    columns = dict(_pair(each) for each in rename or ())
    kind = form or FORMATS.get("." + file.rpartition(".")[2].lower())
    if kind is None or kind not in FORMATS.values():
        raise Misuse("what is in the file is not told by its name: give --format jsonl, csv or tsv")
    with ExitStack() as stack:
        source = (
            sys.stdin if file == "-" else stack.enter_context(Path(file).open(encoding="utf-8", newline=""))
        )
        database = stack.enter_context(store.made(given.db))
        rows = _rows(source, kind, columns)
        recorded = database.signal_many(_with_items(database, rows) if put_items else rows)
    if given.as_json:
        print_json({"recorded": recorded})
        return
    say(f"Recorded {recorded:,} events.")


def _rows(source: IO[str], kind: str, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield events with the fields that they have."""
    lines = (
        _json_lines(source)
        if kind == "jsonl"
        else csv.DictReader(source, delimiter="\t" if kind == "tsv" else ",")
    )
    for number, line in enumerate(lines):
        row = {columns.get(name, name): value for name, value in line.items()}
        kept = {field: row[field] for field in FIELDS if row.get(field) not in (None, "", "-")}
        for field, read in _READ.items():
            if isinstance(kept.get(field), str):
                try:
                    kept[field] = read(kept[field])
                except ValueError:
                    raise InvalidArgument(
                        f"rows[{number}].{field}", f"{kept[field]!r} cannot be read"
                    ) from None
        yield kept


def _json_lines(source: IO[str]) -> Iterator[dict[str, Any]]:
    import msgspec

    for number, line in enumerate(source):
        if not line.strip():
            continue
        try:
            yield msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise InvalidArgument(f"rows[{number}]", f"is no JSON object: {error}") from None


def _with_items(database: Any, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Put an item for each id that is not there, ahead of the events on it."""
    from germane.model.errors import NotFound
    from germane.model.items import Item

    known: set[str] = set()
    for row in rows:
        id = row.get("item")
        if isinstance(id, str) and id not in known:
            known.add(id)
            try:
                database.get(id)
            except NotFound:
                database.put(Item(id=id, title=id))
        yield row


def _pair(text: str) -> tuple[str, str]:
    column, equals, field = text.partition("=")
    if not equals or field not in FIELDS:
        raise Misuse(f"{text!r} is not COLUMN=FIELD with a field of {', '.join(FIELDS)}: as in ts=at")
    return column, field


def _time(text: str) -> Any:
    from datetime import UTC, datetime

    try:
        return float(text)
    except ValueError:
        when = datetime.fromisoformat(text)
        return when if when.tzinfo else when.replace(tzinfo=UTC)


_READ: dict[str, Callable[[str], Any]] = {"at": _time, "weight": float, "position": int}
