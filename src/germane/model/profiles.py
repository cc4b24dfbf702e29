"""A profile: a named, versioned, declarative ranking recipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from germane.model.diversity import Diversity
from germane.model.errors import InvalidArgument, SchemaError, quoted
from germane.model.forms import OF_ONE, Form, Term, finite, number, parse_form, parse_term, read_number
from germane.model.signals import Signal
from germane.model.strategies import GREATEST_UNITED, Strategy, parse_strategy
from germane.model.tables import check_table
from germane.model.values import check_count

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_WEIGHTED = re.compile(
    r"([+-]?[0-9.][0-9.eE+-]*)\s*\*?\s+(.+)|([+-]?[0-9.][0-9.eE+-]*)\s*\*\s*(.+)", re.DOTALL
)
_GATE = re.compile(r"(.+?)\s*>=\s*(\S+)", re.DOTALL)
GREATEST = 1e12
"""Greatest weight and threshold, either way."""


class Weighted(NamedTuple):
    """A form and what it is multiplied by.

    Parameters
    ----------
    form : Form
    weight : float
    """

    form: Form
    weight: float = 1.0

    def __str__(self) -> str:
        return f"{number(self.weight)} {self.form}"


class Gate(NamedTuple):
    """What an item must reach: below the threshold it is out, at the threshold it is in.

    Parameters
    ----------
    term : Term
    threshold : float
    """

    term: Term
    threshold: float

    def __str__(self) -> str:
        return f"{self.term} >= {number(self.threshold)}"


class Sort(NamedTuple):
    """A form that orders alone.

    Parameters
    ----------
    form : Form
    sign : {1, -1}
        1 puts the greatest first.
    """

    form: Form
    sign: int = 1

    def __str__(self) -> str:
        return f"-{self.form}" if self.sign < 0 else str(self.form)


class Profile(msgspec.Struct, frozen=True, cache_hash=True):
    """A ranking recipe: which items, weighed how, and what a page may show of them.

    Parameters
    ----------
    name : str
        ``[a-z][a-z0-9_]{0,63}``, and no built-in's.
    version : int
        From 1. Versions that were replaced stay callable as ``name@version``.
    candidates : iterable of str
        Strategies, united: ``all``, ``signal(engagement, 500)``, ``fresh(200)``, ``ids``,
        ``nearest(500)``, ``following(500)``, ``related(ID, 100)``.
    boosts, penalties : iterable of str
        Weighted forms like ``0.5 minmax(share.velocity.24h)``; a pair or a mapping of forms and weights
        will do as well. The base is the sum of the boosts less that of the penalties, in this order.
    gates : iterable of str
        Conditions like ``view.count.all >= 10``.
    sort : str, optional
        One form that orders alone, as ``created_at`` or ``-meta.price``; without boosts and penalties.
    diversity : Diversity, optional
    exploration : float
        Share of a page's places that show what would not be shown otherwise, 0 to 0.5.

    Raises
    ------
    SchemaError
        A value cannot be used; the error names the field.

    Examples
    --------
    >>> fresh_likes = Profile("fresh_likes", boosts=["2 log1p(like.decayed)", ("recency.48h", 0.5)])
    >>> [str(boost) for boost in fresh_likes.boosts]
    ['2 log1p(like.decayed)', '0.5 recency.48h']
    """

    name: str
    version: int = 1
    candidates: Any = ("all",)
    boosts: Any = ()
    penalties: Any = ()
    gates: Any = ()
    sort: Any = None
    diversity: Any = None
    exploration: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise SchemaError("profile.name", f"{quoted(self.name)} must be [a-z][a-z0-9_]{{0,63}}")
        try:
            self._check()
        except InvalidArgument as error:
            message = error.message.partition(": ")[2]
            raise SchemaError(f"profile.{self.name}.{error.field}", message) from None

    def _check(self) -> None:
        force = msgspec.structs.force_setattr
        check_count(self.version, "version", 1, 1_000_000)
        force(self, "candidates", _strategies(self.candidates))
        force(self, "boosts", _weighted(self.boosts, "boosts"))
        force(self, "penalties", _weighted(self.penalties, "penalties"))
        force(self, "gates", _gates(self.gates))
        force(self, "sort", _sort(self.sort))
        force(self, "diversity", Diversity.of(self.diversity))
        force(self, "exploration", finite(self.exploration, "exploration", 0, 0.5))
        if self.sort is not None and (self.boosts or self.penalties):
            raise InvalidArgument(
                "sort", "orders alone: leave out boosts and penalties, or weigh it with them"
            )
        over = next((form for form in self.forms if form.is_over_candidates), None)
        if over is not None:
            bounded = all(strategy.is_bounded for strategy in self.candidates)
            if not bounded or sum(strategy.n or 0 for strategy in self.candidates) > GREATEST_UNITED:
                raise InvalidArgument(
                    "candidates",
                    f"'{over}' looks at all candidates: give strategies like signal(like.decayed, 500) whose "
                    f"numbers sum to at most {GREATEST_UNITED:,}, and not 'all'",
                )

    @property
    def forms(self) -> tuple[Form, ...]:
        """Its forms in the order in which they are summed."""
        if self.sort is not None:
            return (self.sort.form,)
        return tuple(weighted.form for weighted in (*self.boosts, *self.penalties))

    @property
    def origin(self) -> str | None:
        """The item that its first ``related(ID, n)`` starts from; without one, the user's own are meant."""
        return next((each.id for each in self.candidates if each.id is not None), None)

    def related_to(self, form: Form) -> Form:
        """Return a form whose term, if it is of one item, is of the one that this starts from."""
        origin, term = self.origin, form.term
        if origin is None or term.kind not in OF_ONE:
            return form
        return form._replace(term=term._replace(of=origin))

    def threshold_term(self, gate: Gate) -> Term:
        """Return the term of a gate, as `related_to` would have it."""
        return self.related_to(Form(gate.term)).term

    def started(self, strategy: Strategy) -> Strategy:
        """Return a strategy with its term as `related_to` would have it."""
        if strategy.term is None:
            return strategy
        return strategy._replace(term=self.related_to(Form(strategy.term)).term)

    @property
    def label(self) -> str:
        """The name with its version."""
        return f"{self.name}@{self.version}"

    def check_signals(self, signals: Sequence[Signal]) -> None:
        """Refuse terms that these declared signals do not offer.

        Raises
        ------
        SchemaError
            A signal, window or velocity that none of them has; the error names it.
        """
        known = {signal.name: signal for signal in signals}
        places = [
            *(("sort", self.sort.form.term) for _ in [self.sort] if self.sort is not None),
            *((f"boosts[{n}]", boost.form.term) for n, boost in enumerate(self.boosts)),
            *((f"penalties[{n}]", penalty.form.term) for n, penalty in enumerate(self.penalties)),
            *((f"gates[{n}]", gate.term) for n, gate in enumerate(self.gates)),
            *((f"candidates[{n}]", each.term) for n, each in enumerate(self.candidates) if each.term),
        ]
        for place, term in places:
            wrong = _not_offered(term, known)
            if wrong:
                raise SchemaError(f"profile.{self.name}.{place}", wrong)

    def declaration(self) -> dict[str, Any]:
        """Return the profile as plain data: what a TOML file would say."""
        data: dict[str, Any] = {"name": self.name, "version": self.version}
        for field in ("candidates", "boosts", "penalties", "gates"):
            data[field] = [str(each) for each in getattr(self, field)]
        data["sort"] = None if self.sort is None else str(self.sort)
        data["diversity"] = None if self.diversity is None else self.diversity.declaration()
        data["exploration"] = self.exploration
        return {field: value for field, value in data.items() if value or field == "version"}

    @classmethod
    def from_declaration(cls, data: Any) -> Profile:
        """Return a profile from plain data.

        Raises
        ------
        SchemaError
            A name that no profile has, or a value that cannot be used.
        """
        return cls(**check_table(data, "profile", cls.__struct_fields__))


def _strategies(given: Any) -> tuple[Strategy, ...]:
    strategies = tuple(
        parse_strategy(each, f"candidates[{n}]") for n, each in enumerate(_listed(given, "candidates"))
    )
    if not strategies:
        raise InvalidArgument("candidates", "is empty: give at least one strategy, such as 'all'")
    _once([str(strategy) for strategy in strategies], "candidates")
    return strategies


def _weighted(given: Any, field: str) -> tuple[Weighted, ...]:
    if isinstance(given, Mapping):
        given = list(given.items())
    made = tuple(_one_weighted(each, f"{field}[{n}]") for n, each in enumerate(_listed(given, field)))
    _once([str(weighted.form) for weighted in made], field)
    return made


def _one_weighted(given: Any, field: str) -> Weighted:
    if isinstance(given, Weighted):
        return given
    weight: Any = 1.0
    if isinstance(given, Mapping):
        wrong = given.keys() - {"term", "transform", "weight"}
        if wrong or "term" not in given:
            raise InvalidArgument(field, "a table has term, and may have transform and weight")
        transform = given.get("transform", "linear")
        form = parse_form(f"{transform}({given['term']})", field)
        weight = given.get("weight", 1.0)
    elif isinstance(given, str):
        match = _WEIGHTED.fullmatch(given.strip())
        if match:
            weight = read_number(match[1] or match[3], field)
        form = parse_form((match[2] or match[4]) if match else given, field)
    elif isinstance(given, (list, tuple)) and len(given) == 2:
        form, weight = parse_form(given[0], field), given[1]
    else:
        raise InvalidArgument(
            field,
            f"give a string like '0.5 log1p(like.decayed)', or a form and its weight, not {quoted(given)}",
        )
    return Weighted(form, finite(weight, field, -GREATEST, GREATEST))


def _gates(given: Any) -> tuple[Gate, ...]:
    if isinstance(given, Mapping):
        given = list(given.items())
    gates = tuple(_gate(each, f"gates[{n}]") for n, each in enumerate(_listed(given, "gates")))
    for n, gate in enumerate(gates):
        if gate.term.kind == "text":
            raise InvalidArgument(f"gates[{n}]", "'text' has a value in searches only: give min scores there")
    return gates


def _gate(given: Any, field: str) -> Gate:
    if isinstance(given, Gate):
        return given
    if isinstance(given, str):
        match = _GATE.fullmatch(given.strip())
        if match is None:
            raise InvalidArgument(field, f"{quoted(given)}: a gate is like 'view.count.all >= 10'")
        given = (match[1], read_number(match[2], field))
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise InvalidArgument(
            field,
            f"give a string like 'view.count.all >= 10', or a term and its threshold, not {quoted(given)}",
        )
    return Gate(parse_term(given[0], field), finite(given[1], field, -GREATEST, GREATEST))


def _sort(given: Any) -> Sort | None:
    if given is None or isinstance(given, Sort):
        return given
    if not isinstance(given, str):
        raise InvalidArgument(
            "sort", f"must be a form like 'created_at' or '-meta.price', not {quoted(given)}"
        )
    text = given.strip()
    return Sort(parse_form(text.removeprefix("-"), "sort"), -1 if text.startswith("-") else 1)


def _listed(given: Any, field: str) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidArgument(field, f"must be a list, not {type(given).__name__}")
    return list(given)


def _once(texts: list[str], field: str) -> None:
    for n, text in enumerate(texts):
        if text in texts[:n]:
            raise InvalidArgument(f"{field}[{n}]", f"'{text}' is declared twice")


def _not_offered(term: Term, known: Mapping[str, Signal]) -> str | None:
    """Return what a schema lacks for a term, None if nothing."""
    for name in term.signals:
        if name not in known:
            declared = ", ".join(known) or "none"
            return f"'{term}': {quoted(name)} is no declared signal: declared are {declared}"
    if term.kind in ("count", "velocity"):
        signal = known[term.signal or ""]
        if term.of not in tuple(signal.windows):
            windows = ", ".join(signal.windows) or "no windows"
            return f"'{term}': {quoted(term.of)} is no window of {signal.name!r}: it has {windows}"
        if term.kind == "velocity" and not signal.velocity:
            return f"'{term}': signal {signal.name!r} is declared without velocity"
    return None
