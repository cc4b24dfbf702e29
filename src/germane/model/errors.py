"""The error types: every one says what was wrong, where, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.model.reports import LearnReport


class Error(Exception):
    """Base of everything that this package raises on purpose.

    Parameters
    ----------
    message : str
        What was wrong and what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross between processes; the children take other arguments than the message.
        return _again, (type(self), self.message), self.__dict__


class InvalidArgument(Error, ValueError):
    """A value that was handed in cannot be used.

    Parameters
    ----------
    field : str
        Name of the parameter or of the item's field.
    message : str
        What is wrong with it, and what would do.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


class BeyondRetention(InvalidArgument):
    """A point of the past whose events were replaced by what they came to.

    Parameters
    ----------
    field : str
    message : str
    earliest : int
        The first position that can be read.
    """

    def __init__(self, field: str, message: str, earliest: int) -> None:
        super().__init__(field, message)
        self.earliest = earliest


class SchemaError(InvalidArgument):
    """A declaration in a schema cannot be used; `field` names it."""


class QuerySyntaxError(Error):
    """A query in the textual form, or a filter, does not parse.

    Parameters
    ----------
    message : str
        What was expected.
    position : int
        Zero-based offset of the place in the text.
    text : str or None
        The text that does not parse.
    """

    def __init__(self, message: str, position: int, text: str | None = None) -> None:
        super().__init__(f"{message} (at {position})")
        self.position = position
        self.text = text


class NotFound(Error, LookupError):
    """No such item, revision, document or store."""


class Conflict(Error):
    """The state is no longer what the caller expected it to be."""


class PolicyViolation(Error):
    """A session's policy refuses a write.

    Parameters
    ----------
    message : str
        The limit and its value.
    limit : str
        Name of the limit.
    retry_after : float or None
        Seconds until the write may succeed; None when it never will.
    """

    def __init__(self, message: str, limit: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.limit = limit
        self.retry_after = retry_after


class SessionClosed(Error):
    """The session has ended and takes no more writes."""


class CursorExpired(Error):
    """The cursor of a feed is too old, or was not made by this store."""


class Corruption(Error):
    """The folder is damaged; the message says what can be saved and how."""


class ReadOnly(Error):
    """A write was tried on a store that was opened, or lies, read-only."""


class Busy(Error):
    """Another process holds the store, or input and output failed.

    Parameters
    ----------
    message : str
        What stood in the way.
    retry_after : float
        Seconds after which to try again.
    """

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Interrupted(KeyboardInterrupt):
    """Learning was interrupted; what was committed until then is kept.

    Parameters
    ----------
    report : LearnReport
        Counts what was kept. Learning the same paths again goes on from there.
    """

    def __init__(self, report: LearnReport) -> None:
        super().__init__(f"{report.documents} documents were kept: learn the same paths again to go on")
        self.report = report


def quoted(value: object) -> str:
    """Return how a value is written, cut to 100 characters, for the message of an error.

    Examples
    --------
    >>> quoted("naïve"), quoted(10**5000)
    ("'naïve'", 'a value of type int')
    """
    try:
        text = repr(value)
    except Exception:  # a number of very many digits, or a class that cannot say
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:97]}..."


def _again(kind: type[Error], message: str) -> Error:
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    return error
