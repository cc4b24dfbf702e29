"""Relations: a user follows, saves, mutes, hides or blocks, until that is undone."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from germane.log.events import Relate, Unrelate
from germane.log.journal import Writer
from germane.model.errors import NotFound
from germane.model.items import Receipt
from germane.model.people import HARD, OF_ITEMS, RELATIONS

Relations = dict[str, dict[str, int | None]]
"""For each relation its targets, with the ordinal of the item where it is to one and the target is known."""

_RELATIONS = """
SELECT seq, relation, target,
  CASE WHEN relation IN ('save', 'mute', 'hide') THEN (SELECT ordinal FROM item WHERE id = target) END
FROM relation WHERE user = ?
"""


def relate(writer: Writer, user: str, relation: str, target: str) -> Receipt:
    """Let a relation stand; nothing is written when it does already.

    Raises
    ------
    NotFound
        The relation is to an item, and there is none.
    """
    stands, rev = _stands(writer.connection, user, relation, target), _rev(writer.connection, target)
    if stands:
        return Receipt(target, rev, writer.head, changed=False)
    # A creator is whoever items name: one without items yet may be related to as well.
    if relation in OF_ITEMS and rev is None:
        raise NotFound(f"there is no item {target!r} to {relation}")
    return Receipt(target, rev, writer.append(Relate(user=user, relation=relation, target=target)), True)


def unrelate(writer: Writer, user: str, relation: str, target: str) -> Receipt:
    """Let a relation stand no more, also to an item that was deleted."""
    rev = _rev(writer.connection, target)
    if not _stands(writer.connection, user, relation, target):
        return Receipt(target, rev, writer.head, changed=False)
    return Receipt(target, rev, writer.append(Unrelate(user=user, relation=relation, target=target)), True)


def relations_of(connection: apsw.Connection, user: str) -> Relations:
    """Return for each relation its targets, in the order in which they were related."""
    found: Relations = {relation: {} for relation in RELATIONS}
    for _, relation, target, ordinal in sorted(connection.execute(_RELATIONS, (user,))):
        found[relation][target] = ordinal
    return found


def hard_of(connection: apsw.Connection, user: str) -> list[tuple[str, str]]:
    """Return the relations of a user that keep items from every answer, with their targets."""
    query = "SELECT relation, target FROM relation WHERE user = ? AND relation IN (?, ?)"
    return [(str(relation), str(target)) for relation, target in connection.execute(query, (user, *HARD))]


def ordinal_of(connection: apsw.Connection, id: str) -> int | None:
    """Return the ordinal of an item, None if it was never put."""
    found = connection.execute("SELECT ordinal FROM item WHERE id = ?", (id,)).get
    return None if found is None else int(found)


def live_only(connection: apsw.Connection, ids: Iterable[str]) -> tuple[str, ...]:
    """Return those of some ids whose items are live."""
    return tuple(id for id in ids if _rev(connection, id) is not None)


def _stands(connection: apsw.Connection, user: str, relation: str, target: str) -> bool:
    query = "SELECT 1 FROM relation WHERE user = ? AND relation = ? AND target = ?"
    return connection.execute(query, (user, relation, target)).fetchone() is not None


def _rev(connection: apsw.Connection, id: str) -> str | None:
    found = connection.execute("SELECT rev FROM item WHERE id = ? AND live = 1", (id,)).get
    return None if found is None else str(found)
