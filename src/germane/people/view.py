"""The view of people: keeps what users have seen at the head of the log."""

from __future__ import annotations

import apsw

from germane.log.base import Parts
from germane.log.checkpoint import Arrays
from germane.log.state import StateView
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


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what was seen up to a position, as the part of a base.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    return {PART: PeopleView().chunks(connection, seq, None)}
