"""A policy: what an agent may write in a session, for how long, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import msgspec

from germane.model.errors import InvalidArgument, SchemaError, quoted
from germane.model.filter_text import parse_filter
from germane.model.filters import Filter
from germane.model.tables import check_table
from germane.model.times import DAY, SECOND, Micros, to_duration
from germane.model.values import check_count, check_names

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_AGENT = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_LEAST, _GREATEST = 1_000, 365_250 * DAY
_MINUTE = 60 * SECOND


class Policy(msgspec.Struct, frozen=True):
    """What an agent may do in a session; None is no limit. A session keeps the policy that it began with.

    Parameters
    ----------
    name : str
        ``[a-z][a-z0-9_]{0,63}``; one named ``default`` replaces the built-in one.
    allowed_signals : iterable of str, optional
        The signals that may be recorded.
    max_signals, max_annotations : int, optional
        How many of each.
    max_annotation_chars : int, optional
        Length of one annotation.
    max_duration : str, float, timedelta or None
        How long a session is open at most.
    retention : str, float, timedelta or None
        How long its archive can be read after it has ended.
    rate_per_minute : int, optional
        Writes of either kind: a token bucket of so many, which fills in a minute.
    allowed_items : str or Filter, optional
        What an item must meet to be signalled on.
    annotation_half_life : str, float, timedelta or None
        Time in which an annotation's weight among the keywords halves; None weighs all alike.
    learn : bool
        Whether ending folds what the session came to into the user's preference and affinities.

    Raises
    ------
    SchemaError
        A value cannot be used; the error names the field.

    Examples
    --------
    >>> Policy("reader", allowed_signals=["view"], max_duration="1h").max_duration
    datetime.timedelta(seconds=3600)
    """

    name: str
    allowed_signals: Iterable[str] | None = None
    max_signals: int | None = None
    max_annotations: int | None = None
    max_annotation_chars: int | None = 10_000
    max_duration: Any = "24h"
    retention: Any = "90d"
    rate_per_minute: int | None = None
    allowed_items: str | Filter | None = None
    annotation_half_life: Any = None
    learn: bool = False

    def __post_init__(self) -> None:
        force = msgspec.structs.force_setattr
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise SchemaError("policy.name", f"{quoted(self.name)} must be [a-z][a-z0-9_]{{0,63}}")
        for name in _DURATIONS:
            force(self, name, self._checked(name, _duration))
        for name in ("max_signals", "max_annotations", "max_annotation_chars"):
            self._checked(name, lambda value, field: check_count(value, field, 0))
        self._checked("rate_per_minute", lambda value, field: check_count(value, field, 1, 1_000_000))
        force(self, "allowed_signals", self._checked("allowed_signals", check_names))
        force(self, "allowed_items", self._checked("allowed_items", _filter))
        if not isinstance(self.learn, bool):
            raise SchemaError(f"policy.{self.name}.learn", f"must be True or False, not {quoted(self.learn)}")

    def _checked(self, name: str, check: Callable[[Any, str], Any]) -> Any:
        value, field = getattr(self, name), f"policy.{self.name}.{name}"
        if value is None:
            return None
        try:
            return check(value, field)
        except InvalidArgument as error:
            raise SchemaError(field, error.message.partition(": ")[2]) from None

    @property
    def condition(self) -> Filter | None:
        """What an item must meet, as a filter."""
        return None if self.allowed_items is None else parse_filter(str(self.allowed_items))

    def declaration(self) -> dict[str, Any]:
        """Return the policy as plain data: what a TOML file would say; durations in seconds."""
        data: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value, default = getattr(self, name), getattr(DEFAULT, name)
            if name != "name" and value == default:
                continue
            if isinstance(value, timedelta):
                value = value.total_seconds()
            # TOML has no null: a limit that is lifted says so.
            data[name] = "none" if value is None else list(value) if isinstance(value, tuple) else value
        return data

    @classmethod
    def from_declaration(cls, data: Any) -> Policy:
        """Return a policy from plain data, in which ``"none"`` lifts a limit.

        Raises
        ------
        SchemaError
            A name that no policy has, or a value that cannot be used.
        """
        table = check_table(data, "policy", cls.__struct_fields__)
        lifted = (*_DURATIONS, "max_annotation_chars")
        given: dict[str, Any] = {
            name: None if name in lifted and value == "none" else value for name, value in table.items()
        }
        return cls(**given)


_DURATIONS = ("max_duration", "retention", "annotation_half_life")


def _duration(value: Any, field: str) -> timedelta:
    micros = to_duration(value, field)
    if not _LEAST <= micros <= _GREATEST:
        raise InvalidArgument(field, f"{quoted(value)} is out of range: from a millisecond to 1000 years")
    return timedelta(microseconds=micros)


def _filter(value: Any, field: str) -> str:
    if not isinstance(value, (str, Filter)):
        raise InvalidArgument(field, f"must be a filter, not {type(value).__name__}")
    condition = parse_filter(value) if isinstance(value, str) else value
    if condition.state is not None:
        raise InvalidArgument(field, f"{condition.state!r} asks something of a user: ask only what items are")
    return str(condition)


DEFAULT = Policy("default")
"""The policy that every store has, unless its schema declares another one under its name."""


def check_agent(value: object) -> str:
    """Return the id of an agent.

    Raises
    ------
    InvalidArgument
        It is none; the error says what an id looks like.

    Examples
    --------
    >>> check_agent("claude-4.1")
    'claude-4.1'
    """
    if not isinstance(value, str) or not _AGENT.fullmatch(value):
        raise InvalidArgument(
            "agent",
            f"{quoted(value)} is no agent id: it is 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a "
            "letter or digit ([a-z0-9][a-z0-9._-]{0,63})",
        )
    return str.__str__(value)


def tokens_at(tokens: float, filled_at: Micros, now: Micros, rate_per_minute: int) -> float:
    """Return what a token bucket holds: it fills in a minute.

    Examples
    --------
    >>> tokens_at(0.0, 0, 30_000_000, 60)
    30.0
    """
    return min(float(rate_per_minute), tokens + max(now - filled_at, 0) * rate_per_minute / _MINUTE)
