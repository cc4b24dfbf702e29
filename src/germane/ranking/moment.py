"""The store at a moment, present or past: what the whole read path is given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime

import apsw

from germane.knowledge.catalog import CatalogView
from germane.log.failures import translated
from germane.log.journal import Journal, epoch
from germane.log.past import Place, locate, store_at
from germane.model.times import Micros
from germane.people.taste_view import TasteView
from germane.people.view import PeopleView
from germane.ranking.audience import Audience
from germane.signals.view import Ledgers, SignalView
from germane.text.index import Index
from germane.text.view import TextView

KEPT = 2
"""Pasts that are kept folded, so that paging and explaining do not fold the log again."""


@dataclass(frozen=True)
class Moment:
    """One snapshot of a store, and the views of it.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction; of the past, a store in memory.
    text : TextView
    catalogs : CatalogView
    signals : SignalView
    people : PeopleView
    tastes : TasteView
    clock : callable
        Returns the time: of the past always the same.
    now : int
        The time at which the snapshot was taken.
    """

    connection: apsw.Connection
    text: TextView
    catalogs: CatalogView
    signals: SignalView
    people: PeopleView
    tastes: TasteView
    clock: Callable[[], Micros]
    now: Micros

    @property
    def index(self) -> Index:
        """The text index of the snapshot."""
        return self.text.at(self.connection)

    def audience(self, user: str | None, now: Micros | None = None) -> Audience:
        """Return whom a query is for, at the time of the snapshot or a later one."""
        return Audience(user, self.connection, self.people, self.tastes, self.now if now is None else now)

    def ledgers(self) -> AbstractContextManager[tuple[Ledgers, Micros]]:
        """Give the ledgers of the snapshot to this reader alone, and the time to read them at."""
        return self.signals.at(self.connection, self.clock)


class Moments:
    """Gives the store as it is, or as it was.

    Parameters
    ----------
    journal : Journal
    text : TextView
    catalogs : CatalogView
    signals : SignalView
    people : PeopleView
    tastes : TasteView
        Those of the present.
    """

    def __init__(
        self,
        journal: Journal,
        text: TextView,
        catalogs: CatalogView,
        signals: SignalView,
        people: PeopleView,
        tastes: TasteView,
    ) -> None:
        self._journal = journal
        self._text = text
        self._catalogs = catalogs
        self._signals = signals
        self._people = people
        self._tastes = tastes
        self._turn = threading.Lock()
        self._pasts: dict[tuple[int, int], _Past] = {}

    @contextmanager
    def at(self, as_of: int | datetime | None = None) -> Iterator[Moment]:
        """Give the present, or the store at a position or a time.

        Raises
        ------
        InvalidArgument, BeyondRetention
            There is no such point of the past; `as_of` is the field.
        """
        if as_of is None:
            with self._journal.read() as connection:
                yield Moment(
                    connection, self._text, self._catalogs, self._signals, self._people,
                    self._tastes, clock=lambda: self._journal.now(connection),
                    now=self._journal.now(connection),
                )  # fmt: skip
            return
        with self._journal.read() as connection:
            place = locate(connection, as_of, self._journal.now(connection))
            past = self._past(connection, place)
        with past.turn, translated(self._journal.path):
            yield past.moment(place)

    def drop(self) -> None:
        """Forget the pasts that are kept."""
        with self._turn:
            self._pasts.clear()

    def _past(self, connection: apsw.Connection, place: Place) -> _Past:
        key = epoch(connection), place.seq
        with self._turn:
            past = self._pasts.pop(key, None) or _Past(store_at(connection, place.seq), self._journal.id)
            self._pasts[key] = past
            while len(self._pasts) > KEPT:
                del self._pasts[next(iter(self._pasts))]
            return past


class _Past:
    """A past that is kept: a store in memory and the views of it, for one reader at a time."""

    def __init__(self, connection: apsw.Connection, store: str) -> None:
        self.turn = threading.RLock()
        self._connection = connection
        self._text = TextView(store, None)
        self._catalogs = CatalogView()
        self._signals = SignalView()
        self._people = PeopleView()
        self._tastes = TasteView()
        self._now: Micros | None = None

    def moment(self, place: Place) -> Moment:
        """Return the moment at a time that several may share with one position."""
        if place.now != self._now:
            # What left a window at one time must not be missing at an earlier one.
            self._signals, self._now = SignalView(), place.now
        return Moment(
            self._connection, self._text, self._catalogs, self._signals, self._people,
            self._tastes, clock=lambda: place.now, now=place.now,
        )  # fmt: skip
