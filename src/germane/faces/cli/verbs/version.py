"""``germane version``: what is installed."""

from __future__ import annotations

import platform

import typer

from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import print_json, say
from germane.version import FORMAT, __version__

EXAMPLES = """\b
Examples:
  germane version
  germane version --json
"""


def version(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Print the version, and that of the folder format."""
    if Given.of(ctx, db, as_json).as_json:
        print_json({"version": __version__, "format": FORMAT, "python": platform.python_version()})
        return
    say(f"germane {__version__} (folder format {FORMAT}, Python {platform.python_version()})")
