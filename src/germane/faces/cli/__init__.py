"""The command line: one verb a file under `verbs`, each the twin of a method of the database."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Without the program's name; what the program was called with, by default.
    """
    try:
        from germane.faces.cli.app import run

        return run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while the program was still loading, or a second time
        sys.stderr.write("germane: interrupted\n")
        return 130
