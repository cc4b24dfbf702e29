"""An event without a user: nobody's, or gone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec
import numpy as np

from germane.log.events import (
    AnnotateSession,
    CloseSession,
    Event,
    Forgotten,
    RecordSignal,
    RecordSignals,
    RefuseWrite,
    Relate,
    StartSession,
    SweepSessions,
    Unrelate,
)

OF_USERS = frozenset(("signal", "signals", "relate", "unrelate", "session", "close", "sweep"))
"""Types of the events that name users."""
OF_SESSIONS = frozenset(("annotate", "refuse"))
"""Types of the events that say something of a session, and name no user."""

_OF_ONE = (StartSession, AnnotateSession, CloseSession, RefuseWrite)

_COLUMNS = {"name": "<u2", "item": "<i8", "weight": "<f8", "at": "<i8", "user": "<i4"}
_LISTS = ("event_ids", "pages", "positions")


class Change(NamedTuple):
    """What becomes of an event.

    Parameters
    ----------
    event : Event
        What stands in its place.
    events : int
        Events of the user that were in it.
    freed : tuple of str
        Event ids that name no event any more.
    has_moved : bool
        Whether rows of columns stand in other places than before.
    """

    event: Event
    events: int
    freed: tuple[str, ...] = ()
    has_moved: bool = False


def users_of(event: Event) -> tuple[str, ...]:
    """Return the users that an event names."""
    if isinstance(event, RecordSignals):
        return event.users
    named = (RecordSignal, Relate, Unrelate, StartSession, CloseSession)
    if isinstance(event, named) and event.user is not None:
        return (event.user,)
    if isinstance(event, SweepSessions):
        return tuple(each.user for each in event.ended if each.user is not None)
    return ()


def without(event: Event, user: str, erase: bool, sessions: Collection[str] = frozenset()) -> Change | None:
    """Return what becomes of an event when a user is forgotten; None when it does not name the user.

    Parameters
    ----------
    event : Event
    user : str
    erase : bool
        Whether signals go; otherwise they stay and are nobody's.
    sessions : collection of str
        The user's sessions, which go whole.

    Examples
    --------
    >>> without(RecordSignal(name="view", item="a", user="ann", page="p"), "ann", erase=False).event
    RecordSignal(name='view', item='a', weight=1.0, user=None, event_id=None, page=None, position=None,
    is_timed=False, is_first=False, session=None)
    >>> without(Relate(user="ann", relation="save", target="a"), "ann", erase=False).event
    Forgotten(first=())
    """
    if isinstance(event, SweepSessions):
        return _swept(event, sessions)
    if isinstance(event, _OF_ONE):
        return Change(Forgotten(), 1) if event.session in sessions else None
    if user not in users_of(event):
        return None
    if isinstance(event, RecordSignal):
        return _single(event, erase)
    if isinstance(event, RecordSignals):
        return _erased(event, user) if erase else _anonymous(event, user)
    return Change(Forgotten(), 1)


def _swept(event: SweepSessions, sessions: Collection[str]) -> Change | None:
    ended = tuple(each for each in event.ended if each.session not in sessions)
    expired = tuple(each for each in event.expired if each not in sessions)
    gone = len(event.ended) + len(event.expired) - len(ended) - len(expired)
    if not gone:
        return None
    return Change(SweepSessions(ended=ended, expired=expired) if ended or expired else Forgotten(), gone)


def _single(event: RecordSignal, erase: bool) -> Change:
    freed = () if event.event_id is None else (event.event_id,)
    if erase:
        return Change(Forgotten(first=(event.item,) if event.is_first else ()), 1, freed)
    nobody = msgspec.structs.replace(event, user=None, event_id=None, page=None, position=None, session=None)
    return Change(nobody, 1, freed)


def _anonymous(event: RecordSignals, user: str) -> Change:
    number = event.users.index(user)
    column = np.frombuffer(event.user, "<i4").copy()
    rows = np.flatnonzero(column == number)
    column[rows] = -1
    lists = {name: list(getattr(event, name)) for name in _LISTS}
    freed = _ids(event, rows.tolist())
    for told in lists.values():
        for row in rows.tolist() if told else ():
            told[row] = None
    changed = msgspec.structs.replace(
        event, user=column.tobytes(), **{name: _given(told) for name, told in lists.items()}
    )
    return Change(_without_name(changed, number), len(rows), freed)


def _erased(event: RecordSignals, user: str) -> Change:
    number = event.users.index(user)
    column = np.frombuffer(event.user, "<i4")
    gone, kept = np.flatnonzero(column == number), np.flatnonzero(column != number)
    freed = _ids(event, gone.tolist())
    if not len(kept):
        return Change(Forgotten(first=event.first), len(gone), freed)
    columns = {
        name: np.frombuffer(getattr(event, name), kind)[kept].tobytes() for name, kind in _COLUMNS.items()
    }
    lists = {
        name: _given([told[row] for row in kept.tolist()])
        for name in _LISTS
        if (told := getattr(event, name))
    }
    changed = msgspec.structs.replace(event, **columns, **lists)
    return Change(_without_name(changed, number), len(gone), freed, has_moved=True)


def _without_name(event: RecordSignals, number: int) -> RecordSignals:
    """Return columns in which a user that no row has any more is not named."""
    users = event.users[:number] + event.users[number + 1 :]
    column = np.frombuffer(event.user, "<i4")
    places = np.where(column > number, column - 1, column).astype("<i4")
    return msgspec.structs.replace(event, users=users, user=places.tobytes() if users else b"")


def _ids(event: RecordSignals, rows: list[int]) -> tuple[str, ...]:
    if not event.event_ids:
        return ()
    return tuple(id for id in map(event.event_ids.__getitem__, rows) if id is not None)


def _given(values: list[Any]) -> tuple[Any, ...]:
    return tuple(values) if any(value is not None for value in values) else ()
