"""The audience: whom a query ranks for, and what that keeps out, puts last, or makes known to them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property

import apsw
import msgspec
import numpy as np

from germane.model.filters import OF_SESSION, Filter
from germane.model.pages import Reason
from germane.model.people import OF_ITEMS, RELATIONS
from germane.model.times import Micros
from germane.people.cooccurrence import Related
from germane.people.relations import Relations, ordinal_of, relations_of
from germane.people.taste import Taste
from germane.people.tastes import Tastes
from germane.ranking.views import Views
from germane.text.arrays import BoolArray, IntArray
from germane.vectors.matrix import Rows, Vectors

Since = Callable[[str], list[tuple[str, str]]]
"""Gives relations of a user, with their targets."""


NOTHING = np.zeros(0, np.int64)


class Audience:
    """A user, as far as ranking must know them, at one position of the log; `NOBODY` without one.

    Everything is looked up when it is first asked for.

    Parameters
    ----------
    user : str or None
    connection : apsw.Connection, optional
        Inside a read transaction; without a user this and the rest are not needed.
    views : Views, optional
    now : int
        Microseconds since the epoch.
    since : callable, optional
        Of a position of the past, gives the hard negatives of a user that stand now.
    in_session : int64[n]
        Ordinals of what signals of the session were on.
    """

    def __init__(
        self,
        user: str | None,
        connection: apsw.Connection | None = None,
        views: Views | None = None,
        now: Micros = 0,
        since: Since | None = None,
        in_session: IntArray = NOTHING,
    ) -> None:
        self.user = user
        self._connection = connection
        self._views = views
        self._now = now
        self._since = since
        self._in_session = in_session

    def with_user(self, user: str | None, in_session: IntArray = NOTHING) -> Audience:
        """Return the audience of another user, in another session, at the same position and time."""
        return Audience(user, self._connection, self._views, self._now, self._since, in_session)

    @cached_property
    def relations(self) -> Relations:
        """For each relation its targets, with the ordinals of items."""
        if self.user is None or self._connection is None:
            return {relation: {} for relation in RELATIONS}
        found = relations_of(self._connection, self.user)
        # What is kept from them now is in no answer about the past either.
        for relation, target in () if self._since is None else self._since(self.user):
            if target not in found[relation]:
                found[relation][target] = (
                    ordinal_of(self._connection, target) if relation in OF_ITEMS else None
                )
        return found

    @cached_property
    def hidden(self) -> IntArray:
        """Ordinals of what is never returned: what they hid, and what creators made that they blocked."""
        return self._of("hide", by="block")

    @cached_property
    def muted(self) -> IntArray:
        """Ordinals of what comes after everything else."""
        return self._of("mute", by="mute")

    @cached_property
    def followed(self) -> IntArray:
        """Ordinals of what creators made that they follow."""
        return self._of(by="follow")

    @property
    def seen(self) -> IntArray:
        """Ordinals of what a signal of theirs was on."""
        return self._history[1]

    @property
    def has_history(self) -> bool:
        """Whether any signal of theirs was recorded."""
        return self._history[0] > 0

    @cached_property
    def _history(self) -> tuple[int, IntArray]:
        if self.user is None or self._connection is None or self._views is None:
            return 0, np.zeros(0, np.int64)
        with self._views.people.at(self._connection) as seen:
            return seen.signals(self.user), seen.items(self.user, self._now)

    @cached_property
    def in_progress(self) -> IntArray:
        """Ordinals of what they have begun and not completed."""
        if self.user is None or self._connection is None or self._views is None:
            return np.zeros(0, np.int64)
        with self._views.people.at(self._connection) as seen:
            return seen.in_progress(self.user, self._now)

    @cached_property
    def touched(self) -> IntArray:
        """Ordinals of what a signal or a relation of theirs was on, in no order."""
        return np.concatenate((self.seen, self._of("save", "mute", "hide")))

    @cached_property
    def known_creators(self) -> frozenset[str]:
        """Creators to whom they have a relation."""
        return frozenset(
            target for relation in ("follow", "mute", "block") for target in self.relations[relation]
        )

    def creators_of(self, ordinals: IntArray) -> frozenset[str]:
        """Return who made some items, deleted ones too."""
        if self._connection is None or not len(ordinals):
            return frozenset()
        query = "SELECT DISTINCT creator FROM item WHERE ordinal IN (SELECT value FROM json_each(?))"
        told = msgspec.json.encode(ordinals.tolist()).decode()
        found = (creator for (creator,) in self._connection.execute(query, (told,)))
        return frozenset(str(creator) for creator in found if creator is not None)

    @cached_property
    def taste(self) -> Taste:
        """What they lean to; empty without a user."""
        if self.user is None or self._connection is None or self._views is None:
            return Tastes(()).of(None, self._now)
        return self._views.tastes.of(self._connection, self.user, self._now)

    @cached_property
    def vectors(self) -> Rows:
        """The vectors of all items."""
        if self._connection is None or self._views is None:
            return Vectors().seen()
        with self._views.tastes.at(self._connection) as tastes:
            return tastes.of(None, self._now).vectors

    def related(self, id: str | None, against: Collection[str] = ()) -> Related | None:
        """Return what goes with an item, or without one with what the user did lately; None if none can.

        Signals that speak against items are `against`.
        """
        if self._views is None or self._connection is None or (id is None and self.user is None):
            return None
        with self._views.neighbours.at(self._connection) as found:
            if id is None:
                assert self.user is not None
                return found.of_user(self.user, self._now, against)
            ordinal = self._connection.execute("SELECT ordinal FROM item WHERE id = ?", (id,)).get
            return None if ordinal is None else found.of_item(int(ordinal), self._now)

    def again(self, against: Collection[str]) -> Related | None:
        """Return what they did with each item, lately the most; None without a user."""
        if self._views is None or self._connection is None or self.user is None:
            return None
        with self._views.neighbours.at(self._connection) as found:
            return found.again(self.user, self._now, against)

    def state(self, name: str, size: int) -> BoolArray:
        """Return which items are in a state that filters ask for: bool[size]."""
        if name == OF_SESSION:
            return ~mask_of(self._in_session, size)
        if name == "unseen":
            return ~mask_of(self.seen, size)
        if name == "saved":
            return mask_of(self._of("save"), size)
        return mask_of(self.followed if name == "following" else self.in_progress, size)

    def _of(self, *to: str, by: str | None = None) -> IntArray:
        """Return the ordinals of items that some relations are to, and of those by the creators of one."""
        if self.user is None:
            return NOTHING
        found = {ordinal for each in to for ordinal in self.relations[each].values() if ordinal is not None}
        if by is not None and self._connection is not None:
            query = "SELECT ordinal FROM item WHERE creator = ?"
            for creator in self.relations[by]:
                found.update(ordinal for (ordinal,) in self._connection.execute(query, (creator,)))
        return np.array(sorted(found), np.int64)


NOBODY = Audience(None)


MUTED = Reason("Muted", {"detail": "the user muted it: it comes after everything else"})


def hard_negative(audience: Audience, id: str, creator: str | None) -> Reason | None:
    """Return which relation keeps an item out, None when none does."""
    if id in audience.relations["hide"]:
        return Reason("HardNegative", {"relation": "hide", "target": id})
    if creator is not None and creator in audience.relations["block"]:
        return Reason("HardNegative", {"relation": "block", "target": creator})
    return None


def filtered(part: Filter) -> Reason:
    """Return that an item does not meet a part of a filter."""
    text = str(part)
    return Reason("Seen" if text == "unseen" else "Filter", {"filter": text})


def are_among(ordinals: IntArray, some: IntArray) -> BoolArray:
    """Tell of each ordinal whether it is among some, which are ascending: bool[ordinals]."""
    if not len(some):
        return np.zeros(len(ordinals), np.bool_)
    found: BoolArray = some.take(some.searchsorted(ordinals), mode="clip") == ordinals
    return found


def mask_of(ordinals: IntArray, size: int) -> BoolArray:
    """Return some ordinals as a mask, without those beyond its size: bool[size]."""
    mask = np.zeros(size, np.bool_)
    mask[ordinals[ordinals < size]] = True
    return mask
