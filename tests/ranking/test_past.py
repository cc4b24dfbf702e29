"""The past: a page as of a position or a time is the page that was given then, bit for bit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Item
from support.story import IDS, SCHEMAS, START, Story, answers, history, when


@settings(max_examples=25)
@given(told=history, order=st.randoms(use_true_random=False))
def test_as_of_gives_the_page_of_then(told: list[tuple[tuple[Any, ...], float]], order: Any) -> None:
    """Fails when the past is read with the present's clock, statistics, schema or content.

    Seen to fail with ``now=self._journal.now(connection)`` for a past, and with content left unfolded.
    """
    story = Story()
    db = story.db
    was: list[tuple[int, float, list[Any]]] = []
    for step, pause in told:
        story.do(step)
        if db.stats().events > (was[-1][0] if was else 0):
            was.append((db.stats().events, story.now, answers(db)))
        story.now += pause
    order.shuffle(was)
    for seq, now, then in was:
        assert answers(db, seq) == then
        assert answers(db, when(now)) == then
        assert all(page["as_of"] == seq for page in then[0])
    for _, now, then in was:
        if db.schema.signals == SCHEMAS[0].signals and "like" in str(then[2].keys()):
            for place, id in enumerate(IDS):
                if id in story.live():
                    score = db.decayed("view", id, at=when(now))
                    assert score == np.frombuffer(then[2]["view", ""])[place]
                    assert db.count("view", id, "24h", at=when(now)) == then[2]["view", "24h"][place]


def test_a_time_between_events_reads_the_one_before_with_its_own_now() -> None:
    story = Story()
    story.put("a", "lamp", 1)
    story.signal("a", 0, 1.0)
    seq = story.db.stats().events
    story.now += 3_600
    halved = answers(story.db)
    story.now += 3_600
    story.put("a", "no more light", 1)
    page = story.db.search("lamp", as_of=when(START + 3_600))
    assert page.as_of == seq
    assert page.items[0].snippet == "lamp"
    assert answers(story.db, when(START + 3_600)) == halved
    assert answers(story.db, when(START + 1_800)) != halved


def test_one_position_may_be_read_at_several_times_in_any_order() -> None:
    """Fails when what has left a window at a later time is missing at an earlier one."""
    story = Story()
    story.put("a", "lamp", 1)
    story.signal("a", 0, 1.0)
    story.now += 10_800
    counts = []
    for seconds in (7_200, 1_800, 7_200):
        with story.db._moments.at(when(START + seconds)) as moment, moment.ledgers() as (ledgers, now):
            counts.append(ledgers["view"].counts(np.array([1]), "1h", now).tolist())
    assert counts == [[0], [1], [0]]


def test_what_is_refused() -> None:
    story = Story()
    db = story.db
    story.put("a", "lamp", 1)
    last = db.stats().events
    naive = datetime(2024, 1, 1)
    for as_of, message in (
        (last + 1, f"as_of: {last + 1} lies beyond the last event, which is {last}"),
        (0, "as_of: 0 is no position: the first event is 1"),
        (-1, "as_of: -1 is no position: the first event is 1"),
        (True, "as_of: must be a position of the log or an aware datetime, not bool"),
        (START, "as_of: must be a position of the log or an aware datetime, not float"),
        ("1", "as_of: must be a position of the log or an aware datetime, not str"),
        (naive, "as_of: a naive datetime has no time zone: give one, as in datetime(...,"),
        (when(START + 1), "as_of: lies in the future"),
        (when(START - 1), "as_of: lies before the store began, at 2023-11-14T22:13:20+00:00"),
    ):
        calls: tuple[Any, ...] = (db.search, db.top)
        for call in calls:
            with pytest.raises(InvalidArgument) as caught:
                call("lamp", as_of=as_of)
            assert str(caught.value).startswith(message)
            assert caught.value.field == "as_of"
    assert db.search("lamp", as_of=when(START)).total == 1


@contextmanager
def counting_connections() -> Iterator[list[apsw.Connection]]:
    """Give the connections that are made: a past has its own, and a store in memory makes no other."""
    made: list[apsw.Connection] = []
    apsw.connection_hooks.append(made.append)
    try:
        yield made
    finally:
        apsw.connection_hooks.remove(made.append)


def test_pasts_are_kept_for_the_next_page_and_not_for_ever() -> None:
    """Fails when each page of a past folds the log again, or when every past stays in memory."""
    story = Story()
    db = story.db
    for id in IDS:
        story.put(id, "lamp", 1)
    with counting_connections() as made:
        for offset in range(3):
            assert db.search("lamp", as_of=6, offset=offset, limit=1).items[0].id == IDS[offset]
            assert len(made) == 1
        for as_of, folded in ((7, 2), (6, 2), (8, 3), (6, 3), (8, 3), (7, 4)):
            db.search("lamp", as_of=as_of)
            assert len(made) == folded
        db.search("lamp", as_of=7)
        db.rebuild()
        made.clear()
        db.search("lamp", as_of=7)
        assert len(made) == 1


def test_threads_and_processes_may_look_back_together(tmp_path: Path) -> None:
    first = Story(tmp_path)
    second = Story(tmp_path, SCHEMAS[0])
    then = []
    for number in range(8):
        (first, second)[number % 2].put("abcd"[number % 4], f"lamp {number}", number)
        then.append(answers(first.db))
        first.now = second.now = first.now + 60
    same: list[bool] = []

    def look(story: Story, number: int) -> None:
        same.extend(answers(story.db, then[number][0][0]["as_of"]) == then[number] for _ in range(3))

    threads = [
        threading.Thread(target=look, args=(story, number))
        for story in (first, second)
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(same) == 48
    assert all(same)
    first.db.close()
    with pytest.raises(InvalidArgument, match="database: is closed"):
        first.db.search("lamp", as_of=2)
    second.db.close()


def test_a_store_that_is_only_read_has_a_past_too(tmp_path: Path) -> None:
    story = Story(tmp_path)
    story.put("a", "lamp", 1)
    then = answers(story.db)
    story.now += timedelta(days=1).total_seconds()
    story.delete("a")
    story.db.close()
    with germane.open(tmp_path, clock=lambda: story.now, read_only=True) as db:
        assert db.search("lamp").total == 0
        assert answers(db, then[0][0]["as_of"]) == then


def test_what_is_hidden_now_is_in_no_answer_about_the_past(tmp_path: Path) -> None:
    """Fails when the past knows only the relations of then; so a feed's pages agree, whichever is first."""
    with germane.open(tmp_path) as db:
        db.put_many(Item(id=id, title=f"Lamp {id}", creator="eve" if id < "d" else "bob") for id in "abcdef")
        db.relate("u", "hide", "b")
        seq = db.stats().events
        db.put(Item(id="g", title="Lamp g", creator="eve"))
        db.unrelate("u", "hide", "b")
        for relation, target in (("hide", "a"), ("hide", "g"), ("block", "bob")):
            db.relate("u", relation, target)
        found = db.search("lamp", user="u", as_of=seq), db.retrieve("new", user="u", as_of=seq)
        assert [[result.id for result in page.items] for page in found] == [["c"], ["c"]]
        assert db.top("lamp", user="u", as_of=seq)[0] == ["c"]
        assert [result.id for result in db.search("lamp", user="v", as_of=seq).items] == list("abcdef")
        why = db.explain("a", profile="new", user="u", as_of=seq).absence
        assert why is not None
        assert why[0].detail == {"relation": "hide", "target": "a"}
        db.unrelate("u", "block", "bob")
        page = db.retrieve("new", user="u", as_of=seq, limit=1)
        rest = db.retrieve(cursor=page.cursor, limit=9)
        assert [result.id for result in (*page.items, *rest.items)] == ["c", "d", "e", "f"]
