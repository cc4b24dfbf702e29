"""The program itself, as a shell runs it: entry points, streams, terminals, signals, imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import germane
from faces.running import ESCAPES, PROGRAM, Cli, environment, on_terminal, program

SCRIPT = [str(Path(sys.executable).with_name("germane"))]


@pytest.mark.parametrize("call", [PROGRAM, SCRIPT], ids=["python -m germane", "germane"])
def test_both_entry_points_learn_and_search(tmp_path: Path, call: list[str]) -> None:
    (tmp_path / "a.md").write_text("# Lamps\n\nA red lamp.")
    assert program("learn", "a.md", folder=tmp_path, call=call).returncode == 0
    found = program("search", "lamp", "--json", folder=tmp_path, call=call)
    assert (found.returncode, found.stderr) == (0, b"")
    assert json.loads(found.stdout)["items"][0]["heading"] == "Lamps"
    missing = program("get", "nothing", folder=tmp_path, call=call)
    assert (missing.returncode, missing.stdout) == (3, b"")
    assert missing.stderr == b"germane: there is no item 'nothing'\n"


def test_arguments_that_are_no_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("# Kaffee")
    assert program("learn", b"caf\xe9.md", folder=tmp_path).returncode == 0
    assert program("search", b"caf\xe9", folder=tmp_path).returncode == 0
    refused = program("put", "--title", b"caf\xe9", folder=tmp_path)
    assert refused.returncode == 2 and b"Traceback" not in refused.stderr


def test_output_that_cannot_be_encoded_is_escaped_and_json_is_utf8(tmp_path: Path) -> None:
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    program("put", "--id", "a", "--title", "Grüße", folder=tmp_path)
    shown = program("search", "grüße", folder=tmp_path, env=env)
    assert shown.returncode == 0 and rb"Gr\xfc\xdfe" in shown.stdout
    document = program("search", "--json", "grüße", folder=tmp_path, env=env)
    assert json.loads(document.stdout.decode())["items"][0]["title"] == "Grüße"


def test_bytes_come_out_as_they_went_in(tmp_path: Path) -> None:
    data = bytes(range(256)) * 300
    (tmp_path / "a.bin").write_bytes(data)
    program("put", "--id", "a", "--file", "a.bin", folder=tmp_path)
    assert program("get", "a", "--body", folder=tmp_path).stdout == data


@pytest.mark.parametrize(
    "argv", [["--json", "search", "lamp"], ["search", "lamp"], ["get", "big"]], ids=" ".join
)
def test_a_closed_pipe_is_no_error(cli: Cli, argv: list[str]) -> None:
    with germane.open(cli.folder / ".germane") as db:
        db.put_many(germane.Item(id=str(n), title=f"lamp {n}", body="lamp " * 400) for n in range(300))
        db.put(germane.Item(id="big", body="text " * 100_000))
    with subprocess.Popen(
        [*PROGRAM, *argv, *(["--limit", "300"] if "search" in argv else [])],
        cwd=cli.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")


def test_a_terminal_gets_colour_and_bold_words_and_lines_that_fit(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamps", "--body", "word " * 10 + "lamp" + " word" * 10)
    printed = on_terminal("search", "lamp", folder=cli.folder)
    assert re.search(r"\x1b\[1;33mlamp\x1b\[0m", printed)
    assert re.search(r"\x1b\[1mLamps\x1b\[0m", printed)
    lines = ESCAPES.sub("", printed).splitlines()
    assert max(map(len, lines)) <= 80 and [line for line in lines if line != line.rstrip()] == []
    assert "\x1b[33" not in on_terminal("search", "lamp", folder=cli.folder, NO_COLOR="1")
    assert "\x1b" not in on_terminal("search", "lamp", folder=cli.folder, TERM="dumb")


def test_a_pipe_gets_no_colour_even_when_asked_to_force_it(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamps")
    for argv in (
        ["search", "lamps"],
        ["get", "a"],
        ["stats"],
        ["search", "--mode", "stats", "lamps"],
        ["--help"],
    ):
        shown = program(*argv, folder=cli.folder, env=environment(FORCE_COLOR="1"))
        assert shown.returncode == 0 and b"\x1b" not in shown.stdout


def test_json_on_a_terminal_has_no_colour(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamps")
    assert json.loads(on_terminal("search", "lamps", "--json", folder=cli.folder))["total"] == 1


def test_a_body_on_a_terminal_cannot_steer_it(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--body", "\x1b]0;owned\x07")
    assert "\x1b]0;" not in on_terminal("get", "a", folder=cli.folder)
    assert b"\x1b]0;owned\x07" in program("get", "a", folder=cli.folder).stdout


def many_files(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:05}.md").write_text(
            f"# Lamp {number}\n\nText {number}.\n\n## Bulb {number}\n\nMore.\n"
        )
    return folder


def test_learning_on_a_terminal_shows_progress_and_then_takes_it_away(tmp_path: Path) -> None:
    many_files(tmp_path / "docs", 300)
    printed = on_terminal("learn", "docs", folder=tmp_path)
    assert "of 300 files" in printed
    assert "\x1b[1A\x1b[2KLearned 300 documents" in printed  # in place of the bar
    assert printed.rstrip().endswith("Next: 'germane search WORDS'.")


def test_learning_into_a_pipe_shows_no_progress(tmp_path: Path) -> None:
    many_files(tmp_path / "docs", 10)
    assert program("learn", "docs", folder=tmp_path).stderr == b""


INTERRUPTED = """
import os, signal, sys
from germane.faces.cli import main
from germane.knowledge import learn

cut = 0

def interrupt(frame, event, argument):
    global cut
    cut += event == "call" and frame.f_code is learn._cut.__code__
    if cut == 300:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
sys.setprofile(interrupt)
sys.exit(main(sys.argv[1:]))
"""
"""The program, with Ctrl-C pressed as it comes to the 300th file."""


def test_ctrl_c_keeps_what_was_committed_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Fails when a batch is lost, when the count is not what the store holds, or without the advice."""
    many_files(tmp_path / "docs", 350)
    stopped = program("learn", "docs", folder=tmp_path, call=[sys.executable, "-c", INTERRUPTED])
    assert (stopped.returncode, stopped.stdout) == (130, b"")
    assert stopped.stderr == (
        b"germane: interrupted; 256 documents of this run (512 new sections) stand in the store: "
        b"run the same command again to go on\n"
    )
    assert json.loads(program("stats", "--json", folder=tmp_path).stdout)["documents"] == 256
    again = json.loads(program("learn", "docs", "--json", folder=tmp_path).stdout)
    assert (again["unchanged"], again["added"], again["documents"]) == (512, 188, 350)
    assert program("check", folder=tmp_path).stdout == b"The store is sound.\n"


@pytest.mark.parametrize("argv", [["version"], ["--help"], ["search", "--help"], []], ids=" ".join)
def test_what_needs_no_database_does_not_wait_for_imports(tmp_path: Path, argv: list[str]) -> None:
    code = (
        "import sys; from germane.faces.cli import main; main(sys.argv[1:]);"
        " print(*({'numpy', 'pydantic', 'rich', 'germane.database'} & set(sys.modules)), file=sys.stderr)"
    )
    done = program(*argv, folder=tmp_path, call=[sys.executable, "-c", code])
    assert (done.returncode, done.stderr) == (0, b"\n")


def test_a_bug_is_one_line_and_shows_its_place_only_when_asked(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from germane.faces.cli import app\n"
        "@app.app.command()\n"
        "def fail() -> None:\n"
        "    raise ZeroDivisionError('division by zero')\n"
        "sys.exit(app.run(['fail']))\n"
    )
    call = [sys.executable, "-c", code]
    plain = program(folder=tmp_path, call=call)
    assert plain.returncode == 1 and plain.stderr.count(b"\n") == 1 and b"this is a bug" in plain.stderr
    asked = program(folder=tmp_path, call=call, env=environment(GERMANE_TRACEBACK="1"))
    assert b"Traceback" in asked.stderr
