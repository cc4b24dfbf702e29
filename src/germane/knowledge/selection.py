"""Selecting: which live items meet a filter, over whole columns at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from functools import reduce

import apsw
import numpy as np

from germane.knowledge.catalog import META, Catalog
from germane.knowledge.columns import BOOL, FLOAT, INT, STRING, TIME, Column
from germane.model.filters import Comparison, Filter, Joined, Not, Or, State
from germane.model.times import to_micros
from germane.model.values import Scalar
from germane.text.arrays import BoolArray, IntArray

SEVERAL = ("tags", "document")
"""Fields of which an item may have several values: a comparison holds when it does for any of them."""
_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1


States = Callable[[str, int], BoolArray]
"""Tells of so many ordinals which are in a state to the user."""


def select(
    connection: apsw.Connection, catalog: Catalog, condition: Filter, states: States | None = None
) -> BoolArray:
    """Return which items meet a filter: bool[ordinals].

    Parameters
    ----------
    connection : apsw.Connection
        At the catalogue's position; ids are looked up in the tables.
    catalog : Catalog
    condition : Filter
    states : callable, optional
        Needed by a filter that asks something of the user.
    """
    met: BoolArray = _met(connection, catalog, condition, states) & catalog.live
    return met


def _met(
    connection: apsw.Connection, catalog: Catalog, condition: Filter, states: States | None
) -> BoolArray:
    if isinstance(condition, Not):
        return ~_met(connection, catalog, condition.part, states)
    if isinstance(condition, Joined):
        join: Callable[[BoolArray, BoolArray], BoolArray]
        join = np.logical_or if isinstance(condition, Or) else np.logical_and
        return reduce(join, (_met(connection, catalog, part, states) for part in condition.parts))
    met = np.zeros(len(catalog.live), np.bool_)
    if isinstance(condition, State):
        assert states is not None
        return states(condition.state, len(met))
    assert isinstance(condition, Comparison)
    if condition.field.name == "id":
        found = _with_ids(connection, condition)
        met[found[found < len(met)]] = True  # items that were never put have ordinals too
        return met
    name = META + condition.field.key if condition.field.key is not None else condition.field.name
    column = catalog.columns.get(name)
    if column is None:
        return met
    operator, value = condition.operator, condition.value
    if operator == "!=":
        # What has a value of the kind, and is not equal: of several values none may be.
        assert not isinstance(value, tuple)
        met[column.ordinals[_of_kind(column, value) & ~column.in_list]] = True
        met[column.ordinals[_equal(column, value) & ~column.in_list]] = False
        return met
    met[column.ordinals[_hits(column, operator, value, name in SEVERAL)]] = True
    return met


def _hits(column: Column, operator: str, value: Scalar | tuple[Scalar, ...], is_several: bool) -> BoolArray:
    """Return for which values of a column a comparison holds."""
    found: BoolArray
    if operator == "contains":
        assert not isinstance(value, tuple)
        found = _equal(column, value)
        if not is_several:
            found &= column.in_list
            if isinstance(value, str):
                found |= _texts(column, lambda text: value in text) & ~column.in_list
        return found
    if isinstance(value, tuple):
        found = np.zeros(len(column), np.bool_)
        for each in value:
            found |= _equal(column, each)
    elif operator == "=":
        found = _equal(column, value)
    else:
        found = _less(column, value)
        if operator in ("<=", ">"):
            found |= _equal(column, value)
        if operator in (">=", ">"):
            found = _of_kind(column, value) & ~found
    found &= ~column.in_list  # a list is compared with nothing, it only contains
    return found


def _of_kind(column: Column, value: Scalar) -> BoolArray:
    """Return which values of a column can be compared with this one."""
    of_kind: BoolArray = np.isin(column.kinds, _kinds(value))
    return of_kind


def _kinds(value: Scalar) -> tuple[int, ...]:
    if isinstance(value, str):
        return (STRING,)
    if isinstance(value, bool):
        return (BOOL,)
    return (TIME,) if isinstance(value, datetime) else (INT, FLOAT)


def _equal(column: Column, value: Scalar) -> BoolArray:
    equal: BoolArray = np.zeros(len(column), np.bool_)
    for kind in _kinds(value):
        if kind == FLOAT:
            # Python compares numbers exactly, whatever their types.
            if (near := float(value)) == value:  # type: ignore[arg-type]  # it is a number
                is_float = column.kinds == FLOAT
                equal[is_float] = column.bits[is_float].view(np.float64) == near
        elif (bits := _bits(column, value)) is not None:
            equal |= (column.kinds == kind) & (column.bits == bits)
    return equal


def _bits(column: Column, value: Scalar) -> int | None:
    """Return how a column holds a value that is no float, None when it cannot hold it."""
    if isinstance(value, str):
        return column.texts.numbers.get(value)
    if isinstance(value, datetime):
        return to_micros(value, "where")
    whole = int(value)
    return whole if whole == value and _LEAST <= whole <= _GREATEST else None


def _less(column: Column, value: Scalar) -> BoolArray:
    """Return which values of a column are less than this one, and can be compared with it."""
    kinds, bits = column.kinds, column.bits
    if isinstance(value, str):
        return _texts(column, lambda text: text < value)
    less: BoolArray = np.zeros(len(column), np.bool_)
    if isinstance(value, datetime):
        less |= (kinds == TIME) & (bits < to_micros(value, "where"))
        return less
    # Integers below a number are those below its ceiling; floats below an integer that is none are those up
    # to its nearest float from below, or below its nearest from above.
    ceiling = math.ceil(value)
    is_int = kinds == INT
    if ceiling > _GREATEST:
        less |= is_int
    elif ceiling > _LEAST:
        less |= is_int & (bits < ceiling)
    is_float = kinds == FLOAT
    near = float(value)
    numbers = bits[is_float].view(np.float64)
    less[is_float] = numbers <= near if near < value else numbers < near
    return less


def _texts(column: Column, holds: Callable[[str], bool]) -> BoolArray:
    """Return for which values of a column something holds of the string."""
    is_text = column.kinds == STRING
    used = column.bits[is_text]
    count = int(used.max()) + 1 if len(used) else 0
    table = np.fromiter((holds(text) for text in column.texts.values[:count]), np.bool_, count)
    found = np.zeros(len(column), np.bool_)
    found[is_text] = table[used]
    return found


_IDS = {
    "=": "id = ?",
    "in": "id = ?",
    "!=": "id <> ?",
    "<": "id < ?",
    "<=": "id <= ?",
    ">": "id > ?",
    ">=": "id >= ?",
    "contains": "instr(id, ?) > 0",
}
"""SQLite compares strings by their UTF-8 bytes, which is by code point."""


def _with_ids(connection: apsw.Connection, condition: Comparison) -> IntArray:
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    query = f"SELECT ordinal FROM item WHERE {_IDS[condition.operator]}"
    found = [
        ordinal
        for value in values
        if isinstance(value, str)
        for (ordinal,) in connection.execute(query, (value,))
    ]
    return np.array(found, np.int64)
