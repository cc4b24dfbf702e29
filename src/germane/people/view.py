"""The view of people: keeps what users have seen at the head of the log."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.checkpoint import Arrays
from germane.log.events import Base
from germane.log.state import StateView
from germane.people.pairs import IntArray
from germane.people.seen import PART, Seen

FORMAT = "2"
"""Version of the form in which checkpoints are written."""


class PeopleView(StateView[Seen, None]):
    """Gives what users have seen."""

    name = "people"
    title = "view of what users have seen"
    part = "people"

    def _how(self, connection: apsw.Connection) -> None:
        return None

    def _format(self, how: None) -> str:
        return FORMAT

    def _begun(self, how: None) -> Seen:
        return Seen()

    def _resumed(self, how: None, seq: int, arrays: Arrays) -> Seen:
        return Seen.from_arrays(seq, arrays)


class Known(NamedTuple):
    """What a base knew of a user.

    Parameters
    ----------
    parts : mapping
        The base's part without the user.
    signals : int
        How many signals of the user the base replaced.
    items : int64[n]
        Ordinals of the items that they were on.
    """

    parts: Parts
    signals: int
    items: IntArray


def without(connection: apsw.Connection, base: Base, user: str) -> Known | None:
    """Return what a base knows of a user, and what it is without; None when it knows nothing."""
    if PART not in base.parts:
        return None
    seen = Seen.from_arrays(0, arrays_from_chunks(chunks(connection, base, PART)))
    if user not in seen:
        return None
    parts = {PART: arrays_to_chunks(seen.without(user).to_arrays())}
    return Known(parts, seen.signals(user), seen.ever(user))


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what was seen up to a position, as the part of a base.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    return {PART: PeopleView().chunks(connection, seq, None)}
