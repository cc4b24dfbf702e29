"""Forgetting a user: one transaction writes the log as if the user had never been named in it.

Positions stay: where an event is gone, one stands that says nothing. The chain is computed anew from the
first event that changed. What is on record afterwards is a keyed hash of the user, which tells who it was to
those who know the name and have the store, and nobody else.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import apsw
import msgspec

from germane.log.anonymous import OF_SESSIONS, OF_USERS, Change, users_of, without
from germane.log.base import OF_RELATIONS, OF_TABLE, Parts, base_of, chunks, is_sealed, remade, rows_to_chunks
from germane.log.chain import End, chained, start
from germane.log.events import Base, ForgetUser, RecordSignals, decode, encode
from germane.log.fold_sessions import OF_SESSIONS as SESSIONS
from germane.log.fold_sessions import drop_session
from germane.log.journal import Journal, Writer, epoch
from germane.model.errors import Corruption
from germane.model.reports import Finding

UNCLEAN = "unclean"
"""Key under which a store says that bytes of rows that are gone may still lie in the folder."""
_SECRET = "secret"
_BLOCK = 1_000
"""Links of the chain that are written at a time."""


class Kept(NamedTuple):
    """What a base holds of the views that derive from the log, without a user.

    Parameters
    ----------
    parts : mapping
        Those that changed.
    folded : int
        Signals of the user whose numbers stay in the base.
    sketched : int
        Items in whose sketch of distinct users the user stays counted.
    """

    parts: Parts
    folded: int = 0
    sketched: int = 0


Views = Callable[[apsw.Connection, Base, str], Kept]
"""Gives what a base holds of views, without a user."""


class Done(NamedTuple):
    """What the transaction did.

    Parameters
    ----------
    seq : int
        The position at which it is on record; the last one when there was nothing to do.
    events : int
        Events of the user that changed.
    folded, sketched : int
        What stays in the base, as `Kept` says.
    """

    seq: int
    events: int = 0
    folded: int = 0
    sketched: int = 0

    @property
    def has_changed(self) -> bool:
        """Whether anything was known of the user."""
        return self != Done(self.seq)


def forget(writer: Writer, user: str, erase: bool, views: Views) -> Done:
    """Write the log without a user.

    Parameters
    ----------
    writer : Writer
    user : str
    erase : bool
        Whether the user's signals go; otherwise they stay and are nobody's.
    views : callable

    Raises
    ------
    Corruption
        The log is damaged: written anew, it would look as if it were not.
    """
    connection = writer.connection
    sessions = {str(id) for (id,) in connection.execute("SELECT id FROM session WHERE user = ?", (user,))}
    count = sum(change.events for change in _rewritten(connection, user, erase, sessions))
    base = base_of(connection)
    in_base = None if base is None else _without_user(connection, *base, user, views)
    if not count and in_base is None:
        return Done(writer.head)
    connection.execute("DELETE FROM relation WHERE user = ?", (user,))
    for session in sessions:
        drop_session(connection, session)
    connection.execute("UPDATE store SET value = value + 1 WHERE key = 'epoch'")
    connection.execute("INSERT OR REPLACE INTO store VALUES (?, ?)", (UNCLEAN, str(epoch(connection))))
    writer.change()
    writer.tip.arrive()  # the chain has another value at the end of the log
    seq = writer.append(ForgetUser(who=_hashed(_secret(connection), user), erased=erase))
    relations, kept = in_base or (0, Kept({}))
    return Done(seq, count + relations, kept.folded, kept.sketched)


def unclean(connection: apsw.Connection) -> str | None:
    """Return what `is_clean` takes when bytes of rows that are gone may still lie in the folder."""
    found = connection.execute("SELECT value FROM store WHERE key = ?", (UNCLEAN,)).get
    return None if found is None else str(found)


def is_clean(journal: Journal, since: str) -> None:
    """Say that no such bytes are left, unless someone was forgotten since `unclean` was asked."""
    with journal.write() as writer:
        writer.connection.execute("DELETE FROM store WHERE key = ? AND value = ?", (UNCLEAN, since))
        writer.change()


def check_forgotten(connection: apsw.Connection) -> Iterator[Finding]:
    """Yield where the log names a user who was forgotten later, and whether bytes may be left of one."""
    if unclean(connection) is not None:
        yield Finding(
            "journal",
            "bytes of a user who was forgotten may be left: they go when the store is opened to write",
        )
    until: dict[str, int] = {}
    for seq, data in connection.execute("SELECT seq, data FROM log WHERE type = 'forget'"):
        event = decode(seq, "forget", data)
        assert isinstance(event, ForgetUser)
        until[event.who] = seq
    if not until:
        return
    known: dict[str, int] = {}
    secret = _secret(connection)  # where someone was forgotten there is one
    for seq, kind, data in connection.execute(
        "SELECT seq, type, data FROM log WHERE seq < ? ORDER BY seq", (max(until.values()),)
    ):
        if kind not in OF_USERS:
            continue
        for user in users_of(decode(seq, kind, data)):
            if user not in known:
                known[user] = until.get(_hashed(secret, user), 0)
            if seq < known[user]:
                yield Finding("log", f"event {seq} names a user who was forgotten at event {known[user]}")


def _rewritten(
    connection: apsw.Connection, user: str, erase: bool, sessions: Collection[str]
) -> Iterator[Change]:
    """Write the events that name a user anew, and the chain behind them; yield what changed."""
    last = start(connection)
    old = new = last.checksum
    has_changed = False
    links: list[tuple[int, int]] = []
    query = "SELECT seq, at, recorded_at, type, data, checksum FROM log WHERE seq > ? ORDER BY seq"
    # A row is only written once it was read, and keeps its place: the query goes on behind it.
    for seq, at, recorded_at, kind, data, checksum in connection.execute(query, (last.seq,)):
        if seq != last.seq + 1 or chained(old, seq, at, recorded_at, kind, data) != checksum:
            raise _damaged(f"event {last.seq + 1} of the log")
        last, old = End(seq, recorded_at, checksum), checksum
        is_theirs = kind in OF_USERS or kind in OF_SESSIONS
        change = without(decode(seq, kind, data), user, erase, sessions) if is_theirs else None
        if change is not None:
            has_changed = True
            kind, data = encode(change.event)
            if kind == "forgotten":
                at = recorded_at  # when something was done says something of who did it
            new = chained(new, seq, at, recorded_at, kind, data)
            connection.execute(
                "UPDATE log SET at = ?, type = ?, data = ?, checksum = ? WHERE seq = ?",
                (at, kind, data, new, seq),
            )
            _free(connection, change)
            yield change
        elif has_changed:
            new = chained(new, seq, at, recorded_at, kind, data)
            links.append((new, seq))
            if len(links) == _BLOCK:
                _link(connection, links)
        else:
            new = checksum
    _link(connection, links)


def _link(connection: apsw.Connection, links: list[tuple[int, int]]) -> None:
    connection.executemany("UPDATE log SET checksum = ? WHERE seq = ?", links)
    links.clear()


def _free(connection: apsw.Connection, change: Change) -> None:
    """Let event ids name nothing any more, and the others of their record the rows where they are now."""
    connection.executemany("DELETE FROM event_id WHERE id = ?", ((id,) for id in change.freed))
    if change.has_moved and isinstance(change.event, RecordSignals):
        connection.executemany(
            "UPDATE event_id SET row = ? WHERE id = ?",
            ((row, id) for row, id in enumerate(change.event.event_ids) if id is not None),
        )


def _without_user(
    connection: apsw.Connection, seq: int, base: Base, user: str, views: Views
) -> tuple[int, Kept] | None:
    """Write a base without a user, of whom it held so many relations; None when it does not have the user."""
    at, recorded_at, checksum = connection.execute(
        "SELECT at, recorded_at, checksum FROM log WHERE seq = ?", (seq,)
    ).get
    if not is_sealed(base, seq, at, recorded_at, checksum):
        raise _damaged(f"the base of the log, event {seq},")
    kept = views(connection, base, user)
    gone, others = _relations(connection, base, user)
    more, sessions = _sessions(connection, base, user)
    gone += more
    parts = {**kept.parts, **others, **sessions}
    if not parts:
        return None
    kind, data = encode(remade(base, parts, seq, at, recorded_at, checksum))
    for part, told in parts.items():
        connection.execute("DELETE FROM base WHERE part = ?", (part,))
        connection.executemany(
            "INSERT INTO base VALUES (?, ?, ?)", ((part, number, each) for number, each in enumerate(told))
        )
    connection.execute("UPDATE log SET type = ?, data = ? WHERE seq = ?", (kind, data, seq))
    return gone, kept


def _relations(connection: apsw.Connection, base: Base, user: str) -> tuple[int, Parts]:
    """Return how many relations of a user a base holds, and the part without them if it has any."""
    told = [row for chunk in chunks(connection, base, OF_RELATIONS) for row in msgspec.msgpack.decode(chunk)]
    others = [row for row in told if row[0] != user]
    gone = len(told) - len(others)
    return gone, {OF_RELATIONS: rows_to_chunks(others)} if gone else {}


def _sessions(connection: apsw.Connection, base: Base, user: str) -> tuple[int, Parts]:
    """Return how many sessions of a user a base holds, and the parts without them if it has any."""
    told = {
        name: [row for chunk in chunks(connection, base, name) for row in msgspec.msgpack.decode(chunk)]
        for name in map(OF_TABLE.__add__, SESSIONS)
    }
    first, *_ = told
    theirs = {row[0] for row in told[first] if row[1] == user}
    if not theirs:
        return 0, {}
    return len(theirs), {
        name: rows_to_chunks(row for row in rows if row[0] not in theirs) for name, rows in told.items()
    }


def _secret(connection: apsw.Connection) -> bytes:
    found = connection.execute("SELECT value FROM store WHERE key = ?", (_SECRET,)).get
    if found is None:
        found = secrets.token_hex(32)
        connection.execute("INSERT INTO store VALUES (?, ?)", (_SECRET, found))
    return bytes.fromhex(str(found))


def _hashed(secret: bytes, user: str) -> str:
    return hashlib.blake2b(user.encode(), key=secret, digest_size=16).hexdigest()


def _damaged(what: str) -> Corruption:
    return Corruption(f"{what} is not what was written, so nobody was forgotten: restore a backup")
