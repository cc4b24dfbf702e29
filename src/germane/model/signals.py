"""A signal: a declared kind of behaviour."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec

from germane.model.errors import InvalidArgument, SchemaError
from germane.model.tables import check_table
from germane.model.times import DAY, Micros, to_duration

WINDOWS: dict[str, Micros | None] = {
    "1h": DAY // 24,
    "24h": DAY,
    "7d": 7 * DAY,
    "30d": 30 * DAY,
    "all": None,
}
"""Names of the windows and their lengths in microseconds; None has no end."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_LEAST_HALF_LIFE, _GREATEST_HALF_LIFE = 1_000_000, 3_653 * DAY


class Signal(msgspec.Struct, frozen=True):
    """A kind of behaviour, and how it is counted.

    Parameters
    ----------
    name : str
        ``[a-z][a-z0-9_]{0,63}``.
    half_life : str, float, timedelta or None
        Time in which an event's weight halves, from one second to ten years; None never decays.
    windows : iterable of str
        From ``1h``, ``24h``, ``7d``, ``30d``, ``all``.
    velocity : bool
        Whether its rate can be read; needs a window that ends.
    polarity : {1, -1}
        Whether it speaks for an item or against it.
    preference : float
        Rate at which it moves a user's preference vector, 0 to 1.
    affinity : float
        What it adds to a user's affinity to a creator.
    affinity_half_life : str, float or timedelta
        Time in which affinity halves.

    Raises
    ------
    SchemaError
        A value cannot be used; the error names the field.

    Examples
    --------
    >>> Signal("like", half_life="7d").half_life
    datetime.timedelta(days=7)
    """

    name: str
    half_life: Any = None
    windows: Iterable[str] = ("1h", "24h", "7d", "30d", "all")
    velocity: bool = True
    polarity: int = 1
    preference: float = 0
    affinity: float = 0
    affinity_half_life: Any = "30d"

    def __post_init__(self) -> None:
        force = msgspec.structs.force_setattr
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise SchemaError("signal.name", f"{self.name!r} must be [a-z][a-z0-9_]{{0,63}}")
        field = f"signal.{self.name}"
        if self.half_life is not None:
            force(self, "half_life", _half_life(self.half_life, f"{field}.half_life"))
        force(self, "affinity_half_life", _half_life(self.affinity_half_life, f"{field}.affinity_half_life"))
        force(self, "windows", _windows(self.windows, f"{field}.windows"))
        if not isinstance(self.velocity, bool):
            raise SchemaError(f"{field}.velocity", f"must be True or False, not {self.velocity!r}")
        if self.half_life is not None and not self.windows:
            raise SchemaError(f"{field}.windows", "a signal that decays needs at least one window")
        if self.polarity not in (1, -1) or isinstance(self.polarity, bool):
            raise SchemaError(f"{field}.polarity", f"must be 1 or -1, not {self.polarity!r}")
        force(self, "preference", _number(self.preference, f"{field}.preference", 0, 1))
        force(self, "affinity", _number(self.affinity, f"{field}.affinity", -1e6, 1e6))
        if self.velocity and not any(WINDOWS[name] for name in self.windows):
            raise SchemaError(f"{field}.velocity", "needs a window that ends, or velocity=False")

    def declaration(self) -> dict[str, Any]:
        """Return the signal as plain data: what a TOML file would say; durations in seconds."""
        data = msgspec.to_builtins(self)
        for name in ("half_life", "affinity_half_life"):
            value = getattr(self, name)
            data[name] = None if value is None else value.total_seconds()
        return {name: value for name, value in data.items() if value is not None}

    @classmethod
    def from_declaration(cls, data: Any) -> Signal:
        """Return a signal from plain data.

        Raises
        ------
        SchemaError
            A name that no signal has, or a value that cannot be used.
        """
        return cls(**check_table(data, "signal", cls.__struct_fields__))


def _half_life(value: Any, field: str) -> timedelta:
    given = value if isinstance(value, (str, int, float, timedelta)) else "none"
    try:
        micros = to_duration(given, field)
    except InvalidArgument as error:
        raise SchemaError(field, error.message.partition(": ")[2]) from None
    if not _LEAST_HALF_LIFE <= micros <= _GREATEST_HALF_LIFE:
        raise SchemaError(field, f"{value!r} is out of range: from one second to ten years")
    return timedelta(microseconds=micros)


def _windows(value: Any, field: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SchemaError(field, f"must be a list of {', '.join(WINDOWS)}")
    names = list(value)
    for name in names:
        if name not in WINDOWS:
            raise SchemaError(field, f"{name!r} is none of {', '.join(WINDOWS)}")
    return tuple(name for name in WINDOWS if name in names)


def _number(value: Any, field: str, least: float, greatest: float) -> float:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or not least <= value <= greatest:
        raise SchemaError(field, f"must be a number from {least:g} to {greatest:g}, not {value!r}")
    return float(value)


BUILT_IN = (
    Signal("view", half_life="7d", affinity=0.1),
    Signal("like", half_life="30d", preference=0.1, affinity=1.0),
    Signal("dislike", half_life="30d", polarity=-1, preference=0.1, affinity=-1.0),
    Signal("skip", half_life="7d", polarity=-1, affinity=-0.2),
    Signal("save", half_life="30d", preference=0.1, affinity=1.0),
    Signal("share", half_life="30d", preference=0.1, affinity=1.0),
    Signal("completion", half_life="30d", preference=0.05, affinity=0.5),
    Signal("reward", half_life="7d", preference=0.1, affinity=1.0),
)
"""What a new store declares when it is given no schema."""
