"""A process that is killed while it forgets: the log is the old or the new, and no byte is left for good."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.log import state as log_state
from support.faults import FaultyDisk
from support.forgotten import NAME, clock, filled, traces


class Killing(FaultyDisk):
    """A disk at whose n-th operation the process is killed."""

    left = 0

    def operate(self, name: str) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def in_child(do: Callable[[], object]) -> bool:
    """Do something in a process of its own; tell if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            do()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or not status
    return os.WIFSIGNALED(status)


def forget_until(folder: Path, operation: int) -> None:
    """Forget on a disk at whose n-th operation the process is killed."""
    disk = Killing("killing")
    db = germane.open(folder, clock=clock)
    disk.left = operation
    db.forget(NAME)


def forget_up_to(folder: Path, where: str) -> None:
    """Forget in a process that is killed in front of a step."""
    module, _, path = where.partition(":")
    *outer, name = path.split(".")
    target: Any = import_module(module)
    for part in outer:
        target = getattr(target, part)
    setattr(target, name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    germane.open(folder, clock=clock).forget(NAME)


STEPS = (
    "germane.log.journal:Journal.scrub",
    "germane.log.checkpoint:clear_before",
    "germane.log.shown:Shown.forget",
    "germane.upkeep:is_clean",
)


def kills(folder: Path) -> Iterator[Callable[[], object]]:
    for where in STEPS:
        yield partial(forget_up_to, folder, where)
    for operation in range(1, 9_999, 13):
        yield partial(forget_until, folder, operation)


def told(db: germane.Database) -> list[Any]:
    counts = [db.count("view", id, "all") for id in "abcdef"]
    return [counts, db.user("bob"), db.user("eve"), db.top("lamp", user="bob")[0]]


def test_a_kill_in_the_middle_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at many writes to disk, and between its steps; opening the store finishes what was begun.

    Seen to fail when opening does not go on, and when nothing marks what is to be cleaned.
    """
    monkeypatch.setattr(log_state, "WORTH_SAVING", 1)
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    with filled(whole) as db:
        before = told(db)
    seen = []
    for kill in kills(folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        was_killed = in_child(kill)
        with germane.open(folder, clock=clock) as db:
            assert told(db) == before
            assert db.check() == germane.CheckReport(True)
            is_forgotten = db.user(NAME).signals == 0
            assert (traces(folder) == []) is is_forgotten
        assert (traces(folder) == []) is is_forgotten
        seen.append(is_forgotten)
        if not was_killed:
            break
    assert len(seen) > 12
    assert not was_killed
    assert {*seen} == {False, True}
