"""A user of whom a store is full, and where in its folder bytes of the user are."""

from __future__ import annotations

import json
from pathlib import Path

import germane
from germane import Item
from germane.signals.reach import hashes

NAME = 'zaphod "Ä\\ö" beeble'
"""A name that JSON writes in other ways than MessagePack."""


def traces(folder: Path, name: str = NAME) -> list[str]:
    """Return the files in which a user's name, or its hash, is written in any way."""
    number = int(hashes([name])[0])
    forms = {
        name.encode(),
        json.dumps(name)[1:-1].encode(),
        json.dumps(name, ensure_ascii=False)[1:-1].encode(),
        name.encode("utf-16-le"),
        number.to_bytes(8, "little"),
        number.to_bytes(8, "big"),
    }
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files
    return [path.name for path in files if any(form in path.read_bytes() for form in forms)]


def filled(folder: Path) -> germane.Database:
    """Return a store that is full of a user: every kind of event and of file names it."""
    db = germane.open(folder)
    db.put_many(Item(id=id, title=f"Lamp {id}", creator="eve") for id in "abcdef")
    db.signal("view", "a", user=NAME, event_id=f"single of {NAME}", page="p1", position=3)
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
    return db
