"""Everything that people receive is immutable and turns into plain JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

import germane
from germane import Item, Schema, to_json, to_plain


def received() -> Iterator[tuple[str, Any]]:
    with germane.open() as db:
        db.put(
            Item(
                id="a", title="Red lamp", body="A red lamp.\n```\nred = 1\n```", creator="ann", tags=["x"],
                metadata={"price": 30, "sizes": (1, 2.5), "since": datetime(2024, 1, 1, tzinfo=UTC)},
            )
        )  # fmt: skip
        db.put(Item(id="b", title="Red picture", body=b"\0\xff", type="image/png"))
        db.put_document("d", title="Doc", sections=[Item(id="s", title="Red")], metadata={"k": (True,)})
        yield "item", db.get("a")
        yield "binary item", db.get("b")
        yield "document", db.document("d")
        yield "receipt", db.update("a", tags=["y"])
        yield "learn report", db.learn_text("---\na: [\n---\n# Red\n")
        yield "page", db.search("red lamp", explain=True, limit=2)
        yield "statistics page", db.search("red", mode="stats")
        yield "stats", db.stats()
        yield "check", db.check()
        yield "schema", db.schema
        yield "top", db.top("red")


RECEIVED = dict(received())


@pytest.mark.parametrize("value", RECEIVED.values(), ids=RECEIVED)
def test_it_turns_into_plain_json(value: object) -> None:
    plain = to_plain(value)
    assert only_plain(plain)
    assert json.loads(to_json(value)) == json.loads(json.dumps(plain))
    assert "\n" not in to_json(value)


def only_plain(value: object) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(type(key) is str and only_plain(value[key]) for key in value)
    if isinstance(value, list):
        return all(only_plain(each) for each in value)
    return value is None or type(value) in (str, int, float, bool)


@pytest.mark.parametrize("value", [value for name, value in RECEIVED.items() if name != "top"],
                         ids=[name for name in RECEIVED if name != "top"])  # fmt: skip
def test_it_is_immutable(value: object) -> None:
    frozen = 0
    pending: list[object] = [value]
    while pending:
        each = pending.pop()
        assert not isinstance(each, (list, set, bytearray))
        if isinstance(each, msgspec.Struct):
            assert each.__struct_config__.frozen
            pending += [getattr(each, name) for name in each.__struct_fields__]
        elif isinstance(each, tuple):
            pending += each
        elif isinstance(each, dict):
            pending += each.values()
            with pytest.raises(TypeError, match="immutable"):
                each["new"] = 1
        frozen += 1
    assert frozen > 0


def test_the_forms_of_bytes_and_times() -> None:
    plain = to_plain(RECEIVED["binary item"])
    assert plain["body"] == "AP8="
    assert to_plain(RECEIVED["item"])["metadata"]["since"] == "2024-01-01T00:00:00Z"
    assert to_plain({"view": memoryview(b"\0\xff"), "tags": ("a",)}) == {"view": "AP8=", "tags": ["a"]}
    assert to_plain(Schema(lang="de")) == {"lang": "german", "signals": []}


def test_what_has_no_plain_form_is_named() -> None:
    with pytest.raises(TypeError, match=r"^object has no plain form$"):
        to_plain(object())
