"""The Python form of filters: ``where.meta.price < 10``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from germane.model.errors import InvalidArgument
from germane.model.filters import FIELDS, STATES, Comparison, Field, Filter, State, unknown_field
from germane.model.values import Scalar


class Term:
    """A field, which comparisons make filters of.

    Parameters
    ----------
    field : Field
    """

    __slots__ = ("_field",)

    def __init__(self, field: Field) -> None:
        self._field = field

    def __eq__(self, value: Scalar) -> Filter:  # type: ignore[override]
        return Comparison(self._field, "=", value)

    def __ne__(self, value: Scalar) -> Filter:  # type: ignore[override]
        return Comparison(self._field, "!=", value)

    def __lt__(self, value: Scalar) -> Filter:
        return Comparison(self._field, "<", value)

    def __le__(self, value: Scalar) -> Filter:
        return Comparison(self._field, "<=", value)

    def __gt__(self, value: Scalar) -> Filter:
        return Comparison(self._field, ">", value)

    def __ge__(self, value: Scalar) -> Filter:
        return Comparison(self._field, ">=", value)

    def in_(self, values: Iterable[Scalar]) -> Filter:
        """Return the filter that any of some values meets."""
        return Comparison(self._field, "in", values)

    def contains(self, value: Scalar) -> Filter:
        """Return the filter that a list with this element meets, or a string with this part."""
        return Comparison(self._field, "contains", value)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(
            "where", f"{self._field} alone is no filter: compare it, as in {self._field.python()} == True"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise InvalidArgument(
            "where", f"Python's 'in' makes no filter: write {self._field.python()}.contains({value!r})"
        )

    def __repr__(self) -> str:
        return self._field.python()


class Metadata:
    """The names of the metadata, as attributes or in brackets."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Term:
        if name.startswith("_"):  # what Python itself asks of objects
            raise AttributeError(f"where.meta has no attribute {name!r}: write where.meta[{name!r}]")
        return Term(Field("meta", name))

    def __getitem__(self, name: str) -> Term:
        return Term(Field("meta", name))

    def __repr__(self) -> str:
        return "where.meta"


class Where:
    """Where filters begin: every field is an attribute, and so is what an item is to the user.

    Examples
    --------
    >>> where.creator.in_(["ann", "bob"]) | (where.meta["reading time"] <= 5)
    where.creator.in_(['ann', 'bob']) | (where.meta['reading time'] <= 5)
    >>> where.unseen & ~where.saved
    where.unseen & ~where.saved
    """

    __slots__ = ()

    id = Term(Field("id"))
    type = Term(Field("type"))
    tags = Term(Field("tags"))
    creator = Term(Field("creator"))
    document = Term(Field("document"))
    collection = Term(Field("collection"))
    kind = Term(Field("kind"))
    created_at = Term(Field("created_at"))
    meta = Metadata()
    unseen = State("unseen")
    saved = State("saved")
    following = State("following")
    in_progress = State("in_progress")
    unseen_in_session = State("unseen_in_session")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(unknown_field(name))

    def __dir__(self) -> list[str]:
        return [*FIELDS, "meta", *STATES]

    def __repr__(self) -> str:
        return "where"


where = Where()
