"""``germane warm``: make the machine code of searching ahead of its first use."""

from __future__ import annotations

import time

import typer

from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say

EXAMPLES = """\b
Examples:
  germane warm

As a step of building an image, for instance: without it, the first program that searches much
compiles while it answers, for half a minute, and answers more slowly until then.
"""


def warm(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Compile what makes searching fast, and keep it beside the package."""
    given = Given.of(ctx, db, as_json)
    from germane.text.compiled import warm as compile_all

    began = time.perf_counter()
    compile_all()
    seconds = time.perf_counter() - began
    if given.as_json:
        print_json({"seconds": seconds})
        return
    say(f"Ready, in {seconds:.1f} s.")
