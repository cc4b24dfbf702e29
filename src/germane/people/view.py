"""The view of people: keeps what they have seen at the head of the log."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import numpy as np

from germane.log.journal import epoch, head
from germane.model.reports import Finding
from germane.people.seen import Seen


class PeopleView:
    """Gives what users have seen, caught up, to one reader at a time.

    It is built when it is first asked for: a store that nobody asks about users never needs it.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._seen: Seen | None = None
        self._epoch = -1

    @contextmanager
    def at(self, connection: apsw.Connection) -> Iterator[Seen]:
        """Give the state at the position that a connection sees, inside its transaction."""
        with self._turn:
            yield self._caught_up(connection)

    def drop(self) -> None:
        """Forget the state; the next reading builds it anew."""
        with self._turn:
            self._seen = None

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the state, if there is one, against one built from the log alone."""
        with self._turn:
            if self._seen is None:
                return
            ours, fresh = self._caught_up(connection), Seen()
            fresh.catch_up(connection, head(connection))
            if ours.seq != fresh.seq:
                return  # another thread has gone on
            arrays, wanted = ours.to_arrays(), fresh.to_arrays()
        for name, array in wanted.items():
            if not np.array_equal(arrays[name], array):
                yield Finding("people", f"what users have seen differs from the log in {name!r}")

    def _caught_up(self, connection: apsw.Connection) -> Seen:
        turn, seq = epoch(connection), head(connection)
        seen = self._seen
        if seen is None or self._epoch != turn:
            seen = Seen()
        self._seen = None  # a failure in between leaves nothing half-applied behind
        if seq > seen.seq:
            seen.catch_up(connection, seq)
        self._seen, self._epoch = seen, turn
        return seen
