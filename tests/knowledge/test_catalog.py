"""The catalogue: loaded from a checkpoint it is what the tables say, and signals leave it as it is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import Item
from germane.knowledge.catalog import Catalog, CatalogView
from germane.knowledge.stored import from_arrays, to_arrays
from germane.log.content import documents_changed_since
from germane.log.journal import head

FILTERS = (
    "meta.price < 10",
    "meta.genre = 'jazz' or tags contains 'ü'",
    "document = 'd'",
    "meta.list contains 'x'",
    "meta.when > '2020-01-01T00:00:00Z'",
    "creator in ('c1', 'c2')",
    "meta.note >= 'n'",
)


@pytest.fixture(autouse=True)
def little_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CatalogView, "worth_saving", 1)


def items(start: int, count: int) -> list[Item]:
    values: list[dict[str, Any]] = [
        {"price": 5, "genre": "jazz", "list": ["x", 1, True]},
        {"price": 12.5, "genre": "rock", "when": datetime(2024, 1, 1, tzinfo=UTC)},
        {"price": True, "note": "né"},
        {},
    ]
    return [
        Item(
            id=f"i{n}",
            title=f"word {n}",
            metadata=values[n % 4],
            tags=("ü",) * (n % 3 == 0),
            creator=f"c{n % 3}",
        )
        for n in range(start, start + count)
    ]


def at(db: germane.Database) -> Catalog:
    with db._journal.read() as connection:
        return db._catalogs.at(connection)


def assert_equal(db: germane.Database) -> None:
    """The catalogue, and one from the tables alone, have equal bits in canonical form."""
    ours = at(db)
    with db._journal.read() as connection:
        fresh = CatalogView().at(connection)
    left, right = to_arrays(ours.live, ours.columns), to_arrays(fresh.live, fresh.columns)
    assert left.keys() == right.keys()
    for name, array in left.items():
        assert array.dtype == right[name].dtype, name
        assert array.tobytes() == right[name].tobytes(), name


def chosen(db: germane.Database) -> list[list[str]]:
    return [sorted(r.id for r in db.search("word", where=where, limit=1000).items) for where in FILTERS]


def test_loaded_and_caught_up_it_is_what_the_tables_say(tmp_path: Path) -> None:
    """Fails when strings keep the numbers of the process that saved them, or changed items old values."""
    store = tmp_path / "store"
    with germane.open(store) as db:
        db.put_many(items(0, 40))
        db.put_document(
            "d", title="D", sections=[Item(id="s1", title="word s"), Item(id="i1", title="word 1")]
        )
        wanted = chosen(db)
    assert len(list((store / "views").glob("catalog-*"))) == 1
    with germane.open(store) as db, germane.open(store) as beside:
        assert not at(db).columns["meta.price"].bits.flags.writeable, "it is mapped from the checkpoint"
        assert chosen(db) == wanted
        assert_equal(db)
        db.put_many(items(30, 40))
        db.update("i2", metadata={"price": 1, "genre": None, "new": "z"}, tags=["other", "ü"])
        db.delete("i3")
        db.put_document(
            "d", title="D", sections=[Item(id="s2", title="word t"), Item(id="i4", title="word 4")]
        )
        db.put_document("e", title="E", sections=[Item(id="i4", title="word 4")])
        assert_equal(db)
        assert_equal(beside)
        live = chosen(db)
        assert live == chosen(beside)
        assert live != wanted
        assert db.check().ok
        db.rebuild()
        assert_equal(beside)
        assert chosen(db) == chosen(beside) == live


def test_signals_leave_the_columns_as_they_are() -> None:
    """Fails when columns, or what was made of them, are copied with every signal."""
    db = germane.open()
    db.put_many(items(0, 8))
    before = at(db)
    db.signal("like", "i1")
    after = at(db)
    assert after.seq == before.seq + 1
    assert after.live is before.live
    assert all(after.columns[name] is column for name, column in before.columns.items())
    db.delete("i1")
    assert at(db).live is not before.live


def test_a_long_stretch_of_the_log_hides_no_document() -> None:
    """Fails when the documents are asked only after a look through the log."""
    db = germane.open()
    db.put_document("d", title="D", sections=[Item(id="a", title="A")])
    with db._journal.read() as connection:
        before = head(connection)
    for _ in range(1_001):
        db.signal("like", "a")
    with db._journal.read() as connection:
        assert documents_changed_since(connection, before) == []
        assert documents_changed_since(connection, before - 1) == ["d"]


def test_an_empty_catalogue_is_stored_and_loaded() -> None:
    live, columns = from_arrays(to_arrays(np.zeros(1, np.bool_), {}))
    assert (live.tolist(), columns) == ([False], {})


def test_check_finds_a_catalogue_that_differs() -> None:
    db = germane.open()
    db.put_many(items(0, 8))
    at(db).columns["meta.price"].bits[0] += 1
    (finding,) = db.check().findings
    assert finding.detail == "the catalogue differs from the tables in 'meta.price'"
    assert db.check(repair=True).ok
