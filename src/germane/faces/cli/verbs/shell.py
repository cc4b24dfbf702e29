"""``germane shell``: statements one by one, at a prompt or from a script."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from germane.faces.cli import failures, store
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import say, warn
from germane.faces.cli.statements import answer
from germane.faces.cli.verbs import signal

if TYPE_CHECKING:
    from germane.database import Database

EXAMPLES = """\b
Examples:
  germane shell
  cat statements.txt | germane shell
  cat statements.txt | germane shell --json > pages.jsonl
"""

PROMPT = "germane> "
HELP = """\
RETRIEVE items [FOR USER u] [FOR SESSION s] [USING PROFILE p] [SIMILAR TO id] [CANDIDATES a, b]
         [IN COLLECTIONS a, b] [WHERE filter] [DIVERSITY max_per_creator 2, max_share meta.x 0.6, relax]
         [FACETS type, tag] [SEED s] [CURSOR c] [LIMIT n] [EXPLAIN] [AS OF when]
SEARCH "text" [MODE stats] [MATCH all] [FOR USER u] [FOR SESSION s] [USING PROFILE p] [PERSONALIZATION 0.3]
         [IN COLLECTIONS a, b] [WHERE filter] [ALGO a] [SCORER s] [WEIGHTS heading 2, body 1] [AGGREGATE a]
         [RERANK n] [TYPOS false] [LANG de] [FACETS type, tag] [SORT BY field] [OFFSET n] [LIMIT n] [EXPLAIN]
         [AS OF when]
signal NAME ITEM [--user NAME] [--weight NUMBER] [--at TIME] [--event-id ID]
help, quit"""


def shell(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Answer statements one by one, at a prompt or from stdin.

    A statement is one line: a RETRIEVE, a SEARCH, signal, help or quit; lines that begin with # are
    comments. One that fails says why, and the next goes on; a script ends with the exit code of the first
    that failed. Ctrl-D leaves.
    """
    given = Given.of(ctx, db, as_json)
    at_prompt = sys.stdin.isatty()
    failed = failures.OK
    with store.reading(given.db) as database:
        for line in _typed() if at_prompt else sys.stdin:
            statement = line.strip().removesuffix(";").rstrip()
            if statement.lower() in ("quit", "exit"):
                break
            if statement and statement[0] != "#":
                code = _run(database, statement, given.as_json)
                failed = failed or code
    if failed and not at_prompt:
        raise typer.Exit(failed)


def _run(database: Database, statement: str, as_json: bool) -> int:
    """Run a statement, and return its exit code."""
    word = statement.split()[0].lower()
    try:
        if word == "help":
            say(HELP)
        elif word == "signal":
            _signal(database, statement, as_json)
        else:
            answer(database, statement, as_json)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except Exception as error:
        code = failures.exit_code(error)
        if code is None:
            raise
        sys.stdout.flush()
        warn(failures.message(error), failures.place(error))
        return code
    return failures.OK


def _signal(database: Database, statement: str, as_json: bool) -> None:
    try:
        _, *words = shlex.split(statement)
    except ValueError as error:
        raise failures.Misuse(f"{error}: quotes come in pairs") from None
    verb = typer.Typer(add_completion=False, rich_markup_mode=None)
    verb.command()(signal.signal)
    with suppress(typer.Exit), typer.main.get_command(verb).make_context("signal", words) as ctx:
        if ctx.params["db"] is not None:
            raise failures.Misuse("--db goes with 'germane shell': what it records goes into its own store")
        event = {name: value for name, value in ctx.params.items() if name not in ("db", "as_json")}
        signal.record(database, event, as_json or ctx.params["as_json"])


def _typed() -> Iterator[str]:
    """Yield lines typed at a prompt; Ctrl-C drops the line, Ctrl-D ends."""
    with suppress(ImportError):
        import readline  # noqa: F401  # input() has a history then
    say("RETRIEVE, SEARCH and signal; 'help' shows their clauses, 'quit' or Ctrl-D leaves.")
    while True:
        sys.stdout.flush()
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            say()
        except EOFError:
            say()
            return
