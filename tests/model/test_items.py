"""An item: what each field takes and refuses, its rev, and that nothing of it is lost in a store."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Item
from germane.model.items import hash_id, rev_of

MANY = "must be a list of strings, not str"
SURROGATE = "holds a lone surrogate at 0, which is no character: decode the text first"

# Text with NUL, control characters, combining marks and characters beyond the basic plane.
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=20)
ID = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=20)
MOMENT = st.datetimes(
    datetime(1, 1, 2),
    datetime(9999, 12, 30),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5.5))]),
)
EDGES = st.sampled_from([-(1 << 63), (1 << 63) - 1, (1 << 53) + 1, -1, 0, 1])
SCALAR = st.one_of(
    TEXT, EDGES, st.integers(-(1 << 63), (1 << 63) - 1), st.booleans(), MOMENT,
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
METADATA = st.dictionaries(ID, st.one_of(SCALAR, st.lists(SCALAR, max_size=4).map(tuple)), max_size=5)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("id", "", "is empty: an id has 1 to 200 characters"),
        ("id", 7, "must be a string, not int"),
        ("id", "x" * 201, "has 201 characters: an id has at most 200"),
        ("id", "a\tb", "holds a control character at 1"),
        ("title", 7, "must be a string, not int"),
        ("title", "\ud800", SURROGATE),
        ("description", b"x", "must be a string, not bytes"),
        ("body", None, "must be str or bytes, not NoneType"),
        ("body", 7, "must be str or bytes, not int"),
        ("body", "\ud800", SURROGATE),
        ("type", "markdown", "'markdown' is no MIME type: give one like 'text/markdown'"),
        ("type", "", "'' is no MIME type: give one like 'text/markdown'"),
        ("type", "text/" + "x" * 200, f"'text/{'x' * 91}... is no MIME type: give one like 'text/markdown'"),
        ("type", "text/mark down", "'text/mark down' is no MIME type: give one like 'text/markdown'"),
        ("type", None, "must be a string, not NoneType"),
        ("creator", "", "is empty: an id has 1 to 200 characters"),
        ("tags", "news", MANY),
        ("tags", [""], "is empty: an id has 1 to 200 characters"),
        ("collection", "", "is empty: an id has 1 to 200 characters"),
        ("collection", None, "must be a string, not NoneType"),
        ("kind", "a\0", "holds a control character at 1"),
        ("kind", None, "must be a string, not NoneType"),
        ("lang", "englsh", "'englsh' is no language: give a name or code like 'english' or 'en'"),
        ("lang", 1, "must be a string, not int"),
        ("created_at", "now", "a time is an aware datetime or seconds since the epoch, not str"),
        ("embedding", "0.5", "must be a list of numbers, not str"),
        ("embedding", 0.5, "must be a list of numbers, not float"),
        ("embedding", np.zeros((1, 2)), "must be a list of numbers, not ndarray"),
        ("embedding", [], "has 0 numbers: a vector has 1 to 4,096"),
        ("embedding", [0.0] * 4_097, "has 4,097 numbers: a vector has 1 to 4,096"),
        ("embedding", [0.5, float("nan")], "holds a number that is not finite"),
        ("embedding", [0.5, float("-inf")], "holds a number that is not finite"),
        ("embedding", [1e39], "holds a number that is too great for float32"),
    ],
)
def test_what_is_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Item(**{field: value})
    assert str(caught.value) == f"{field}: {message}"
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"a": None}, "metadata.a"),
        ({"a": {"b": 1}}, "metadata.a"),
        ({"": 1}, "metadata key"),
        (7, "metadata"),
    ],
)
def test_metadata_that_is_refused(metadata: Any, field: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Item(metadata=metadata)
    assert caught.value.field == field


def test_an_item_that_names_nothing() -> None:
    item = Item()
    assert (item.id, item.title, item.body, item.type) == (None, None, "", "text/markdown")
    assert (item.collection, item.kind, item.lang, item.created_at) == ("main", "default", None, None)
    assert (item.tags, item.metadata) == ((), {})


def test_values_are_brought_into_one_form() -> None:
    given_body: Any = bytearray(b"\0\xff")
    sizes: Any = [1, 2]
    item = Item(
        body=given_body,
        type="Text/HTML; charset=utf-8",
        lang="de-AT",
        tags=["a", "b", "a"],
        metadata={"sizes": sizes},
        created_at=1.5,
    )
    assert (item.body, item.type, item.lang, item.tags) == (b"\0\xff", "text/html", "german", ("a", "b"))
    assert item.metadata == {"sizes": (1, 2)}
    assert item.created_at == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)


def test_the_rev_hashes_the_content_and_nothing_else() -> None:
    base: dict[str, Any] = {
        "type": "text/plain",
        "lang": "english",
        "title": "t",
        "description": "d",
        "body": "b",
    }
    changed = [base | {field: value} for field, value in (
        ("type", "text/markdown"), ("lang", None), ("title", None), ("title", "b"), ("description", "dd"),
        ("body", ""), ("body", b"b"),
    )]  # fmt: skip
    revs = {Item(**content).rev for content in (base, *changed)}
    assert len(revs) == 1 + len(changed)
    other: dict[str, Any] = {
        "id": "i", "creator": "c", "metadata": {"a": 1}, "tags": ["t"], "collection": "x", "kind": "k",
        "created_at": 5, "rev": "made up",
    }  # fmt: skip
    assert Item(**base, **other).rev == Item(**base).rev == rev_of(**base)


def test_parts_of_a_hash_do_not_run_together() -> None:
    assert Item(title="ab", description="c").rev != Item(title="a", description="bc").rev
    assert hash_id("ab", "c") != hash_id("a", "bc")
    assert hash_id("a", 1) == hash_id("a", "1")


def test_an_item_is_immutable() -> None:
    given_metadata, given_tags = {"a": [1]}, ["x"]
    item = Item(metadata=given_metadata, tags=given_tags)  # type: ignore[arg-type]
    given_metadata["b"] = []
    given_tags.append("y")
    assert (item.metadata, item.tags) == ({"a": (1,)}, ("x",))
    with pytest.raises(AttributeError):
        item.title = "other"  # type: ignore[misc]
    for change, *values in (
        ("update", {"b": 1}), ("pop", "a"), ("__setitem__", "a", 2), ("__delitem__", "a"), ("popitem",),
        ("setdefault", "b", 2), ("__ior__", {"b": 2}), ("clear",),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="immutable"):
            getattr(item.metadata, str(change))(*values)
    assert item.metadata == {"a": (1,)}


def test_a_changed_copy_is_checked_and_gets_its_own_rev() -> None:
    item = Item(title="One")
    assert msgspec.structs.replace(item, title="Two") == Item(title="Two")
    with pytest.raises(InvalidArgument, match=r"^title: "):
        msgspec.structs.replace(item, title=3)


def test_items_can_be_compared_hashed_copied_and_sent() -> None:
    item = Item(
        id="a", body=b"\0", metadata={"t": datetime(2024, 1, 1, tzinfo=UTC), "l": (1, "x")}, tags=["x"]
    )
    for twin in (copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
        assert twin == item
        assert hash(twin) == hash(item)
        with pytest.raises(TypeError, match="immutable"):
            twin.metadata["t"] = 1  # type: ignore[index]


@given(
    metadata=METADATA,
    tags=st.lists(ID, max_size=3),
    title=st.none() | TEXT,
    body=TEXT | st.binary(max_size=20),
    description=st.none() | TEXT,
    creator=st.none() | ID,
    collection=ID,
    kind=ID,
    created_at=st.none() | MOMENT,
)
def test_nothing_is_lost_in_a_store(**fields: Any) -> None:
    item = Item(**fields)
    with germane.open() as db:
        id = db.put(item)
        found = db.get(id)
        assert id == item.rev
        for field in item.__struct_fields__:
            if field not in ("id", "created_at") or getattr(item, field) is not None:
                assert same(getattr(found, field), getattr(item, field)), field
        db.put(item)
        assert db.stats().events == 2  # the schema and one put: the second was no news
        db.rebuild()
        assert db.get(id) == found


def same(one: object, other: object) -> bool:
    """Equal, of the same types: 1, 1.0 and True are three values, and so are 0.0 and -0.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other and repr(one) == repr(other)


@given(st.text(alphabet=st.characters(codec=None), max_size=250))
def test_any_string_is_taken_or_refused_by_every_field(text: str) -> None:
    for field in ("id", "title", "body", "type", "description", "creator", "collection", "kind", "lang"):
        try:
            item = Item(**{field: text})  # type: ignore[arg-type]
        except InvalidArgument as error:
            assert error.field == field
        else:
            assert isinstance(getattr(item, field), str)
