"""``germane init``: make a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from germane.faces.cli import store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say
from germane.model.errors import InvalidArgument

EXAMPLES = """\b
Examples:
  germane init
  germane --db notes init --lang german
"""


def init(
    ctx: typer.Context,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="LANG",
            help="Language of what names none: a name or code (default: english).",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file of declarations.", show_default=False)
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Make an empty store; one that is there already stays as it is."""
    from germane.database import open
    from germane.model.schema import Schema
    from germane.model.signals import BUILT_IN

    if lang is not None and schema is not None:
        raise Misuse("--lang and --schema are two ways to say the same: put lang = '...' into the schema")
    given = Given.of(ctx, db, as_json)
    declared = Schema.from_toml(schema) if schema else None
    if lang is not None:
        declared = Schema(BUILT_IN, lang=lang)
    folder = store.find(given.db)
    is_new = not store.exists(folder)
    with open(folder, declared if is_new else None) as database:
        held = database.schema
    if declared is not None and declared != held:
        raise InvalidArgument(
            "lang" if lang is not None else "schema",
            f"the store in {folder} exists already, with lang {held.lang!r}, and init changes nothing in it: "
            "make another with --db PATH",
        )
    if given.as_json:
        print_json({"path": str(folder), "created": is_new, "lang": held.lang})
        return
    say(f"{'Made a store in' if is_new else 'There is a store already in'} {folder} ({held.lang}).")
    say("Next: 'germane learn PATH' fills it, 'germane search WORDS' searches it.")
