"""Turning what people receive into plain JSON."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from germane.model.filters import Filter
from germane.model.schema import Schema


def to_plain(value: Any) -> Any:
    """Return a value as plain JSON data: dicts, lists, strings, numbers, booleans, None.

    Times become ISO 8601 strings, bytes base64, filters their text.

    Examples
    --------
    >>> from germane.model.items import Receipt
    >>> to_plain(Receipt("a", None, 3, True))["seq"]
    3
    """
    return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_encode))


def to_json(value: Any) -> str:
    """Return a value as one line of JSON.

    Examples
    --------
    >>> to_json({"tags": ("a", "b")})
    '{"tags":["a","b"]}'
    """
    return msgspec.json.encode(value, enc_hook=_encode).decode()


def _encode(value: object) -> Any:
    if isinstance(value, memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, Filter):
        return str(value)
    if isinstance(value, Schema):
        return value.declaration()
    raise TypeError(f"{type(value).__name__} has no plain form")
