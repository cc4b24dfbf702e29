"""The view of co-occurrence: keeps histories at the head of the log, and what was asked of them."""

from __future__ import annotations

import apsw

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.checkpoint import Arrays
from germane.log.events import Base
from germane.log.state import StateView
from germane.people.cooccurrence import Cooccurrence
from germane.people.histories import PART, Histories

FORMAT = "1"
"""Version of the form in which checkpoints are written."""


class NeighbourView(StateView[Cooccurrence, None]):
    """Gives co-occurrence; a checkpoint holds the histories, not what was made of them."""

    name = "neighbours"
    title = "view of what goes together"
    part = "people"

    def _how(self, connection: apsw.Connection) -> None:
        return None

    def _format(self, how: None) -> str:
        return FORMAT

    def _begun(self, how: None) -> Cooccurrence:
        return Cooccurrence()

    def _resumed(self, how: None, seq: int, arrays: Arrays) -> Cooccurrence:
        return Cooccurrence.from_arrays(seq, arrays)


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return the histories up to a position, as the part of a base.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    return {PART: NeighbourView().chunks(connection, seq, None)}


def without(connection: apsw.Connection, base: Base, user: str) -> Parts:
    """Return the part of a base that changes without a user."""
    if PART not in base.parts:
        return {}
    histories = Histories.from_arrays(0, arrays_from_chunks(chunks(connection, base, PART)))
    return {PART: arrays_to_chunks(histories.without(user).to_arrays())} if user in histories else {}
