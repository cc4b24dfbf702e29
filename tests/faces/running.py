"""Running the command line: in this process, as a program, and on a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from germane.faces.cli import main

PROGRAM = [sys.executable, "-m", "germane"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


class Cli:
    """Runs commands in this process, in a folder of their own."""

    def __init__(
        self, folder: Path, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder = folder
        self._capture = capture
        self._monkeypatch = monkeypatch

    def __call__(self, *argv: str | Path, stdin: bytes | io.BytesIO = b"") -> Outcome:
        self._capture.readouterr()
        with self._monkeypatch.context() as patch:
            given = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
            patch.setattr(sys, "stdin", io.TextIOWrapper(given))
            code = main([str(word) for word in argv])
        out, err = self._capture.readouterr()
        return Outcome(code, out, err)

    def good(self, *argv: str | Path, stdin: bytes = b"") -> str:
        """Run what must succeed without a word on stderr, and return its output."""
        outcome = self(*argv, stdin=stdin)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return outcome.out

    def bad(self, code: int, *argv: str | Path, stdin: bytes = b"") -> str:
        """Run what must fail with a code, silent stdout and one line on stderr, and return the line."""
        outcome = self(*argv, stdin=stdin)
        assert (outcome.code, outcome.out) == (code, ""), outcome
        assert outcome.err.startswith("germane: ") and outcome.err.endswith("\n"), outcome.err
        assert outcome.err.count("\n") == 1 and "Traceback" not in outcome.err, outcome.err
        return outcome.err.removeprefix("germane: ").rstrip("\n")


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what steers the command line, its colours or its buffers."""
    steering = ("GERMANE", "PYTHONUNBUFFERED", "PYTHONIOENCODING", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    return kept | {"TERM": "xterm-256color"} | more


def program(
    *argv: str | bytes,
    folder: Path,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    call: Sequence[str] = PROGRAM,
) -> subprocess.CompletedProcess[bytes]:
    """Run the program itself."""
    return subprocess.run(
        [*call, *argv],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env=env or environment(),
        timeout=60,
        check=False,
    )


def on_terminal(*argv: str, folder: Path, **more: str) -> str:
    """Run the program on a terminal of 80 columns, and return all that it printed there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *argv],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(COLUMNS="80", **more),
    ) as process:
        os.close(theirs)
        printed = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # a terminal whose other end is closed
                break
            if not data:
                break
            printed += data
        os.close(ours)
        assert process.wait(timeout=60) == 0, printed
    return printed.decode().replace("\r\n", "\n")
