"""What goes to the terminal: one JSON document for programs, or text for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Stored text is printed to terminals: what could steer one is shown as a picture of itself instead.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_WIDE = 1 << 16


def harmless(text: str) -> str:
    r"""Return a text of equal length without control characters.

    Examples
    --------
    >>> harmless("a\x1b[31mb")
    'a␛[31mb'
    """
    return text.translate(_PICTURES)


def print_json(value: Any) -> None:
    """Print a value as one JSON document in UTF-8, whatever the terminal's encoding is."""
    from germane.model.plain import to_json

    sys.stdout.flush()
    sys.stdout.buffer.write(to_json(value).encode() + b"\n")
    sys.stdout.buffer.flush()


def say(text: str = "") -> None:
    """Print a line for people."""
    sys.stdout.write(f"{harmless(text)}\n")


def warn(text: str, place: str | None = None) -> None:
    """Print a line on stderr, and under it the place that it is about."""
    sys.stderr.write(f"germane: {harmless(text)}\n")
    if place is not None:
        sys.stderr.write(f"{harmless(place)}\n")


def console(*, err: bool = False) -> Console:
    """Return a console for stdout or stderr: colour only on a terminal, and lines uncut elsewhere."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # what rich is handling when it calls this; it would end the program with code 1

    stream = sys.stderr if err else sys.stdout
    is_terminal = stream.isatty()
    return Plain(
        file=stream,
        force_terminal=is_terminal,
        width=None if is_terminal else _WIDE,
        markup=False,
        highlight=False,
        emoji=False,
    )


def table(*columns: str, numbers: Iterable[str] = ()) -> Table:
    """Return an empty table; columns named in `numbers` are aligned to the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name in tuple(numbers) else "left", overflow="fold")
    return made


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "file"), counted(2000, "entry", "entries")
    ('1 file', '2,000 entries')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
