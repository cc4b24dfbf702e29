"""Interrupted learning, in Python: what is reported, and that nobody is made to wait."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import germane
from germane.knowledge.learn import BATCH_FILES
from germane.knowledge.renew import renew


def interrupt_at(number: int) -> Callable[[int, int, str], None]:
    def progress(done: int, total: int, path: str) -> None:
        if done == number:
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "empty.md").write_text("")
    for number in range(3 * BATCH_FILES):
        (folder / f"{number:05}.md").write_text(f"# Lamp {number}")
    return folder


def test_documents_of_a_batch_that_was_not_committed_are_not_reported(docs: Path) -> None:
    """Fails when the running tally is reported in place of that of the last commit."""
    seen = 0

    def interrupt(frame: FrameType, event: str, argument: object) -> None:
        nonlocal seen
        seen += event == "call" and frame.f_code is renew.__code__
        if seen == BATCH_FILES + 70:
            sys.setprofile(None)
            raise KeyboardInterrupt

    with germane.open() as db:
        sys.setprofile(interrupt)
        with pytest.raises(germane.Interrupted) as caught:
            db.learn(docs)
        assert caught.value.report.added == db.stats().items == BATCH_FILES


def test_interrupted_is_a_keyboard_interrupt_and_no_error() -> None:
    assert issubclass(germane.Interrupted, KeyboardInterrupt)
    assert not issubclass(germane.Interrupted, germane.Error)


def test_closing_after_an_interrupt_builds_no_index(docs: Path, tmp_path: Path) -> None:
    """Fails when the one who pressed Ctrl-C has to wait for a checkpoint."""
    with pytest.raises(germane.Interrupted), germane.open(tmp_path / "store") as db:
        db.learn(docs, progress=interrupt_at(3 * BATCH_FILES))
    assert list((tmp_path / "store").glob("views/*")) == []
    with germane.open(tmp_path / "store") as db:
        assert db.search("lamp").total == 3 * BATCH_FILES
    assert list((tmp_path / "store").glob("views/*")) != []
