"""From what went wrong to one line on stderr, the place in a text where there is one, and an exit code."""

from __future__ import annotations

import typer

from germane.faces.cli.output import counted, harmless
from germane.model.errors import (
    Busy,
    Conflict,
    Corruption,
    CursorExpired,
    Error,
    Interrupted,
    InvalidArgument,
    NotFound,
    PolicyViolation,
    QuerySyntaxError,
    ReadOnly,
    SessionClosed,
)

OK = 0
FAILED_CHECK = 1
USAGE = 2
NOT_FOUND = 3
CORRUPT = 4
REFUSED = 5
BUSY = 6
INTERRUPTED = 130
"""What a shell reports for a program that Ctrl-C ended: 128 and the number of the signal."""


AROUND = 40
"""Characters of a long text to show on either side of the place that an error is about."""


class Misuse(Error):
    """What was typed does not make a command; the message says what would."""


# Of its usage errors typer names only this one in public; the base of all of them is its base.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UsageError, USAGE),
    (Misuse, USAGE),
    (InvalidArgument, USAGE),
    (QuerySyntaxError, USAGE),
    (NotFound, NOT_FOUND),
    (CursorExpired, NOT_FOUND),
    (Corruption, CORRUPT),
    (PolicyViolation, REFUSED),
    (SessionClosed, REFUSED),
    (Busy, BUSY),
    (Conflict, BUSY),
    (ReadOnly, BUSY),
    (OSError, BUSY),
    (KeyboardInterrupt, INTERRUPTED),
)
# Options whose name is not that of the parameter or of the item's field.
_OPTIONS = {"metadata": "--meta", "weights": "--weight", "collections": "--collection", "tags": "--tag"}


def exit_code(error: BaseException) -> int | None:
    """Return the exit code for an error, None for one that nobody foresaw."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), None)


def message(error: BaseException) -> str:
    """Return one line that says what was wrong and what to type instead."""
    if isinstance(error, UsageError):
        text = _usage(error)
    elif isinstance(error, InvalidArgument):
        text = _as_option(error.field) + error.message[len(error.field) :]
    elif isinstance(error, Error):
        text = error.message
    elif isinstance(error, Interrupted):
        text = (
            f"interrupted; {counted(error.report.documents, 'document')} of this run "
            f"({counted(error.report.added, 'new section')}) stand in the store: "
            "run the same command again to go on"
        )
    elif isinstance(error, KeyboardInterrupt):
        text = (
            str(error) or "interrupted; whatever was committed is kept: run the same command again to go on"
        )
    elif isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        text = f"{name}{error.strerror or error}"
    else:
        text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())


def place(error: BaseException) -> str | None:
    """Return the text that does not parse over a caret at the place, None for other errors."""
    if not isinstance(error, QuerySyntaxError) or error.text is None:
        return None
    from rich.cells import cell_len, set_cell_size

    # Cut to what stands around the place; every character keeps its own, so that the caret meets it.
    at = error.position
    text = harmless("".join(" " if char.isspace() else char for char in error.text))
    start = at - AROUND if at > 2 * AROUND else 0
    before = f"{'...' if start else ''}{text[start:at]}"
    after = text[at:] if len(text) - at <= 2 * AROUND else f"{text[at : at + AROUND]}..."
    return f"  {before}{after}\n  {set_cell_size('', cell_len(before))}^"


def _as_option(field: str) -> str:
    """Return the option by which people give a parameter."""
    head, dot, rest = field.partition(".")
    if head == "metadata key":
        return "a key of --meta"
    option = _OPTIONS.get(head, f"--{head.replace('_', '-')}" if head in _SAME else head)
    return f"{option} {rest}" if dot else option


_SAME = frozenset(
    """
    db limit offset mode match where lang id rev title body type description creator collection kind
    created_at docid schema user session candidates cursor seed as_of max_per_creator max_share
    """.split()
)


def _usage(error: Exception) -> str:
    text: str = error.format_message() if hasattr(error, "format_message") else str(error)
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "germane"
    text = text[:1].lower() + text[1:].rstrip(".")
    unknown = getattr(error, "option_name", None)
    if unknown and path.endswith(" search") and text.startswith("no such option"):
        return (
            f"{text}: words that begin with '-' go after '--', as in '{path} -- -word'; see '{path} --help'"
        )
    return f"{text}: see '{path} --help'" if path not in text else text
