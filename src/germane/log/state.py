"""The view of a state that follows the log: keeps it at the head, from a checkpoint and what came since."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import apsw

from germane.log.base import arrays_from_chunks, arrays_to_chunks
from germane.log.checkpoint import Arrays
from germane.log.journal import head, place
from germane.log.saved import Checkpoints, differing
from germane.model.errors import Corruption
from germane.model.reports import Finding

WORTH_SAVING = 10_000
"""Events whose applying a checkpoint must save the next process to be worth writing."""
MUCH = 100_000
"""Events, or records of any kind, that are always worth one."""
_SIZES = "SELECT type, octet_length(data) FROM log WHERE seq > ? AND type IN ('signal', 'signals')"
_EVENT_BYTES = 26
"""What an event in columns has at least."""


class State(Protocol):
    """What follows from the log up to one position.

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
        """Return how much is held, counted in events that it takes as long to apply."""

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone."""


Kept = TypeVar("Kept", bound=State)
How = TypeVar("How")


class StateView(ABC, Generic[Kept, How]):
    """Gives a state, caught up, to one reader at a time.

    It begins with the newest checkpoint that belongs to the store's history, when it is first asked for: a
    store in which nobody asks for it never makes it.

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
    part: ClassVar[str]
    """What findings are about."""
    writes_arrays: ClassVar[bool] = False
    """Whether the state changes the arrays that it was made of; the files of a checkpoint stay."""
    saves_unread: ClassVar[bool] = False
    """Whether a process that never asked for it makes it all the same, to save a long tail."""

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._checkpoints = Checkpoints(
            self.name, self.title, store, folder, is_read_only, self.writes_arrays
        )
        self._turn = threading.Lock()
        self._state: tuple[int, How, Kept] | None = None  # the epoch, how it is derived, and the state
        self._saved = 0  # the position of the checkpoint that the state began with

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
        if not self._checkpoints.are_kept:
            return
        with self._turn:
            if self._state is None and not (self.saves_unread and self._is_behind(connection)):
                return
            state = self._caught_up(connection)
            if state.seq != head(connection):
                return  # another thread has gone on: what it applied is not in this snapshot
            # The more there is to write, the more it must spare.
            least = max(WORTH_SAVING, min(MUCH, state.size // 20))
            if state.applied >= least or state.seq - self._saved >= MUCH:
                self._checkpoints.write(connection, self._format(self._how(connection)), state.to_arrays())
                state.applied, self._saved = 0, state.seq

    def drop(self) -> None:
        """Forget the state and its checkpoints; the next reading builds it anew."""
        with self._turn:
            self._state = None
            self._checkpoints.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the state or its checkpoint, against one built from the log alone."""
        how = self._how(connection)
        found, is_saved = self._checkpoints.check(connection, self._format(how))
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
            yield Finding(self.part, f"{name!r} of the {self.title} differs from the log")

    def chunks(self, connection: apsw.Connection, seq: int, how: How) -> list[bytes]:
        """Return the state at a position as chunks of a base.

        Raises
        ------
        Corruption
            Going on from it does not come to what the whole log comes to.
        """
        state = self._begun(how)
        state.catch_up(connection, seq)
        told = arrays_to_chunks(state.to_arrays())
        again = self._resumed(how, seq, arrays_from_chunks(told))
        for each in (state, again):
            each.catch_up(connection, head(connection))
        if differing(again.to_arrays(), state.to_arrays()):
            raise Corruption(f"the {self.title} cannot go on from a base as from the log: report this")
        return told

    def _caught_up(self, connection: apsw.Connection) -> Kept:
        (turn, seq), how = place(connection), self._how(connection)
        if self._state is not None and self._state[:2] == (turn, how):
            state = self._state[2]
        else:
            resumed = self._checkpoints.load(connection, self._format(how), partial(self._resumed, how))
            state = resumed or self._begun(how)
            self._saved = state.seq
        self._state = None  # a failure in between leaves nothing half-applied behind
        if seq > state.seq:
            state.catch_up(connection, seq)
        self._state = turn, how, state
        return state

    def _is_behind(self, connection: apsw.Connection) -> bool:
        """Tell whether much has come since the newest checkpoint."""
        saved = self._checkpoints.newest(connection)
        if head(connection) - saved >= MUCH:
            return True
        events = 0
        for kind, size in connection.execute(_SIZES, (saved,)):
            events += 1 if kind == "signal" else size // _EVENT_BYTES
            if events >= MUCH:
                return True
        return False
