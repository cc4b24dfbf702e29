"""Diversity: what a page may not hold too much of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from germane.model.errors import InvalidArgument, quoted
from germane.model.filters import FIELDS, Field
from germane.model.frozen import FrozenDict
from germane.model.values import check_count, check_id, check_share

SHARED = tuple(name for name in FIELDS if name not in ("id", "created_at"))
"""Fields of which a page may hold a share at most, beside metadata."""


class Diversity(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what one page holds; they are never exceeded, so a page may be short.

    Parameters
    ----------
    max_per_creator : int, optional
        Items of one creator. Items without a creator are not limited.
    max_share : mapping of str to float
        Field (``meta.format``, ``type``, ``tags``...) to the greatest share of the page that one value of it
        may have, above 0 to 1; always at least one item. Items without a value are not limited.
    mmr : float, optional
        Lambda of maximal marginal relevance, 0 to 1: each place goes to the item with the greatest
        ``lambda * score - (1 - lambda) * (greatest cosine to what the page shows already)``, among the best
        10 times the page's limit.
    relax : bool
        Whether a page that would be short is filled with what was held back, in order.

    Raises
    ------
    InvalidArgument
        A limit cannot be used; the error names it.

    Examples
    --------
    >>> Diversity(max_per_creator=2, max_share={"meta.format": 0.6}).max_share
    {'meta.format': 0.6}
    """

    max_per_creator: int | None = None
    max_share: Mapping[str, float] = FrozenDict()
    mmr: float | None = None
    relax: bool = False

    def __post_init__(self) -> None:
        if self.max_per_creator is not None:
            check_count(self.max_per_creator, "max_per_creator", 1, 1000)
        if not isinstance(self.max_share, Mapping):
            raise InvalidArgument(
                "max_share", f"must be a mapping like {{'meta.format': 0.6}}, not {quoted(self.max_share)}"
            )
        shares = {str(shared_field(name)): _share(name, share) for name, share in self.max_share.items()}
        msgspec.structs.force_setattr(self, "max_share", FrozenDict(shares))
        if self.mmr is not None:
            msgspec.structs.force_setattr(self, "mmr", check_share(self.mmr, "mmr", 0.0))
        if not isinstance(self.relax, bool):
            raise InvalidArgument("relax", f"must be True or False, not {quoted(self.relax)}")

    def caps(self, limit: int) -> dict[str, int]:
        """Return how many items of a page may have one value of each field."""
        # A share like 0.29 is a little less than that; of 100 places it must not come to 28.
        return {name: max(1, int(share * limit + 1e-9)) for name, share in self.max_share.items()}

    def declaration(self) -> dict[str, Any]:
        """Return the limits as plain data, without those that say nothing."""
        data = {
            "max_per_creator": self.max_per_creator,
            "max_share": dict(self.max_share),
            "mmr": self.mmr,
            "relax": self.relax,
        }
        return {name: value for name, value in data.items() if value or (name == "mmr" and value is not None)}

    @classmethod
    def of(cls, given: object, field: str = "diversity") -> Diversity | None:
        """Return limits, from a mapping of them too.

        Raises
        ------
        InvalidArgument
            It is neither, or holds what is no limit.
        """
        if given is None or isinstance(given, Diversity):
            return given
        if not isinstance(given, Mapping):
            raise InvalidArgument(field, f"must be a Diversity, not {type(given).__name__}")
        for name in given:
            if name not in cls.__struct_fields__:
                raise InvalidArgument(
                    f"{field}.{name}", f"is no limit: there are {', '.join(cls.__struct_fields__)}"
                )
        try:
            return cls(**given)
        except InvalidArgument as error:
            raise InvalidArgument(f"{field}.{error.field}", error.message.partition(": ")[2]) from None


def shared_field(name: object) -> Field:
    """Return the field that a limit on shares names."""
    if isinstance(name, str) and name.startswith("meta.") and len(name) > 5:
        key = name[5:]
        if len(key) > 1 and key[0] == key[-1] == "'":
            key = key[1:-1].replace("''", "'")
        return Field("meta", check_id(key, "max_share"))
    if isinstance(name, str) and name in SHARED:
        return Field(name)
    raise InvalidArgument(
        "max_share", f"{quoted(name)} is no field to limit: there are {', '.join(SHARED)}, and meta.NAME"
    )


def _share(name: object, share: object) -> float:
    usable = isinstance(share, (int, float)) and not isinstance(share, bool) and 0 < share <= 1
    if not usable:
        raise InvalidArgument(f"max_share.{name}", f"must be above 0 and at most 1, not {quoted(share)}")
    return float(share)  # type: ignore[arg-type]
