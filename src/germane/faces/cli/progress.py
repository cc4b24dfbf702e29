"""The progress bar of long work, on stderr and only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from germane.faces.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """Files done of all, their rate, and the time left; without a terminal nothing at all.

    Parameters
    ----------
    rich : rich.progress.Progress or None
    """

    def __init__(self, rich: Progress | None) -> None:
        self._rich = rich
        self._shown = ""

    def files(self, done: int, total: int, path: str) -> None:
        """Show how many files are done; the database calls this."""
        del path
        self._show("learning", done, total)

    def count(self, what: str, done: int, total: int) -> None:
        """Show how much of something is done."""
        self._show(what, done, total)

    def say(self, what: str) -> None:
        """Show what is being done where there is nothing to count."""
        self._show(what, 0, None)

    def _show(self, what: str, done: int, total: int | None) -> None:
        if self._rich is None:
            return
        if what != self._shown:
            for task in self._rich.task_ids:
                self._rich.remove_task(task)
            self._rich.add_task(what, total=total)
            self._shown = what
            self._rich.refresh()
        self._rich.update(self._rich.task_ids[-1], completed=done)


@contextmanager
def bar() -> Iterator[Bar]:
    """Give a bar that is gone when the work is done."""
    if not sys.stderr.isatty():
        yield Bar(None)
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Counts(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(counts(int(task.completed), task.total, task.speed, task.time_remaining))

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        Counts(),
        console=console(err=True),
        transient=True,
    ) as rich:
        yield Bar(rich)


def counts(done: int, total: float | None, speed: float | None, seconds_left: float | None) -> str:
    """Return what stands behind the bar.

    Examples
    --------
    >>> counts(1200, 5000, 400.0, 9.5), counts(0, None, None, None)
    ('1,200 of 5,000 files, 400/s, 10 s left', '')
    """
    if total is None:
        return ""
    parts = [f"{done:,} of {int(total):,} files"]
    if speed:
        parts.append(f"{speed:,.0f}/s")
    if seconds_left:
        minutes, seconds = divmod(round(seconds_left), 60)
        parts.append(f"{minutes} min {seconds} s left" if minutes else f"{seconds} s left")
    return ", ".join(parts)
