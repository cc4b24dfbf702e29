"""The view of people: keeps what they have seen at the head of the log."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.events import Base
from germane.log.journal import epoch, head
from germane.log.saved import Checkpoints, differing
from germane.model.errors import Corruption
from germane.model.reports import Finding
from germane.people.pairs import IntArray
from germane.people.seen import PART, Seen

NAME = "people"
FORMAT = "1"
"""Version of the form in which checkpoints are written."""
WORTH_SAVING = 10_000
"""Events whose applying a checkpoint must save the next process to be worth writing."""
MUCH = 100_000
"""Events that are always worth one."""


class PeopleView:
    """Gives what users have seen, caught up, to one reader at a time.

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

    title = "view of what users have seen"

    def __init__(self, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> None:
        self._saved = Checkpoints(NAME, self.title, store, folder, is_read_only)
        self._turn = threading.Lock()
        self._seen: Seen | None = None
        self._epoch = -1

    @contextmanager
    def at(self, connection: apsw.Connection) -> Iterator[Seen]:
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
            if self._seen is None:
                return
            seen = self._caught_up(connection)
            if seen.seq != head(connection):
                return  # another thread has gone on: what it applied is not in this snapshot
            # The more there is to write, the more it must spare.
            if seen.applied >= max(WORTH_SAVING, min(MUCH, seen.size // 20)):
                self._saved.write(connection, FORMAT, seen.to_arrays())
                seen.applied = 0

    def drop(self) -> None:
        """Forget the state and its checkpoints; the next reading builds it anew."""
        with self._turn:
            self._seen = None
            self._saved.clear()

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the state or its checkpoint, against one built from the log alone."""
        found, is_saved = self._saved.check(connection, FORMAT)
        yield from found
        with self._turn:
            if self._seen is None and not is_saved:
                return
            ours, fresh = self._caught_up(connection), Seen()
            fresh.catch_up(connection, head(connection))
            if ours.seq != fresh.seq:
                return  # another thread has gone on
            names = differing(ours.to_arrays(), fresh.to_arrays())
        for name in names:
            yield Finding("people", f"what users have seen differs from the log in {name!r}")

    def _caught_up(self, connection: apsw.Connection) -> Seen:
        turn, seq = epoch(connection), head(connection)
        seen = self._seen
        if seen is None or self._epoch != turn:
            seen = self._saved.load(connection, FORMAT, Seen.from_arrays) or Seen()
        self._seen = None  # a failure in between leaves nothing half-applied behind
        if seq > seen.seq:
            seen.catch_up(connection, seq)
        self._seen, self._epoch = seen, turn
        return seen


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
    seen = Seen()
    seen.catch_up(connection, seq)
    told = arrays_to_chunks(seen.to_arrays())
    again = Seen.from_arrays(seq, arrays_from_chunks(told))
    for each in (seen, again):
        each.catch_up(connection, head(connection))
    if differing(again.to_arrays(), seen.to_arrays()):
        raise Corruption("what users have seen does not go on from a base as from the log: report this")
    return {PART: told}
