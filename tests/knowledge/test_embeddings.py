"""Vectors of items: kept as float32, of one dimension, part of puts and updates and of no revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import InvalidArgument, Item

V = (1.0, -0.5, 0.10000000149011612)


@pytest.mark.parametrize(
    "given",
    [[1, -0.5, 0.1], (1.0, -0.5, 0.1), np.array([1, -0.5, 0.1]), np.array([1, -0.5, 0.1], np.float32),
     list(np.array([1, -0.5, 0.1], np.float32)), [np.int64(1), -0.5, 0.1]],
)  # fmt: skip
def test_a_vector_is_rounded_to_float32_and_returned(given: Any, tmp_path: Path) -> None:
    """Fails if a vector is kept as float64, or the order of its bytes is that of the machine."""
    item = Item(id="a", embedding=given)
    assert item.embedding == V
    assert item.rev == Item(id="a").rev
    with germane.open(tmp_path / "store") as db:
        db.put(item)
        assert db.get("a").embedding == V
        with db._journal.read() as connection:
            stored = connection.execute("SELECT data FROM vector").get
        assert stored == np.array(V, "<f4").tobytes()
    with germane.open(tmp_path / "store") as db:
        assert db.get("a").embedding == V
        assert germane.open(None).put(db.get("a")) == "a"


def test_put_replaces_and_update_changes_or_removes() -> None:
    """Fails if a put without a vector leaves the one before, or a put of the same writes again."""
    db = germane.open()
    db.put(Item(id="a", embedding=[1, 2]))
    head = db.stats().events
    array: Any = np.array([1.0, 2.0])
    db.put(Item(id="a", embedding=array))
    assert not db.update("a", embedding=[1, 2]).changed
    assert db.stats().events == head
    assert db.update("a", tags=["x"]).changed
    assert db.get("a").embedding == (1.0, 2.0)
    assert db.update("a", embedding=[2, 1]).changed
    assert db.get("a").embedding == (2.0, 1.0)
    db.rebuild()
    assert db.get("a").embedding == (2.0, 1.0)
    assert db.update("a", embedding=None).changed
    assert db.get("a").embedding is None
    db.put(Item(id="a", embedding=[3, 3]))
    db.put(Item(id="a"))
    assert db.get("a").embedding is None
    assert db.check().ok


def test_one_dimension_a_store() -> None:
    """Fails if a second dimension is taken, by any way in, or one write of a batch is kept."""
    db = germane.open()
    db.put(Item(id="a", embedding=[1, 2]))
    db.update("a", embedding=None)  # the first decides for good
    message = "^embedding: has 3 numbers, and the vectors of this store have 2$"
    three = Item(id="b", embedding=[1, 2, 3])
    for write in (
        lambda: db.put(three),
        lambda: db.put_many([Item(id="c"), three]),
        lambda: db.put_document("d", title="D", sections=[three]),
        lambda: db.update("a", embedding=[1, 2, 3]),
    ):
        with pytest.raises(InvalidArgument, match=message) as caught:
            write()
        assert caught.value.field == "embedding"
    assert db.stats().items == 1
    fresh = germane.open()
    with pytest.raises(InvalidArgument, match=r"^embedding: has 3 numbers"):
        fresh.put_document("d", title="D", sections=[Item(title="s", embedding=[1, 2]), three])
    assert fresh.stats().items == 0


def test_a_learned_section_keeps_the_vector_that_was_set(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# A\n\none\n")
    db = germane.open()
    db.learn(path)
    (id,) = (result.id for result in db.search("one").items)
    db.update(id, embedding=[1, 2])
    path.write_text("# A\n\none two\n")
    db.learn(path)
    assert db.get(id).embedding == (1.0, 2.0)
