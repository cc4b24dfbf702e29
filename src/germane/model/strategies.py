"""Candidate strategies: where the items that a profile ranks come from."""

from __future__ import annotations

import re
from typing import NamedTuple

from germane.model.errors import InvalidArgument, quoted
from germane.model.forms import Term, parse_term
from germane.model.values import check_id

GREATEST_UNITED = 10_000
"""How many candidates a transform over all of them may see, by the sum of the strategies' numbers."""

_CALL = re.compile(r"(signal|nearest|following|fresh|related)\((.*)\)", re.DOTALL)
_FORMS = "all, ids, signal(TERM, N), fresh(N), nearest(N), following(N), related(ID, N), related(N)"


class Strategy(NamedTuple):
    """One source of candidates.

    Parameters
    ----------
    kind : str
        ``all``, ``ids``, ``signal``, ``fresh``, ``nearest``, ``following`` or ``related``.
    n : int or None
        How many it gives at most.
    term : Term or None
        What ``signal`` takes the greatest of.
    id : str or None
        What ``related`` starts from; without one, from what the user did lately.
    """

    kind: str
    n: int | None = None
    term: Term | None = None
    id: str | None = None

    def __str__(self) -> str:
        if self.n is None:
            return self.kind
        given = [str(each) for each in (self.term, self.id, self.n) if each is not None]
        return f"{self.kind}({', '.join(given)})"

    @property
    def is_bounded(self) -> bool:
        """Whether it gives a limited number."""
        return self.kind != "all"


def parse_strategy(text: object, field: str = "candidates") -> Strategy:
    """Return the strategy that a text says.

    Raises
    ------
    InvalidArgument
        It says none.

    Examples
    --------
    >>> str(parse_strategy("signal( engagement,500 )"))
    'signal(engagement, 500)'
    """
    if isinstance(text, Strategy):
        return text
    if not isinstance(text, str):
        raise InvalidArgument(field, f"a strategy is a string, one of {_FORMS}, not {quoted(text)}")
    text = text.strip()
    if text in ("all", "ids"):
        return Strategy(text)
    call = _CALL.fullmatch(text)
    if call is None:
        raise InvalidArgument(field, f"{quoted(text)} is no strategy: there are {_FORMS}")
    kind, given = call.groups()
    first, comma, last = given.rpartition(",")
    n = _count(last, text, field)
    if kind != "related" and (kind == "signal") != bool(comma):
        raise InvalidArgument(field, f"{quoted(text)}: there are {_FORMS}")
    if kind == "signal":
        return Strategy(kind, n, term=parse_term(first, field))
    return Strategy(kind, n, id=check_id(first.strip(), field) if comma else None)


def _count(text: str, whole: str, field: str) -> int:
    text = text.strip()
    if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= 1_000_000:
        raise InvalidArgument(field, f"{quoted(whole)}: give how many, from 1 to 1,000,000")
    return int(text)
