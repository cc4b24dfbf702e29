"""The view of tastes: keeps preferences and affinities at the head of the log."""

from __future__ import annotations

import hashlib

import apsw
import msgspec

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.content import schema, schemas
from germane.log.events import Base
from germane.log.journal import head
from germane.log.reader import remembered
from germane.log.saved import differing
from germane.model.errors import Corruption
from germane.people.preferences import Arrays
from germane.people.tastes import PART, Kind, Tastes
from germane.people.view import StateView

FORMAT = "1"
"""Version of the form in which checkpoints are written, and of how it follows from the log."""


class TasteView(StateView[Tastes, tuple[Kind, ...]]):
    """Gives the tastes of users, as the present declarations of signals make them."""

    name = "tastes"
    title = "view of the tastes of users"

    def _how(self, connection: apsw.Connection) -> tuple[Kind, ...]:
        return remembered(connection, "kinds", _kinds)

    def _format(self, how: tuple[Kind, ...]) -> str:
        return f"{FORMAT}/{hashlib.blake2b(msgspec.json.encode(how), digest_size=8).hexdigest()}"

    def _begun(self, how: tuple[Kind, ...]) -> Tastes:
        return Tastes(how)

    def _resumed(self, how: tuple[Kind, ...], seq: int, arrays: Arrays) -> Tastes:
        return Tastes.from_arrays(how, seq, arrays)


def _kinds(connection: apsw.Connection) -> tuple[Kind, ...]:
    return Kind.of(schema(connection).signals)


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return the tastes at a position, under each declaration that may be asked for from there on.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    declared = schemas(connection)
    in_force = max(at for at, _ in declared if at <= seq)
    variants = dict.fromkeys(Kind.of(schema.signals) for at, schema in declared if at >= in_force)
    parts = {}
    for number, kinds in enumerate(variants):
        tastes = Tastes(kinds)
        tastes.catch_up(connection, seq)
        told = arrays_to_chunks(tastes.to_arrays())
        parts[f"{PART}{number}"] = [msgspec.json.encode(kinds), *told]
        again = Tastes.from_arrays(kinds, seq, arrays_from_chunks(told))
        for each in (tastes, again):
            each.catch_up(connection, head(connection))
        if differing(again.to_arrays(), tastes.to_arrays()):
            raise Corruption("the tastes of users do not go on from a base as from the log: report this")
    return parts


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
