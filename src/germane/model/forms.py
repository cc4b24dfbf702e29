"""Forms: what a profile weighs, a term alone or within transforms, and how it is printed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from germane.model.errors import InvalidArgument, quoted
from germane.model.filters import Field
from germane.model.signals import WINDOWS
from germane.model.times import Micros, to_duration
from germane.model.values import check_id

PLAIN = (
    "text", "preference", "affinity", "cooccurrence", "again", "cosine", "shared_tags", "reach", "engagement",
    "hot", "rising", "controversial", "wilson", "gem", "shuffle", "created_at",
)  # fmt: skip
"""Terms that take nothing."""
OF_ONE = ("cooccurrence", "cosine", "shared_tags")
"""Terms that are of one item, which the profile says."""
OVER_CANDIDATES = ("minmax", "rank")
"""Transforms that look at all candidates."""
TRANSFORMS = ("linear", "log1p", "saturate", *OVER_CANDIDATES)

_READING = re.compile(r"([a-z][a-z0-9_]{0,63})\.(decayed|count|velocity|ratio)(?:\.([a-z0-9_]+))?")
_CALL = re.compile(r"([a-z0-9]+)(?:\(([^()]*)\))?\((.*)\)", re.DOTALL)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")


class Term(NamedTuple):
    """A number that every item has.

    Parameters
    ----------
    kind : str
        One of `PLAIN`, or ``decayed``, ``count``, ``velocity``, ``ratio``, ``recency``, ``meta``.
    signal : str or None
        Of a reading.
    of : str or None
        The window, the signal that a ratio is of, the half-life of recency, the name of the metadata, or the
        id of the item that a term of `OF_ONE` is of.
    """

    kind: str
    signal: str | None = None
    of: str | None = None

    def __str__(self) -> str:
        if self.kind in OF_ONE:
            return self.kind
        if self.kind == "meta":
            return str(Field("meta", self.of))
        return ".".join(part for part in (self.signal, self.kind, self.of) if part is not None)

    @property
    def half_life(self) -> Micros:
        """Microseconds in which recency halves."""
        return to_duration(self.of or "", "recency")

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that a schema must declare for it."""
        if self.signal is None:
            return ()
        return (self.signal, self.of) if self.kind == "ratio" and self.of else (self.signal,)


class Transform(NamedTuple):
    """What is done to a number.

    Parameters
    ----------
    name : str
        One of `TRANSFORMS`, but ``linear``, which does nothing.
    k : float or None
        Where ``saturate`` reaches one half.
    """

    name: str
    k: float | None = None

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}({number(self.k)})"


class Form(NamedTuple):
    """A term within transforms.

    Parameters
    ----------
    term : Term
    transforms : tuple of Transform
        The innermost first.

    Examples
    --------
    >>> str(parse_form("minmax( log1p(reach) )"))
    'minmax(log1p(reach))'
    """

    term: Term
    transforms: tuple[Transform, ...] = ()

    def __str__(self) -> str:
        text = str(self.term)
        for transform in self.transforms:
            text = f"{transform}({text})"
        return text

    @property
    def is_over_candidates(self) -> bool:
        """Whether its value depends on the other candidates."""
        return any(transform.name in OVER_CANDIDATES for transform in self.transforms)


def parse_form(text: object, field: str = "form") -> Form:
    """Return the form that a text says.

    Raises
    ------
    InvalidArgument
        It says none; the error names the part that is unknown.
    """
    if isinstance(text, Form):
        return text
    if not isinstance(text, str):
        raise InvalidArgument(field, f"a form is a string like 'log1p(like.decayed)', not {quoted(text)}")
    rest, outer = text.strip(), list[Transform]()
    while call := _CALL.fullmatch(rest):
        name, given, rest = call[1], call[2], call[3].strip()
        if name not in TRANSFORMS:
            raise InvalidArgument(field, f"{quoted(name)} is no transform: there are {', '.join(TRANSFORMS)}")
        if (name == "saturate") != (given is not None):
            raise InvalidArgument(field, f"{quoted(text)}: write saturate(3)(x), and others like log1p(x)")
        if len(outer) == 16:
            raise InvalidArgument(field, "has more than 16 transforms within each other")
        if name != "linear":
            outer.append(Transform(name, None if given is None else _saturation(given, field)))
    return Form(parse_term(rest, field), tuple(reversed(outer)))


def parse_term(text: object, field: str = "term") -> Term:
    """Return the term that a text says.

    Raises
    ------
    InvalidArgument
        It says none; the error names the part that is unknown.
    """
    if isinstance(text, Term):
        return text
    if not isinstance(text, str):
        raise InvalidArgument(field, f"a term is a string like 'like.decayed', not {quoted(text)}")
    text = text.strip()
    if text in PLAIN:
        return Term(text)
    if text.startswith("meta."):
        key = text[5:]
        is_quoted = _QUOTED.fullmatch(key)
        return Term("meta", of=check_id(is_quoted[1].replace("''", "'") if is_quoted else key, field))
    if text.startswith("recency."):
        try:
            to_duration(text[8:], field)
        except InvalidArgument as error:
            raise InvalidArgument(field, f"{quoted(text)}: {error.message.partition(': ')[2]}") from None
        return Term("recency", of=text[8:])
    reading = _READING.fullmatch(text)
    if reading is None:
        raise InvalidArgument(
            field,
            f"{quoted(text)} is no term: there are SIGNAL.decayed, SIGNAL.count.24h, SIGNAL.velocity.1h, "
            f"SIGNAL.ratio.SIGNAL, recency.48h, meta.NAME, {', '.join(PLAIN)}",
        )
    signal, kind, of = reading.groups()
    if kind == "decayed" and of is not None:
        raise InvalidArgument(field, f"{quoted(text)}: a decayed score has no window: write {signal}.decayed")
    if kind in ("count", "velocity") and of not in WINDOWS:
        raise InvalidArgument(field, f"{quoted(text)} needs a window: one of {', '.join(WINDOWS)}")
    if kind == "ratio" and of is None:
        raise InvalidArgument(field, f"{quoted(text)} needs a second signal: like.ratio.view")
    return Term(kind, signal, of)


def number(value: float) -> str:
    """Return a number as it is printed: the shortest text that reads back as the same.

    Examples
    --------
    >>> number(3.0), number(0.1)
    ('3', '0.1')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def finite(value: object, field: str, least: float, greatest: float) -> float:
    """Return a finite number within bounds."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not usable or not least <= value <= greatest:  # type: ignore[operator]  # not a number is outside too
        raise InvalidArgument(field, f"must be a number from {least:g} to {greatest:g}, not {quoted(value)}")
    return float(value)  # type: ignore[arg-type]


def read_number(text: str, field: str, check: Callable[[float], bool] = math.isfinite) -> float:
    """Return the number that a text says."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not check(value):
        raise InvalidArgument(field, f"{quoted(text.strip())} is no number that can be used here")
    return value


def _saturation(text: str, field: str) -> float:
    k = read_number(text, field)
    if not 1e-12 <= k <= 1e12:
        raise InvalidArgument(field, f"saturate takes a number from 1e-12 to 1e12, not {quoted(text)}")
    return k
