"""Options that every verb takes, before the verb or after it."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH",
        show_default=False,
        help="The store's folder: else $GERMANE_DB, the nearest .germane upward, or ./.germane.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


class Given(NamedTuple):
    """What was given of these options.

    Parameters
    ----------
    db : str or None
        The store's folder as typed.
    as_json : bool
    """

    db: str | None = None
    as_json: bool = False

    @classmethod
    def of(cls, ctx: typer.Context, db: str | None, as_json: bool) -> Given:
        """Return what holds for a verb: its own options before those that stood in front of it."""
        outer = ctx.obj if isinstance(ctx.obj, Given) else cls()
        return cls(outer.db if db is None else db, outer.as_json or as_json)
