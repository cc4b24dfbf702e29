"""Two objects on one folder take turns at writing: what one remembers never hides what the other did.

Every rule foretells what the call must say from plain dictionaries. So whatever a writer remembers (the end
of the log, the schema, items, ordinals) must not outlive the state that it was read from.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import germane
from germane import Conflict, InvalidArgument, Item, NotFound, Schema, Signal
from germane.log import tip
from germane.log.events import DeleteItem, RecordSignal

IS_DEEP = settings.default is not None and settings.default.max_examples > 1_000
ITEMS = ["a", "b", "c"]
NAMES = ["view", "like"]
both = st.sampled_from([0, 1])
items = st.sampled_from(ITEMS)
names = st.sampled_from(NAMES)
event_ids = st.none() | st.sampled_from(["e0", "e1", "e2", "e3"])


class Interleaved(RuleBasedStateMachine):
    """Two objects of one folder, and what was recorded through them."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.now = 1_000_000.0
        self.declared = set(NAMES)
        self.accepts = False
        self.live: dict[str, str] = {}
        self.ever_put: set[str] = set()
        self.recorded: list[tuple[str, str]] = []
        self.named: dict[str, tuple[str, str]] = {}
        self.dbs = [self.open(), self.open()]
        self.put(0, "a", 0)
        self.put(1, "b", 0)

    def open(self, schema: Schema | None = None) -> germane.Database:
        return germane.open(self.folder / "store", schema, clock=lambda: self.now)

    def teardown(self) -> None:
        if not hasattr(self, "dbs"):
            return
        assert self.dbs[0].check() == germane.CheckReport(True)
        for name in sorted(self.declared):
            for item in self.live:
                wanted = self.recorded.count((name, item))
                assert [db.count(name, item, "all") for db in self.dbs] == [wanted, wanted]
        for db in self.dbs:
            db.close()
        shutil.rmtree(self.folder)

    def events(self) -> int:
        return self.dbs[0].stats().events

    @rule(which=both, item=items, version=st.integers(0, 2))
    def put(self, which: int, item: str, version: int) -> None:
        self.now += 0.25
        given = Item(id=item, title=f"version {version}")
        self.dbs[which].put(given)
        self.live[item] = given.rev
        self.ever_put.add(item)

    @rule(which=both, item=items)
    def delete(self, which: int, item: str) -> None:
        assert self.dbs[which].delete(item).changed == (self.live.pop(item, None) is not None)

    @rule(which=both, name=names, item=items, event_id=event_ids)
    def signal(self, which: int, name: str, item: str, event_id: str | None) -> None:
        before = self.events()

        def call() -> germane.Receipt:
            return self.dbs[which].signal(name, item, event_id=event_id)

        refused = self._refusal(name, item, event_id)
        if refused is not None:
            with pytest.raises(refused):
                call()
            assert self.events() == before
            return
        is_new = event_id is None or event_id not in self.named
        receipt = call()
        assert receipt == germane.Receipt(
            item, self.live.get(item), before + is_new, changed=is_new, duplicate=not is_new
        )
        if is_new:
            self._record(name, item, event_id)

    @rule(which=both, events=st.lists(st.tuples(names, items, event_ids), min_size=1, max_size=5))
    def signal_many(self, which: int, events: list[tuple[str, str, str | None]]) -> None:
        before = self.events()
        columns = {"name": np.array([e[0] for e in events]), "item": [e[1] for e in events]}
        told: dict[str, Any] = {**columns, "event_id": [e[2] for e in events]}
        named, new = dict(self.named), []
        refused: set[type[germane.Error]] = set()
        for name, item, event_id in events:
            refusal = self._refusal(name, item, event_id, named)
            if refusal is not None:
                refused.add(refusal)
            elif event_id is None or event_id not in named:
                new.append((name, item, event_id))
                if event_id is not None:
                    named[event_id] = (name, item)
        if refused:
            with pytest.raises(tuple(refused)):
                self.dbs[which].signal_many(told)
            assert self.events() == before
            return
        assert self.dbs[which].signal_many(told) == len(new)
        for each in new:
            self._record(*each)

    @rule(declared=st.sets(names), accepts=st.booleans())
    def declare(self, declared: set[str], accepts: bool) -> None:
        signals = [Signal(name, half_life="1d") for name in sorted(declared)]
        self.open(Schema(signals, unknown_items="accept" if accepts else "refuse")).close()
        self.declared, self.accepts = declared, accepts

    @rule(which=both, item=items)
    def fail(self, which: int, item: str) -> None:
        """A transaction that comes to nothing, after it was followed in memory."""
        before = self.events()
        with pytest.raises(ZeroDivisionError), self.dbs[which]._journal.write() as writer:
            writer.append(RecordSignal(name="view", item=item, event_id="never"))
            writer.append(DeleteItem(id=item))
            if item in self.ever_put:
                with pytest.raises(NotFound):
                    writer.tip.target(item)
                assert item not in writer.tip.ordinals([item])
            raise ZeroDivisionError
        assert self.events() == before

    @rule(which=both)
    def rebuild(self, which: int) -> None:
        assert self.dbs[which].rebuild() == self.events()

    @rule(which=both)
    def reopen(self, which: int) -> None:
        self.dbs[which].close()
        self.dbs[which] = self.open()

    def _refusal(
        self, name: str, item: str, event_id: str | None, named: dict[str, tuple[str, str]] | None = None
    ) -> type[germane.Error] | None:
        if name not in self.declared:
            return InvalidArgument
        if item not in self.live and not (self.accepts and item not in self.ever_put):
            return NotFound
        before = None if event_id is None else (self.named if named is None else named).get(event_id)
        return Conflict if before not in (None, (name, item)) else None

    def _record(self, name: str, item: str, event_id: str | None) -> None:
        self.recorded.append((name, item))
        if event_id is not None:
            self.named[event_id] = (name, item)


TestInterleaved = Interleaved.TestCase
TestInterleaved.settings = settings(
    max_examples=1_000 if IS_DEEP else 25, stateful_step_count=60 if IS_DEEP else 30, deadline=None
)


@pytest.fixture(params=["on disk", "in memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "store" if request.param == "on disk" else None


def test_what_another_did_is_seen_at_once(tmp_path: Path) -> None:
    """Fails if what is remembered is not bound to the data version of the file."""
    with germane.open(tmp_path) as ours, germane.open(tmp_path) as theirs:
        ours.put(Item(id="a", title="A"))
        for db in (ours, theirs):
            assert db.signal("view", "a").changed
        assert ours.signal("view", "a", event_id="e").seq == 5
        assert theirs.signal("view", "a", event_id="e").duplicate
        theirs.put(Item(id="a", title="Another"))
        assert ours.signal("view", "a").rev == theirs.get("a").rev
        theirs.delete("a")
        for call in (
            lambda: ours.signal("view", "a"),
            lambda: ours.signal_many({"name": ["view"], "item": ["a"]}),
        ):
            with pytest.raises(NotFound):
                call()
        theirs.put(Item(id="a", title="A"))
        assert ours.signal("view", "a").changed
        germane.open(tmp_path, Schema([Signal("buy", half_life="1d")])).close()
        with pytest.raises(InvalidArgument, match="'view' is no declared signal: declared are buy"):
            ours.signal("view", "a")
        assert ours.signal("buy", "a").changed
        assert ours.check().ok


def test_a_write_that_was_taken_back_is_not_remembered(folder: Path | None) -> None:
    """Fails if a rollback leaves what was remembered in between."""
    with germane.open(folder) as db:
        db.put(Item(id="a", title="A"))
        before = db.signal("view", "a")
        with pytest.raises(ZeroDivisionError), db._journal.write() as writer:
            writer.append(DeleteItem(id="a"))
            with pytest.raises(NotFound):
                writer.tip.target("a")
            raise ZeroDivisionError
        assert db.signal("view", "a").seq == before.seq + 1
        assert db.signal_many({"name": ["view"], "item": ["a"]}) == 1
        assert db.count("view", "a", "all") == 3
        assert db.check().ok


def test_own_writes_are_followed(folder: Path | None) -> None:
    """Fails if an event that changes an item leaves what was remembered of it."""
    with germane.open(folder) as db:
        for title in ("one", "two"):
            item = Item(id="a", title=title)
            db.put(item)
            assert db.signal("view", "a").rev == item.rev
            assert db.signal_many({"name": ["view"], "item": ["a"]}) == 1
            db.delete("a")
            with pytest.raises(NotFound):
                db.signal("view", "a")
            with pytest.raises(NotFound):
                db.signal_many({"name": ["view"], "item": ["a"]})
        assert db.check().ok


def test_only_so_many_items_are_remembered(folder: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tip, "TARGETS", 3)
    monkeypatch.setattr(tip, "ORDINALS", 4)
    ids = [f"i{number}" for number in range(10)]
    with germane.open(folder) as db:
        db.put_many(Item(id=id, title=id) for id in ids)
        for turn in range(3):
            for id in ids:
                assert db.signal("view", id).id == id
            for start in (0, 3, 1, 7):
                assert db.signal_many({"name": ["view"] * 3, "item": ids[start : start + 3]}) == 3
            assert db.signal_many({"name": ["view"] * 10, "item": ids}) == 10
            assert len(db._journal._tip._targets) <= 3
            counted = [2 + (i < 3) + (3 <= i < 6) + (1 <= i < 4) + (i >= 7) for i in range(10)]
            assert [db.count("view", id, "all") for id in ids] == [each * (turn + 1) for each in counted]
        assert db.check().ok
