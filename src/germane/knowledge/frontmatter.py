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

_YAML = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^[{ \t]*[\w.\"'$@/-]+[ \t]*:(?:\s|\Z)", re.MULTILINE)
_LONGEST = 16_384
"""Characters that a block may have: what it says is kept with every section, and parsers may be slow."""
_MOST = 32_768
"""Names, values and characters that a block may stand for: an alias can stand for any number of them."""
_DEEPEST = 8
"""Levels at which names are still joined; what lies deeper is one value, written as JSON."""


class FrontMatter(NamedTuple):
    """What a file says about itself.

    Parameters
    ----------
    metadata : dict
        Names to values; nested names are joined by dots.
    length : int
        Characters of the block in the source; 0 when there is none.
    problem : str or None
        Why it, or part of it, could not be used.
    """

    metadata: dict[str, Value]
    length: int
    problem: str | None


def read_front_matter(source: str) -> FrontMatter:
    r"""Read the front matter of a source; empty without any.

    A block between two rules is front matter if a line in it begins with ``name:``; other text between
    rules stays text.

    Examples
    --------
    >>> read_front_matter("---\ntitle: Hello\nseo: {index: true}\n---\ntext").metadata
    {'title': 'Hello', 'seo.index': True}
    """
    yaml_block, toml_block = _YAML.match(source), _TOML.match(source)
    block = yaml_block or toml_block
    if block is None or (yaml_block and block[1].strip() and not _KEY.search(block[1])):
        return FrontMatter({}, 0, None)
    if block.end() > _LONGEST:
        return FrontMatter({}, 0, f"the front matter is longer than {_LONGEST} characters: taken as text")
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
    try:
        for name, value in _Reader().flat(data, "", 0):
            try:
                check_id(name, "a name")
                metadata[name] = check_value(value, name)
            except InvalidArgument as error:
                problem = problem or f"the front matter: {error}"
    except _TooMuch:
        problem = "the front matter holds too many values: the rest was left out"
    return FrontMatter(metadata, block.end(), problem)


def _yaml(text: str) -> Any:
    import yaml  # only files with front matter need it

    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class _TooMuch(Exception):
    """More than `_MOST` was read."""


class _Reader:
    """Turns parsed data into metadata, as long as its budget lasts."""

    def __init__(self) -> None:
        self.left = _MOST

    def flat(self, data: dict[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
        """Yield the values of a mapping under their joined names."""
        for key, value in data.items():
            name = f"{prefix}{self.scalar(key)}"
            self._spend(len(name))
            if isinstance(value, dict) and depth < _DEEPEST:
                yield from self.flat(value, f"{name}.", depth + 1)
            elif isinstance(value, (list, tuple, set)):
                scalars = map(self.scalar, _ordered(value))
                yield name, tuple(found for found in scalars if found is not None)
            elif (found := self.scalar(value)) is not None:
                yield name, found

    def scalar(self, value: Any) -> Any:
        """Return a value as metadata can hold it; None for nothing."""
        if isinstance(value, (dict, list, tuple, set)):
            self._spend(1)
            return json.dumps(self.plain(value, 0), ensure_ascii=False) if value else None
        self._spend(len(value) if isinstance(value, str) else 1)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            return "too large a number"
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, (str, int, float)):
            return value
        return str(value) if isinstance(value, time) else None

    def plain(self, value: Any, depth: int) -> Any:
        """Return a nested value as JSON has it."""
        self._spend(1)
        if depth > _DEEPEST:
            return "nested too deeply"
        if isinstance(value, dict):
            return {str(self.scalar(key)): self.plain(each, depth + 1) for key, each in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [self.plain(each, depth + 1) for each in _ordered(value)]
        found = self.scalar(value)
        return str(found) if isinstance(found, datetime) else found

    def _spend(self, cost: int) -> None:
        self.left -= cost + 1
        if self.left < 0:
            raise _TooMuch


def _ordered(values: list[Any] | tuple[Any, ...] | set[Any]) -> list[Any]:
    """Return values in the same order in every process."""
    return sorted(values, key=repr) if isinstance(values, set) else list(values)
