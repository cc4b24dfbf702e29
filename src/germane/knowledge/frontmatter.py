"""Front matter: the YAML or TOML block that opens a Markdown file, as metadata."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from germane.model.errors import InvalidArgument
from germane.model.values import Value, check_id, check_value

_YAML = re.compile(
    r"\A---[ \t]*\r?\n(.*?)(?:^|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML = re.compile(r"\A\+\+\+[ \t]*\r?\n(.*?)(?:^|(?<=\n))\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_MOST_VALUES = 1_000
"""Values that one block may hold; aliases in YAML can stand for any number of them."""


class FrontMatter(NamedTuple):
    """What a file says about itself.

    Parameters
    ----------
    metadata : dict
        Names to values; nested names are joined by dots.
    length : int
        Characters of the block in the source.
    problem : str or None
        Why it, or part of it, could not be used.
    """

    metadata: dict[str, Value]
    length: int
    problem: str | None


def read_front_matter(source: str) -> FrontMatter:
    r"""Read the front matter of a source; empty without any.

    Examples
    --------
    >>> read_front_matter("---\ntitle: Hello\nseo: {index: true}\n---\ntext").metadata
    {'title': 'Hello', 'seo.index': True}
    """
    yaml_block, toml_block = _YAML.match(source), _TOML.match(source)
    block = yaml_block or toml_block
    if block is None:
        return FrontMatter({}, 0, None)
    try:
        data = _yaml(block[1]) if yaml_block else tomllib.loads(block[1])
    except Exception as error:  # whatever a parser makes of a hostile block
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return FrontMatter({}, block.end(), f"the front matter does not parse: {reason}")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return FrontMatter({}, block.end(), "the front matter is no mapping")
    metadata: dict[str, Value] = {}
    problem = None
    for name, value in _flat(data, "", 0):
        if len(metadata) >= _MOST_VALUES:
            problem = f"the front matter holds more than {_MOST_VALUES} values: the rest was left out"
            break
        try:
            metadata[check_id(name, "name")] = check_value(value, name)
        except InvalidArgument as error:
            problem = f"the front matter: {error}"
    return FrontMatter(metadata, block.end(), problem)


def _yaml(text: str) -> Any:
    import yaml  # only files with front matter need it

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _flat(data: dict[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            if depth < 8:
                yield from _flat(value, f"{name}.", depth + 1)
        elif isinstance(value, (list, tuple, set)):
            items = [_scalar(each) for each in list(value)[:_MOST_VALUES]]
            yield name, tuple(each for each in items if each is not None)
        elif (scalar := _scalar(value)) is not None:
            yield name, scalar


def _scalar(value: Any) -> Any:
    """Return a value as metadata can hold it; None for nothing."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return "too large a number"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (dict, list)):
        text = (
            json.dumps(value, default=str, ensure_ascii=False, check_circular=True)
            if _is_small(value)
            else ""
        )
        return text or None
    return str(value)


def _is_small(value: Any) -> bool:
    """Tell whether a nested value is worth writing out: an alias can hide any number of values."""
    budget = _MOST_VALUES
    stack = [value]
    while stack:
        budget -= 1
        if budget < 0:
            return False
        each = stack.pop()
        if isinstance(each, dict):
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)
    return True
