"""Reading a text by a grammar, and errors that say what was expected where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from germane.model.errors import InvalidArgument, QuerySyntaxError, quoted

if TYPE_CHECKING:
    from lark import Lark, Token

_WORD = re.compile(r"'[^']{0,20}'?|[\w.-]{1,20}|.", re.DOTALL)
"""What of a text a message repeats."""

T = TypeVar("T")


class Refused(Exception):
    """Something is well formed and cannot be; the place is known.

    Parameters
    ----------
    message : str
    token : Token
        Where it begins.
    """

    def __init__(self, message: str, token: Token) -> None:
        self.message = message.removeprefix("where: ")
        self.position = token.start_pos or 0


class Language:
    """A grammar, and what messages call its parts; read when first used.

    Parameters
    ----------
    grammar : str
        In Lark's notation; its rule ``start`` is the whole text.
    rules : callable
        Makes the object that builds values while a text is parsed, rule by rule, so that depth costs no
        recursion: a method a rule.
    spoken : mapping
        How messages call what may stand at a place, by terminal, in the order in which they list it.
    """

    def __init__(self, grammar: str, rules: Callable[[], object], spoken: Mapping[str, str]) -> None:
        self._grammar = grammar
        self._rules = rules
        self._spoken = spoken

    def parse(self, text: str) -> Any:
        """Return what a text says.

        Raises
        ------
        QuerySyntaxError
            It does not parse; the error says where, and what was expected there.
        """
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            return self._parser.parse(text)
        except UnexpectedCharacters as error:
            raise self._unexpected(text, error.pos_in_stream or 0) from None
        except UnexpectedToken as error:
            is_end = error.token.type == "$END"
            raise self._unexpected(text, len(text) if is_end else error.token.start_pos or 0) from None
        except Refused as refused:
            raise QuerySyntaxError(refused.message, refused.position, text) from None

    @cached_property
    def _parser(self) -> Lark:
        from lark import Lark

        rules: Any = self._rules()
        return Lark(self._grammar, parser="lalr", maybe_placeholders=False, transformer=rules)

    def _unexpected(self, text: str, at: int) -> QuerySyntaxError:
        # What the parser expected when it failed is less than what could have stood there: by then it had
        # closed rules. What comes before the place is read again, and asked.
        reader: Any = self._parser.parse_interactive(text[:at])
        read = reader.exhaust_lexer()
        terminals = self.allowed(reader.accepts(), read)
        found = "but the text ends" if at >= len(text) else f"not {_word(text, at)}"
        spoken = [self._spoken[name] for name in self._spoken if name in terminals]
        return QuerySyntaxError(
            f"expected {listed(spoken)}, {found}{self.hint(text, at, terminals)}", at, text
        )

    def allowed(self, terminals: Iterable[str], read: list[Token]) -> set[str]:
        """Return which of the terminals that the grammar takes may stand after what was read."""
        del read
        return set(terminals)

    def hint(self, text: str, at: int, terminals: set[str]) -> str:
        """Return what else to say about a place where one of some terminals was expected."""
        char = text[at : at + 1]
        if char == "=" and text[at - 1 : at] == "=":
            return "; equality is one ="
        return _HINTS.get(char, "") if "STRING" in terminals else ""


_HINTS = {
    "'": "; this string is not closed: a quote within one is written twice",
    '"': "; strings stand in single quotes",
}


def made(token: Token, make: Callable[..., T], *values: Any) -> T:
    """Make something of what was read; a refusal is one of the text at a token.

    Raises
    ------
    Refused
        What was read cannot be used.
    """
    try:
        return make(*values)
    except InvalidArgument as error:
        raise Refused(error.message, token) from None


def unquoted(text: str) -> str:
    """Return the content of a string in single quotes."""
    return text[1:-1].replace("''", "'")


def listed(words: list[str]) -> str:
    """Return words as a choice.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _word(text: str, at: int) -> str:
    found = _WORD.match(text, at)
    assert found is not None
    return quoted(found[0])
