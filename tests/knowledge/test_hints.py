"""Hints: what a keyword matches is what a plain scan of all live items finds, whatever was written since."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import Database, Item
from germane.knowledge import hint_view
from germane.knowledge.hints import Hints

WORDS = ("Lamp", "lampe", "ÉTÉ", "42", "3.5", "true", "été", "日本", "red-hot", "x")
KEYWORDS = ("lamp", "é", "été", "4", "3.5", "tru", "本", "-", "red-hot", "2024-05", "nothing", "\0")


def hints(db: Database) -> Hints:
    with db._journal.read() as connection:
        return db._views.hints.at(connection)


def drawn(draw: random.Random) -> dict[str, Any]:
    values: list[Any] = [
        draw.choice(WORDS), draw.randrange(50), draw.random() * 9, draw.random() < 0.5,
        [draw.choice(WORDS), draw.randrange(9)], datetime(2024, 5, draw.randrange(1, 30), tzinfo=UTC),
    ]  # fmt: skip
    return {
        "title": draw.choice([None, *WORDS]),
        "tags": draw.sample(WORDS, draw.randrange(3)),
        "metadata": {f"m{place}": draw.choice(values) for place in range(draw.randrange(4))},
    }


def scanned(db: Database, ids: set[str], keyword: str) -> set[str]:
    """The items that a keyword matches, by looking at each."""
    found = set()
    for id in ids:
        item = db.get(id)
        told = [item.title or "", *item.tags]
        for value in item.metadata.values():
            several = value if isinstance(value, tuple) else (value,)
            told += [each.isoformat() if isinstance(each, datetime) else str(each) for each in several]
        if any(keyword in text.lower() for text in told):
            found.add(id)
    return found


@pytest.mark.parametrize("number", range(6))
def test_they_equal_a_scan(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a text that is no more is found, or what was found before is not looked for in what is new."""
    monkeypatch.setattr(hint_view.HintView, "worth_saving", 5)
    draw, live = random.Random(number), set[str]()
    db = germane.open(tmp_path / "s")
    for step in range(60):
        id = f"i{draw.randrange(25)}"
        if id in live and draw.random() < 0.2:
            db.delete(id)
            live.discard(id)
        elif id in live and draw.random() < 0.3:
            changes = drawn(draw)
            db.update(id, metadata=changes["metadata"], tags=changes["tags"])
        else:
            db.put_many(Item(id=each, **drawn(draw)) for each in {id, f"i{draw.randrange(25)}"})
            live = {f"i{n}" for n in range(25) if _there(db, f"i{n}")}
        if step % 3 == 0:
            found = hints(db)
            for keyword in KEYWORDS[:-1]:
                assert _ids(db, found, keyword) == scanned(db, live, keyword)
        if step in (20, 40):
            db.close()
            db = germane.open(tmp_path / "s")
    assert db.check().ok
    assert not len(hints(db).matching(KEYWORDS[-1]))
    db.put(Item(id="null", title="a\0b"))
    assert len(hints(db).matching(KEYWORDS[-1])) == 1


def _there(db: Database, id: str) -> bool:
    try:
        db.get(id)
    except germane.NotFound:
        return False
    return True


def _ids(db: Database, found: Hints, keyword: str) -> set[str]:
    with db._journal.read() as connection:
        return {
            str(connection.execute("SELECT id FROM item WHERE ordinal = ?", (ordinal,)).get)
            for ordinal in found.matching(keyword).tolist()
        }


def test_what_was_found_stays_found() -> None:
    """Fails if a keyword is looked for anew with every query, or in every text after a write."""
    db = germane.open()
    db.put_many(Item(id=str(n), title=f"lamp {n}") for n in range(50))
    before = hints(db)
    found = before.matching("lamp")
    assert before.matching("lamp") is found
    db.signal("view", "1")
    assert hints(db).matching("lamp") is found
    db.put(Item(id="new", title="another lamp"))
    after = hints(db)
    assert after.parts[0] is before.parts[0]
    assert len(after.matching("lamp")) == 51


def test_shares_are_exact() -> None:
    db = germane.open()
    db.put_many(Item(id=id, title=id) for id in ("ab", "a", "c"))
    hint = hints(db).hint((("a", 1.0), ("b", 0.5), ("z", 0.25)), 128)
    assert hint.values[1:4].tolist() == [1.5 / 1.75, 1.0 / 1.75, 0.0]
    assert hints(db).hint((("a", 0.1), ("b", 0.2)), 128).values[1] == 1.0
    assert not hints(db).hint((), 128).values.any()
