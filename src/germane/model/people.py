"""Users: how they stand to items and creators, and what is known of one."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from germane.model.errors import InvalidArgument, quoted
from germane.model.frozen import FrozenDict

ABOUT = {
    "follow": "a creator",
    "save": "an item",
    "mute": "an item or a creator",
    "hide": "an item",
    "block": "a creator",
}
"""The relations, and what each is to."""
RELATIONS = tuple(ABOUT)
OF_ITEMS = ("save", "hide")
"""Relations whose target is an item and nothing else."""
HARD = ("hide", "block")
"""Relations whose targets are in no answer to the user, about the past neither, until they are undone."""


def check_relation(value: object) -> str:
    """Return the name of a relation.

    Raises
    ------
    InvalidArgument
        There is none of this name; the error lists those that there are.
    """
    if not isinstance(value, str) or value not in ABOUT:
        known = ", ".join(f"{name} ({about})" for name, about in ABOUT.items())
        raise InvalidArgument("relation", f"{quoted(value)} is no relation: there are {known}")
    return str.__str__(value)


class UserState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a user; all of it is empty for one who never did anything.

    Parameters
    ----------
    user : str
    relations : dict of str to tuple of str
        For each relation its targets, in the order in which they were related. Items that were deleted are
        left out until they are put again.
    seen : int
        How many items they have seen: those that a signal of theirs was on.
    signals : int
        How many signals of theirs were recorded.
    preference : tuple of float, or None
        What they lean to, as float32: the moving average of the vectors of what they acted on. None while no
        signal moved it.
    affinities : dict of str to float
        For each creator on whose items a signal of theirs was, how much they like them; the greatest first.
    sessions : tuple of str
        Ids of the sessions that agents began for them, the oldest first.
    """

    user: str
    relations: Mapping[str, tuple[str, ...]]
    seen: int
    signals: int
    preference: tuple[float, ...] | None = None
    affinities: Mapping[str, float] = msgspec.field(default_factory=FrozenDict)
    sessions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "relations", FrozenDict(self.relations))
        msgspec.structs.force_setattr(self, "affinities", FrozenDict(self.affinities))
