"""The text view: what it does anew when the log moves on, and what it does not."""

from __future__ import annotations

import germane
from germane import Item
from germane.text.index import Index


def index_of(db: germane.Database) -> Index:
    with db._journal.read() as connection:
        return db._text.at(connection)


def test_signals_leave_what_was_derived_from_the_index() -> None:
    """Fails when every signal makes the next search join the index's arrays again."""
    db = germane.open()
    for id in "abc":
        db.put(Item(id=id, body=f"lamp {id}"))
        db.search("lamp")
    before = index_of(db)
    parts = before.parts
    receipt = db.signal("view", "a")
    after = index_of(db)
    assert after.seq == receipt.seq == before.seq + 1
    assert after.parts is parts
    assert db.search("lamp").as_of == receipt.seq
    db.put(Item(id="d", body="lamp d"))
    assert index_of(db).parts is not parts
    assert db.search("lamp").total == 4
