"""Retention: a base in place of the oldest events changes no answer, and nothing kills it halfway."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import germane
from germane import BeyondRetention, GcReport, Item, NotFound, Profile, Schema, Signal
from germane.log import retention
from germane.log.base import base_of
from germane.text.view import TextView
from germane.upkeep import states as all_states
from support.story import SCHEMAS, START, Story, answers, history, when

DAY = 86_400.0
KEPT = tuple(Schema(each.signals, lang=each.lang, unknown_items="accept", retention="1d") for each in SCHEMAS)


class Kept(Story):
    """A store that keeps events for a day."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path, KEPT[0])

    def schema(self, which: int) -> None:
        self.db._declare(KEPT[which])

    def head(self) -> int:
        with self.db._journal.read() as connection:
            return int(connection.execute("SELECT max(seq) FROM log").get)


def rows(db: germane.Database, query: str) -> list[Any]:
    with db._journal.read() as connection:
        return list(connection.execute(query))


def grown(path: Path | None = None) -> Kept:
    """Return a store of which two days are over, in two halves."""
    story = Kept(path)
    for number in range(6):
        story.put("abcdef"[number], f"lamp light {number}", number)
        story.many(["a", "b", "ghost"], -60, 1.5)
        story.now += 3_600
    story.put("a", "another lamp", 1)
    story.delete("b")
    story.document("d0", ["a", "c"])
    story.now += 2 * DAY
    story.put("c", "a late lamp", 9)
    story.signal("c", 200, 2.0)
    story.signal("a", -86_400, 1.0)
    return story


@settings(max_examples=15)
@given(first=history, second=history)
def test_no_answer_changes(first: list[Any], second: list[Any]) -> None:
    """Any history, tidied twice: the present, the pasts that are left, checks and rebuilds stay.

    Seen to fail when the base leaves out what waits for its time, or rows of revisions, or keeps contents of
    the present only; and when a fold begins at event 1 behind a base.
    """
    story = Kept()
    was: dict[int, tuple[float, list[Any]]] = {}
    for part in (first, second):
        for step, pause in part:
            story.do(step)
            if story.head() not in was:
                was[story.head()] = story.now, answers(story.db)
            story.now += pause
        before = answers(story.db)
        expected = story.db.gc()
        done = story.db.gc(dry_run=False)
        assert done == expected
        assert story.db.gc(dry_run=False) == GcReport(done.base, 0, 0)
        assert answers(story.db) == before
        assert story.db.check() == germane.CheckReport(True)
        for seq, (now, then) in was.items():
            if seq < done.base:
                with pytest.raises(BeyondRetention) as caught:
                    story.db.search("lamp", as_of=seq)
                assert (caught.value.field, caught.value.earliest) == ("as_of", done.base)
            else:
                assert answers(story.db, seq) == then
                assert answers(story.db, when(now)) == then
        story.db.rebuild()
        assert answers(story.db) == before


def test_what_is_reported_and_what_is_left() -> None:
    story = grown()
    db = story.db
    old = rows(db, "SELECT rev FROM version ORDER BY ordinal, seq")
    last = story.head()
    report = db.gc()
    # Gone are two contents of a, the first of c, and that of b.
    assert report == GcReport(base=last - 3, events=last - 3, contents=4)
    assert rows(db, "SELECT count(*) FROM log") == [(last,)]
    assert db.gc(dry_run=False) == report
    kinds = [kind for (kind,) in rows(db, "SELECT type FROM log ORDER BY seq")]
    assert kinds == ["base", "put", "signal", "signal"]
    assert len(rows(db, "SELECT 1 FROM version")) < len(old)
    with pytest.raises(NotFound, match="never had the revision"):
        db.get("a", rev=old[0][0])
    assert db.get("a", rev=db.get("a").rev).body == "light of d0"
    with pytest.raises(NotFound):
        db.get("b")
    story.put("b", "lamp light 1", 1)  # its content was dropped, and comes again
    assert db.get("b").body == "lamp light 1"
    assert db.count("view", "b", "all") == 6
    story.put("ghost", "lamp", 1)
    assert db.count("view", "ghost", "all") == 6
    assert db.check() == germane.CheckReport(True)


def test_readings_of_the_past_end_at_the_base() -> None:
    story = grown()
    db = story.db
    moment = when(START + 5.5 * 3_600)
    with_all = db.decayed("view", "a", at=moment)
    assert with_all > 0
    report = db.gc(dry_run=False)
    with pytest.raises(
        BeyondRetention, match=r"^at: lies beyond retention: the earliest that can be read is"
    ) as e:
        db.decayed("view", "a", at=moment)
    assert e.value.earliest == report.base
    assert db.count("view", "a", "all", at=when(START + DAY)) == 6
    assert db.count("view", "a", "all") == 7


def test_a_base_in_place_of_a_signal_leaves_the_tables_what_a_rebuild_gives() -> None:
    """Fails when the watermark of the tables stays behind the base, which single signals do not move."""
    story = Kept()
    story.put("a", "lamp", 1)
    story.signal("a", 0, 1.0)
    story.signal("a", 0, 1.0)
    story.now += 2 * DAY
    story.signal("a", 0, 1.0)
    assert story.db.gc(dry_run=False).base == story.head() - 1
    assert story.db.check() == germane.CheckReport(True)


def test_event_ids_hold_as_long_as_their_events() -> None:
    story = Kept()
    db = story.db
    story.put("a", "lamp", 1)
    db.signal("view", "a", event_id="old")
    story.now += 2 * DAY
    db.signal("view", "a", event_id="new")
    db.gc(dry_run=False)
    assert db.signal("view", "a", event_id="new").duplicate
    assert not db.signal("view", "a", event_id="old").duplicate


def test_a_signal_that_is_declared_anew_goes_on_from_its_count() -> None:
    story = grown()
    db = story.db
    db.gc(dry_run=False)
    count = db.count("view", "a", "all")
    changed = Schema([Signal("view", half_life="9h", windows=("1h", "all"))], retention="1d")
    db._declare(changed)
    assert db.count("view", "a", "all") == count == 7
    assert db.decayed("view", "a") == pytest.approx(2.0 ** (-DAY / (9 * 3_600)))  # the one event that is kept
    assert db.check() == germane.CheckReport(True)
    before = db.decayed("view", "a")
    story.now += 2 * DAY
    story.put("f", "lamp", 1)
    story.now -= 2 * DAY
    assert db.gc(dry_run=False).events > 0
    assert db.decayed("view", "a") == pytest.approx(before * 2.0 ** (-2 * DAY / (9 * 3_600)))


def test_a_signal_that_is_declared_anew_is_the_same_whether_it_was_ranked_by_or_not() -> None:
    """Fails when a score that no event was added to yet is told by what ranking made room for."""
    now = START
    schemas = [
        Schema([Signal("view", half_life=each)], [Profile("best", boosts=["view.decayed"])], retention="1d")
        for each in ("1h", "2h")
    ]
    with germane.open(schema=schemas[0], clock=lambda: now) as db:
        db.put(Item(id="a", title="Lamp"))
        db.signal("view", "a")
        db.signal("view", "a", at=now + 100)  # waits, and is no score before the next signal
        now += 3 * DAY
        db.update("a", tags=["late"])
        assert db.gc(dry_run=False).events > 0
        db._declare(schemas[1])
        assert [each.id for each in db.retrieve("best").items] == ["a"]
        assert db.check() == germane.CheckReport(True)


def test_a_schema_that_changed_since_is_asked_as_before() -> None:
    """Fails when a base holds the ledgers under the present schema alone, or under that of its time."""
    story = grown()
    was = answers(story.db)
    seq = story.head()
    story.now += 60
    story.schema(1)
    now = answers(story.db)
    assert story.db.gc(dry_run=False).events > 0
    story.db.rebuild()
    assert answers(story.db) == now
    assert answers(story.db, seq) == was


def test_other_processes_go_on(tmp_path: Path) -> None:
    """Fails when a view that lags behind the base catches up from the log as if nothing were missing."""
    story = Kept(tmp_path)
    story.put("a", "lamp", 1)
    others = []
    for read in (lambda db: answers(db), lambda db: db.count("view", "a"), lambda db: None):
        other = germane.open(tmp_path, clock=lambda: story.now)
        read(other)  # at an early position, or of one view, or of nothing
        others.append(other)
    story.many(["a", "a"], -10)
    story.document("d1", ["a", "c"])
    story.signal("a", 0, 1.0)
    story.now += 2 * DAY
    story.put("d", "lamp", 4)
    before = answers(story.db)
    assert story.db.gc(dry_run=False).events > 4
    for other in others:
        assert answers(other) == before
        assert other.count("view", "a", "all") == 3
    others[0].put(Item(id="z", title="lamp"))
    assert story.db.search("lamp").total == others[2].search("lamp").total == 4
    for db in (story.db, *others):
        assert db.check() == germane.CheckReport(True)
        db.close()


def test_who_is_slower_leaves_it_to_the_other(tmp_path: Path) -> None:
    """Fails when a plan that was made beside another's base is put in place over it."""
    story = grown(tmp_path)
    other = germane.open(tmp_path, clock=lambda: story.now)
    before = answers(story.db)

    def states(connection: Any, seq: int) -> Any:
        if base_of(connection) is None and not done:
            done.append(other.gc(dry_run=False))
        return all_states(connection, seq)

    done: list[GcReport] = []
    report = retention.replace_older(story.db._journal, states, int(DAY * 1e6))
    assert (report.events, report.base) == (0, done[0].base)
    assert answers(story.db) == answers(other) == before
    assert story.db.check() == germane.CheckReport(True)
    other.close()
    story.db.close()


def test_what_is_written_beside_it_is_kept(tmp_path: Path) -> None:
    """Fails when what is dropped was settled before the transaction that drops it."""
    story = grown(tmp_path)
    other = germane.open(tmp_path, clock=lambda: story.now)

    def states(connection: Any, seq: int) -> Any:
        if not other.search("brighter").total:
            other.put(Item(id="a", title="brighter lamp"))
            other.put(Item(id="a", title="brightest lamp"))
            other.put(Item(id="b", title="Lamp", body="lamp light 1"))  # what the log would else forget
            other.signal("view", "b", event_id="e1")
        return all_states(connection, seq)

    report = retention.replace_older(story.db._journal, states, int(DAY * 1e6))
    assert report.events > 0
    assert answers(story.db) == answers(other)
    assert other.get("b").body == "lamp light 1"
    assert other.signal("view", "b", event_id="e1").duplicate
    assert other.search("brighter", as_of=story.head() - 3).total == 1
    for db in (story.db, other):
        assert db.check() == germane.CheckReport(True)
        db.close()


def test_closing_tidies_up_a_tenth_late(tmp_path: Path) -> None:
    story = Kept(tmp_path)
    story.put("a", "lamp", 1)

    def base_after(pause: float) -> int:
        story.now += pause
        story.db.put(Item(id="b", title=f"lamp {story.now}"))
        story.db.close()
        story.db = germane.open(tmp_path, clock=lambda: story.now)
        return story.db.gc().base if story.db.gc().events == 0 else 0

    assert base_after(1.05 * DAY) == 0
    assert base_after(0.2 * DAY) > 0
    story.db.close()


def test_a_clock_that_jumps_takes_nothing_away(tmp_path: Path) -> None:
    """Fails when ages are measured by the clock: one wrong second of it would cost the history."""
    story = grown(tmp_path)
    story.db.gc(dry_run=False)
    events = rows(story.db, "SELECT count(*) FROM log")
    story.now += 3_652 * DAY
    assert story.db.gc() == GcReport(story.db.gc().base, 0, 0)
    story.db.close()
    story.now -= 3_652 * DAY
    story.db = germane.open(tmp_path, clock=lambda: story.now)
    assert rows(story.db, "SELECT count(*) FROM log") == events
    story.db.close()


def test_a_checkpoint_from_before_the_base_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Fails when each process that opens the store analyses all texts again, or calls the old one damaged."""
    monkeypatch.setattr(TextView, "worth_saving", 2)
    story = Kept(tmp_path)
    for id in "abc":
        story.put(id, "lamp", 1)
    story.db.search("lamp")
    story.db.close()
    (old,) = (tmp_path / "views").glob("text-*")
    story.db = germane.open(tmp_path, clock=lambda: story.now)
    story.signal("a", 0, 1.0)
    story.now += 2 * DAY
    story.put("d", "lamp", 1)
    story.db.search("lamp")
    assert story.db.gc(dry_run=False).events > 0
    with germane.open(tmp_path, clock=lambda: story.now, read_only=True) as db:
        assert db.search("lamp").total == 4
    assert old.exists()
    story.db.close()
    (new,) = (tmp_path / "views").glob("text-*")
    assert new != old
    with germane.open(tmp_path, clock=lambda: story.now) as db:
        assert db.gc().base > 0
        assert db.search("lamp").total == 4
        assert db.check() == germane.CheckReport(True)
    assert caplog.records == []


def test_a_kill_in_the_middle_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """Killed at every third statement of it. Fails when it is more than one transaction."""
    story = grown(tmp_path)
    before, last = answers(story.db), rows(story.db, "SELECT count(*) FROM log")
    story.db._close(save=False)  # which would tidy it up
    seen = set()
    for step in range(1, 999, 3):
        if not killed_at(tmp_path, story.now, step):
            break
        with germane.open(tmp_path, clock=lambda: story.now, read_only=True) as db:
            assert answers(db) == before
            assert db.check() == germane.CheckReport(True)
            seen.add(rows(db, "SELECT count(*) FROM log") == last)
    assert 30 < step < 998
    assert seen == {True}
    with germane.open(tmp_path, clock=lambda: story.now) as db:
        assert answers(db) == before
        assert db.gc() == GcReport(db.gc().base, 0, 0)
        assert rows(db, "SELECT count(*) FROM log") != last


def killed_at(path: Path, now: float, step: int) -> bool:
    """Tidy a store in a process that is killed before its writer's n-th statement; tell if it came to it."""
    child = os.fork()
    if child == 0:
        try:
            db = germane.open(path, clock=lambda: now)
            left = [step]

            def count(*_: Any) -> bool:
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return True

            db._journal._writer.exec_trace = count
            db.gc(dry_run=False)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or not status
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE base SET data = x'00' WHERE part = 'tables/item'",
            "the base of the log is not what was written",
        ),
        (
            "UPDATE base SET data = x'00' WHERE part = 'signals/0'",
            "the base of the log is not what was written",
        ),
        ("DELETE FROM base", "base of the log is not what was written"),
        ("UPDATE log SET recorded_at = recorded_at + 1 WHERE type = 'base'", "is not what was written"),
        ("UPDATE log SET checksum = checksum + 1 WHERE type = 'base'", "is not what was written"),
        ("UPDATE log SET data = replace(data, 'seal', 'seel') WHERE type = 'base'", "does not decode"),
        ("DELETE FROM log WHERE seq = (SELECT min(seq) + 1 FROM log)", "are missing"),
        ("DELETE FROM log WHERE type = 'base'", "are missing"),
    ],
)
def test_a_damaged_base_is_found_and_not_folded(damage: str, message: str) -> None:
    story = grown()
    db = story.db
    db.gc(dry_run=False)
    with db._journal.write() as writer:
        writer.connection.execute(damage)
    report = db.check()
    assert not report.ok
    assert any(message in finding.detail for finding in report.findings), report
    if "signals" in damage:
        db._signals.drop()
        with pytest.raises(germane.Corruption, match="is not what was written"):
            db.count("view", "a")
        return
    before = rows(db, "SELECT * FROM item")
    with pytest.raises(germane.Corruption):
        db.rebuild()
    assert rows(db, "SELECT * FROM item") == before


def test_a_content_that_the_base_needs_is_missed() -> None:
    story = grown()
    db = story.db
    db.gc(dry_run=False)
    with db._journal.write() as writer:
        writer.connection.execute("DELETE FROM content WHERE rev = (SELECT rev FROM item WHERE id = 'f')")
    details = [finding.detail for finding in db.check().findings if finding.part == "content"]
    assert any(detail.startswith("the content of item 'f' in the base") for detail in details)


def test_tables_that_differ_from_the_log_stop_it() -> None:
    story = grown()
    with story.db._journal.write() as writer:
        writer.connection.execute("UPDATE item SET kind = 'other' WHERE id = 'a'")
    events = rows(story.db, "SELECT * FROM log")
    with pytest.raises(germane.Corruption, match="table item differs from what the log comes to"):
        story.db.gc(dry_run=False)
    assert rows(story.db, "SELECT * FROM log") == events


def test_a_store_without_retention_keeps_all(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.put("a", "lamp", 1)
    story.now += 9_999 * DAY
    story.put("b", "lamp", 1)
    assert story.db.gc(dry_run=False) == GcReport(0, 0, 0)
    story.db.close()
    with germane.open(tmp_path, clock=lambda: story.now, read_only=True) as db:
        assert db.search("lamp", as_of=3).total == 1
        for wrong in (1, None, "yes"):
            with pytest.raises(germane.InvalidArgument, match=r"^dry_run: must be True or False"):
                db.gc(wrong)  # type: ignore[arg-type]
    with germane.open(tmp_path, clock=lambda: story.now, read_only=True) as db:
        assert db.gc() == GcReport(0, 0, 0)
