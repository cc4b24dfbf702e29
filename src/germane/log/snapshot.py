"""The view of a snapshot: keeps something immutable at the head of the log, for all readers at once."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import apsw

from germane.log.checkpoint import Arrays
from germane.log.journal import place
from germane.log.saved import Checkpoints


class Snapshot(Protocol):
    """What was made of the tables at one position of the log, and never changes."""

    @property
    def seq(self) -> int:
        """Return the position."""

    @property
    def epoch(self) -> int:
        """Return how often the tables had been folded anew."""


Kept = TypeVar("Kept", bound=Snapshot)


class SnapshotView(ABC, Generic[Kept]):
    """Gives the snapshot of the position that a connection sees.

    It begins with a checkpoint, or with nothing, when it is first asked for. What changed since is found by
    the tables' own positions: an item's row carries the last event that touched it.

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
    _are_constant: ClassVar[bool] = False
    """Whether no array is ever written to, though they are mapped so that one could be."""
    worth_saving: ClassVar[int]
    """Items whose reading a checkpoint must save the next process to be worth writing."""

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        constant = self._are_constant
        self._checkpoints = Checkpoints(
            self.name, self.title, store, folder, is_read_only, constant, constant
        )
        self._turn = threading.Lock()
        self._kept: Kept | None = None
        self._unsaved = 0

    @abstractmethod
    def _format(self, connection: apsw.Connection) -> str:
        """Return what names the form of a checkpoint."""

    @abstractmethod
    def _caught_up(self, connection: apsw.Connection, seq: int, turn: int) -> tuple[Kept, int]:
        """Return what is kept at a position and an epoch, and how many items have changed since."""

    @abstractmethod
    def _arrays(self, kept: Kept) -> Arrays:
        """Return it as arrays."""

    def at(self, connection: apsw.Connection) -> Kept:
        """Return the snapshot at the position that a connection sees, inside its transaction."""
        turn, seq = place(connection)
        kept = self._kept
        if kept is not None and (kept.seq, kept.epoch) == (seq, turn):
            return kept
        with self._turn:
            kept = self._kept
            if kept is not None and (kept.epoch, kept.seq) > (turn, seq):
                # Another thread has gone on while this one held an older snapshot: serve it apart.
                return self._apart()._caught_up(connection, seq, turn)[0]
            self._kept, count = self._caught_up(connection, seq, turn)
            self._unsaved += count
            return self._kept

    def kept(self, place: tuple[int, int]) -> Kept | None:
        """Return what is kept of an epoch and a position, None when that is something else."""
        kept = self._kept
        return kept if kept is not None and (kept.epoch, kept.seq) == place else None

    def save(self, connection: apsw.Connection) -> None:
        """Write a checkpoint, if that spares the next process enough work.

        Raises
        ------
        OSError
            It could not be written; the store is as good without it.
        """
        if not self._checkpoints.are_kept:
            return
        if self._kept is None and not self._is_behind(connection):
            return
        kept = self.at(connection)
        if self._unsaved >= self.worth_saving or self._is_behind(connection):
            self._checkpoints.write(connection, self._format(connection), self._arrays(kept))
            self._unsaved = 0

    def drop(self) -> None:
        """Forget it and its checkpoints; the next query builds it anew."""
        with self._turn:
            self._kept = None
            self._checkpoints.clear()

    def _loaded(self, connection: apsw.Connection, make: Callable[[int, Arrays], Kept]) -> Kept | None:
        self._unsaved = 0
        return self._checkpoints.load(connection, self._format(connection), make, self._let_go)

    def _let_go(self) -> None:
        """Forget what was made of a checkpoint that is damaged; the next query makes it anew."""
        with self._turn:
            self._kept = None

    def _apart(self) -> Self:
        view = type(self)()
        view._checkpoints = self._checkpoints
        return view

    def _is_behind(self, connection: apsw.Connection) -> bool:
        """Tell whether many items have changed since the newest checkpoint."""
        saved = self._checkpoints.newest(connection)
        changed = connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM item WHERE seq > ? LIMIT ?)", (saved, self.worth_saving)
        ).get
        return bool(changed >= self.worth_saving)
