"""A dict that does not change, for the mappings in what people receive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

V = TypeVar("V")


class FrozenDict(dict[str, V]):
    """A dict whose every changing method raises TypeError.

    Examples
    --------
    >>> price = FrozenDict(price=30)
    >>> price | {"price": 25}
    {'price': 25}
    """

    def _refuse(self, *args: Any, **names: Any) -> NoReturn:
        raise TypeError("this mapping is immutable: make another, as in {**this, 'name': value}")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Callable[[dict[str, V]], FrozenDict[V]], tuple[dict[str, V]]]:
        return FrozenDict, (dict(self),)


_PLAIN = (str, int, float, bool, type(None))


def frozen(value: Any) -> Any:
    """Return a value with every dict and list in it, at any depth, made immutable.

    Examples
    --------
    >>> frozen({"a": [1, {"b": 2}]})
    {'a': (1, {'b': 2})}
    """
    if isinstance(value, dict):
        return FrozenDict(
            {key: each if type(each) in _PLAIN else frozen(each) for key, each in value.items()}
        )
    if isinstance(value, (list, tuple)):
        return tuple(frozen(each) for each in value)
    return value
