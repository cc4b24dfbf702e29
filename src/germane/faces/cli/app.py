"""The program: its verbs, what it says without one, and how it ends."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from germane.faces.cli import failures, store
from germane.faces.cli.failures import Misuse
from germane.faces.cli.options import Db, Given, Json
from germane.faces.cli.output import say, warn
from germane.faces.cli.verbs import (
    check,
    delete,
    explain,
    get,
    import_,
    init,
    learn,
    put,
    query,
    relate,
    related,
    replay,
    retrieve,
    schema,
    search,
    session,
    shell,
    signal,
    stats,
    tune,
    update,
    user,
    version,
    warm,
)
from germane.version import __version__

VERBS = (
    (init.init, init.EXAMPLES),
    (learn.learn, learn.EXAMPLES),
    (search.search, search.EXAMPLES),
    (retrieve.retrieve, retrieve.EXAMPLES),
    (query.query, query.EXAMPLES),
    (shell.shell, shell.EXAMPLES),
    (explain.explain, explain.EXAMPLES),
    (get.get, get.EXAMPLES),
    (put.put, put.EXAMPLES),
    (update.update, update.EXAMPLES),
    (delete.delete, delete.EXAMPLES),
    (signal.signal, signal.EXAMPLES),
    (relate.relate, relate.EXAMPLES),
    (related.related, related.EXAMPLES),
    (user.user, user.EXAMPLES),
    (session.session, session.EXAMPLES),
    (import_.import_, import_.EXAMPLES),
    (replay.replay, replay.EXAMPLES),
    (tune.tune, tune.EXAMPLES),
    (stats.stats, stats.EXAMPLES),
    (schema.schema, schema.EXAMPLES),
    (check.check, check.EXAMPLES),
    (check.rebuild, check.REBUILD_EXAMPLES),
    (check.gc, check.GC_EXAMPLES),
    (warm.warm, warm.EXAMPLES),
    (version.version, version.EXAMPLES),
)


class Verbs(TyperGroup):
    """The verbs; a mistyped one gets the nearest as an answer."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that the arguments begin with."""
        verb = args[0]
        if verb in self.commands or verb.startswith("-"):
            return super().resolve_command(ctx, args)
        near = difflib.get_close_matches(verb.lower(), self.commands, n=1, cutoff=0.5)
        instead = (
            f"did you mean 'germane {near[0]}'?" if near else f"to look for it, type 'germane search {verb}'."
        )
        raise Misuse(f"there is no verb {verb!r}: {instead} 'germane --help' lists all")


app = typer.Typer(
    name="germane",
    cls=Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb, examples in VERBS:
    app.command(verb.__name__.rstrip("_"), epilog=examples)(verb)


@app.callback(invoke_without_command=True)
def germane(
    ctx: typer.Context,
    db: Db = None,
    as_json: Json = False,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Ranked search over what you put in it, in one folder, with no server."""
    ctx.obj = Given(db, as_json)
    if show_version:
        version.version(ctx, db, as_json)
        raise typer.Exit
    if ctx.invoked_subcommand is not None:
        return
    if as_json:
        raise Misuse("--json needs a verb, as in 'germane search --json WORDS'")
    folder = store.find(db)
    state = (
        f"The store is {folder}" if store.exists(folder) else f"There is no store yet: learn makes {folder}"
    )
    say(
        f"Germane {__version__}: ranked search over what you put in it, in one folder.\n\n"
        "  germane learn docs/         learn a folder of Markdown and plain text\n"
        "  germane search ownership    find sections in it, the best first\n"
        "  germane --help              every verb; 'germane VERB --help' for one of them\n\n"
        f"{state}"
    )


def run(argv: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str
        Without the program's name.
    """
    for name, mode in (("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started the program
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that cannot be encoded is printed escaped, not fatal
            stream.reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app)
    try:
        # Not through typer's own main, which has other ideas of messages and exit codes.
        try:
            with command.make_context("germane", list(argv)) as ctx:
                command.invoke(ctx)
        except typer.Exit as exit:
            return exit.exit_code
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_stdout()
        return failures.OK
    except (Exception, KeyboardInterrupt) as error:
        return _failed(error)
    return failures.OK


def _failed(error: BaseException) -> int:
    code = failures.exit_code(error)
    if code is None:
        if os.environ.get("GERMANE_TRACEBACK"):
            raise error
        warn(f"{failures.message(error)}: this is a bug; GERMANE_TRACEBACK=1 shows where, for a report of it")
        return failures.FAILED_CHECK
    warn(failures.message(error), failures.place(error))
    return code


def _let_go_of_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush of it fails on nothing."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
