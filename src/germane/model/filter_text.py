"""The textual form of filters: a grammar, and errors that say what was expected where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from germane.model.errors import InvalidArgument
from germane.model.filters import (
    FIELDS,
    STATES,
    And,
    Comparison,
    Field,
    Filter,
    Not,
    Or,
    State,
    read_time,
    unknown_field,
)
from germane.model.grammar import Language, Refused, made, unquoted
from germane.model.values import check_id

if TYPE_CHECKING:
    from lark import Token

GRAMMAR = rf"""
?any: all (OR all)*
?all: not (AND not)*
?not: NOT not -> negation
    | _OPEN any _CLOSE
    | field OPERATOR value -> comparison
    | field CONTAINS value -> comparison
    | field IN _OPEN [value (_COMMA value)*] _CLOSE -> membership
    | STATE -> state
field: NAME | META
value: STRING | NUMBER | TRUE | FALSE | TIME STRING

OR.2: /or\b/i
AND.2: /and\b/i
NOT.2: /not\b/i
IN.2: /in\b/i
CONTAINS.2: /contains\b/i
TRUE.2: /true\b/i
FALSE.2: /false\b/i
TIME.2: /time\b/i
STATE.2: /(?:{"|".join(STATES)})\b/
META.3: /meta\.(?:[^\W\d]\w*(?:\.\w+)*|'(?:[^']|'')*')/
NAME: /[^\W\d]\w*/
OPERATOR: "=" | "!=" | "<=" | ">=" | "<" | ">"
STRING: /'(?:[^']|'')*'/
NUMBER: /-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])/
_OPEN: "("
_CLOSE: ")"
_COMMA: ","
%ignore /\s+/
"""

SPOKEN = {
    "NAME": "a field",
    "NOT": "'not'",
    "_OPEN": "'('",
    "_CLOSE": "')'",
    "_COMMA": "','",
    "OPERATOR": "=, !=, <, <=, >, >=",
    "CONTAINS": "'contains'",
    "IN": "'in'",
    "STRING": "a string in single quotes",
    "NUMBER": "a number",
    "TRUE": "true",
    "FALSE": "false",
    "TIME": "time '...'",
    "AND": "'and'",
    "OR": "'or'",
    "$END": "the end",
}
"""How messages call what may stand at a place, in the order in which they list it."""


def parse_filter(text: str) -> Filter:
    """Return the filter that a text says.

    Parameters
    ----------
    text : str
        Such as ``meta.price < 10 and (tags contains 'jazz' or not creator in ('a', 'b'))``.

    Raises
    ------
    QuerySyntaxError
        It does not parse; the error says where, and what was expected there.

    Examples
    --------
    >>> parse_filter("creator = 'ann' AND created_at >= time '2026-01-01T00:00:00Z'")
    (where.creator == 'ann') & (where.created_at >= datetime.datetime(2026, 1, 1, 0, 0, tzinfo=...utc))
    """
    parsed: Filter = _FILTERS.parse(text)
    return parsed


class FilterRules:
    """Builds filters, rule by rule."""

    def any(self, parts: list[Any]) -> Filter:
        """Join by or."""
        return made(parts[1], Or, parts[::2])

    def all(self, parts: list[Any]) -> Filter:
        """Join by and."""
        return made(parts[1], And, parts[::2])

    def negation(self, parts: list[Any]) -> Filter:
        """Negate."""
        return made(parts[0], Not, parts[1])

    def comparison(self, parts: list[Any]) -> Filter:
        """Compare a field with a value."""
        field, operator, (value, token) = parts
        return made(token, Comparison, field, operator.lower(), value)

    def membership(self, parts: list[Any]) -> Filter:
        """Compare a field with each of some values."""
        field, operator, *values = parts
        for value, token in values:
            made(token, Comparison, field, "in", [value])
        return made(operator, Comparison, field, "in", [value for value, _ in values])

    def state(self, parts: list[Token]) -> Filter:
        """Ask what an item is to the user."""
        return State(str(parts[0]))

    def field(self, parts: list[Token]) -> Field:
        """Name a field."""
        (token,) = parts
        name, dot, key = str(token).partition(".")
        if dot:
            key = unquoted(key) if key[0] == "'" else key
            return Field("meta", made(token, check_id, key, "a name of metadata"))
        if name not in FIELDS:
            raise Refused(unknown_field(name), token)
        return Field(name)

    def value(self, parts: list[Token]) -> tuple[Any, Token]:
        """Return a value, and where it stands."""
        *marks, token = parts
        if marks:
            return made(token, read_time, unquoted(token)), token
        if token.type == "STRING":
            return unquoted(token), token
        if token.type == "NUMBER":
            return made(token, _number, str(token)), token
        return token.type == "TRUE", token


_FILTERS = Language("?start: any\n" + GRAMMAR, FilterRules, SPOKEN)


def _number(text: str) -> int | float:
    try:
        return float(text) if set(text) & set(".eE") else int(text)
    except ValueError:  # more digits than Python converts
        raise InvalidArgument("where", f"a number of {len(text)} digits does not fit 64 bits") from None
