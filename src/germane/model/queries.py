"""A query in its textual form: which clauses there are, and a query that prints itself by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from germane.model.diversity import Diversity
from germane.model.errors import InvalidArgument, quoted
from germane.model.filters import Filter, in_quotes
from germane.model.frozen import FrozenDict
from germane.model.times import to_datetime, to_micros
from germane.model.values import check_count, check_id, check_names, check_text
from germane.model.weights import SearchWeights


class Clause(NamedTuple):
    """A clause, and the argument of the call that it gives.

    Parameters
    ----------
    words : str
        What it begins with.
    argument : str
    kind : str
        What follows: one of `KINDS`.
    default : object
        What the call takes without it.
    """

    words: str
    argument: str
    kind: str
    default: Any = None


_WHO = (Clause("FOR USER", "user", "name"), Clause("FOR SESSION", "session", "name"))
_WHICH = (
    Clause("IN COLLECTIONS", "collections", "names"),
    Clause("WHERE", "where", "filter"),
)
_SHOWN = (
    Clause("LIMIT", "limit", "whole", 20),
    Clause("EXPLAIN", "explain", "flag", False),
    Clause("AS OF", "as_of", "moment"),
)

CLAUSES: dict[str, tuple[Clause, ...]] = {
    "retrieve": (
        *_WHO,
        Clause("USING PROFILE", "profile", "name", "for_you"),
        Clause("SIMILAR TO", "similar_to", "name"),
        Clause("CANDIDATES", "candidates", "names"),
        *_WHICH,
        Clause("DIVERSITY", "diversity", "diversity"),
        Clause("FACETS", "facets", "names", ()),
        Clause("SEED", "seed", "seed"),
        Clause("CURSOR", "cursor", "string"),
        *_SHOWN,
    ),
    "search": (
        Clause("MODE", "mode", "name", "sections"),
        Clause("MATCH", "match", "name", "any"),
        *_WHO,
        Clause("USING PROFILE", "profile", "name", "search"),
        Clause("PERSONALIZATION", "personalization", "number"),
        *_WHICH,
        Clause("ALGO", "algo", "name", "text"),
        Clause("SCORER", "scorer", "name", "bm25f"),
        Clause("WEIGHTS", "weights", "weights"),
        Clause("AGGREGATE", "aggregate", "name", "sum"),
        Clause("RERANK", "rerank", "whole", 1000),
        Clause("TYPOS", "typos", "truth", True),
        Clause("LANG", "lang", "name"),
        Clause("FACETS", "facets", "names", ()),
        Clause("SORT BY", "sort_by", "name"),
        Clause("OFFSET", "offset", "whole", 0),
        *_SHOWN,
    ),
}
"""The clauses of each surface, in the order in which a query prints them."""

RESERVED = tuple(dict.fromkeys(each.words.split()[0] for clauses in CLAUSES.values() for each in clauses))
"""What begins a clause; a name that is one of these stands in quotes, whatever its case."""

NAME = rf"(?!(?:{'|'.join(RESERVED)})(?![\w.:@-]))[A-Za-z0-9_][\w.:@-]*"
"""A name without quotes."""
GREATEST = (1 << 63) - 1
"""The greatest number in a query."""
_NAME = re.compile(NAME, re.IGNORECASE)


class Query(msgspec.Struct, frozen=True):
    r"""A query: which call it is, and with which arguments; its text is `str` of it.

    Parameters
    ----------
    surface : {"retrieve", "search"}
        The method of the database.
    arguments : mapping
        Its arguments; those that are at their default are left out.

    Raises
    ------
    InvalidArgument
        An argument that has no clause, or whose value cannot be used; the error names it.

    Examples
    --------
    >>> str(Query("retrieve", {"profile": "top:24h", "user": "o'hara", "limit": 5}))
    "RETRIEVE items FOR USER 'o''hara' USING PROFILE top:24h LIMIT 5"
    >>> str(Query("search", {"text": '"move semantics" +closure', "limit": 20}))
    'SEARCH "\\"move semantics\\" +closure"'
    """

    surface: str
    arguments: Mapping[str, Any] = FrozenDict()

    def __post_init__(self) -> None:
        if self.surface not in CLAUSES:
            raise InvalidArgument("surface", f"{quoted(self.surface)} is none of {', '.join(CLAUSES)}")
        left = dict(self.arguments)
        kept: dict[str, Any] = {}
        if self.surface == "search":
            kept["text"] = check_string(left.pop("text", None), "text")
        for clause in CLAUSES[self.surface]:
            value = left.pop(clause.argument, clause.default)
            if value == clause.default and type(value) is type(clause.default):
                continue
            value = KINDS[clause.kind].check(value, clause.argument)
            # Weights that are all at their default print nothing, and mean what none mean.
            if value not in (clause.default, SearchWeights()):
                kept[clause.argument] = value
        for name in left:
            raise InvalidArgument(name, f"has no clause in {self.surface.upper()}")
        msgspec.structs.force_setattr(self, "arguments", FrozenDict(kept))

    def __str__(self) -> str:
        return " ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield "RETRIEVE items" if self.surface == "retrieve" else f"SEARCH {_text(self.arguments['text'])}"
        for clause in CLAUSES[self.surface]:
            if clause.argument in self.arguments:
                yield clause.words
                if said := KINDS[clause.kind].write(self.arguments[clause.argument]):
                    yield said


def check_string(value: object, field: str) -> str:
    """Return any string."""
    if not isinstance(value, str):
        raise InvalidArgument(field, f"must be a string, not {type(value).__name__}")
    return str.__str__(value)


def check_moment(value: object, field: str) -> int | datetime:
    """Return a position in the log, or a time."""
    if isinstance(value, datetime):
        return to_datetime(to_micros(value, field))
    return check_whole(value, field)


def check_whole(value: object, field: str) -> int:
    """Return a whole number from 0 that fits 64 bits."""
    return check_count(value, field, 0, GREATEST)


def check_truth(value: object, field: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise InvalidArgument(field, f"must be True or False, not {quoted(value)}")
    return value


def check_weights(value: object, field: str) -> SearchWeights:
    """Return search weights."""
    if not isinstance(value, SearchWeights):
        raise InvalidArgument(field, f"must be SearchWeights, not {type(value).__name__}")
    return value


def check_number(value: object, field: str) -> float:
    """Return a finite number."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not usable or not -1e300 <= value <= 1e300:  # type: ignore[operator]  # it is a number
        raise InvalidArgument(field, f"must be a finite number, not {quoted(value)}")
    return float(value)  # type: ignore[arg-type]


def _check_names(value: object, field: str) -> tuple[str, ...]:
    names = check_names(value, field)
    if not names:
        raise InvalidArgument(field, "is empty: a clause names at least one")
    return names


def _check_filter(value: object, field: str) -> Filter:
    if not isinstance(value, Filter):
        raise InvalidArgument(field, f"must be a filter, not {type(value).__name__}")
    return value


def _check_diversity(value: object, field: str) -> Diversity:
    if not isinstance(value, Diversity):
        raise InvalidArgument(field, f"must be a Diversity, not {type(value).__name__}")
    return value


def _check_seed(value: object, field: str) -> int | str:
    if isinstance(value, int):
        return check_count(value, field, -GREATEST, GREATEST)
    return check_text(value, field)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _name(text: str) -> str:
    return text if _NAME.fullmatch(text) else in_quotes(text)


def _moment(value: int | datetime) -> str:
    return str(value) if isinstance(value, int) else f"time {in_quotes(value.isoformat())}"


def _weights(value: SearchWeights) -> str:
    plain = SearchWeights()
    changed = {name: getattr(value, name) for name in SearchWeights.__struct_fields__}
    return ", ".join(
        f"{name} {number!r}" for name, number in changed.items() if number != getattr(plain, name)
    )


def _diversity(value: Diversity) -> str:
    said = [] if value.max_per_creator is None else [f"max_per_creator {value.max_per_creator}"]
    said += [f"max_share {name} {share!r}" for name, share in value.max_share.items()]
    said += [] if value.mmr is None else [f"mmr {value.mmr!r}"]
    said += ["relax"] if value.relax else []
    return ", ".join(said) or "none"


class Kind(NamedTuple):
    """What may follow the words of a clause.

    Parameters
    ----------
    check : callable
        Takes a value and the argument's name; returns the value as it is kept.
    write : callable
        Returns its text.
    """

    check: Callable[[Any, str], Any]
    write: Callable[[Any], str]


KINDS = {
    "name": Kind(check_id, _name),
    "names": Kind(_check_names, lambda names: ", ".join(map(_name, names))),
    "string": Kind(check_string, _name),
    "whole": Kind(check_whole, str),
    "number": Kind(check_number, repr),
    "truth": Kind(check_truth, lambda value: "true" if value else "false"),
    "flag": Kind(check_truth, lambda _: ""),
    "filter": Kind(_check_filter, str),
    "moment": Kind(check_moment, _moment),
    "seed": Kind(_check_seed, lambda seed: str(seed) if isinstance(seed, int) else in_quotes(seed)),
    "weights": Kind(check_weights, _weights),
    "diversity": Kind(_check_diversity, _diversity),
}
"""What may follow the words of a clause, by the names of the rules of the grammar that read it."""
