"""Values as people type them: metadata, times, weights."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from germane.model.errors import InvalidArgument

if TYPE_CHECKING:
    from germane.model.weights import SearchWeights


def metadata(given: Sequence[str]) -> dict[str, Any]:
    """Return metadata from ``KEY=VALUE``: a JSON scalar or list where the value is one, else a string.

    Examples
    --------
    >>> metadata(["price=30", "sizes=[1, 2]", "colour=red", 'year="2024"'])
    {'price': 30, 'sizes': [1, 2], 'colour': 'red', 'year': '2024'}
    """
    found = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidArgument("metadata", f"{pair!r} is not KEY=VALUE: type it like --meta price=30")
        found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, dict) else value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number of JSON")
    return value


def embedding(text: str | None) -> Any:
    """Return a vector from a JSON list of numbers.

    Examples
    --------
    >>> embedding("[0.5, -1]")
    [0.5, -1]
    """
    if text is None:
        return None
    value = _value(text)
    if not isinstance(value, list):
        raise InvalidArgument("embedding", "is no list of numbers: type it like '[0.12, -0.5, 0.33]'")
    return value


def time(text: str | None, field: str = "created_at") -> datetime | float | None:
    """Return a time from ISO 8601 with a zone, or from seconds since the epoch.

    Raises
    ------
    InvalidArgument
        Neither, or a time without a zone.

    Examples
    --------
    >>> time("2024-05-01T12:00:00+02:00").isoformat(), time("1.5")
    ('2024-05-01T12:00:00+02:00', 1.5)
    """
    if text is None:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(
            field, f"{text!r} is no time: type one like 2024-05-01T12:00:00Z, or seconds since 1970"
        ) from None
    if when.tzinfo is None:
        shown = when.isoformat()
        raise InvalidArgument(field, f"{text!r} has no time zone: type it like {shown}Z or {shown}+02:00")
    return when


def as_of(text: str | None) -> int | datetime | None:
    """Return a point of the past from a position of the log, or from ISO 8601 with a zone.

    Raises
    ------
    InvalidArgument
        Neither, or a time without a zone.

    Examples
    --------
    >>> as_of("12"), as_of("2024-05-01T12:00:00Z").isoformat()
    (12, '2024-05-01T12:00:00+00:00')
    """
    found = time(text, "as_of")
    if isinstance(found, float):
        raise InvalidArgument("as_of", f"{text!r} is neither a position nor a time like 2024-05-01T12:00:00Z")
    return found


def shares(given: Sequence[str]) -> dict[str, float]:
    """Return shares from ``FIELD=SHARE``.

    Raises
    ------
    InvalidArgument
        No share.

    Examples
    --------
    >>> shares(["meta.format=0.6"])
    {'meta.format': 0.6}
    """
    found = {}
    for pair in given:
        field, _, share = pair.rpartition("=")
        try:
            found[field] = float(share)
        except ValueError:
            raise InvalidArgument(
                "max_share", f"{pair!r} is not FIELD=SHARE: type it like meta.format=0.6"
            ) from None
    return found


def weights(given: Sequence[str]) -> SearchWeights | None:
    """Return search weights from ``NAME=NUMBER``, None when none was given.

    Raises
    ------
    InvalidArgument
        No such weight, no number, or one out of range.
    """
    if not given:
        return None
    from germane.model.weights import SearchWeights

    names = SearchWeights.__struct_fields__
    found: dict[str, float] = {}
    for pair in given:
        name, _, number = pair.partition("=")
        if name not in names:
            raise InvalidArgument(
                "weights", f"{pair!r} is not NAME=NUMBER with a name of {', '.join(names)}: as in heading=0.5"
            )
        try:
            found[name] = float(number)
        except ValueError:
            raise InvalidArgument("weights", f"{pair!r} has no number: type it like {name}=0.5") from None
    return SearchWeights(**found)
