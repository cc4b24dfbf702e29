"""The command line beside the Python API: the same verbs, complete help, examples that parse."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

import pytest
import typer

from faces.running import Cli
from germane.database import Database
from germane.faces.cli.app import VERBS, app

TWINS = {
    "put": "put",
    "update": "update",
    "delete": "delete",
    "delete_document": "delete --document",
    "learn": "learn",
    "learn_text": "learn --docid",
    "get": "get",
    "document": "get --document",
    "search": "search",
    "retrieve": "retrieve",
    "explain": "explain",
    "related": "related",
    "query": "query",
    "signal": "signal",
    "signal_many": "import",
    "relate": "relate",
    "unrelate": "relate --undo",
    "user": "user",
    "forget": "user --erase",
    "start_session": "session --agent",
    "session": "session",
    "audit": "session",
    "stats": "stats",
    "check": "check",
    "rebuild": "rebuild",
    "gc": "gc --run",
}
"""Each method of the database, and the verb (and option) that is its twin."""

WITHOUT_A_TWIN = {
    "put_many": "a command puts one item; a batch of them is a program, and learn for files",
    "put_document": "a document's sections do not fit on a command line: learn cuts them from a file",
    "top": "'search --json' gives the same ids and scores, with the rest of the page",
    "decayed": "one number of one item is for programs",
    "count": "one number of one item is for programs",
    "velocity": "one number of one item is for programs",
    "close": "every command closes what it opened",
}
VERBS_OF_THEIR_OWN = {
    "init": "open, with a schema",
    "schema": "Database.schema, and Schema.from_toml",
    "replay": "germane.evaluation.replay",
    "tune": "germane.evaluation.tune",
    "version": "germane.__version__",
    "warm": "germane.warm",
    "shell": "query, again and again",
}

command: Any = typer.main.get_command(app)


def test_every_method_has_its_verb_and_every_verb_its_method() -> None:
    """Fails when either side gains a name that the other lacks."""
    methods = {
        name for name, _ in inspect.getmembers(Database, inspect.isfunction) if not name.startswith("_")
    }
    assert methods == set(TWINS) | set(WITHOUT_A_TWIN)
    verbs = {twin.split()[0] for twin in TWINS.values()}
    assert set(command.commands) == verbs | set(VERBS_OF_THEIR_OWN)


@pytest.mark.parametrize("twin", TWINS.values())
def test_the_options_that_make_a_twin_exist(twin: str) -> None:
    verb, *options = twin.split()
    known = {option for parameter in command.commands[verb].params for option in parameter.opts}
    assert set(options) <= known


@pytest.mark.parametrize("verb", sorted(command.commands))
def test_help_is_complete(cli: Cli, verb: str) -> None:
    """Every verb says what it does, explains every option, and shows examples."""
    printed = cli.good(verb, "--help")
    assert (
        command.commands[verb].help
        and "Examples:" in printed
        and f"    germane {verb}"
        in printed.replace("germane --db", "germane")
        .replace(" notes/.germane", "")
        .replace(" notes init", " init")
    )
    for parameter in command.commands[verb].params:
        assert getattr(parameter, "help", None), parameter.name
        assert max(parameter.opts, key=len) in printed or parameter.metavar in printed
    assert cli.good(verb, "-h") == printed


def test_verbs_in_the_help_have_whole_sentences(cli: Cli) -> None:
    listed = cli.good("--help").partition("Commands:\n")[2].strip().splitlines()
    assert [line.split()[0] for line in listed] == [verb.__name__.rstrip("_") for verb, _ in VERBS]
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def examples() -> list[str]:
    lines = [line.strip() for _, text in VERBS for line in text.splitlines()]
    return [line[line.index("germane ") :] for line in lines if "germane " in line]


@pytest.mark.parametrize("example", examples())
def test_examples_are_commands_that_parse(example: str) -> None:
    words = shlex.split(example.split(" > ")[0])[1:]
    if words[0] == "--db":
        words = words[2:]
    command.commands[words[0]].make_context(words[0], words[1:]).close()
