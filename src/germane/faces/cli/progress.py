"""The progress bar of long work, on stderr and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from germane.faces.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress as Rich
    from rich.progress import TaskID


class Bar:
    """Files done of all, their rate, and the time left; without a terminal nothing at all.

    Parameters
    ----------
    rich : rich.progress.Progress or None
    """

    def __init__(self, rich: Rich | None) -> None:
        self._rich = rich
        self._task: TaskID | None = None if rich is None else rich.add_task("looking for files", total=None)

    def files(self, done: int, total: int, path: str) -> None:
        """Show how many files are done; the database calls this."""
        del path
        self._show("learning", done, total)

    def then(self, what: str) -> None:
        """Show what is being done now that no file is left."""
        self._show(what, None, None)

    def _show(self, what: str, done: int | None, total: int | None) -> None:
        if self._rich is not None and self._task is not None:
            self._rich.update(self._task, description=what, completed=done, total=total)


@contextmanager
def bar() -> Iterator[Bar]:
    """Give a bar that is gone when the work is done."""
    if not sys.stderr.isatty():
        yield Bar(None)
        return
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        def render(self, task: progress.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")

    with progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("files"),
        Rate(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
        console=console(err=True),
        transient=True,
    ) as rich:
        yield Bar(rich)
