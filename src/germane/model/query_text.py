"""The textual form of queries: a grammar made of the table of clauses and of the grammar of filters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from germane.model import filter_text
from germane.model.diversity import Diversity
from germane.model.errors import InvalidArgument
from germane.model.filter_text import FilterRules
from germane.model.filters import Field, read_time
from germane.model.grammar import Language, Refused, made, unquoted
from germane.model.queries import (
    CLAUSES,
    GREATEST,
    NAME,
    RESERVED,
    Clause,
    Query,
    check_number,
    check_string,
)
from germane.model.values import check_count, check_id
from germane.model.weights import SearchWeights

if TYPE_CHECKING:
    from lark import Token

_CLAUSES = tuple(dict.fromkeys(clause for clauses in CLAUSES.values() for clause in clauses))
_WORDS = tuple(dict.fromkeys(word for clause in _CLAUSES for word in clause.words.split()))
_STARTS = {surface: {clause.words.split()[0] for clause in clauses} for surface, clauses in CLAUSES.items()}
_SURFACE_OF = {
    word: surface.upper()
    for surface, words in _STARTS.items()
    for word in words
    if sum(word in others for others in _STARTS.values()) == 1
}
"""What begins a clause of one surface only."""
_WEIGHTS = SearchWeights.__struct_fields__


def _terminal(word: str) -> str:
    """Return the terminal of a word of a clause; where filters have it too, theirs."""
    return word if word in filter_text.SPOKEN else f"K_{word}"


def _clauses(surface: str) -> str:
    """Return the clauses of a surface as alternatives of a rule."""
    rules = {"flag": "", "filter": "any"}
    return "\n    | ".join(
        " ".join([*map(_terminal, clause.words.split()), rules.get(clause.kind, clause.kind)])
        for clause in CLAUSES[surface]
    )


def _keywords(words: Iterable[str]) -> str:
    return "\n".join(rf"{_terminal(word)}.2: /{word}\b/i" for word in words if word not in filter_text.SPOKEN)


GRAMMAR = rf"""
?start: retrieve | search
retrieve: K_RETRIEVE _ITEMS retrieve_clause*
search: K_SEARCH text search_clause*
retrieve_clause: {_clauses("retrieve")}
search_clause: {_clauses("search")}

text: TEXT | STRING
name: WORD | STRING
names: name (_COMMA name)*
string: WORD | STRING
whole: WHOLE
number: NUMBER
truth: TRUE | FALSE
moment: WHOLE | TIME STRING | STRING
seed: SIGNED | WORD | STRING
weights: weight (_COMMA? weight)*
weight: WEIGHT NUMBER
diversity: limit (_COMMA? limit)* | NONE
limit: MAX_PER_CREATOR WHOLE | MAX_SHARE shared NUMBER | MMR NUMBER | RELAX
shared: NAME | META

{_keywords(("RETRIEVE", "SEARCH", *_WORDS))}
_ITEMS.2: /items\b/i
TEXT: /"(?:[^"\\]|\\.|"")*"/s
WORD: /{NAME}/i
WHOLE: /[0-9]+(?![\w.])/
SIGNED.2: /-?[0-9]+(?![\w.:@-])/
WEIGHT.2: /(?:{"|".join(sorted(_WEIGHTS, reverse=True))})\b/i
MAX_PER_CREATOR.2: /max_per_creator\b/i
MAX_SHARE.2: /max_share\b/i
MMR.2: /mmr\b/i
RELAX.2: /relax\b/i
NONE.2: /none\b/i
{filter_text.GRAMMAR}
"""

SPOKEN = {
    "K_RETRIEVE": "RETRIEVE",
    "K_SEARCH": "SEARCH",
    "_ITEMS": "'items'",
    "TEXT": "a text in double quotes",
    "WORD": "a name",
    "WHOLE": "a whole number",
    "SIGNED": "a whole number",
    "WEIGHT": ", ".join(_WEIGHTS),
    "MAX_PER_CREATOR": "max_per_creator",
    "MAX_SHARE": "max_share",
    "MMR": "mmr",
    "RELAX": "relax",
    "NONE": "none",
} | filter_text.SPOKEN
SPOKEN |= {f"K_{word}": word for word in _WORDS}
SPOKEN["$END"] = SPOKEN.pop("$END")
"""How messages call what may stand at a place."""


def parse_query(text: str) -> Query:
    """Return the query that a text says.

    Parameters
    ----------
    text : str
        Such as ``RETRIEVE items USING PROFILE trending WHERE meta.price < 10 LIMIT 5``, or
        ``SEARCH "move semantics" MATCH all``.

    Raises
    ------
    QuerySyntaxError
        It does not parse; the error says where, and what was expected there.

    Examples
    --------
    >>> parse_query("search 'lamp' limit 5 where meta.price < 10").arguments["where"]
    where.meta.price < 10
    >>> str(parse_query("search 'lamp' limit 5 where meta.price < 10"))
    'SEARCH "lamp" WHERE meta.price < 10 LIMIT 5'
    """
    parsed: Query = _QUERIES.parse(check_string(text, "text"))
    return parsed


class _Rules(FilterRules):
    """Builds queries, rule by rule; a clause is its words as tokens, then its value."""

    def retrieve(self, parts: list[Any]) -> Query:
        return _query("retrieve", {}, parts[1:])

    def search(self, parts: list[Any]) -> Query:
        return _query("search", {"text": parts[1]}, parts[2:])

    def retrieve_clause(self, parts: list[Any]) -> tuple[Token, Clause, Any]:
        return _clause("retrieve", parts)

    def search_clause(self, parts: list[Any]) -> tuple[Token, Clause, Any]:
        return _clause("search", parts)

    def text(self, parts: list[Token]) -> str:
        (token,) = parts
        return unquoted(token) if token[0] == "'" else _ESCAPED.sub(_unescaped, token[1:-1])

    def string(self, parts: list[Token]) -> str:
        (token,) = parts
        return unquoted(token) if token[0] == "'" else str(token)

    def name(self, parts: list[Token]) -> str:
        return made(parts[0], check_id, self.string(parts), "a name")

    def names(self, parts: list[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(parts))

    def whole(self, parts: list[Token]) -> int:
        return made(parts[0], _whole, parts[0])

    def number(self, parts: list[Token]) -> float:
        return made(parts[0], _number, parts[0])

    def truth(self, parts: list[Token]) -> bool:
        return parts[0].type == "TRUE"

    def moment(self, parts: list[Token]) -> int | datetime:
        token = parts[-1]
        return self.whole(parts) if token.type == "WHOLE" else made(token, read_time, unquoted(token))

    def seed(self, parts: list[Token]) -> int | str:
        (token,) = parts
        return made(token, _whole, token) if token.type == "SIGNED" else self.string(parts)

    def weight(self, parts: list[Token]) -> tuple[Token, dict[str, float]]:
        name, number = parts
        weight = {name.lower(): self.number([number])}
        made(number, lambda: SearchWeights(**weight))
        return name, weight

    def weights(self, parts: list[tuple[Token, dict[str, float]]]) -> SearchWeights:
        return SearchWeights(**_united(parts))

    def limit(self, parts: list[Any]) -> tuple[Token, dict[str, Any]]:
        word, *values = parts
        limit: dict[str, Any]
        if word.type == "MAX_SHARE":
            limit = {f"max_share {values[0]}": made(values[1], _share, values[0], values[1])}
        elif word.type == "MAX_PER_CREATOR":
            limit = {"max_per_creator": self.whole(values)}
            made(values[0], lambda: Diversity(**limit))
        elif word.type == "MMR":
            limit = {"mmr": self.number(values)}
            made(values[0], lambda: Diversity(**limit))
        else:
            limit = {"relax": True}
        return word, limit

    def shared(self, parts: list[Token]) -> Field:
        # A rule of its own, so that what follows a field of a filter stays what filters say.
        return self.field(parts)

    def diversity(self, parts: list[Any]) -> Diversity:
        limits = _united(part for part in parts if isinstance(part, tuple))
        shares = {name[10:]: limits.pop(name) for name in [*limits] if name.startswith("max_share ")}
        return Diversity(**limits, max_share=shares)


class _Queries(Language):
    """The language of queries: each clause once, and hints for what people type instead."""

    def allowed(self, terminals: Iterable[str], read: list[Token]) -> set[str]:
        """Leave out the clauses that stand there already."""
        allowed, types = set(terminals), {token.type for token in read}
        if "OPERATOR" not in allowed and "IN" in allowed:  # where it begins a clause
            allowed = allowed - {"IN"} | {"K_IN"}
        left = {
            f"K_{each.words.split()[0]}"
            for each in _CLAUSES
            if _terminal(each.words.split()[-1]) not in types
        }
        return allowed - ({f"K_{word}" for word in RESERVED} - left) - ({"K_SESSION", "K_USER"} & types)

    def hint(self, text: str, at: int, terminals: set[str]) -> str:
        """Tell of quotes that lack, and of keywords that look alike."""
        found = _LETTERS.match(text, at)
        word = found[0].upper() if found else ""
        keywords = [SPOKEN[each] for each in terminals if each[:2] == "K_"]
        if "TEXT" in terminals and text[at : at + 1] == '"':
            return '; this text is not closed: a quote within one is written \\"'
        if "TEXT" in terminals and word:
            return "; the words of a search stand in quotes"
        if "WORD" in terminals and word in RESERVED:
            return f"; a name that is a word of the language stands in quotes: '{word.lower()}'"
        if "$END" in terminals and (other := _SURFACE_OF.get(word)) and f"K_{word}" not in terminals:
            return f"; {word} goes with {other}"
        import difflib

        if near := difflib.get_close_matches(word, keywords, n=1, cutoff=0.7):
            return f"; did you mean {near[0]}?"
        return super().hint(text, at, terminals)


_QUERIES = _Queries(GRAMMAR, _Rules, SPOKEN)
_ESCAPED = re.compile(r'\\(["\\])|"(")')
_LETTERS = re.compile(r"\w+")


def _query(surface: str, arguments: dict[str, Any], clauses: list[tuple[Token, Clause, Any]]) -> Query:
    for token, clause, value in clauses:
        if clause.argument in arguments:
            raise Refused(f"{clause.words} stands there already", token)
        arguments[clause.argument] = value
    return Query(surface, arguments)


def _clause(surface: str, parts: list[Any]) -> tuple[Token, Clause, Any]:
    words = [part.upper() for part in parts if _is_token(part)]
    clause = next(clause for clause in CLAUSES[surface] if clause.words.split() == words)
    return parts[0], clause, True if clause.kind == "flag" else parts[-1]


def _is_token(part: object) -> bool:
    return hasattr(part, "type")


def _unescaped(match: re.Match[str]) -> str:
    return match[1] or match[2]


def _united(parts: Iterable[tuple[Token, dict[str, Any]]]) -> dict[str, Any]:
    united: dict[str, Any] = {}
    for token, part in parts:
        if twice := part.keys() & united.keys():
            raise Refused(f"{twice.pop()} stands there already", token)
        united |= part
    return united


def _share(field: Field, number: str) -> float:
    share = _number(number)
    Diversity(max_share={str(field): share})
    return share


def _whole(text: str) -> int:
    try:
        return check_count(int(text), "a number", -GREATEST, GREATEST)
    except (ValueError, InvalidArgument):  # more digits than Python converts
        raise InvalidArgument("where", f"a number of {len(text)} digits does not fit 64 bits") from None


def _number(text: str) -> float:
    return check_number(float(text), "a number")
