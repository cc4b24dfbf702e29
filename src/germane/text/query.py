"""The query language: from a line that someone typed to clauses. No line is an error."""

from __future__ import annotations

import re
from typing import NamedTuple

WORD_FIELDS = {"title": 0, "body": 1, "code": 2}
"""Names that limit a word to a field, and the field's number."""
FILTER_FIELDS = ("tag", "type", "doc")
"""Names that select by an exact value."""

_SYNTAX = frozenset('+-":')
"""What a query of words alone does not hold."""
_FIELD = re.compile(rf"({'|'.join((*WORD_FIELDS, *FILTER_FIELDS))}):")


class Clause(NamedTuple):
    """One thing that a query says.

    Parameters
    ----------
    sign : str
        ``"+"`` must, ``"-"`` must not, ``""`` may.
    field : str
        A name from `WORD_FIELDS` or `FILTER_FIELDS`; empty without one.
    text : str
        The word, the phrase or the value.
    is_quoted : bool
        Whether it stood in double quotes.
    """

    sign: str
    field: str
    text: str
    is_quoted: bool


def parse(text: str) -> list[Clause]:
    """Return the clauses of a query, in order.

    Whatever does not parse is taken as words: an unknown field, a quote without its partner, a sign or a
    field's name with nothing behind it.

    Examples
    --------
    >>> for clause in parse('+borrow -"move semantics" title:owner std:vec'):
    ...     print(clause.sign, clause.field, clause.text)
    +  borrow
    -  move semantics
     title owner
      std:vec
    """
    if _SYNTAX.isdisjoint(text):
        return [Clause("", "", word, False) for word in text.split()]
    clauses: list[Clause] = []
    position = 0
    while (start := _skip_space(text, position)) < len(text):
        at = start
        sign = text[at] if text[at] in "+-" else ""
        at += len(sign)
        named = _FIELD.match(text, at)
        field = named[1] if named else ""
        at = named.end() if named else at
        closing = text.find('"', at + 1) if text.startswith('"', at) else -1
        if closing >= 0:
            value, position, is_quoted = text[at + 1 : closing], closing + 1, True
        else:
            position = _next_space(text, at)
            value, is_quoted = text[at:position], False
        if value and not (is_quoted and value.isspace()):
            clauses.append(Clause(sign, field, value, is_quoted))
        elif field and not is_quoted:
            clauses.append(Clause(sign, "", field, False))
    return clauses


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _next_space(text: str, position: int) -> int:
    while position < len(text) and not text[position].isspace():
        position += 1
    return position
