"""Filters in a search: against a plain evaluation over dicts, whatever was written and by whom."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import Filter, InvalidArgument, Item, QuerySyntaxError, where
from germane.knowledge.catalog import CatalogView
from germane.knowledge.selection import select
from germane.model.filters import FIELDS, OPERATORS, ORDERED, And, Comparison, Field, Not, Or

START = datetime(2026, 1, 1, tzinfo=UTC)
BIG = 1 << 53
NUMBERS = [
    0,
    1,
    2,
    -3,
    1.0,
    0.5,
    -0.0,
    2.5,
    1e300,
    -1e300,
    BIG,
    BIG + 1,
    float(BIG),
    (1 << 63) - 1,
    -(1 << 63),
    2.0**63,
]
TEXTS = ["a", "ab", "b", "", "A", "é", "\uffee", "𝒳", "it's", "1", "a\x00b"]
NAMES = [text for text in TEXTS if text and "\x00" not in text]
TIMES = [START, START + timedelta(microseconds=1), START - timedelta(days=9000)]
SCALARS: list[Any] = [*NUMBERS, *TEXTS, *TIMES, True, False]
KEYS = ["price", "odd name", "seldom"]


# The plain evaluation: an item is a dict of values; nothing here is shared with the product.


def kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def ordered(value: Any) -> Any:
    return Fraction(value) if kind_of(value) == "number" else value


def holds(value: Any, operator: str, other: Any) -> bool:
    """Whether a comparison holds for one value, that is no list."""
    if operator == "in":
        return any(holds(value, "=", each) for each in other)
    if kind_of(value) != kind_of(other):
        return False
    left, right = ordered(value), ordered(other)
    if operator == "contains":
        return isinstance(left, str) and right in left
    return bool(
        {
            "=": lambda: left == right,
            "!=": lambda: left != right,
            "<": lambda: left < right,
            "<=": lambda: left <= right,
            ">": lambda: left > right,
            ">=": lambda: left >= right,
        }[operator]()
    )


def meets(item: dict[str, Any], condition: Filter) -> bool:
    if isinstance(condition, Not):
        return not meets(item, condition.part)
    if isinstance(condition, Or):
        return any(meets(item, part) for part in condition.parts)
    if isinstance(condition, And):
        return all(meets(item, part) for part in condition.parts)
    assert isinstance(condition, Comparison)
    (name, key), operator, other = condition.field, condition.operator, condition.value
    if name in ("tags", "document"):
        values = item[name]
        if operator == "!=":
            return isinstance(other, str) and bool(values) and other not in values
        return any(holds(value, "=" if operator == "contains" else operator, other) for value in values)
    value = item["metadata"].get(key) if name == "meta" else item[name]
    if value is None:
        return False
    if isinstance(value, list):
        return operator == "contains" and any(holds(each, "=", other) for each in value)
    return holds(value, operator, other)


# Random items, writes and filters.


class World:
    """A store, and what it should hold as plain dicts."""

    def __init__(self, db: germane.Database, dice: random.Random) -> None:
        self.db = db
        self.dice = dice
        self.items: dict[str, dict[str, Any]] = {}
        self.documents: dict[str, list[str]] = {}

    def state(self) -> dict[str, Any]:
        dice = self.dice
        return {
            "type": dice.choice(["text/markdown", "text/plain"]),
            "tags": dice.sample(NAMES, dice.choice([0, 0, 1, 3])),
            "creator": dice.choice([None, *NAMES]),
            "collection": dice.choice(["main", "a"]),
            "kind": dice.choice(["default", "b"]),
            "created_at": dice.choice(TIMES),
            "metadata": {
                key: self.value() for key in KEYS if dice.random() < (0.1 if key == "seldom" else 0.7)
            },
        }

    def value(self) -> Any:
        dice = self.dice
        return dice.choices(SCALARS, k=dice.randrange(4)) if dice.random() < 0.2 else dice.choice(SCALARS)

    def item(self, id: str, body: str = "lamp") -> Item:
        state = self.state()
        self.items[id] = {"id": id, "body": body, **state}
        return Item(id=id, body=body, **state)

    def some_id(self) -> str:
        return self.dice.choice(["a", "é", "𝒳", "ab"]) + str(self.dice.randrange(30))

    def write(self) -> None:
        dice, id = self.dice, self.some_id()
        action = dice.choice(["put", "put_many", "update", "update", "delete", "document", "delete_document"])
        if action == "put":
            self.db.put(self.item(id, dice.choice(["lamp", "lamp lamp", "bulb"])))
        elif action == "put_many":
            self.db.put_many([self.item(self.some_id()) for _ in range(dice.randrange(20))])
        elif action == "delete":
            self.db.delete(id)
            self.items.pop(id, None)
        elif action == "update" and id in self.items:
            state = self.state()
            changes = {name: state[name] for name in ("tags", "creator", "collection", "created_at")}
            metadata = {key: self.value() if dice.random() < 0.6 else None for key in KEYS[:2]}
            self.db.update(id, metadata=metadata, **changes)
            merged = {**self.items[id]["metadata"], **metadata}
            kept = {key: value for key, value in merged.items() if value is not None}
            self.items[id] = {**self.items[id], **changes, "metadata": kept}
        elif action == "document":
            docid = dice.choice("ab")
            ids = list(dict.fromkeys(self.some_id() for _ in range(dice.randrange(4))))
            before = self.documents.pop(docid, [])
            self.documents[docid] = ids
            self.db.put_document(docid, title=str(dice.random()), sections=[self.item(id) for id in ids])
            self.retire(before)
        elif action == "delete_document":
            docid = dice.choice("ab")
            self.db.delete_document(docid)
            self.retire(self.documents.pop(docid, []))

    def retire(self, dropped: list[str]) -> None:
        for id in dropped:
            if not any(id in ids for ids in self.documents.values()):
                self.items.pop(id, None)

    def condition(self, depth: int = 0) -> Filter:
        dice = self.dice
        if depth < 3 and dice.random() < 0.5:
            if dice.random() < 0.3:
                return ~self.condition(depth + 1)
            left, right = self.condition(depth + 1), self.condition(depth + 1)
            return left & right if dice.random() < 0.5 else left | right
        field = Field(dice.choice(FIELDS))
        if dice.random() < 0.5:
            field = Field("meta", dice.choice([*KEYS, "nobody has this"]))
        operator = dice.choice(OPERATORS)
        values = SCALARS
        if field.name == "created_at":
            values = TIMES
        elif field.name in ("id", "type", "collection", "kind", "document") and dice.random() < 0.8:
            held = [str(item.get(field.name, "a")) for item in self.items.values()]
            values = [*held, "text/plain", "a", "b", "main"]
        values = [value for value in values if operator not in ORDERED or not isinstance(value, bool)]
        return Comparison(
            field,
            operator,
            dice.choices(values, k=dice.randrange(4)) if operator == "in" else dice.choice(values),
        )

    def expected(self, condition: Filter, word: str) -> list[str]:
        listing = {id: [docid for docid, ids in self.documents.items() if id in ids] for id in self.items}
        return sorted(
            id
            for id, item in self.items.items()
            if word in item["body"] and meets({**item, "document": listing[id]}, condition)
        )


def agree(world: World, *databases: germane.Database, rounds: int = 12) -> int:
    """Check some random filters, as trees and as texts, and return how many items they let through."""
    met = 0
    for number in range(rounds):
        condition = world.condition()
        expected = world.expected(condition, "lamp")
        met += len(expected)
        for db in databases:
            given: Any = condition if number % 2 else str(condition)
            page = db.search("lamp", where=given, limit=1000)
            assert sorted(result.id for result in page.items) == expected, condition
            assert page.total == len(expected), condition
    return met


@pytest.mark.parametrize("seed", range(4))
def test_filters_agree_with_a_plain_evaluation_after_every_write(seed: int) -> None:
    """Fails when any comparison, any connective, or any step of catching up goes wrong."""
    world = World(germane.open(), random.Random(seed))
    world.db.put_many([world.item(f"a{number}") for number in range(30)])
    met = agree(world, world.db, rounds=60)
    for _ in range(60):
        world.write()
        met += agree(world, world.db, rounds=4)
    assert met > 500
    with world.db._journal.read() as connection:
        assert list(world.db._catalogs.check(connection)) == []
    assert world.db.check().ok


def test_a_second_database_sees_what_the_first_wrote_and_both_survive_a_rebuild(tmp_path: Path) -> None:
    world = World(germane.open(tmp_path / "store"), random.Random(5))
    other = germane.open(tmp_path / "store")
    world.db.put_many([world.item(f"a{number}") for number in range(30)])
    for number in range(40):
        world.write()
        agree(world, other, rounds=3)
        if number % 10 == 9:
            (world.db if number % 20 == 9 else other).rebuild()
            agree(world, world.db, other, rounds=6)
    other.close()
    world.db.close()
    with germane.open(tmp_path / "store") as again:
        agree(world, again, rounds=30)
    with germane.open(tmp_path / "store", read_only=True) as again:
        agree(world, again, rounds=10)


def shop() -> germane.Database:
    db = germane.open()
    db.put_many(
        Item(id=str(n), body="lamp " * n, metadata={"price": n}, tags=["odd"] if n % 2 else [])
        for n in range(1, 9)
    )
    return db


def test_a_filter_changes_neither_scores_nor_statistics() -> None:
    db = shop()
    whole = {result.id: result for result in db.search("lamp", explain=True).items}
    page = db.search("lamp", where=where.meta.price > 6, explain=True)
    assert {result.id for result in page.items} == {"7", "8"}
    for result in page.items:
        assert (result.score, result.contributions) == (
            whole[result.id].score,
            whole[result.id].contributions,
        )
        assert result.reasons == whole[result.id].reasons


def test_a_filter_limits_totals_pages_modes_and_top() -> None:
    db = shop()
    limited: dict[str, Any] = {"where": "meta.price <= 5"}
    page = db.search("lamp", limit=2, **limited)
    assert (page.total, len(page.items), page.has_more) == (5, 2, True)
    assert [r.id for r in db.search("lamp", offset=4, limit=2, **limited).items] == db.top(
        "lamp", 9, **limited
    )[0][4:]
    stats = db.search("lamp", mode="stats", **limited).stats
    assert stats is not None and stats.total_matches == 5 and stats.top_terms[0].frequency == 15
    assert set(db.top("tag:odd", where=where.meta.price > 3)[0]) == {"5", "7"}
    assert db.search("lamp", where="meta.price <= 5", collections=["none"]).total == 0
    assert db.search("lamp nothing", where="meta.price = 1", match="all").loosened
    assert db.search("", where="meta.price = 1").total == 0


def test_documents_change_what_is_listed_without_touching_an_item() -> None:
    db = germane.open()
    sections = [Item(id=name, body="lamp") for name in "abc"]
    db.put_document("one", title="One", sections=sections)
    listed = where.document == "two"
    assert db.search("lamp", where=listed).total == 0
    db.put_document("two", title="Two", sections=sections[:2])
    assert sorted(db.top("lamp", where=listed)[0]) == ["a", "b"]
    assert sorted(db.top("lamp", where=listed & (where.document == "one"))[0]) == ["a", "b"]
    assert sorted(db.top("lamp", where=where.document != "two")[0]) == ["c"]
    db.put_document("two", title="Two", sections=sections[1:])
    assert sorted(db.top("lamp", where=listed)[0]) == ["b", "c"]
    db.delete("b")
    db.put(Item(id="b", body="lamp"))
    assert sorted(db.top("lamp", where=listed)[0]) == ["b", "c"]
    db.delete_document("two")
    assert db.search("lamp", where=listed).total == 0 and db.search("lamp").total == 3


def test_a_value_is_compared_with_its_own_kind() -> None:
    db = germane.open()
    values: dict[str, Any] = {
        "int": 1, "float": 1.0, "true": True, "text": "1", "list": [1], "texts": ["1", "x"], "empty": [],
        "time": datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
    }  # fmt: skip
    db.put_many(Item(id=name, body="lamp", metadata={"x": value}) for name, value in values.items())
    db.put(Item(id="none", body="lamp"))

    def found(condition: str) -> set[str]:
        return set(db.top("lamp", where=condition)[0])

    assert found("meta.x = 1") == found("meta.x = 1.0") == found("meta.x in (1, 7)") == {"int", "float"}
    assert found("meta.x = true") == {"true"}
    assert found("meta.x = '1'") == {"text"}
    assert found("meta.x != 2") == {"int", "float"}
    assert found("meta.x != 1") == found("meta.x != time '1970-01-01T00:00:01Z'") == set()
    assert found("not meta.x = 1") == {*values, "none"} - {"int", "float"}
    assert found("meta.x contains 1") == {"list"}
    assert found("meta.x contains '1'") == {"text", "texts"}
    assert found("meta.x contains ''") == {"text"}
    assert found("meta.x >= ''") == {"text"}
    assert found("meta.x <= time '1970-01-01T00:00:01Z'") == {"time"}
    assert found("meta.y = 1 or meta.y != 1") == set()


def test_dead_items_meet_no_filter() -> None:
    db = germane.open()
    db.put_many(Item(id=name, body="lamp") for name in "abc")
    db.delete("b")
    with db._journal.read() as connection:
        catalog = CatalogView().at(connection)
        for condition in (where.id >= "a", where.meta.x != 1, ~(where.meta.x != 1), where.kind == "default"):
            met = select(connection, catalog, condition).tolist()
            assert met == ([False] * 4 if condition == (where.meta.x != 1) else [False, True, False, True])


def test_many_items_change_at_once_among_others() -> None:
    db = germane.open()
    db.put_many(Item(id=str(n), body="lamp", metadata={"x": n, "all": (n, "a")}) for n in range(400))
    assert db.search("lamp", where="meta.x < 200 and meta.all contains 'a'").total == 200
    db.put_many(Item(id=str(n), body="lamp", metadata={"x": -n}) for n in range(1, 400, 2))
    assert db.search("lamp", where="meta.x < 0").total == 200
    assert db.search("lamp", where="meta.x >= 0 and meta.all contains 'a'").total == 200
    assert db.search("lamp", where="not meta.all contains 'a'").total == 200
    assert db.top("lamp", where="meta.x in (-399, 398, 399)")[0] == ["398", "399"]
    assert db.check().ok


def test_numbers_are_compared_exactly() -> None:
    db = germane.open()
    for id, value in {"int": BIG + 1, "float": float(BIG)}.items():
        db.put(Item(id=id, body="lamp", metadata={"x": value}))
    assert db.top("lamp", where=where.meta.x == BIG + 1)[0] == ["int"]
    assert db.top("lamp", where=where.meta.x == float(BIG))[0] == ["float"]
    assert db.top("lamp", where=where.meta.x > float(BIG))[0] == ["int"]
    assert db.top("lamp", where=where.meta.x < BIG + 1)[0] == ["float"]


def test_the_catalogue_is_built_for_a_filter_only() -> None:
    db = shop()
    db.search("lamp")
    db.top("lamp tag:odd")
    assert db._catalogs._kept is None
    db.search("lamp", where="meta.price = 1")
    assert db._catalogs._kept is not None


def test_strings_of_the_past_are_let_go() -> None:
    """Fails when a column keeps every string that it ever held, or renumbers those that it holds wrongly."""
    db = germane.open()
    most = 0
    for turn in range(40):
        db.put_many(Item(id=str(n), body="lamp", metadata={"x": f"{turn} {n}"}) for n in range(60))
        assert db.top("lamp", where=f"meta.x = '{turn} 7'")[0] == ["7"]
        assert db.search("lamp", where=where.meta.x < f"{turn} 2").total == 12
        assert db.search("lamp", where=where.meta.x == f"{turn - 1} 7").total == 0
        catalog = db._catalogs._kept
        assert catalog is not None
        most = max(most, len(catalog.columns["meta.x"].texts.values))
    assert 1_000 < most <= 2 * 60 + 1024


def test_an_older_snapshot_is_served_as_it_was(tmp_path: Path) -> None:
    """Fails when a reader of an old position is given a newer catalogue, or moves the view back."""
    db = germane.open(tmp_path / "store")
    db.put(Item(id="a", body="lamp", metadata={"x": 1}))
    view = CatalogView()
    with db._journal.read() as old:
        first = old.execute("SELECT max(seq) FROM log").get
        db.update("a", metadata={"x": 2})
        db.put(Item(id="b", body="lamp", metadata={"x": 3}))
        with db._journal.read() as new:
            newer = view.at(new)
        older = view.at(old)
        assert (older.seq, newer.seq) == (first, first + 2)
        assert older.columns["meta.x"].bits.tolist() == [1] and newer.columns["meta.x"].bits.tolist() == [
            2,
            3,
        ]
        with db._journal.read() as new:
            assert view.at(new) is newer


def test_threads_read_filters_while_others_write(tmp_path: Path) -> None:
    """Fails when a catalogue changes under its readers: both values always change together."""
    db = germane.open(tmp_path / "store")
    db.put_many(Item(id=str(n), body="lamp", metadata={"x": "0", "y": "0"}) for n in range(50))
    wrong: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            for number in range(10):
                text = str(number)
                if db.search("lamp", where=(where.meta.x == text) & (where.meta.y != text)).total:
                    wrong.append(text)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(150):
        db.update(str(number % 50), metadata={"x": str(number % 10), "y": str(number % 10)})
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_check_finds_a_catalogue_that_is_not_as_it_should_be() -> None:
    db = shop()
    assert db.search("lamp", where="meta.price = 1").total == 1
    catalog = db._catalogs._kept
    assert catalog is not None
    catalog.columns["meta.price"].bits[0] = 99
    catalog.live[2] = False
    findings = db.check().findings
    assert [(each.part, each.detail) for each in findings] == [
        ("catalog", "the catalogue knows other live items than the tables"),
        ("catalog", "the catalogue differs from the tables in 'meta.price'"),
    ]
    repaired = db.check(repair=True)
    assert repaired.ok and all(each.repaired for each in repaired.findings)
    assert db.search("lamp", where="meta.price = 1").total == 1


@pytest.mark.parametrize("search", [germane.Database.search, germane.Database.top])
def test_what_is_no_filter_is_refused(search: Callable[..., Any]) -> None:
    db = shop()
    for given in (True, 1, {"price": 1}, ["id = 'a'"], b"id = 'a'", where.meta.price, where):
        with pytest.raises(InvalidArgument, match=r"^where: must be a string or a filter") as caught:
            search(db, "lamp", where=given)
        assert caught.value.field == "where"
    with pytest.raises(QuerySyntaxError, match="expected a field") as failed:
        search(db, "lamp", where="")
    assert failed.value.position == 0
