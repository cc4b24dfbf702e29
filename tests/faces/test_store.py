"""Which store a command is about, who makes it, and what is said where there is none."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

import germane
from faces.running import Cli
from germane.log.file import FILE

NEEDS_A_STORE = (
    ("search", "lamp"),
    ("get", "a"),
    ("get", "--document", "a"),
    ("update", "a", "--tag", "t"),
    ("delete", "a"),
    ("delete", "--document", "a"),
    ("stats",),
    ("check",),
    ("check", "--repair"),
    ("rebuild",),
)
MAKES_A_STORE = (("init",), ("put", "--title", "Lamp"), ("learn", "-"))


def held(folder: Path) -> int:
    with germane.open(folder, read_only=True) as db:
        return db.stats().items


@pytest.mark.parametrize("argv", NEEDS_A_STORE, ids=" ".join)
def test_a_verb_on_no_store_says_what_to_type_and_makes_none(cli: Cli, argv: tuple[str, ...]) -> None:
    said = cli.bad(3, *argv)
    assert str(cli.folder / ".germane") in said and said.endswith("type: germane learn PATH")
    assert list(cli.folder.iterdir()) == []


def test_what_to_type_repeats_the_folder_as_a_shell_takes_it(cli: Cli) -> None:
    assert cli.bad(3, "--db", "my store", "stats").endswith("type: germane --db 'my store' learn PATH")


@pytest.mark.parametrize("argv", MAKES_A_STORE, ids=" ".join)
def test_init_put_and_learn_make_the_store(cli: Cli, argv: tuple[str, ...]) -> None:
    cli.good(*argv, stdin=b"# Lamp")
    assert (cli.folder / ".germane" / FILE).is_file()


@pytest.mark.parametrize("argv", [("--db", "here", "put", "--id", "a"), ("put", "--id", "a", "--db", "here")])
def test_db_stands_before_or_after_the_verb(cli: Cli, argv: tuple[str, ...]) -> None:
    cli.good(*argv, "--title", "Lamp")
    assert held(cli.folder / "here") == 1


def test_db_after_the_verb_wins_over_one_before_it(cli: Cli) -> None:
    cli.good("--db", "first", "init", "--db", "second")
    assert [path.name for path in cli.folder.iterdir()] == ["second"]


def test_the_environment_names_the_store_unless_db_does(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GERMANE_DB", str(cli.folder / "from environment"))
    cli.good("put", "--title", "Lamp")
    cli.good("--db", "elsewhere", "init")
    assert (held(cli.folder / "from environment"), held(cli.folder / "elsewhere")) == (1, 0)


def test_an_empty_environment_variable_counts_as_none(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GERMANE_DB", "")
    cli.good("init")
    assert (cli.folder / ".germane").is_dir()


def test_the_nearest_store_upward_is_found_and_none_is_made_below_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.good("init")
    below = cli.folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    cli.good("put", "--title", "Lamp")
    assert held(cli.folder / ".germane") == 1
    assert list(below.iterdir()) == []


def test_a_nearer_store_hides_one_further_up(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.good("init")
    below = cli.folder / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    cli.good("--db", ".germane", "init")
    cli.good("put", "--title", "Lamp")
    assert (held(cli.folder / ".germane"), held(below / ".germane")) == (0, 1)


def test_a_file_is_no_store(cli: Cli) -> None:
    (cli.folder / "file").write_text("text")
    assert "is a file" in cli.bad(3, "stats", "--db", "file")
    assert "is a file" in cli.bad(2, "init", "--db", "file")


def test_nothing_is_made_for_a_path_that_is_not_there(cli: Cli) -> None:
    assert "'nowhere'" in cli.bad(3, "learn", "nowhere")
    assert list(cli.folder.iterdir()) == []


def test_searching_leaves_the_index_ready_for_the_next_process(cli: Cli) -> None:
    """Fails when search opens the store read-only: then every search builds the index anew."""
    with germane.open(cli.folder / ".germane") as db:
        db.put_many(germane.Item(id=str(n), body=f"lamp {n}") for n in range(300))
    for checkpoint in (cli.folder / ".germane" / "views").iterdir():
        for file in checkpoint.iterdir():
            file.unlink()
        checkpoint.rmdir()
    cli.good("search", "lamp")
    assert list((cli.folder / ".germane" / "views").iterdir()) != []


def test_a_folder_that_cannot_be_written_is_searched_and_not_written(cli: Cli) -> None:
    """Fails when search does not fall back to read-only."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "store"
        cli.good("--db", folder, "put", "--id", "a", "--title", "Lamp")
        cli.good("--db", folder, "search", "lamp")  # loads all that is loaded lazily
        Path(name).chmod(0o755)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)
        try:
            found = json.loads(cli.good("--db", folder, "--json", "search", "lamp"))
            counted = json.loads(cli.good("--db", folder, "--json", "stats"))
            said = cli.bad(6, "--db", folder, "put", "--title", "Another")
        finally:
            if was == 0:
                os.seteuid(was)
            folder.chmod(0o755)
    assert (found["total"], counted["items"]) == (1, 1)
    assert "cannot be written" in said
