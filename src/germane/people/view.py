"""The views of people: they keep what follows from the log about users, at its head."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar

import apsw

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.events import Base
from germane.log.journal import epoch, head
from germane.log.saved import Checkpoints, differing
from germane.model.errors import Corruption
from germane.model.reports import Finding
from germane.people.neighbours import NeighbourView
from germane.people.neighbours import states as states_of_histories
from germane.people.neighbours import without as without_in_histories
from germane.people.pairs import IntArray
from germane.people.seen import PART, Arrays, Seen

NAME = "people"
FORMAT = "1"
"""Version of the form in which checkpoints are written."""
WORTH_SAVING = 10_000
"""Events whose applying a checkpoint must save the next process to be worth writing."""
MUCH = 100_000
"""Events that are always worth one."""


class State(Protocol):
    """What a view of people keeps at one position of the log.

    Attributes
    ----------
    seq : int
    applied : int
        Events that were applied since it was begun or loaded.
    """

    seq: int
    applied: int

    @property
    def size(self) -> int:
        """Return how much is held."""

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone."""


Kept = TypeVar("Kept", bound=State)
How = TypeVar("How")


class StateView(ABC, Generic[Kept, How]):
    """Gives a state of people, caught up, to one reader at a time.

    It begins with the newest checkpoint that belongs to the store's history, when it is first asked for: a
    store that nobody asks about users never needs it, nor writes one.

    Parameters
    ----------
    store : str
        The store's id.
    folder : Path or None
        Where checkpoints lie; None keeps none.
    is_read_only : bool
        Whether to leave everything there as it is.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._saved = Checkpoints(self.name, self.title, store, folder, is_read_only)
        self._turn = threading.Lock()
        self._state: tuple[int, How, Kept] | None = None  # the epoch, how it is derived, and the state

    @abstractmethod
    def _how(self, connection: apsw.Connection) -> How:
        """Return what the state depends on beside the events."""

    @abstractmethod
    def _format(self, how: How) -> str:
        """Return what names the form of a checkpoint."""

    @abstractmethod
    def _begun(self, how: How) -> Kept:
        """Return the state of an empty log."""

    @abstractmethod
    def _resumed(self, how: How, seq: int, arrays: Arrays) -> Kept:
        """Return the state that arrays were made of."""

    @contextmanager
    def at(self, connection: apsw.Connection) -> Iterator[Kept]:
        """Give the state at the position that a connection sees, inside its transaction."""
        with self._turn:
            yield self._caught_up(connection)

    def save(self, connection: apsw.Connection) -> None:
        """Write a checkpoint, if that spares the next process enough work.

        Raises
        ------
        OSError
            It could not be written; the store is as good without it.
        """
        if not self._saved.are_kept:
            return
        with self._turn:
            if self._state is None:
                return
            state = self._caught_up(connection)
            if state.seq != head(connection):
                return  # another thread has gone on: what it applied is not in this snapshot
            # The more there is to write, the more it must spare.
            if state.applied >= max(WORTH_SAVING, min(MUCH, state.size // 20)):
                self._saved.write(connection, self._format(self._how(connection)), state.to_arrays())
                state.applied = 0

    def drop(self) -> None:
        """Forget the state and its checkpoints; the next reading builds it anew."""
        with self._turn:
            self._state = None
            self._saved.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the state or its checkpoint, against one built from the log alone."""
        how = self._how(connection)
        found, is_saved = self._saved.check(connection, self._format(how))
        yield from found
        with self._turn:
            if self._state is None and not is_saved:
                return
            ours, fresh = self._caught_up(connection), self._begun(how)
            fresh.catch_up(connection, head(connection))
            if ours.seq != fresh.seq:
                return  # another thread has gone on
            names = differing(ours.to_arrays(), fresh.to_arrays())
        for name in names:
            yield Finding("people", f"the {self.title} differs from the log in {name!r}")

    def _caught_up(self, connection: apsw.Connection) -> Kept:
        turn, seq, how = epoch(connection), head(connection), self._how(connection)
        state: Kept | None = None
        if self._state is not None and self._state[:2] == (turn, how):
            state = self._state[2]
        if state is None:
            resumed = self._saved.load(connection, self._format(how), partial(self._resumed, how))
            state = resumed or self._begun(how)
        self._state = None  # a failure in between leaves nothing half-applied behind
        if seq > state.seq:
            state.catch_up(connection, seq)
        self._state = turn, how, state
        return state


class PeopleView(StateView[Seen, None]):
    """Gives what users have seen."""

    name = NAME
    title = "view of what users have seen"

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        super().__init__(store, folder, is_read_only)
        self.neighbours = NeighbourView()
        """What goes together, by what the same users did."""

    def drop(self) -> None:
        """Forget the state and its checkpoints, and what goes together."""
        self.neighbours.drop()
        super().drop()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the state, its checkpoint, or what goes together."""
        yield from self.neighbours.check(connection)
        yield from super().check(connection)

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
        The base's parts without the user.
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
    return Known(
        {**parts, **without_in_histories(connection, base, user)}, seen.signals(user), seen.ever(user)
    )


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what was seen and done up to a position, as parts of a base.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    seen = Seen()
    seen.catch_up(connection, seq)
    told = arrays_to_chunks(seen.to_arrays())
    again = Seen.from_arrays(seq, arrays_from_chunks(told))
    for each in (seen, again):
        each.catch_up(connection, head(connection))
    if differing(again.to_arrays(), seen.to_arrays()):
        raise Corruption("what users have seen does not go on from a base as from the log: report this")
    return {PART: told, **states_of_histories(connection, seq)}
