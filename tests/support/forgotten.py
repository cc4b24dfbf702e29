"""A user of whom a store is full, and where in its folder bytes of the user are."""

from __future__ import annotations

import json
from pathlib import Path

import germane
from germane import Item, Schema, Signal
from germane.signals.reach import hashes

NAME = 'zaphod "Ä\\ö" beeble'
"""A name that JSON writes in other ways than MessagePack."""
SIGNALS = [Signal("view", half_life="7d", preference=0.1, affinity=0.5), Signal("like", affinity=1.0)]
"""What a user does says what they lean to, and which creators they like."""


def forms(name: str) -> set[bytes]:
    """Return all ways in which a user's name, or its hash, may be written."""
    number = int(hashes([name])[0])
    return {
        name.encode(),
        json.dumps(name)[1:-1].encode(),
        json.dumps(name, ensure_ascii=False)[1:-1].encode(),
        name.encode("utf-16-le"),
        number.to_bytes(8, "little"),
        number.to_bytes(8, "big"),
    }


def traces(folder: Path, name: str = NAME) -> list[str]:
    """Return the files in which a user's name, or its hash, is written in any way."""
    written = forms(name)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files
    return [path.name for path in files if any(form in path.read_bytes() for form in written)]


def clock() -> float:
    """Return the time at which a store was filled: what is ahead of it waits."""
    return 1_700_000_000.0


def filled(folder: Path) -> germane.Database:
    """Return a store that is full of a user: every kind of event, of view and of file names it."""
    db = germane.open(folder, Schema(SIGNALS), clock=clock)
    db.put_many(
        Item(id=id, title=f"Lamp {id}", creator=("eve", "ada")[n % 2], embedding=(1.0, n / 4))
        for n, id in enumerate("abcdef")
    )
    ahead = clock() + 200
    db.signal("view", "a", user=NAME, event_id=f"single of {NAME}", page="p1", position=3, at=ahead)
    db.signal("view", "a", user="bob", event_id="single of bob")
    users = (NAME, "bob", "eve")
    rows = [{"name": "view", "item": "abcdef"[n % 6], "user": users[n % 3]} for n in range(300)]
    db.signal_many(
        {**row, "event_id": f"m{n} {NAME}" if row["user"] == NAME else f"m{n}"} for n, row in enumerate(rows)
    )
    for user in (NAME, "bob"):
        db.relate(user, "hide", "b")
        db.relate(user, "follow", "eve")
        db.relate(user, "save", "c")
    db.unrelate(NAME, "save", "c")
    assert db.retrieve("shuffle", user=NAME, limit=2).cursor
    assert db.related("a").items
    assert db.retrieve("for_you", user=NAME, limit=2).cursor
    return db
