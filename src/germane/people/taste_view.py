"""The view of tastes: keeps preferences and affinities at the head of the log."""

from __future__ import annotations

import hashlib

import apsw
import msgspec

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.checkpoint import Arrays
from germane.log.content import schema, schemas_from
from germane.log.events import Base
from germane.log.reader import remembered
from germane.log.runs import Ordinals
from germane.log.state import StateView
from germane.model.times import Micros
from germane.people.taste import Taste
from germane.people.tastes import PART, Kind, Lesson, Tastes
from germane.sessions.learning import pending

FORMAT = "1"
"""Version of the form in which checkpoints are written, and of how it follows from the log."""


class TasteView(StateView[Tastes, tuple[Kind, ...]]):
    """Gives the tastes of users, as the present declarations of signals make them."""

    name = "tastes"
    title = "view of the tastes of users"
    part = "people"

    def of(self, connection: apsw.Connection, user: str | None, now: Micros) -> Taste:
        """Return the taste of a user at a time; of None an empty one.

        What a session says that has ended counts from its end on, whether or not that is in the log by now.
        """
        told = [] if user is None else pending(connection, user, now)
        ordinals = Ordinals(connection)
        with self.at(connection) as tastes:
            return tastes.of(user, now, [Lesson.of(at, learned, ordinals) for at, learned in told])

    def _how(self, connection: apsw.Connection) -> tuple[Kind, ...]:
        return remembered(connection, "kinds", _kinds)

    def _format(self, how: tuple[Kind, ...]) -> str:
        return f"{FORMAT}/{hashlib.blake2b(msgspec.json.encode(how), digest_size=8).hexdigest()}"

    def _begun(self, how: tuple[Kind, ...]) -> Tastes:
        return Tastes(how)

    def _resumed(self, how: tuple[Kind, ...], seq: int, arrays: Arrays) -> Tastes:
        return Tastes.from_arrays(how, seq, arrays)


def _kinds(connection: apsw.Connection) -> tuple[Kind, ...]:
    return Kind.of(schema(connection))


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return the tastes at a position, under each declaration that may be asked for from there on.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    variants = dict.fromkeys(Kind.of(schema) for schema in schemas_from(connection, seq))
    view = TasteView()
    return {
        f"{PART}{number}": [msgspec.json.encode(kinds), *view.chunks(connection, seq, kinds)]
        for number, kinds in enumerate(variants)
    }


def without(connection: apsw.Connection, base: Base, user: str) -> Parts:
    """Return the parts of a base that change without a user."""
    parts: dict[str, list[bytes]] = {}
    number = 0
    while (name := f"{PART}{number}") in base.parts:
        declared, *told = chunks(connection, base, name)
        kinds = msgspec.json.decode(declared, type=tuple[Kind, ...])
        tastes = Tastes.from_arrays(kinds, 0, arrays_from_chunks(told))
        if user in tastes:
            parts[name] = [declared, *arrays_to_chunks(tastes.without(user).to_arrays())]
        number += 1
    return parts
