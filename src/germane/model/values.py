"""Rules for the values that people hand in: ids, names, texts, tags, metadata."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from germane.model.errors import InvalidArgument, quoted
from germane.model.frozen import FrozenDict
from germane.model.times import to_datetime, to_micros

Scalar = str | int | float | bool | datetime
Value = Scalar | tuple[Scalar, ...]

ID_LENGTH = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INT64 = 1 << 63


def check_text(value: object, field: str) -> str:
    """Return a string that can be stored: any text but lone surrogates."""
    if not isinstance(value, str):
        raise InvalidArgument(field, f"must be a string, not {type(value).__name__}")
    if type(value) is str and value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            field, f"holds a lone surrogate at {error.start}, which is no character: decode the text first"
        ) from None
    # Of a subclass (an enumeration's member, say) only the text is kept.
    return value if type(value) is str else str.__str__(value)


def check_id(value: object, field: str) -> str:
    """Return an id: 1 to 200 characters, none of them a control character."""
    # Nearly all are of ASCII, of which what is not printable is a control character.
    if type(value) is str and value.isascii() and value.isprintable() and 0 < len(value) <= ID_LENGTH:
        return value
    text = check_text(value, field)
    if not text:
        raise InvalidArgument(field, "is empty: an id has 1 to 200 characters")
    if len(text) > ID_LENGTH:
        raise InvalidArgument(field, f"has {len(text)} characters: an id has at most {ID_LENGTH}")
    if control := _CONTROL.search(text):
        raise InvalidArgument(field, f"holds a control character at {control.start()}")
    return text


def are_plain_ids(values: Sequence[Any]) -> bool:
    """Tell whether all values are ids of ASCII: most are, and all at once this is quick to see.

    Examples
    --------
    >>> are_plain_ids(["a", "b-1"]), are_plain_ids(["a", "ä"]), are_plain_ids(["a", None])
    (True, False, False)
    """
    try:
        text = "".join(values)
    except TypeError:
        return False
    lengths = set(map(len, values))
    return text.isascii() and text.isprintable() and 0 not in lengths and max(lengths, default=0) <= ID_LENGTH


def check_names(values: object, field: str) -> tuple[str, ...]:
    """Return distinct names (tags, collections) in the order given; those of a set by code point."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument(field, f"must be a list of strings, not {type(values).__name__}")
    if isinstance(values, (list, tuple)) and set(map(type, values)) <= {str} and are_plain_ids(values):
        return tuple(dict.fromkeys(values))
    names = tuple(dict.fromkeys(check_id(value, field) for value in values))
    return tuple(sorted(names)) if isinstance(values, Set) else names


def check_choice(value: object, field: str, choices: Iterable[str]) -> str:
    """Return one of the choices."""
    options = tuple(choices)
    if not isinstance(value, str) or value not in options:
        raise InvalidArgument(field, f"{quoted(value)} is none of {', '.join(options)}")
    return str.__str__(value)


def check_count(value: object, field: str, least: int, greatest: int | None = None) -> int:
    """Return a whole number within bounds."""
    bounds = f"a whole number from {least}" + (f" to {greatest}" if greatest is not None else " up")
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgument(field, f"must be {bounds}, not {quoted(value)}")
    if value < least or (greatest is not None and value > greatest):
        raise InvalidArgument(field, f"{quoted(value)} is out of range: it must be {bounds}")
    return value


def check_share(value: object, field: str, default: float) -> float:
    """Return a number from 0 to 1; the default for None."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidArgument(field, f"must be a number from 0 to 1, not {quoted(value)}")
    return float(value)


def check_metadata(values: object, field: str = "metadata") -> FrozenDict[Value]:
    """Return metadata: names to strings, numbers, booleans, aware datetimes or lists of them."""
    if not isinstance(values, Mapping):
        raise InvalidArgument(field, f"must be a mapping, not {type(values).__name__}")
    return FrozenDict(
        {check_id(key, f"{field} key"): check_value(value, f"{field}.{key}") for key, value in values.items()}
    )


def check_value(value: object, field: str) -> Value:
    """Return one metadata value; lists become tuples."""
    if isinstance(value, (list, tuple)):
        return tuple(_check_scalar(each, field) for each in value)
    return _check_scalar(value, field)


def _check_scalar(value: object, field: str) -> Scalar:
    if isinstance(value, str):
        return check_text(value, field)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -_INT64 <= value < _INT64:
            raise InvalidArgument(field, f"{quoted(value)} does not fit 64 bits: give it as a string")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(field, f"{value} is not a finite number")
        return float(value)
    if isinstance(value, datetime):
        return to_datetime(to_micros(value, field))
    raise InvalidArgument(
        field,
        f"a value is a string, a number, a boolean, an aware datetime or a list of these, "
        f"not {type(value).__name__}",
    )


def neutral(**given: tuple[Any, Any]) -> None:
    """Refuse parameters whose feature does not exist yet, unless they have their neutral value.

    Parameters
    ----------
    **given : tuple
        For each parameter its value and the neutral one.
    """
    for name, (value, neutral_value) in given.items():
        if value is neutral_value:
            continue
        if type(value) is type(neutral_value) and value == neutral_value:
            continue
        raise InvalidArgument(name, f"is not available in this version: leave it at {neutral_value!r}")
