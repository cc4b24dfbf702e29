"""Signals on items that were never put, under ``unknown_items="accept"``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Item, NotFound, Schema, Signal
from germane.log.fold import refold

NOW = 1_700_000_000.0
SIGNALS = [Signal("view", half_life="7d"), Signal("like")]
ACCEPT = Schema(SIGNALS, unknown_items="accept")


def store(path: Path | None = None, schema: Schema = ACCEPT) -> germane.Database:
    return germane.open(path, schema, clock=lambda: NOW)


def rows(db: germane.Database) -> list[tuple[object, ...]]:
    with db._journal.read() as connection:
        return list(connection.execute("SELECT * FROM item ORDER BY ordinal"))


def test_behaviour_waits_for_the_item() -> None:
    """Fails when a put gives the item another ordinal than its signals had, or takes it for a return."""
    db = store()
    db.put(Item(id="a", title="lamp"))
    receipt = db.signal("view", "ghost", weight=2.0)
    assert (receipt.id, receipt.rev, receipt.changed) == ("ghost", None, True)
    assert db.signal_many([{"name": "view", "item": "ghost"}, {"name": "like", "item": "other"}]) == 2
    for read in (
        lambda: db.get("ghost"),
        lambda: db.decayed("view", "ghost"),
        lambda: db.count("like", "other"),
        lambda: db.velocity("view", "ghost"),
        lambda: db.update("ghost", tags=["red"]),
    ):
        with pytest.raises(NotFound, match=r"there is no item '(ghost|other)'"):
            read()
    assert not db.delete("ghost").changed
    assert db.stats().items == 1
    assert db.search("lamp", where="id > 'a' or not id = 'ghost'").total == 1
    assert db.check() == germane.CheckReport(True)
    db.put(Item(id="ghost", title="lamp", creator="ann"))
    assert (db.decayed("view", "ghost"), db.count("view", "ghost")) == (3.0, 2)
    assert db.get("ghost").created_at is not None
    assert db.get("ghost").created_at.timestamp() == NOW  # type: ignore[union-attr]
    assert db.count("view", creator="ann") == 2
    assert db.search("lamp").total == 2
    assert db.check() == germane.CheckReport(True)


def test_a_deleted_item_takes_no_signals_in_either_mode() -> None:
    for schema in (ACCEPT, Schema(SIGNALS)):
        db = store(schema=schema)
        db.put(Item(id="a", title="A"))
        db.delete("a")
        with pytest.raises(NotFound, match="there is no item 'a' to signal on"):
            db.signal("view", "a")
        db.put(Item(id="b", title="B"))
        with pytest.raises(NotFound, match=r"rows\[1\]: there is no item 'a' to signal on"):
            db.signal_many([{"name": "view", "item": "b"}, {"name": "view", "item": "a"}])


def test_what_is_refused_gives_no_ordinal() -> None:
    db = store()
    before = rows(db)
    with pytest.raises(InvalidArgument):
        db.signal("veiw", "ghost")
    with pytest.raises(InvalidArgument):
        db.signal_many([{"name": "view", "item": "ghost"}, {"name": "view", "item": "b", "at": NOW + 301}])
    assert rows(db) == before


def test_a_schema_that_refuses_again_keeps_what_came(tmp_path: Path) -> None:
    with store(tmp_path) as db:
        db.signal("view", "ghost")
    with store(tmp_path, Schema(SIGNALS)) as db:
        with pytest.raises(NotFound, match="there is no item 'ghost' to signal on"):
            db.signal("view", "ghost")
        with pytest.raises(NotFound, match="there is no item 'new' to signal on"):
            db.signal("view", "new")
        db.put(Item(id="ghost", title="A"))
        assert db.count("view", "ghost") == 1


def test_event_ids_hold_for_unknown_items() -> None:
    db = store()
    event = {"name": "view", "item": "ghost", "event_id": "e1"}
    assert db.signal_many([event, event, {"name": "view", "item": "late", "at": NOW - 5}]) == 2
    assert db.signal("view", "ghost", event_id="e1").duplicate
    with pytest.raises(germane.Conflict):
        db.signal("view", "late", event_id="e1")
    db.put_many([Item(id="late", title="A"), Item(id="ghost", title="A")])
    assert (db.count("view", "ghost"), db.count("view", "late")) == (1, 1)


def test_signals_on_unknown_items_leave_the_index_alone() -> None:
    """Fails when a row without content counts as a change of content."""
    db = store()
    db.put(Item(id="a", title="lamp"))
    db.search("lamp")
    with db._journal.read() as connection:
        parts = db._text.at(connection).parts
    db.signal("view", "ghost")
    with db._journal.read() as connection:
        assert db._text.at(connection).parts is parts


def test_ranking_passes_over_items_that_were_never_put() -> None:
    """Fails when a ranking looks for an item that only signals know among those that have content."""
    db = store()
    db.put_many([Item(id="a", title="lamp"), Item(id="b", title="lamp")])
    db.signal_many([{"name": "view", "item": f"ghost {number}"} for number in range(3_000)])
    db.signal("view", "b")
    for profile, ids in (("most_viewed", ["b"]), ("hot", ["a", "b"]), ("top:24h", ["b"])):
        assert [result.id for result in db.retrieve(profile).items] == ids
    page = db.retrieve("most_viewed", candidates=["ghost 2999", "a", "ghost 1"])
    assert [result.id for result in page.items] == ["a"]
    for asked in ({"profile": "most_viewed"}, {"text": "lamp"}):
        assert db.explain("ghost 2999", **asked).absence[0].code == "NotLive"  # type: ignore[arg-type]
    db.put(Item(id="ghost 2999", title="lamp"))
    assert db.retrieve("most_viewed").total == 2
    assert db.search("lamp", profile="most_viewed").total == 3


names = st.sampled_from("abcdef")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names),
        st.tuples(st.just("delete"), names),
        st.tuples(st.just("signal"), names),
        st.tuples(st.just("many"), st.lists(names, min_size=1, max_size=5)),
    ),
    max_size=15,
)


@given(told=steps)
def test_any_order_folds_to_the_same_tables(told: list[tuple[str, str | list[str]]]) -> None:
    """Fails when a fold gives ordinals in another order than the columns of the log have them."""
    db = store()
    expected, live, known = dict.fromkeys("abcdef", 0), set[str](), set[str]()
    for step, which in told:
        if step == "put":
            db.put(Item(id=str(which), title="lamp"))
            live.add(str(which))
            known.add(str(which))
        elif step == "delete":
            db.delete(str(which))
            live.discard(str(which))
        else:
            ids = [which] if isinstance(which, str) else which
            if any(id in known and id not in live for id in ids):
                with pytest.raises(NotFound):
                    db.signal_many([{"name": "view", "item": id} for id in ids])
                continue
            if isinstance(which, str):
                db.signal("view", which)
            else:
                # Times for some: the batch becomes two records of the log.
                db.signal_many(
                    {
                        "name": ["view"] * len(ids),
                        "item": np.array(ids),
                        "at": [NOW - 1 if id in "ace" else None for id in ids],
                    }
                )
            for id in ids:
                expected[id] += 1
    before = rows(db)
    with db._journal.write() as writer:
        refold(writer.connection, writer.connection)
    assert rows(db) == before
    assert db.check() == germane.CheckReport(True)
    db.put_many([Item(id=id, title="lamp") for id in "abcdef"])
    assert {id: db.count("view", id, "all") for id in "abcdef"} == expected
