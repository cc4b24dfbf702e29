"""``germane stats``: what a store holds, in numbers."""

from __future__ import annotations

import typer

from germane.faces.cli import store
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

EXAMPLES = """\b
Examples:
  germane stats
  germane --db notes/.germane stats --json
"""


def stats(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Show how much a store holds; all numbers are exact."""
    given = Given.of(ctx, db, as_json)
    with store.reading(given.db) as database:
        held = database.stats()
        folder = database.path
    if given.as_json:
        print_json(held)
        return
    say(f"{folder}")
    for name, number in (
        ("documents", f"{held.documents:,}"),
        ("items", f"{held.items:,}"),
        ("searchable sections", f"{held.total_sections:,}"),
        ("distinct terms", f"{held.total_terms:,}"),
        ("tokens", f"{held.total_tokens:,}"),
        ("tokens in a section, mean", f"{held.avg_section_length:,.1f}"),
        (
            "of its heading, body, code",
            "  ".join(
                f"{mean:,.1f}"
                for mean in (held.avg_heading_length, held.avg_body_length, held.avg_code_length)
            ),
        ),
        ("revisions kept", f"{held.revisions:,}"),
        ("events in the log", f"{held.events:,}"),
        ("size", size(held.bytes)),
        ("language", held.lang),
        *((f"collection {name}", f"{count:,}") for name, count in held.collections.items()),
    ):
        say(f"  {name:<28}{number}")


def size(count: int) -> str:
    """Return a number of bytes as people read it.

    Examples
    --------
    >>> size(512), size(3_400_000)
    ('512 bytes', '3.4 MB')
    """
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 1000**power:
            return f"{count / 1000**power:.1f} {unit}"
    return f"{count} bytes"
