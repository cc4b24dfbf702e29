"""The textual form of filters: a grammar, and errors that say what was expected where."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from germane.model.errors import InvalidArgument, QuerySyntaxError, quoted
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
from germane.model.values import check_id

if TYPE_CHECKING:
    from lark import Lark, Token

GRAMMAR = rf"""
?start: any
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

_SPOKEN = {
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
    "TRUE": "true, false",
    "TIME": "time '...'",
    "AND": "'and'",
    "OR": "'or'",
    "$END": "the end",
}
"""How messages call what may stand at a place, in the order in which they list it."""


_HINTS = {
    "'": "; this string is not closed: a quote within one is written twice",
    '"': "; strings stand in single quotes",
}

_WORD = re.compile(r"'[^']{0,20}'?|[\w.-]{1,20}|.", re.DOTALL)
"""What of a text a message repeats."""

T = TypeVar("T")


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
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    parsed: Any
    try:
        parsed = _parser().parse(text)
    except UnexpectedCharacters as error:
        raise _unexpected(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        is_end = error.token.type == "$END"
        raise _unexpected(text, len(text) if is_end else error.token.start_pos or 0) from None
    except _Refused as refused:
        raise QuerySyntaxError(refused.message, refused.position, text) from None
    made: Filter = parsed
    return made


class _Refused(Exception):
    """Something is well formed and cannot be; the place is known."""

    def __init__(self, message: str, token: Token) -> None:
        self.message = message.removeprefix("where: ")
        self.position = token.start_pos or 0


class _Build:
    """Builds the filter while its text is parsed, rule by rule, so that depth costs no recursion."""

    def any(self, parts: list[Any]) -> Filter:
        return _made(parts[1], Or, parts[::2])

    def all(self, parts: list[Any]) -> Filter:
        return _made(parts[1], And, parts[::2])

    def negation(self, parts: list[Any]) -> Filter:
        return _made(parts[0], Not, parts[1])

    def comparison(self, parts: list[Any]) -> Filter:
        field, operator, (value, token) = parts
        return _made(token, Comparison, field, operator.lower(), value)

    def membership(self, parts: list[Any]) -> Filter:
        field, operator, *values = parts
        for value, token in values:
            _made(token, Comparison, field, "in", [value])
        return _made(operator, Comparison, field, "in", [value for value, _ in values])

    def state(self, parts: list[Token]) -> Filter:
        return State(str(parts[0]))

    def field(self, parts: list[Token]) -> Field:
        (token,) = parts
        name, dot, key = str(token).partition(".")
        if dot:
            key = _unquoted(key) if key[0] == "'" else key
            return Field("meta", _made(token, check_id, key, "a name of metadata"))
        if name not in FIELDS:
            raise _Refused(unknown_field(name), token)
        return Field(name)

    def value(self, parts: list[Token]) -> tuple[Any, Token]:
        *marks, token = parts
        if marks:
            return _made(token, read_time, _unquoted(token)), token
        if token.type == "STRING":
            return _unquoted(token), token
        if token.type == "NUMBER":
            return _made(token, _number, str(token)), token
        return token.type == "TRUE", token


@cache
def _parser() -> Lark:
    from lark import Lark

    rules: Any = _Build()
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=False, transformer=rules)


def _made(token: Token, make: Callable[..., T], *values: Any) -> T:
    """Make something of what was read; a refusal is one of the text at a token."""
    try:
        return make(*values)
    except InvalidArgument as error:
        raise _Refused(error.message, token) from None


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def _number(text: str) -> int | float:
    try:
        return float(text) if set(text) & set(".eE") else int(text)
    except ValueError:  # more digits than Python converts
        raise InvalidArgument("where", f"a number of {len(text)} digits does not fit 64 bits") from None


def _unexpected(text: str, at: int) -> QuerySyntaxError:
    # What the parser expected when it failed is less than what could have stood there: by then it had
    # closed rules. What comes before the place is read again, and asked.
    reader: Any = _parser().parse_interactive(text[:at])
    reader.exhaust_lexer()
    terminals = reader.accepts()
    found = "but the text ends" if at >= len(text) else f"not {_word(text, at)}"
    spoken = [_SPOKEN[name] for name in _SPOKEN if name in terminals]
    hint = _HINTS.get(text[at : at + 1], "") if "STRING" in terminals else ""
    if text[at : at + 1] == "=" and text[at - 1 : at] == "=":
        hint = "; equality is one ="
    return QuerySyntaxError(f"expected {_listed(spoken)}, {found}{hint}", at, text)


def _word(text: str, at: int) -> str:
    found = _WORD.match(text, at)
    assert found is not None
    return quoted(found[0])


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
