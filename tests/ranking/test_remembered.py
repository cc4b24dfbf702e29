"""What is remembered between queries is never older than the store: after any write, by any connection."""

from __future__ import annotations

from pathlib import Path

import pytest

import germane
from germane import Item, Profile, Result, Schema, Signal
from germane.knowledge import ids as knowledge_ids
from germane.ranking.retrieve import page

SCHEMA = Schema([Signal("view")], [Profile("p", boosts=["view.decayed"])])


def only(db: germane.Database, *ids: str) -> Result | None:
    shown = db.retrieve("p", candidates=ids or ["lamp"]).items
    return shown[0] if shown else None


def found(db: germane.Database) -> Result:
    result = only(db)
    assert result is not None
    return result


def test_a_result_says_what_an_item_is_now(tmp_path: Path) -> None:
    """Fails if cards stay when items or documents change, or readers remember beyond a commit."""
    with germane.open(tmp_path, SCHEMA) as ours, germane.open(tmp_path) as theirs:
        ours.put(Item(title="Lamp", body="red", id="lamp", metadata={"price": 1}))
        assert [found(db).metadata for db in (ours, theirs)] == [{"price": 1}] * 2
        for price, writer in enumerate((ours, theirs, ours), 2):
            writer.update("lamp", metadata={"price": price})
            assert [found(db).metadata for db in (ours, theirs)] == [{"price": price}] * 2
        theirs.put(Item(title="Bulb", body="blue", id="lamp"))
        assert [(found(db).title, found(db).snippet) for db in (ours, theirs)] == [("Bulb", "blue")] * 2
        theirs.put_document("guide", title="Guide", sections=[Item(title="Bulb", body="blue", id="lamp")])
        assert [found(db).docids for db in (ours, theirs)] == [("guide",)] * 2
        ours.put_document("book", title="Book", sections=[Item(title="Bulb", body="blue", id="lamp")])
        assert [found(db).docids for db in (ours, theirs)] == [("book", "guide")] * 2
        theirs.signal("view", "lamp")
        assert [found(db).raw > 0.5 for db in (ours, theirs)] == [True] * 2
        ours.delete("lamp")
        assert [only(db) for db in (ours, theirs)] == [None] * 2


def test_an_id_that_was_not_there_is_found_when_it_is_put(tmp_path: Path) -> None:
    """Fails if it is remembered that there is no such item, or if ids outlive a rebuild."""
    with germane.open(tmp_path, SCHEMA) as ours, germane.open(tmp_path) as theirs:
        ours.put(Item(title="Sofa", id="sofa"))
        assert [only(db, "lamp") for db in (ours, theirs)] == [None] * 2
        theirs.put(Item(title="Lamp", id="lamp"))
        assert [found(db).title for db in (ours, theirs)] == ["Lamp"] * 2
        theirs.rebuild()
        assert [found(db).title for db in (ours, theirs)] == ["Lamp"] * 2


def test_a_schema_that_another_declares_is_used_at_once(tmp_path: Path) -> None:
    """Fails if a reader keeps a schema for longer than the file stays as it is."""
    with germane.open(tmp_path, SCHEMA) as ours:
        ours.put(Item(title="Lamp", id="lamp"))
        ours.signal("view", "lamp")
        assert found(ours).contributions.keys() == {"view.decayed"}
        changed = Schema([Signal("view")], [Profile("p", version=2, boosts=["3 view.count.all"])])
        with germane.open(tmp_path, changed):
            assert found(ours).contributions == {"view.count.all": 3.0}


def test_only_so_many_cards_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_CARDS", 5)
    with germane.open(tmp_path, SCHEMA) as db:
        ids = db.put_many(Item(title=f"item {number}", id=f"i{number}") for number in range(20))
        for first in range(0, 20, 5):
            shown = db.retrieve("p", candidates=ids[first : first + 10], limit=10).items
            assert {each.title for each in shown} == {f"item {id[1:]}" for id in ids[first : first + 10]}
        with db._journal.read() as connection:
            assert len(db._catalogs.at(connection).cards) == 5


def test_a_page_stays_as_it_was_when_the_same_items_are_ranked_again(tmp_path: Path) -> None:
    """Fails if results are the kept cards and no copies of them."""
    schema = Schema(
        [Signal("view")], [Profile("p", boosts=["view.decayed"]), Profile("q", sort="view.count.all")]
    )
    with germane.open(tmp_path, schema) as db:
        db.put(Item(title="Lamp", id="lamp"))
        db.signal("view", "lamp")
        first = db.retrieve("p", candidates=["lamp"], explain=True).items[0]
        other = db.retrieve("q", candidates=["lamp"]).items[0]
        assert (list(first.contributions), list(other.contributions)) == (
            ["view.decayed"],
            ["view.count.all"],
        )
        assert (len(first.reasons), other.reasons, other.raw) == (1, (), 1.0)
        assert found(db).reasons == ()


def test_equal_sums_are_ordered_by_id_also_after_a_rebuild(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails if ids of ordinals are remembered wrongly, or compared other than by code point."""
    monkeypatch.setattr(knowledge_ids, "MOST", 4)  # they are forgotten in between
    names = ["b", "ä", "B", "a9", "\U0001f600", "a10", "\uffee"]
    with germane.open(tmp_path, SCHEMA) as ours, germane.open(tmp_path) as theirs:
        for count in range(1, len(names) + 1):
            ours.put(Item(title="Lamp", id=names[count - 1]))
            if count == 4:
                theirs.rebuild()
            for db in (ours, theirs):
                shown = db.retrieve("p", candidates=names, limit=10).items
                assert [each.id for each in shown] == sorted(names[:count])
