"""Options that many verbs take, and those that every verb takes, before it or after it."""

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

User = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Whom results are for.", show_default=False),
]
Session = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="ID", help="Rank by what this session noted and did.", show_default=False
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        help="Only items that meet this, as in \"meta.price < 10 and not tags contains 'used'\".",
        show_default=False,
    ),
]
Collection = Annotated[
    list[str] | None,
    typer.Option(
        "--collection",
        metavar="NAME",
        help="Only items of this collection; may be repeated.",
        show_default=False,
    ),
]

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="POSITION|TIME",
        help="Answer as of then: a position of the log, or ISO 8601 with a time zone.",
        show_default=False,
    ),
]


class Given(NamedTuple):
    """What was given of the options of every verb.

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
