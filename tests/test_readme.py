"""What the README says to type does what it says: its commands and its Python, run in a copy of the docs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SHELL = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
COMMANDS = [shlex.split(line, comments=True) for line in SHELL if line.startswith("germane ")]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    return tmp_path


def run(here: Path, argv: list[str]) -> str:
    done = subprocess.run(
        argv,
        cwd=here,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_opens_with_two_commands_that_exist() -> None:
    first, second = (line for line in SHELL[:2])
    assert first.startswith("./try ")
    assert second.startswith("./test ")
    for name in ("try", "test", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK), name


def test_its_commands_do_what_they_say(here: Path) -> None:
    """Fails when a search that it shows finds nothing in this project's own documents, or a feed is empty."""
    verbs = (
        "learn search search signal search signal retrieve retrieve related user explain shell check".split()
    )
    assert [argv[1] for argv in COMMANDS] == verbs
    id = "ID"
    for argv in COMMANDS:
        said = run(here, [sys.executable, "-m", *(id if word == "ID" else word for word in argv)])
        if argv[1] == "search":
            assert "docs/" in said
            assert "Nothing found" not in said
            id = said.partition("; id ")[2].split()[0]
        if argv[1] in ("retrieve", "explain"):
            assert id in said
            assert not re.search(r"\b0 items", said)
        if "--explain" in argv:
            assert "proximity" in said
            assert ("behaviour.most_liked" in said) == ("--profile" in argv)
        if argv[1] == "user":
            assert "ann is forgotten: 1 event changed" in said


def test_its_python_runs(here: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    said = run(here, [sys.executable, "-c", "".join(blocks)])
    assert "Lamp" in said
    assert "text.lamp.heading" in said
    assert "[('post-7', {'log1p(like.decayed)': " in said
    assert "[('lamp', {'preference': 0.4, " in said
    assert "lamp {'studio': 0.99" in said


def test_what_the_first_command_runs_finds_something(here: Path) -> None:
    query = shlex.split(SHELL[0], comments=True)[2]
    run(here, [sys.executable, "-m", "germane", "learn", "docs"])
    assert "docs/reliability.md" in run(
        here, [sys.executable, "-m", "germane", "search", "--limit", "5", query]
    )


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / target).exists(), target
