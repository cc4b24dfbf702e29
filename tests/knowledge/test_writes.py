"""Items written one by one and in batches, changed in place, read back by revision, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

import germane
from germane import Database, InvalidArgument, Item, NotFound, Receipt
from germane.knowledge.items import BATCH

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def db() -> Iterator[Database]:
    """A store in which an hour passes with every look at the clock."""
    hours = count()
    with germane.open(clock=lambda: NOON.timestamp() + 3600 * next(hours)) as store:
        yield store


def events(db: Database) -> int:
    return db.stats().events


class TestPut:
    def test_an_item_without_id_is_named_by_its_first_version(self, db: Database) -> None:
        item = Item(title="One")
        id = db.put(item)
        assert id == item.rev
        assert db.get(id).id == id
        db.put(Item(id=id, title="Two"))
        assert db.get(id).title == "Two"
        assert db.get(id).rev != id

    def test_the_same_again_writes_nothing(self, db: Database) -> None:
        item = Item(
            id="a", title="One", creator="ann", metadata={"n": 1, "l": (True, "x")}, tags=["t"], kind="k",
            collection="c", created_at=NOON, lang="de", description="d",
        )  # fmt: skip
        db.put(item)
        before = events(db), db.get("a")
        db.put(item)
        db.put(db.get("a"))
        assert (events(db), db.get("a")) == before

    @pytest.mark.parametrize(
        "change",
        [
            {"title": "x"}, {"body": "x"}, {"body": b""}, {"type": "text/plain"}, {"description": ""},
            {"lang": "fr"}, {"creator": "x"}, {"metadata": {"n": True}}, {"metadata": {"n": 1.0}},
            {"metadata": {}}, {"tags": ["b", "a"]}, {"collection": "x"}, {"kind": "x"}, {"created_at": 0},
        ],
    )  # fmt: skip
    def test_whatever_differs_is_written(self, db: Database, change: dict[str, Any]) -> None:
        base: dict[str, Any] = {"id": "a", "metadata": {"n": 1}, "tags": ["a", "b"], "created_at": NOON}
        db.put(Item(**base))
        before = events(db)
        wanted = Item(**base | change)
        db.put(wanted)
        assert events(db) == before + 1
        assert repr(db.get("a")) == repr(wanted)

    def test_created_at_stays_the_first_unless_given(self, db: Database) -> None:
        db.put(Item(id="a", title="One"))
        first = db.get("a").created_at
        db.put(Item(id="a", title="Two"))
        db.put(Item(id="b", title="Later"))
        assert db.get("a").created_at == first
        later = db.get("b").created_at
        assert isinstance(first, datetime)
        assert isinstance(later, datetime)
        assert NOON <= first < later
        db.put(Item(id="a", title="Three", created_at=5))
        assert db.get("a").created_at == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
        db.put(Item(id="a", title="Four"))
        assert db.get("a").created_at == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)

    def test_put_again_brings_a_deleted_item_back(self, db: Database) -> None:
        db.put(Item(id="a", title="One"))
        first = db.get("a")
        db.delete("a")
        assert db.search("one").total == 0
        db.put(Item(id="a", title="One"))
        assert db.get("a") == first
        assert [result.id for result in db.search("one").items] == ["a"]

    @pytest.mark.parametrize("wrong", [None, "a", {"id": "a"}, [Item()]])
    def test_only_items_are_put(self, db: Database, wrong: Any) -> None:
        with pytest.raises(InvalidArgument) as caught:
            db.put(wrong)
        assert str(caught.value) == f"item: must be an Item, not {type(wrong).__name__}"


class TestPutMany:
    def test_ids_come_back_in_order(self, db: Database) -> None:
        items = [Item(id="b"), Item(title="x"), Item(id="a"), Item(id="b", title="again")]
        assert db.put_many(item for item in items) == ["b", items[1].rev, "a", "b"]
        assert db.get("b").title == "again"
        assert db.put_many([]) == []

    def test_items_put_again_in_turns_are_written_once(self, db: Database) -> None:
        before = events(db)
        db.put_many([Item(id=id, body=id) for id in "abababab"])
        assert events(db) == before + 2
        assert db.check().ok

    def test_a_batch_is_kept_whole_or_not_at_all(self, db: Database) -> None:
        items: list[Any] = [Item(id=str(number)) for number in range(BATCH + 10)]
        items[BATCH + 5] = "no item"
        with pytest.raises(InvalidArgument) as caught:
            db.put_many(items)
        assert str(caught.value) == f"iterable[{BATCH + 5}]: must be an Item, not str"
        assert db.stats().items == BATCH
        assert db.get(str(BATCH - 1)).id == str(BATCH - 1)
        with pytest.raises(NotFound):
            db.get(str(BATCH))

    def test_a_generator_that_raises_loses_only_its_batch(self, db: Database) -> None:
        def broken() -> Iterator[Item]:
            for number in range(BATCH + 10):
                yield Item(id=str(number))
            raise RuntimeError("out of items")

        with pytest.raises(RuntimeError, match="out of items"):
            db.put_many(broken())
        assert db.stats().items == BATCH
        assert db.check().ok

    def test_a_generator_is_read_batch_by_batch(self, db: Database) -> None:
        kept: list[int] = []

        def watched() -> Iterator[Item]:
            for number in range(BATCH + 1):
                if number == BATCH:
                    kept.append(db.stats().items)
                yield Item(id=str(number))

        db.put_many(watched())
        # What the generator does between two batches sees the one before.
        assert kept == [BATCH]
        assert db.stats().items == BATCH + 1

    @pytest.mark.parametrize("wrong", [None, 3, Item()])
    def test_what_gives_no_items_is_refused(self, db: Database, wrong: Any) -> None:
        with pytest.raises(InvalidArgument) as caught:
            db.put_many(wrong)
        assert str(caught.value) == f"iterable: must give items, and {type(wrong).__name__} gives nothing"


class TestUpdate:
    def test_metadata_is_merged_and_none_removes(self, db: Database) -> None:
        db.put(Item(id="a", metadata={"price": 30, "stock": 5, "tags": (1, 2)}))
        receipt = db.update("a", metadata={"price": 25, "stock": None, "none": None, "new": [NOON]})
        assert receipt.changed
        assert db.get("a").metadata == {"price": 25, "tags": (1, 2), "new": (NOON,)}

    def test_the_other_fields_are_replaced(self, db: Database) -> None:
        db.put(Item(id="a", tags=["x"], creator="ann"))
        db.update("a", tags=["y", "z"], creator="bob", collection="c", created_at=NOON)
        item = db.get("a")
        assert (item.tags, item.creator, item.collection, item.created_at) == (("y", "z"), "bob", "c", NOON)
        db.update("a", creator=None, tags=[])
        assert (db.get("a").creator, db.get("a").tags) == (None, ())

    def test_the_rev_stays(self, db: Database) -> None:
        db.put(Item(id="a", title="One"))
        assert db.update("a", tags=["x"]).rev == db.get("a").rev == Item(title="One").rev

    def test_tags_and_collection_are_searched_as_they_are_now(self, db: Database) -> None:
        db.put(Item(id="a", title="lamp", tags=["old"]))
        db.update("a", tags=["new"], collection="c")
        assert db.search("tag:old").total == 0
        assert db.search("tag:new lamp").total == 1
        assert db.search("lamp", collections=["main"]).total == 0
        assert db.search("lamp", collections=["c"]).total == 1

    @pytest.mark.parametrize(
        "changes",
        [{}, {"metadata": {}}, {"metadata": {"n": 1}}, {"metadata": {"none": None}}, {"tags": ["x"]},
         {"creator": None}, {"collection": "main"}, {"created_at": NOON}, {"embedding": None}],
    )  # fmt: skip
    def test_no_difference_writes_nothing(self, db: Database, changes: dict[str, Any]) -> None:
        db.put(Item(id="a", metadata={"n": 1}, tags=["x"], created_at=NOON))
        before = events(db)
        assert db.update("a", **changes) == Receipt("a", Item().rev, before, changed=False)
        assert events(db) == before

    def test_one_and_true_differ(self, db: Database) -> None:
        db.put(Item(id="a", metadata={"n": 1}))
        assert db.update("a", metadata={"n": True}).changed
        assert db.get("a").metadata["n"] is True
        assert db.update("a", metadata={"n": 1.0}).changed
        assert repr(db.get("a").metadata["n"]) == "1.0"

    @pytest.mark.parametrize(
        "field", ["title", "body", "type", "description", "lang", "kind", "rev", "colour"]
    )
    def test_other_fields_are_for_revise(self, db: Database, field: str) -> None:
        db.put(Item(id="a"))
        with pytest.raises(InvalidArgument) as caught:
            db.update("a", **{field: "x"})
        start = "is no field of an item" if field == "colour" else "cannot be changed in place"
        assert str(caught.value) == (
            f"{field}: {start}: update takes metadata, tags, creator, created_at, embedding, collection;"
            " for the rest revise the item, or put it again"
        )
        assert caught.value.field == field

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"metadata": [1]}, "metadata: must be a mapping, not list"),
            ({"metadata": None}, "metadata: must be a mapping, not NoneType"),
            ({"metadata": {"": None}}, "metadata key: is empty: an id has 1 to 200 characters"),
            ({"metadata": {"a": float("nan")}}, "metadata.a: nan is not a finite number"),
            ({"tags": "x"}, "tags: must be a list of strings, not str"),
            ({"tags": None}, "tags: must be a list of strings, not NoneType"),
            ({"creator": ""}, "creator: is empty: an id has 1 to 200 characters"),
            ({"collection": None}, "collection: must be a string, not NoneType"),
            ({"created_at": float("inf")}, "created_at: inf is not a time"),
            ({"embedding": [1.0, "x"]}, "embedding[1]: must be a number, not 'x'"),
        ],
    )  # fmt: skip
    def test_values_that_are_refused(self, db: Database, changes: dict[str, Any], message: str) -> None:
        db.put(Item(id="a", tags=["x"]))
        with pytest.raises(InvalidArgument) as caught:
            db.update("a", **{"tags": ["y"], **changes})
        assert str(caught.value) == message
        assert db.get("a").tags == ("x",)

    def test_only_what_is_there_is_updated(self, db: Database) -> None:
        with pytest.raises(NotFound, match=r"^there is no item 'a' to update$"):
            db.update("a", tags=["x"])
        db.put(Item(id="a"))
        db.delete("a")
        with pytest.raises(NotFound, match=r"^there is no item 'a' to update$"):
            db.update("a", tags=["x"])


class TestGet:
    def test_every_revision_can_be_read(self, db: Database) -> None:
        contents = [
            Item(id="a", title="One", body="one", type="text/plain"),
            Item(id="a", title="Two", body=b"\0", type="image/png", description="d", lang="de"),
            Item(id="a", title="Three", description="", lang="fr"),
        ]
        for item in (*contents, contents[0]):
            db.put(item)
        db.update("a", tags=["now"])
        assert db.get("a").rev == contents[0].rev
        for item in contents:
            found = db.get("a", rev=item.rev)
            for field in ("rev", "title", "body", "type", "description", "lang"):
                assert getattr(found, field) == getattr(item, field)
            assert found.tags == ("now",)

    def test_a_revision_of_another_item_is_not_found(self, db: Database) -> None:
        db.put_many([Item(id="a", title="One"), Item(id="b", title="Two")])
        rev = db.get("b").rev
        with pytest.raises(NotFound) as caught:
            db.get("a", rev=rev)
        assert str(caught.value) == f"item 'a' never had the revision {rev!r}"

    def test_what_is_not_there(self, db: Database) -> None:
        with pytest.raises(NotFound, match=r"^there is no item 'a'$"):
            db.get("a")
        db.put(Item(id="a"))
        db.delete("a")
        for rev in (None, Item().rev):
            with pytest.raises(NotFound, match=r"^item 'a' was deleted: put it again to bring it back$"):
                db.get("a", rev=rev)

    def test_arguments_are_checked(self, db: Database) -> None:
        db.put(Item(id="a"))
        for arguments, field in (({"id": ""}, "id"), ({"id": 3}, "id"), ({"id": "a", "rev": ""}, "rev")):
            with pytest.raises(InvalidArgument) as caught:
                db.get(**arguments)
            assert caught.value.field == field


class TestDelete:
    def test_what_is_not_there_changes_nothing(self, db: Database) -> None:
        before = events(db)
        assert db.delete("a") == Receipt("a", None, before, changed=False)
        db.put(Item(id="a"))
        assert db.delete("a") == Receipt("a", None, before + 2, changed=True)
        assert db.delete("a") == Receipt("a", None, before + 2, changed=False)
        assert events(db) == before + 2

    def test_a_deleted_item_leaves_every_answer_and_keeps_its_revisions(self, db: Database) -> None:
        db.put_many([Item(id="a", title="red lamp"), Item(id="b", title="blue lamp")])
        db.put(Item(id="a", title="green lamp"))
        db.delete("a")
        stats = db.stats()
        assert (stats.items, stats.total_sections, stats.total_terms, stats.revisions) == (1, 1, 2, 3)
        assert [result.id for result in db.search("lamp").items] == ["b"]
        db.put(Item(id="a"))
        assert db.get("a", rev=Item(title="red lamp").rev).title == "red lamp"


def test_receipts_count_the_log(db: Database) -> None:
    db.put(Item(id="a"))
    first = db.update("a", tags=["x"])
    assert (first.id, first.seq, first.changed, first.duplicate) == ("a", events(db), True, False)
    db.put(Item(id="b"))
    second = db.update("b", tags=["x"])
    assert second.seq == first.seq + 2
    # Where nothing had to be written, the state asked for stands since some earlier position.
    assert db.update("a", tags=["x"]).seq == second.seq
