"""What a database offers of signals: recording them, and their three readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import apsw
import numpy as np

from germane.log.content import schema
from germane.log.journal import Journal
from germane.model.errors import InvalidArgument, NotFound, quoted
from germane.model.items import Receipt
from germane.model.signals import Signal
from germane.model.times import Micros, to_micros
from germane.model.values import check_id
from germane.signals.batch import batches, record_many
from germane.signals.decay import IntArray
from germane.signals.ledger import SignalLedger
from germane.signals.record import checked, record
from germane.signals.view import SignalView, as_of

_Reading = TypeVar("_Reading", int, float)


class SignalCalls:
    """The part of a database that records signals and reads them."""

    _journal: Journal
    _signals: SignalView

    def signal(
        self,
        name: str,
        item: str,
        *,
        user: str | None = None,
        weight: float = 1.0,
        at: datetime | float | None = None,
        event_id: str | None = None,
        page: str | None = None,
        position: int | None = None,
    ) -> Receipt:
        """Record that something was done with an item.

        Parameters
        ----------
        name : str
            A declared signal.
        item : str
        user : str, optional
            Who did it.
        weight : float
            From -1e12 to 1e12.
        at : datetime or float, optional
            When it happened: any time up to 5 minutes ahead; now without one.
        event_id : str, optional
            Names the event in the whole store: recording it again changes nothing.
        page, position : str and int, optional
            The page that showed the item, and where on it.

        Returns
        -------
        Receipt
            ``duplicate`` when the same event had been recorded under its id.

        Raises
        ------
        NotFound
            There is no such item.
        Conflict
            The event id was used for another event.
        InvalidArgument
            A value cannot be used, or the signal is not declared.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> db.signal("like", lamp, event_id="e1").duplicate, db.signal("like", lamp, event_id="e1").duplicate
        (False, True)
        >>> db.count("like", lamp)
        1
        """
        return self._journal.transact(record, checked(name, item, user, weight, at, event_id, page, position))

    def signal_many(self, rows_or_columns: Iterable[Mapping[str, Any]] | Mapping[str, Any]) -> int:
        """Record many events, in batches of 100,000 that are each kept whole or not at all.

        Parameters
        ----------
        rows_or_columns : iterable of mappings, or mapping of columns
            With the names that `signal` has; ``name`` and ``item`` are needed.

        Returns
        -------
        int
            How many were new; the others had been recorded under their event ids.

        Raises
        ------
        NotFound, Conflict, InvalidArgument
            As `signal`; the batches before the event's own are kept.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> db.signal_many({"name": ["view", "view"], "item": [lamp, lamp], "at": [0.0, 60.0]})
        2
        """
        recorded = done = 0
        for batch in batches(rows_or_columns):
            with self._journal.write() as writer:
                recorded += record_many(writer, batch, done)
            done += len(batch)
        return recorded

    def decayed(
        self,
        name: str,
        item: str | None = None,
        *,
        creator: str | None = None,
        at: datetime | float | None = None,
    ) -> float:
        """Return a decayed score: the sum of weights, each halved with every half-life of its age.

        Parameters
        ----------
        name : str
            A declared signal.
        item, creator : str
            One of the two; a creator's score is the sum over the live items.
        at : datetime or float, optional
            A time in the past to read at, from what was recorded by then; now without one.

        Raises
        ------
        NotFound
            There is no such item.
        InvalidArgument
            A value cannot be used.
        """

        def read(ledger: SignalLedger, items: IntArray, now: Micros) -> float:
            return float(np.add.reduce(ledger.decayed_scores(items, now)))

        return self._read(name, item, creator, at, read)

    def count(
        self,
        name: str,
        item: str | None = None,
        window: str = "24h",
        *,
        creator: str | None = None,
        at: datetime | float | None = None,
    ) -> int:
        """Return how many events fall into a window that ends now, to the minute, whatever their weight.

        Parameters
        ----------
        name : str
            A declared signal.
        item, creator : str
            One of the two.
        window : str
            One of the signal's windows.
        at : datetime or float, optional
            As in `decayed`.
        """

        def read(ledger: SignalLedger, items: IntArray, now: Micros) -> int:
            check_window(ledger.signal, window)
            return int(ledger.counts(items, window, now).sum())

        return self._read(name, item, creator, at, read)

    def velocity(
        self,
        name: str,
        item: str | None = None,
        window: str = "1h",
        *,
        creator: str | None = None,
        at: datetime | float | None = None,
    ) -> float:
        """Return a windowed count per second of the window; 0.0 for ``all``.

        Parameters
        ----------
        name : str
            A declared signal, with ``velocity``.
        item, creator : str
            One of the two.
        window : str
            One of the signal's windows.
        at : datetime or float, optional
            As in `decayed`.
        """

        def read(ledger: SignalLedger, items: IntArray, now: Micros) -> float:
            check_window(ledger.signal, window)
            if not ledger.signal.velocity:
                raise InvalidArgument("name", f"signal {name!r} is declared without velocity")
            return float(np.add.reduce(ledger.velocities(items, window, now)))

        return self._read(name, item, creator, at, read)

    def _read(
        self,
        name: str,
        item: str | None,
        creator: str | None,
        at: datetime | float | None,
        read: Callable[[SignalLedger, IntArray, Micros], _Reading],
    ) -> _Reading:
        moment = None if at is None else to_micros(at, "at")
        with self._journal.read() as connection:
            declared = schema(connection)
            declared.signal(name)
            items = _items(connection, item, creator)
            now = self._journal.now(connection)
            if moment is not None and moment > now:
                raise InvalidArgument("at", "lies in the future: readings are of now or of the past")
            if moment is not None and moment < now:
                return read(as_of(connection, declared, moment)[name], items, moment)
            with self._signals.at(connection) as ledgers:
                # The time is told inside the turn: no reader is behind what another one let expire.
                return read(ledgers[name], items, self._journal.now(connection))


def check_window(signal: Signal, window: object) -> None:
    """Refuse a window that a signal does not have."""
    if window not in tuple(signal.windows):
        known = ", ".join(signal.windows)
        raise InvalidArgument("window", f"{quoted(window)} is no window of {signal.name!r}: it has {known}")


def _items(connection: apsw.Connection, item: str | None, creator: str | None) -> IntArray:
    if (item is None) == (creator is None):
        raise InvalidArgument("item", "give an item or a creator, one of the two")
    if creator is not None:
        found = connection.execute(
            "SELECT ordinal FROM item WHERE creator = ? AND live = 1 ORDER BY ordinal",
            (check_id(creator, "creator"),),
        )
        return np.fromiter((ordinal for (ordinal,) in found), np.int64)
    ordinal = connection.execute(
        "SELECT ordinal FROM item WHERE id = ? AND live = 1", (check_id(item, "item"),)
    ).get
    if ordinal is None:
        raise NotFound(f"there is no item {item!r}")
    return np.array([ordinal], np.int64)
