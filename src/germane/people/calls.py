"""What a database offers of users: how they stand to items and creators, and what is known of them."""

from __future__ import annotations

import msgspec

from germane.log.journal import Journal
from germane.model.items import Receipt
from germane.model.people import OF_ITEMS, UserState, check_relation
from germane.model.values import check_id
from germane.people.relations import live_only, relate, relations_of, unrelate
from germane.people.taste_view import TasteView
from germane.people.view import PeopleView


class PeopleCalls:
    """The part of a database that knows users."""

    _journal: Journal
    _people: PeopleView
    _tastes: TasteView

    def relate(self, user: str, relation: str, target: str) -> Receipt:
        """Let a user follow, save, mute, hide or block something, from the next query on.

        What is hidden, and what a blocked creator made, is never returned to that user again, by any query,
        until it is undone. What is muted comes after everything else.

        Parameters
        ----------
        user : str
        relation : {"follow", "save", "mute", "hide", "block"}
        target : str
            A creator to follow or block, an item to save or hide, either of them to mute; an id that is both
            an item's and a creator's is muted as both.

        Returns
        -------
        Receipt
            ``changed=False`` when it stood already.

        Raises
        ------
        NotFound
            There is no such item to save or hide.
        InvalidArgument
            There is no such relation, or a value cannot be used.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> db.relate("ann", "hide", lamp).changed, db.relate("ann", "hide", lamp).changed
        (True, False)
        >>> db.search("lamp", user="ann").total, db.search("lamp", user="bob").total
        (0, 1)
        """
        checked = check_id(user, "user"), check_relation(relation), check_id(target, "target")
        with self._journal.write() as writer:
            return relate(writer, *checked)

    def unrelate(self, user: str, relation: str, target: str) -> Receipt:
        """Undo a relation, from the next query on.

        Parameters
        ----------
        user, relation, target : str
            As `relate` took them.

        Returns
        -------
        Receipt
            ``changed=False`` when it did not stand.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> db.relate("ann", "follow", "bob").changed, db.unrelate("ann", "follow", "bob").changed
        (True, True)
        """
        checked = check_id(user, "user"), check_relation(relation), check_id(target, "target")
        with self._journal.write() as writer:
            return unrelate(writer, *checked)

    def user(self, user: str) -> UserState:
        """Return what is known of a user; of one who never did anything all of it is empty.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> receipts = db.signal("view", lamp, user="ann"), db.relate("ann", "save", lamp)
        >>> state = db.user("ann")
        >>> state.seen, state.relations["save"] == (lamp,)
        (1, True)
        """
        check_id(user, "user")
        with self._journal.read() as connection:
            now = self._journal.now(connection)
            with self._people.at(connection) as seen:
                items, signals = seen.items(user, now), seen.signals(user)
            taste = self._tastes.of(connection, user, now)
            told = msgspec.json.encode(items.tolist()).decode()
            query = "SELECT count(*) FROM item WHERE live = 1 AND ordinal IN (SELECT value FROM json_each(?))"
            return UserState(
                user=user,
                relations={
                    relation: live_only(connection, targets) if relation in OF_ITEMS else tuple(targets)
                    for relation, targets in relations_of(connection, user).items()
                },
                seen=int(connection.execute(query, (told,)).get),
                signals=signals,
                preference=None if taste.preference is None else tuple(taste.preference.tolist()),
                affinities=taste.by_name(),
                sessions=tuple(
                    str(id)
                    for (id,) in connection.execute(
                        "SELECT id FROM session WHERE user = ? ORDER BY id", (user,)
                    )
                ),
            )
