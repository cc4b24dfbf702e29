"""The view of co-occurrence: keeps histories at the head of the log, and what was asked of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
import numpy as np

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks
from germane.log.journal import epoch, head
from germane.model.errors import Corruption
from germane.model.reports import Finding
from germane.people.cooccurrence import Cooccurrence
from germane.people.histories import PART, Histories


class NeighbourView:
    """Gives co-occurrence, caught up, to one reader at a time.

    It is built from the log when it is first asked for, and never before: a store that nobody asks what goes
    together pays nothing. There is no checkpoint of it.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._found: Cooccurrence | None = None
        self._epoch = -1

    @contextmanager
    def at(self, connection: apsw.Connection) -> Iterator[Cooccurrence]:
        """Give it at the position that a connection sees, inside its transaction."""
        with self._turn:
            turn, seq = epoch(connection), head(connection)
            found = self._found
            if found is None or self._epoch != turn:
                found = Cooccurrence(Histories())
            self._found = None  # a failure in between leaves nothing half-applied behind
            if seq > found.histories.seq:
                found.histories.catch_up(connection, seq)
            self._found, self._epoch = found, turn
            yield found

    def drop(self) -> None:
        """Forget everything; the next reading builds it anew."""
        with self._turn:
            self._found = None

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the histories, against those built from the log alone."""
        if self._found is None:
            return
        with self.at(connection) as found:
            ours, fresh = found.histories, Histories()
            fresh.catch_up(connection, head(connection))
            if ours.seq == fresh.seq and not _equal(ours, fresh):
                yield Finding("people", "what users did, one after the other, differs from the log")


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return the histories up to a position, as the part of a base.

    Raises
    ------
    Corruption
        Going on from it does not come to what the whole log comes to.
    """
    histories = Histories()
    histories.catch_up(connection, seq)
    told = arrays_to_chunks(histories.to_arrays())
    again = Histories.from_arrays(arrays_from_chunks(told))
    again.seq = seq
    for each in (histories, again):
        each.catch_up(connection, head(connection))
    if not _equal(histories, again):
        raise Corruption("what users did does not go on from a base as from the log: report this")
    return {PART: told}


def _equal(one: Histories, other: Histories) -> bool:
    ours, theirs = one.to_arrays(), other.to_arrays()
    # What is due enters a reader's histories before the log says so.
    for each in (ours, theirs):
        waiting = [name for name in each if name.startswith("waiting_")]
        for name in waiting:
            each[name.removeprefix("waiting_")] = np.append(each[name.removeprefix("waiting_")], each[name])
    columns = ("marks_users", "marks_items", "marks_at", "marks_names")
    alike = all(np.array_equal(ours[name], theirs[name]) for name in ("users", "signals"))
    return alike and all(np.array_equal(np.sort(ours[name]), np.sort(theirs[name])) for name in columns)
