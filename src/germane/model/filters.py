"""A filter: an immutable expression over the fields of items, that prints itself in two forms."""

from __future__ import annotations

import keyword
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from germane.model.errors import InvalidArgument, quoted
from germane.model.times import to_datetime, to_micros
from germane.model.values import Scalar, check_id, check_value

FIELDS = ("id", "type", "tags", "creator", "document", "collection", "kind", "created_at")
"""What a filter can ask of an item, beside its metadata."""
STATES = ("unseen", "saved", "following", "in_progress", "unseen_in_session")
"""What a filter can ask of an item and the user whom results are for, in one word."""
ORDERED = ("<", "<=", ">", ">=")
OF_SESSION = "unseen_in_session"
"""The one that asks something of the session."""
OPERATORS = ("=", "!=", *ORDERED, "in", "contains")
DEEPEST = 100
"""How deep expressions may be nested."""

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BARE_PATH = re.compile(rf"{_BARE.pattern}(?:\.[A-Za-z0-9_]+)*")


class Field(NamedTuple):
    """What is compared: a field of an item, or one name of its metadata.

    Parameters
    ----------
    name : str
        One of `FIELDS`, or ``meta``.
    key : str or None
        The name within the metadata.
    """

    name: str
    key: str | None = None

    def __str__(self) -> str:
        if self.key is None:
            return self.name
        return f"meta.{self.key if _BARE_PATH.fullmatch(self.key) else in_quotes(self.key)}"

    def python(self) -> str:
        """Return the field as Python builds it."""
        if self.key is None:
            return f"where.{self.name}"
        is_bare = _BARE.fullmatch(self.key) and self.key[0] != "_" and not keyword.iskeyword(self.key)
        return f"where.meta.{self.key}" if is_bare else f"where.meta[{self.key!r}]"


class Filter:
    """An expression that an item meets or does not; build it with `germane.where`, or give a string.

    Filters combine with ``&``, ``|`` and ``~``. Two that print alike are equal.

    Examples
    --------
    >>> from germane import where
    >>> cheap = (where.meta.price < 10) & ~where.tags.contains("used")
    >>> str(cheap)
    "meta.price < 10 and not tags contains 'used'"
    >>> cheap
    (where.meta.price < 10) & ~where.tags.contains('used')
    """

    binding = 3
    """How tightly its text holds together: 0 or, 1 and, 2 not, 3 a comparison."""
    depth = 1
    """Levels of nesting."""
    state: str | None = None
    """The first of `STATES` that it asks for, None when it asks nothing of the user."""

    def __init__(self) -> None:
        raise InvalidArgument("where", "a filter compares something: make one as in where.meta.price < 10")

    @abstractmethod
    def python(self) -> str:
        """Return the expression of Python that builds this filter."""

    @abstractmethod
    def _print(self) -> str:
        """Return its text."""

    @abstractmethod
    def _parts(self) -> tuple[Any, ...]:
        """Return what it was made of, as its class takes it."""

    @cached_property
    def _text(self) -> str:
        return self._print()

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self.python()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __and__(self, other: Filter) -> And:
        return And((self, other)) if isinstance(other, Filter) else NotImplemented

    def __or__(self, other: Filter) -> Or:
        return Or((self, other)) if isinstance(other, Filter) else NotImplemented

    def __invert__(self) -> Not:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(
            "where",
            "a filter is neither true nor false: combine filters with &, | and ~, each comparison in "
            "parentheses, instead of and, or, not or a chain like 1 < x < 2",
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a filter is immutable: make another instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a filter is immutable: make another without {name!r}")

    def __reduce__(self) -> tuple[Callable[..., Filter], tuple[Any, ...]]:
        return type(self), self._parts()

    def _set(self, **values: object) -> None:
        self.__dict__.update(values)


class Comparison(Filter):
    """A field beside a value.

    Parameters
    ----------
    field : Field
    operator : str
        One of `OPERATORS`.
    value : str, int, float, bool, aware datetime; a list of them for ``in``
        ``created_at`` takes a time: an aware datetime, seconds since the epoch, or ISO 8601 with a zone.

    Raises
    ------
    InvalidArgument
        A field or operator that does not exist, or a value that cannot be compared so.
    """

    field: Field
    operator: str
    value: Scalar | tuple[Scalar, ...]

    def __init__(self, field: Field, operator: str, value: object) -> None:
        if field.name not in FIELDS and (field.name != "meta" or field.key is None):
            raise InvalidArgument("where", unknown_field(field.name))
        if field.key is not None:
            field = Field("meta", check_id(field.key, "where"))
        if operator not in OPERATORS:
            raise InvalidArgument("where", f"{quoted(operator)} is none of {', '.join(OPERATORS)}")
        checked: Scalar | tuple[Scalar, ...]
        if operator == "in":
            if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
                raise InvalidArgument("where", f"'in' takes a list of values, not {type(value).__name__}")
            checked = tuple(_value(field, each) for each in value)
            if isinstance(value, (set, frozenset)):
                checked = tuple(sorted(checked, key=_literal))
        else:
            checked = _value(field, value)
        if operator in ORDERED and isinstance(checked, bool):
            raise InvalidArgument("where", f"true and false have no order: {operator!r} cannot compare them")
        self._set(field=field, operator=operator, value=checked)

    def _parts(self) -> tuple[Any, ...]:
        return self.field, self.operator, self.value

    def _print(self) -> str:
        if isinstance(self.value, tuple):
            return f"{self.field} in ({', '.join(map(_literal, self.value))})"
        return f"{self.field} {self.operator} {_literal(self.value)}"

    def python(self) -> str:
        """Return the expression of Python that builds this filter."""
        field = self.field.python()
        if isinstance(self.value, tuple):
            return f"{field}.in_([{', '.join(map(repr, self.value))}])"
        if self.operator == "contains":
            return f"{field}.contains({self.value!r})"
        return f"{field} {'==' if self.operator == '=' else self.operator} {self.value!r}"


class State(Filter):
    """What an item is to the user whom results are for; any query with it needs ``user=``.

    Parameters
    ----------
    state : {"unseen", "saved", "following", "in_progress", "unseen_in_session"}
        No signal of theirs was on it; they saved it; they follow its creator; their latest ``completion`` of
        it lies between 0 and 0.9; no signal of the session was on it, for which ``session=`` is needed.

    Raises
    ------
    InvalidArgument
        There is no such state.
    """

    state: str

    def __init__(self, state: str) -> None:
        if state not in STATES:
            raise InvalidArgument("where", f"{quoted(state)} is none of {', '.join(STATES)}")
        self._set(state=state)

    def _parts(self) -> tuple[Any, ...]:
        return (self.state,)

    def _print(self) -> str:
        return self.state

    def python(self) -> str:
        """Return the expression of Python that builds this filter."""
        return f"where.{self.state}"


def states_of(condition: Filter) -> frozenset[str]:
    """Return all that a filter asks of the user or the session.

    Examples
    --------
    >>> sorted(states_of(State("saved") & ~State("unseen")))
    ['saved', 'unseen']
    """
    if isinstance(condition, State):
        return frozenset((condition.state,))
    parts = condition.parts if isinstance(condition, Joined) else ()
    if isinstance(condition, Not):
        parts = (condition.part,)
    return frozenset().union(*map(states_of, parts))


class Joined(Filter):
    """Several filters joined by one word; parts that are joined by the same word are taken apart.

    Parameters
    ----------
    parts : iterable of Filter
        At least two.
    """

    parts: tuple[Filter, ...]
    _word: str
    _sign: str

    def __init__(self, parts: Iterable[Filter]) -> None:
        flat: list[Filter] = []
        for part in parts:
            flat += part.parts if isinstance(part, type(self)) else (part,)
        if len(flat) < 2:
            raise InvalidArgument("where", f"{self._word!r} joins at least two filters")
        state = next((part.state for part in flat if part.state is not None), None)
        self._set(parts=tuple(flat), depth=_deeper(flat), state=state)

    def _parts(self) -> tuple[Any, ...]:
        return (self.parts,)

    def _print(self) -> str:
        return f" {self._word} ".join(
            f"({part})" if part.binding < self.binding else str(part) for part in self.parts
        )

    def python(self) -> str:
        """Return the expression of Python that builds this filter."""
        return f" {self._sign} ".join(_operand(part, self.binding) for part in self.parts)


class And(Joined):
    """All of some filters.

    Parameters
    ----------
    parts : iterable of Filter
        At least two.
    """

    binding = 1
    _word, _sign = "and", "&"


class Or(Joined):
    """Any of some filters.

    Parameters
    ----------
    parts : iterable of Filter
        At least two.
    """

    binding = 0
    _word, _sign = "or", "|"


class Not(Filter):
    """What does not meet a filter, the items without a value for it included.

    Parameters
    ----------
    part : Filter
    """

    binding = 2
    part: Filter

    def __init__(self, part: Filter) -> None:
        self._set(part=part, depth=_deeper([part]), state=part.state)

    def _parts(self) -> tuple[Any, ...]:
        return (self.part,)

    def _print(self) -> str:
        return f"not ({self.part})" if self.part.binding < self.binding else f"not {self.part}"

    def python(self) -> str:
        """Return the expression of Python that builds this filter."""
        return f"~{_operand(self.part, self.binding)}"


def unknown_field(name: str) -> str:
    """Return what to say about a name that is no field."""
    return f"{quoted(name)} is no field: there are {', '.join(FIELDS)}, and meta.NAME for metadata"


def read_time(value: object) -> datetime:
    """Return a time: an aware datetime, seconds since the epoch, or ISO 8601 with a zone."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is None or moment.utcoffset() is None:
            lacks = "is no time" if moment is None else "has no time zone"
            raise InvalidArgument(
                "where", f"{quoted(value)} {lacks}: write one like 2026-01-01T00:00:00+00:00"
            )
        value = moment
    return to_datetime(to_micros(value, "where"))  # type: ignore[arg-type]  # it refuses what is no time


def _deeper(parts: Iterable[Filter]) -> int:
    depth = 1 + max(part.depth for part in parts)
    if depth > DEEPEST:
        raise InvalidArgument("where", f"is nested deeper than {DEEPEST} levels: make it flatter")
    return depth


def _operand(part: Filter, binding: int) -> str:
    """Return a part in Python, where comparisons bind less tightly than &, | and ~."""
    text = part.python()
    is_bare = isinstance(part, Comparison) and part.operator not in ("in", "contains")
    return f"({text})" if is_bare or part.binding < binding else text


def _value(field: Field, value: object) -> Scalar:
    if field.name == "created_at":
        return read_time(value)
    checked = check_value(value, "where")
    if isinstance(checked, tuple):
        raise InvalidArgument("where", "a list of values goes with 'in'; one value with every other operator")
    return checked


def _literal(value: Scalar) -> str:
    if isinstance(value, str):
        return in_quotes(value)
    if isinstance(value, datetime):
        return f"time {in_quotes(value.isoformat())}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def in_quotes(text: str) -> str:
    """Return a text as a string in single quotes.

    Examples
    --------
    >>> in_quotes("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
