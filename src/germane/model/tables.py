"""Tables: what a file of declarations says of one signal, one profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from germane.model.errors import SchemaError


def check_table(data: Any, noun: str, fields: Iterable[str]) -> Mapping[str, Any]:
    """Return a table that has a name, and nothing but known fields.

    Parameters
    ----------
    data : object
    noun : str
        What it declares, as errors call it.
    fields : iterable of str
        What it may declare.

    Raises
    ------
    SchemaError
        The error names the field.
    """
    if not isinstance(data, Mapping):
        raise SchemaError(f"{noun}s", f"each must be a table, not {type(data).__name__}")
    known = tuple(fields)
    for field in data:
        if field not in known:
            raise SchemaError(
                f"{noun}.{field}", f"is nothing a {noun} declares: it declares {', '.join(known)}"
            )
    if "name" not in data:
        raise SchemaError(f"{noun}.name", f"is missing: every {noun} has a name")
    return data
