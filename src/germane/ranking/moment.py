"""The store at a moment, present or past: what the whole read path is given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from types import TracebackType

import apsw
import msgspec

from germane.knowledge.catalog import Catalog
from germane.log.content import schema
from germane.log.failures import translated
from germane.log.journal import Journal, epoch
from germane.log.past import Place, locate, store_at
from germane.model.times import Micros
from germane.model.weights import SessionWeights
from germane.people.relations import hard_of
from germane.ranking.audience import Audience, Since
from germane.ranking.session import Boost
from germane.ranking.views import Views
from germane.sessions.context import Context
from germane.signals.decay import whole_blocks
from germane.signals.view import Ledgers, SignalView
from germane.text.index import Index

KEPT = 2
"""Pasts that are kept folded, so that paging and explaining do not fold the log again."""


class Moment(msgspec.Struct, frozen=True):
    """One snapshot of a store, and the views of it.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction; of the past, a store in memory.
    views : Views
    clock : callable
        Returns the time: of the past always the same.
    now : int
        The time at which the snapshot was taken.
    since : callable, optional
        Of the past, gives the hard negatives of a user that stand now.
    """

    connection: apsw.Connection
    views: Views
    clock: Callable[[], Micros]
    now: Micros
    since: Since | None = None

    @property
    def index(self) -> Index:
        """The text index of the snapshot."""
        return self.views.text.at(self.connection)

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the snapshot."""
        return self.views.catalogs.at(self.connection)

    def audience(
        self, user: str | None, now: Micros | None = None, context: Context | None = None
    ) -> Audience:
        """Return whom a query is for, and in which session, at the time of the snapshot or a later one."""
        moment = self.now if now is None else now
        audience = Audience(user, self.connection, self.views, moment, self.since)
        return audience if context is None else audience.with_user(user, context.items)

    def boost(self, context: Context | None, weights: SessionWeights) -> Boost | None:
        """Return what a session adds to rankings, None without one."""
        if context is None:
            return None
        connection, hints = self.connection, self.views.hints
        catalog = self.catalog
        size = whole_blocks(len(catalog.live))
        return Boost(context, weights, lambda: hints.at(connection), catalog, size, schema(connection).lang)

    def session(self, id: str) -> Context | None:
        """Return what a session says to ranking, None if there is none of this id, or not any more."""
        return self.views.sessions.context(self.connection, id, self.now)

    @contextmanager
    def ledgers(self) -> Iterator[tuple[Ledgers, Micros]]:
        """Give the ledgers of the snapshot to this reader alone, and the time to read them at.

        The time is told inside the turn, so that no reader is behind what another one let expire.
        """
        with self.views.signals.at(self.connection) as ledgers:
            yield ledgers, self.clock()


class Moments:
    """Gives the store as it is, or as it was.

    Parameters
    ----------
    journal : Journal
    views : Views
        Those of the present.
    """

    def __init__(self, journal: Journal, views: Views) -> None:
        self._journal = journal
        self._views = views
        self._turn = threading.Lock()
        self._pasts: dict[tuple[int, int], _Past] = {}

    def index(self) -> Index | None:
        """Return the present text index if it is at hand: nothing was written since it was made."""
        place = self._journal.glance()
        return None if place is None else self._views.text.kept(place)

    def at(self, as_of: int | datetime | None = None) -> AbstractContextManager[Moment]:
        """Give the present, or the store at a position or a time.

        Raises
        ------
        InvalidArgument, BeyondRetention
            There is no such point of the past; `as_of` is the field.
        """
        return _Present(self._journal, self._views) if as_of is None else self._at(as_of)

    @contextmanager
    def _at(self, as_of: int | datetime) -> Iterator[Moment]:
        with self._journal.read() as connection:
            place = locate(connection, as_of, self._journal.now(connection))
            past = self._past(connection, place)
        with past.turn, translated(self._journal.path):
            yield past.moment(place, self._hard)

    def _hard(self, user: str) -> list[tuple[str, str]]:
        with self._journal.read() as connection:
            return hard_of(connection, user)

    def drop(self) -> None:
        """Forget the pasts that are kept."""
        with self._turn:
            self._pasts.clear()

    def _past(self, connection: apsw.Connection, place: Place) -> _Past:
        key = epoch(connection), place.seq
        with self._turn:
            past = self._pasts.pop(key, None) or _Past(store_at(connection, place.seq))
            self._pasts[key] = past
            while len(self._pasts) > KEPT:
                del self._pasts[next(iter(self._pasts))]
            return past


class _Present:
    """The present, for the time of a query."""

    __slots__ = ("_journal", "_reading", "_views")

    def __init__(self, journal: Journal, views: Views) -> None:
        self._journal = journal
        self._reading = journal.read()
        self._views = views

    def __enter__(self) -> Moment:
        connection = self._reading.__enter__()
        try:
            now = self._journal.now(connection)
        except BaseException as error:
            self._reading.__exit__(type(error), error, error.__traceback__)
            raise
        return Moment(connection, self._views, lambda: self._journal.now(connection), now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return self._reading.__exit__(kind, error, trace)
        finally:
            del error, trace  # lest the error holds this frame, and this frame the error


class _Past:
    """A past that is kept: a store in memory and the views of it, for one reader at a time."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.turn = threading.RLock()
        self._connection = connection
        self._views = Views.of()
        self._now: Micros | None = None

    def moment(self, place: Place, since: Since) -> Moment:
        """Return the moment at a time that several may share with one position."""
        if place.now != self._now:
            # What left a window at one time must not be missing at an earlier one.
            self._views, self._now = self._views._replace(signals=SignalView()), place.now
        return Moment(self._connection, self._views, lambda: place.now, place.now, since)
