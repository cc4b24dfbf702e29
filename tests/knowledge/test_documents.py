"""Documents: manifests that list sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import germane
from germane import Database, InvalidArgument, Item, NotFound, Placement, Receipt


@pytest.fixture
def db() -> Iterator[Database]:
    with germane.open() as store:
        yield store


def sections(*ids: str) -> list[Item]:
    return [Item(id=id, title=f"Title {id}", body=f"body of {id}") for id in ids]


def live(db: Database) -> set[str]:
    return {result.id for result in db.search("body", limit=100).items}


def test_a_document_lists_its_sections_in_order(db: Database) -> None:
    docid = db.put_document("d", title="Doc", sections=[*sections("b", "a"), Item(id="c", body="body")],
                            metadata={"n": 1})  # fmt: skip
    document = db.document(docid)
    assert (docid, document.docid, document.title, document.path) == ("d", "d", "Doc", None)
    assert document.metadata == {"n": 1}
    assert document.sections == (
        Placement("b", 1, None, ("Title b",)),
        Placement("a", 1, None, ("Title a",)),
        Placement("c", 0, None, ()),
    )
    assert live(db) == {"a", "b", "c"}
    assert db.search("body").items[0].docids == ("d",)


def test_the_same_again_writes_nothing(db: Database) -> None:
    for _ in range(2):
        db.put_document("d", title="Doc", sections=sections("a", "b", "a"), metadata={"n": 1})
    assert db.stats().events == 2
    assert db.document("d").seq == 2


@pytest.mark.parametrize(
    "change",
    [{"title": "x"}, {"metadata": {"n": True}}, {"metadata": None}, {"sections": sections("b", "a")},
     {"sections": sections("a")}, {"sections": sections("a", "b", "a")},
     {"sections": [*sections("a"), Item(id="b", title="Title b", body="body of b", tags=["x"])]}],
)  # fmt: skip
def test_whatever_differs_is_one_event(db: Database, change: dict[str, Any]) -> None:
    base: dict[str, Any] = {"title": "Doc", "sections": sections("a", "b"), "metadata": {"n": 1}}
    db.put_document("d", **base)
    db.put_document("d", **base | change)
    assert db.stats().events == 3
    wanted = base | change
    found = db.document("d")
    assert found.title == wanted["title"]
    assert repr(found.metadata) == repr(wanted["metadata"] or {})
    assert [place.id for place in found.sections] == [item.id for item in wanted["sections"]]
    assert db.check().ok


def test_without_a_docid_it_is_named_by_its_content(db: Database) -> None:
    one = db.put_document(title="Doc", sections=sections("a"))
    assert db.put_document(title="Doc", sections=sections("a")) == one
    same_text = [Item(id="other", title="Title a", body="body of a")]
    others = {
        db.put_document(title="Doc 2", sections=sections("a")),
        db.put_document(title="Doc", sections=sections("a", "b")),
        db.put_document(title="Doc", sections=same_text),
        db.put_document(title="Doc", sections=[]),
    }
    assert len(others - {one}) == 4
    assert db.document(one).sections[0].id == "a"


def test_a_section_that_is_dropped_retires_when_no_other_document_lists_it(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a", "b", "c"))
    db.put_document("e", title="E", sections=sections("b"))
    db.put_document("d", title="D", sections=sections("c"))
    assert live(db) == {"b", "c"}
    db.put_document("e", title="E", sections=[])
    assert live(db) == {"c"}
    with pytest.raises(NotFound):
        db.get("b")


def test_a_section_in_several_documents_retires_only_with_the_last(db: Database) -> None:
    for docid in "def":
        db.put_document(docid, title=docid, sections=sections("a", docid + "1"))
    for position, docid in enumerate("def"):
        assert "a" in live(db)
        assert db.search("body").items[0].docids == tuple("def"[position:])
        assert db.delete_document(docid).changed
        assert docid + "1" not in live(db)
    assert live(db) == set()
    assert db.stats().documents == 0


def test_a_deleted_document(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a"))
    seq = db.stats().events
    assert db.delete_document("d") == Receipt("d", None, seq + 1, changed=True)
    assert db.delete_document("d") == Receipt("d", None, seq + 1, changed=False)
    with pytest.raises(NotFound, match=r"^there is no document 'd'$"):
        db.document("d")
    db.put_document("d", title="D", sections=sections("a"))
    assert [place.id for place in db.document("d").sections] == ["a"]
    assert live(db) == {"a"}


def test_an_item_deleted_on_its_own_leaves_the_document_and_comes_back(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a", "b"))
    db.delete("a")
    assert [place.id for place in db.document("d").sections] == ["b"]
    db.put(sections("a")[0])
    assert [place.id for place in db.document("d").sections] == ["a", "b"]


def test_an_item_deleted_and_then_dropped_does_not_come_back(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a", "b"))
    db.delete("a")
    db.put_document("d", title="D", sections=sections("b"))
    db.put(sections("a")[0])
    assert [place.id for place in db.document("d").sections] == ["b"]


def test_a_section_deleted_on_its_own_is_put_again_with_its_document(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a"))
    db.delete("a")
    db.put_document("d", title="D", sections=sections("a"))
    assert live(db) == {"a"}


def test_sections_keep_what_they_had_as_items(db: Database) -> None:
    db.put(Item(id="a", title="Title a", body="old body", created_at=5))
    db.put_document("d", title="D", sections=sections("a"))
    item = db.get("a")
    assert item.body == "body of a"
    assert item.created_at == Item(created_at=5).created_at
    assert db.get("a", rev=Item(title="Title a", body="old body").rev).body == "old body"


def test_an_id_may_stand_twice_if_it_is_the_same_twice(db: Database) -> None:
    db.put_document("d", title="D", sections=sections("a", "b", "a"))
    assert [place.id for place in db.document("d").sections] == ["a", "b", "a"]
    for other in (Item(id="a", body="other"), Item(id="a", title="Title a", body="body of a", tags=["x"])):
        with pytest.raises(InvalidArgument) as caught:
            db.put_document("e", title="E", sections=[*sections("b", "a"), other])
        assert str(caught.value) == "sections[2].id: 'a' stands twice, and not the same twice"
    assert db.get("a").body == "body of a"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"docid": ""}, "docid: is empty: an id has 1 to 200 characters"),
        ({"docid": 3}, "docid: must be a string, not int"),
        ({"title": None}, "title: must be a string, not NoneType"),
        ({"sections": None}, "sections: must give items, and NoneType gives nothing"),
        ({"sections": [Item(), "x"]}, "sections[1]: must be an Item, not str"),
        ({"metadata": [1]}, "metadata: must be a mapping, not list"),
        ({"metadata": {"a": None}}, "metadata.a: a value is a string, a number, a boolean, an aware datetime "
                                    "or a list of these, not NoneType"),
    ],
)  # fmt: skip
def test_what_is_refused(db: Database, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        db.put_document(**{"title": "D", "sections": [], **arguments})
    assert str(caught.value) == message
    for call in (db.document, db.delete_document):
        with pytest.raises(InvalidArgument, match=r"^docid: is empty"):
            call("")


def test_sections_can_come_from_a_generator(db: Database) -> None:
    db.put_document("d", title="D", sections=(item for item in sections("a", "b")))
    assert live(db) == {"a", "b"}
