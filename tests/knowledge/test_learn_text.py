"""Learning one document given as text."""

from __future__ import annotations

from typing import Any

import pytest

from germane import Database, InvalidArgument, NotFound

from .conftest import Watch, counts

TEXT = "# One\n\nOne body.\n\n## Two\n\nTwo body.\n"


def only_docid(db: Database) -> str:
    (docid,) = {docid for result in db.search("body").items for docid in result.docids}
    return docid


def test_without_a_docid_the_text_names_it(db: Database, watch: Watch) -> None:
    assert counts(db.learn_text(TEXT, title="Doc")) == (2, 0, 0, 0)
    docid = only_docid(db)
    assert (db.document(docid).title, db.document(docid).path) == ("Doc", None)
    events = db.stats().events
    assert counts(db.learn_text(TEXT, title="Doc")) == (0, 0, 2, 0)
    assert db.stats().events == events
    for text, title in ((TEXT, "Other"), (TEXT, None), (TEXT + "More.", "Doc")):
        assert db.learn_text(text, title=title).added == 2
    assert db.stats().documents == 4


def test_with_a_docid_it_changes(db: Database, watch: Watch) -> None:
    assert counts(db.learn_text(TEXT, docid="d", tags=["a"])) == (2, 0, 0, 0)
    ids = watch.ids("d")
    events = db.stats().events
    assert counts(db.learn_text(TEXT, docid="d", tags=["a"])) == (0, 0, 2, 0)
    assert db.stats().events == events
    assert counts(db.learn_text(TEXT.replace("# One", "# Uno"), docid="d", tags=["a"])) == (0, 1, 1, 0)
    assert list(watch.ids("d").values()) == list(ids.values())
    assert counts(db.learn_text(TEXT, docid="d", tags=["b"], collection="c")) == (0, 2, 0, 0)
    assert counts(db.learn_text("# One\n\nOne body.\n", docid="d", tags=["b"], collection="c")) == (
        0,
        0,
        1,
        1,
    )
    with pytest.raises(NotFound):
        db.get(ids["Two"])


def test_the_title(db: Database, watch: Watch) -> None:
    cases = (
        ("body", None, "untitled"),
        ("body", "", "untitled"),
        ("body", "Given", "Given"),
        ("# Own\n\nbody", None, "Own"),
        ("# Own\n\nbody", "Given", "Given"),
        ("---\ntitle: Front\n---\nbody", None, "Front"),
        ("---\ntitle: Front\n---\nbody", "Given", "Given"),
    )
    for number, (text, given, title) in enumerate(cases):
        db.learn_text(text, title=given, docid=f"d{number}")
        assert db.document(f"d{number}").title == title


@pytest.mark.parametrize("type", ["text/markdown", "text/plain"])
def test_a_given_title_is_searched(db: Database, watch: Watch, type: str) -> None:
    """A note is remembered by its title, though no word of it stands in the text."""
    db.learn_text("A body.", title="Deploying on Fridays", docid="d", type=type)
    (result,) = db.search("deploying").items
    assert (result.heading, result.level, result.heading_path) == (
        "Deploying on Fridays", 1, ("Deploying on Fridays",),
    )  # fmt: skip
    assert result.docids == ("d",)


def test_plain_text_is_one_section(db: Database, watch: Watch) -> None:
    db.learn_text("# no heading\n\nbody", docid="d", type="text/plain; charset=utf-8")
    (place,) = db.document("d").sections
    assert db.get(place.id).body == "# no heading\n\nbody"
    assert db.get(place.id).type == "text/plain"


@pytest.mark.parametrize("text", ["", " \n", "---\na: 1\n---\n"])
def test_no_text_is_said(db: Database, watch: Watch, text: str) -> None:
    report = db.learn_text(text, docid="d")
    assert [(entry.path, entry.reason) for entry in report.skipped] == [("d", "holds no text")]
    assert db.stats().events == 1
    db.learn_text(TEXT, docid="d")
    assert counts(db.learn_text(text, docid="d")) == (0, 0, 0, 2)
    assert db.document("d").sections == ()


def test_front_matter_that_does_not_parse_is_said(db: Database, watch: Watch) -> None:
    report = db.learn_text("---\na: [\n---\nbody", docid="d")
    assert [entry.path for entry in report.errors] == ["d"]
    assert report.errors[0].reason.startswith("the front matter does not parse: ")
    assert report.added == 1


def test_a_section_deleted_and_then_dropped_does_not_come_back(db: Database, watch: Watch) -> None:
    db.learn_text(TEXT, docid="d")
    two = db.get(watch.ids("d")["Two"])
    db.delete(two.id or "")
    db.learn_text("# One\n\nOne body.\n", docid="d")
    db.put(two)
    assert list(watch.ids("d")) == ["One"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text": b"x"}, "text: must be a string, not bytes"),
        ({"text": None}, "text: must be a string, not NoneType"),
        (
            {"text": "\ud800"},
            "text: holds a lone surrogate at 0, which is no character: decode the text first",
        ),
        ({"title": 3}, "title: must be a string, not int"),
        ({"docid": ""}, "docid: is empty: an id has 1 to 200 characters"),
        ({"type": "text/html"}, "type: 'text/html' is not learned: text/markdown and text/plain are"),
        ({"type": "x"}, "type: 'x' is no MIME type: give one like 'text/markdown'"),
        ({"tags": "x"}, "tags: must be a list of strings, not str"),
        ({"collection": None}, "collection: must be a string, not NoneType"),
    ],
)
def test_what_is_refused(db: Database, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        db.learn_text(**{"text": "body", **arguments})
    assert str(caught.value) == message
    assert db.stats().events == 1
