"""Forgetting: no byte of a user is left, and the store is what it would be had the user been nobody."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings

import germane
from germane import (
    Busy,
    Conflict,
    Corruption,
    ForgetReport,
    InvalidArgument,
    Item,
    Profile,
    ReadOnly,
    Schema,
    Signal,
)
from germane.log import state as log_state
from germane.log.events import ForgetUser
from support.forgotten import NAME, clock, filled, forms, traces
from support.story import SCHEMAS, START, USERS, Story, answers, history, remembered

DAY = 86_400.0
TOGETHER = Profile("together", candidates=["related(9)"], boosts=["cooccurrence", "again"])
"""What goes together, and again, for a user."""
TASTES: tuple[dict[str, Any], ...] = (
    {"preference": 0.1, "affinity": 0.5},
    {"preference": 0.3, "affinity": 1.0, "affinity_half_life": "1h"},
)
"""What signals say of users; with half-lives so short that landmarks move."""
WITH_TASTES, WITH_BASE = (
    tuple(
        Schema(
            [Signal.from_declaration({**signal.declaration(), **taste}) for signal in each.signals],
            [TOGETHER],
            lang=each.lang, unknown_items="accept", retention=retention,
        )
        for each, taste in zip(SCHEMAS, TASTES, strict=True)
    )
    for retention in (None, "1d")
)  # fmt: skip


class Recorded(Story):
    """A store to which things happen, and what of that it took: the same can happen to another store.

    Parameters
    ----------
    as_user : callable
        Under which name a user signals; None for nobody. Raises LookupError for one who does not.
    """

    def __init__(
        self, as_user: Callable[[str], str | None] = str, schemas: tuple[Schema, ...] = WITH_TASTES
    ) -> None:
        super().__init__(None, schemas[0])
        self.schemas = schemas
        self.as_user = as_user
        self.taken: list[Callable[[Recorded], object]] = []
        self.number = 0

    def schema(self, which: int) -> None:
        self._take(lambda to: to.db._declare(to.schemas[which]))

    def put(self, id: str, body: str, n: int) -> None:
        item = Item(
            id=id, title="Lamp", body=body, metadata={"n": n}, creator=f"c{n % 2}", embedding=(1.0, n - 2.0)
        )
        self._take(lambda to: to.db.put(item))

    def update(self, id: str, n: int) -> None:
        self._take(lambda to: to.db.update(id, metadata={"n": n}, tags=[f"t{n}"], creator=f"c{n % 3}"))

    def delete(self, id: str) -> None:
        self._take(lambda to: to.db.delete(id))

    def document(self, docid: str, listed: list[str]) -> None:
        sections = [Item(id=id, title="Lamp", body=f"light of {docid}") for id in listed]
        self._take(lambda to: to.db.put_document(docid, title=docid, sections=sections))

    def undocument(self, docid: str) -> None:
        self._take(lambda to: to.db.delete_document(docid))

    def many(self, listed: list[str], ahead: int, weight: float = 1.0) -> None:
        self.number += 1
        rows = [
            {
                "name": "view", "item": id, "at": self.now + ahead - place, "weight": weight,
                "user": f"u{(place + self.number) % 3}", "event_id": f"e{self.number}-{place}",
                "page": f"p{self.number}", "position": place,
            }
            for place, id in enumerate(listed)
        ]  # fmt: skip
        self._take(lambda to: to.record(rows))

    def relate(self, relation: str, id: str, does: bool) -> None:
        self.number += 1
        user = f"u{self.number % 2}"
        self._take(lambda to: to.related(user, relation, id, does))

    def record(self, rows: list[dict[str, Any]]) -> None:
        told = []
        for row in rows:
            try:
                user = self.as_user(row["user"])
            except LookupError:
                continue
            only = ("name", "item", "at", "weight")
            told.append({key: row[key] for key in only} if user is None else {**row, "user": user})
        if len(told) == len(rows) == 1:
            self.db.signal(**told[0])
        elif told:
            self.db.signal_many(told)

    def related(self, user: str, relation: str, id: str, does: bool) -> None:
        try:
            name = self.as_user(user) or "someone else"  # at the same position stands another's
        except LookupError:
            return
        (self.db.relate if does else self.db.unrelate)(name, relation, id)

    def replay(self, to: Recorded) -> None:
        for step in self.taken:
            step(to)

    def _take(self, step: Callable[[Recorded], object]) -> None:
        try:
            step(self)
        except germane.NotFound:
            return
        moment = self.now

        def again(to: Recorded) -> None:
            to.now = moment
            step(to)

        self.taken.append(again)


def nobody(user: str) -> str | None:
    """u1 is nobody."""
    return None if user == "u1" else user


def absent(user: str) -> str:
    """u1 does nothing."""
    if user == "u1":
        raise LookupError(user)
    return user


def state(db: germane.Database) -> list[dict[str, Any]]:
    """Return the whole state of signals and of people, in bits."""
    with (
        db._moments.at() as moment,
        moment.ledgers() as (ledgers, _),
        moment.views.people.at(moment.connection) as seen,
        moment.views.neighbours.at(moment.connection) as together,
        moment.views.tastes.at(moment.connection) as tastes,
    ):
        liked = scaled(tastes.to_arrays(), tastes._affinities.half_lives)
        return [
            {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}
            for arrays in (ledgers.to_arrays(), seen.to_arrays(), together.to_arrays(), liked)
        ]


def scaled(arrays: dict[str, Any], half_lives: tuple[int, ...]) -> dict[str, Any]:
    """Return affinities in a scale of their own: in a base a landmark may be that of who is gone."""
    mantissas, exponents = np.frexp(arrays["affinities"])
    at = arrays["affinity_landmarks"] // np.array(half_lives, np.int64)
    exponents = np.where(mantissas, exponents + at.reshape(-1, 1), 0)
    told = {name: array for name, array in arrays.items() if name != "affinity_landmarks"}
    return {**told, "affinities": mantissas, "exponents": exponents}


def others(db: germane.Database, as_of: int | None = None) -> list[Any]:
    """Return answers, also to who they are for, without the relations of who stands in for u1."""
    pages, best, readings, related = answers(db, as_of)
    pages += [remembered(db.retrieve("for_you", user=user, as_of=as_of, seed=1)) for user in ("u0", "u2")]
    if as_of is None:  # at the first position nothing is declared
        pages += [remembered(db.retrieve("together", user=user)) for user in ("u0", "u2")]
    return [pages, best, readings, [row for row in related if row[0] not in ("someone else", "x")]]


def without_numbers(db: germane.Database) -> list[Any]:
    """Return answers without positions and ordinals, which are others where events are missing."""
    pages, best, readings, related = others(db)
    with db._journal.read() as connection:
        ids = dict(connection.execute("SELECT ordinal, id FROM item"))
    for user in USERS:
        seen, signals = readings[user, ""]
        readings[user, ""] = sorted(ids[ordinal] for ordinal in seen), signals
    pages = [{**page, "as_of": None} for page in pages]
    return [pages, best, readings, sorted(row[:3] for row in related)]


@settings(max_examples=25)
@given(history)
def test_the_state_is_that_of_a_log_in_which_the_events_are_nobodys(steps: list[Any]) -> None:
    """Bit for bit, at the head and at every position.

    Seen to fail when the epoch stays.
    """
    story, reference = Recorded(), Recorded(nobody)
    for step, pause in steps:
        story.do(step)
        story.now += pause
    others(story.db), story.db.user("u1")  # what was known before must not be what is answered after
    last = story.db.stats().events
    story.replay(reference)
    reference.now = story.now
    report = story.db.forget("u1")
    if report.events:
        reference.db.relate("x", "follow", "y")  # as long a log
    assert others(story.db) == others(reference.db)
    assert state(story.db) == state(reference.db)
    for seq in {1, 1 + last // 2, last}:
        assert others(story.db, seq) == others(reference.db, seq)
    assert story.db.check() == germane.CheckReport(True)
    before = answers(story.db)
    story.db.rebuild()
    assert answers(story.db) == before
    assert story.db.forget("u1") == ForgetReport(story.db.stats().events)


@settings(max_examples=25)
@given(history)
def test_the_state_is_that_of_a_log_without_the_events(steps: list[Any]) -> None:
    """Seen to fail when the rows of event ids stay where they were, or items that were heard of go, too."""
    story, reference = Recorded(), Recorded(absent)
    for step, pause in steps:
        story.do(step)
        story.now += pause
    before = story.db.stats().events
    story.replay(reference)
    reference.now = story.now
    report = story.db.forget("u1", erase=True)
    assert without_numbers(story.db) == without_numbers(reference.db)
    assert story.db.check() == germane.CheckReport(True)
    assert story.db.stats().events == before + bool(report.events)
    with story.db._journal.read() as connection:
        told = connection.execute("SELECT id FROM event_id ORDER BY id").fetchall()
    with reference.db._journal.read() as connection:
        assert told == connection.execute("SELECT id FROM event_id ORDER BY id").fetchall()


def story_of(*steps: tuple[Any, ...]) -> list[Any]:
    """Return a history that ends so long afterwards that a base takes the place of what happened."""
    quiet = [(("put", "f", "", n), 40_000.0) for n in range(4)]
    return (
        [(("put", id, "lamp", n), 0.5) for n, id in enumerate("abc")]
        + [(step, 61.0) for step in steps]
        + quiet
    )


@settings(max_examples=15)
@given(history, history)
@example(story_of(("many", ["a"], 0)), [])  # u1 alone
@example(
    story_of(
        ("many", ["a", "a", "b"], 0),
        ("many", ["c", "b"], 100),
        ("schema", 1),
        ("relate", "save", "a", True),
        ("many", ["b"], 0),
    ),
    [],
)
def test_a_base_forgets_as_well(first: list[Any], second: list[Any]) -> None:
    """Seen to fail when a base keeps the hashes of reach, or any part keeps numbers or times of u1."""
    story, reference = Recorded(schemas=WITH_BASE), Recorded(nobody, WITH_BASE)
    for part in (first, second):
        for step, pause in part:
            story.do(step)
            story.now += pause
        moment = story.now

        def tidy(to: Recorded, at: float = moment) -> None:
            to.now = at
            to.db.gc(dry_run=False)

        tidy(story)
        story.taken.append(tidy)
    story.replay(reference)
    reference.now = story.now
    report = story.db.forget("u1")
    if report.events or report.folded:
        reference.db.relate("x", "follow", "y")
    assert state(story.db) == state(reference.db)
    assert others(story.db) == others(reference.db)
    assert story.db.check() == germane.CheckReport(True)


def parts_with_traces(db: germane.Database) -> set[str]:
    """Return the parts of a base in which a user's name, or its hash, is written."""
    with db._journal.read() as connection:
        rows = list(connection.execute("SELECT part, data FROM base"))
    return {part for part, data in rows if any(form in data for form in forms(NAME))}


def test_what_a_base_cannot_give_back_is_reported(tmp_path: Path) -> None:
    """Seen to fail when users behind the one who is gone keep their numbers, in each part of the base.

    And when any of its parts is left as it was.
    """
    now = START
    # Under both declarations of signals the base holds what they say of users.
    schemas = [
        Schema([Signal("view", preference=rate, affinity=1.0)], retention="1d", profiles=[TOGETHER])
        for rate in (0.1, 0.2)
    ]
    with germane.open(tmp_path, schemas[0], clock=lambda: now) as db:
        for n, id in enumerate("abc"):
            db.put(Item(id=id, title="Lamp", creator=f"of {id}", embedding=(1.0, n)))
        for id in "aab":
            db.signal("view", id, user=NAME)
        db.signal("view", "c", user=NAME, at=now + 200)
        db.signal_many([{"name": "view", "item": "a", "user": f"v{n}"} for n in range(80)])
        for id in "bc":
            db.signal("view", id, user="bob")
        db.relate(NAME, "save", "a")
        db.relate("v1", "save", "a")
        assert [each.id for each in db.related("b").items] == ["c", "a"]
        db._declare(schemas[1])
        before = db.user("bob").preference, db.user("v1").preference
        now += 3 * DAY
        db.signal("view", "a", user=NAME)
        assert db.gc(dry_run=False).events > 3
        assert {"histories", "people", "signals/0", "tastes/0"} <= parts_with_traces(db)
        report = db.forget(NAME, erase=True)
        assert (report.events, report.folded, report.sketched) == (2, 4, 1)
        assert parts_with_traces(db) == set()
        assert db.count("view", "a", "all") == 82
        assert db.user("v1").relations["save"] == ("a",)
        unseen = [
            [each.id for each in db.retrieve("new", user=user, where="unseen").items]
            for user in ("v1", "bob")
        ]
        assert unseen == [["b", "c"], ["a"]]
        assert (db.user(NAME).signals, db.user("v1").signals) == (0, 1)
        assert (db.user("bob").preference, db.user("v1").preference) == before
        assert {*db.user("bob").affinities} == {"of b", "of c"}
        assert (db.user(NAME).preference, db.user(NAME).affinities) == (None, {})
        assert [each.id for each in db.related("b").items if each.contributions["cooccurrence"]] == ["c"]
        assert [each.id for each in db.retrieve("together", user="bob").items] == ["b", "c"]
        assert db.check() == germane.CheckReport(True)
        assert traces(tmp_path) == []
        assert traces(tmp_path, "v1") != []


def test_what_waits_in_a_base_for_its_time_is_nobodys(tmp_path: Path) -> None:
    """Fails when what waits keeps the user's hash or number, or others lose theirs."""
    now = START
    with germane.open(tmp_path, Schema([Signal("view")], retention="1d"), clock=lambda: now) as db:
        for id in "ab":
            db.put(Item(id=id, title="Lamp"))
        ahead = {"name": "view", "at": now + 200}
        db.signal_many({**ahead, "item": id, "user": user} for user in (NAME, "bob", "eve") for id in "ab")
        now += 10
        db.update("a", tags=["late"])
        now += 3 * DAY
        db.update("a", tags=["later"])
        # Between the events and the base lies a time before what they are of.
        assert db.gc(dry_run=False).events > 3
        report = db.forget(NAME)
        assert (report.events, report.folded) == (0, 2)
        assert [db.user(user).seen for user in (NAME, "bob", "eve")] == [0, 2, 2]
        with db._moments.at() as moment, moment.ledgers() as (ledgers, now_):
            assert ledgers.reach.at(np.array([1, 2]), now_).tolist() == [2, 2]
        assert db.check() == germane.CheckReport(True)
        assert traces(tmp_path) == []


def test_items_that_were_heard_of_keep_their_places() -> None:
    """Fails when what is gone from columns takes the items along that were first in it."""
    with germane.open(schema=Schema([Signal("view")], unknown_items="accept")) as db:
        db.signal_many([{"name": "view", "item": "ghost", "user": NAME}] * 2)
        db.signal_many([{"name": "view", "item": id, "user": "bob"} for id in ("ghost", "other")])
        assert db.forget(NAME, erase=True).events == 2
        db.put_many(Item(id=id, title="Lamp") for id in ("ghost", "other"))
        assert [db.count("view", id, "all") for id in ("ghost", "other")] == [1, 1]
        assert db.check() == germane.CheckReport(True)


@pytest.mark.parametrize("erase", [False, True])
def test_no_byte_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, erase: bool) -> None:
    """Seen to fail without writing the file anew, without emptying the log beside it, without shown's."""
    monkeypatch.setattr(log_state, "WORTH_SAVING", 1)
    with filled(tmp_path) as db:
        db.count("view", "a"), db.user(NAME)
    with germane.open(tmp_path, clock=clock) as other, germane.open(tmp_path, clock=clock) as db:
        cursor = other.retrieve("new", user="bob", limit=2).cursor
        other.user(NAME), other.related("a")
        (people,) = (tmp_path / "views").glob("people-*")
        shutil.copytree(people, people.with_name("people-0-3.damaged"))
        shutil.copytree(people, people.with_name("people.abc.tmp"))
        held = traces(tmp_path)
        assert held.count("users.npy") == 4  # of people, what was left of it, and of what goes together
        of_tastes = {"preferring.npy", "liking.npy", "waiting_users.npy"}
        assert {"journal.sqlite", "shown.sqlite", "reach_users.npy"} | of_tastes <= {*held}
        before, of_bob = db.count("view", "a", "all"), db.user("bob")
        left_behind = len(list((tmp_path / "views").iterdir()))
        report = db.forget(NAME, erase)
        assert traces(tmp_path) == []
        assert report.files == 1 + left_behind + 1  # the journal, and what was shown
        assert (report.events, report.seq) == (1 + 100 + 4, db.stats().events)
        for each in (db, other):
            assert each.count("view", "a", "all") == before - erase * 50
            assert each.user("bob") == of_bob
            assert each.user(NAME) == msgspec.structs.replace(each.user("nobody"), user=NAME)
            assert each.check() == germane.CheckReport(True)
        assert len(other.retrieve("new", user="bob", cursor=cursor, limit=2).items) == 2
    assert traces(tmp_path) == []
    assert traces(tmp_path, "bob") != []


def test_event_ids_of_others_hold_and_those_of_the_user_are_free(tmp_path: Path) -> None:
    for erase in (False, True):
        folder = tmp_path / str(erase)
        with filled(folder) as db:
            db.forget(NAME, erase)
            assert db.signal("view", "b", user="bob", event_id="m1").duplicate
            assert db.signal("view", "c", user="eve", event_id="m2").duplicate
            with pytest.raises(Conflict):
                db.signal("view", "a", user="bob", event_id="m1")
            assert not db.signal("view", "f", user="carl", event_id=f"m0 {NAME}").duplicate
            assert db.signal("view", "f", user="carl", event_id=f"m0 {NAME}").duplicate
            assert db.check() == germane.CheckReport(True)


def test_who_comes_back_is_someone_new(tmp_path: Path) -> None:
    with filled(tmp_path) as db:
        db.forget(NAME)
        db.signal("view", "d", user=NAME)
        assert db.user(NAME).seen == 1
        assert db.check() == germane.CheckReport(True)
        assert db.forget(NAME).events == 1
        assert traces(tmp_path) == []


def test_a_check_tells_of_events_that_name_a_user_again(tmp_path: Path) -> None:
    with filled(tmp_path) as db:
        db.forget(NAME)
        seq = db.signal("view", "d", user=NAME).seq
        with db._journal.read() as connection:
            data = str(connection.execute("SELECT data FROM log WHERE type = 'forget'").get)
        assert "zaphod" not in data
        with db._journal.write() as writer:
            writer.append(msgspec.json.decode(data, type=ForgetUser))
        (finding,) = db.check().findings
        assert finding.detail == f"event {seq} names a user who was forgotten at event {seq + 1}"


def test_nothing_is_written_where_nothing_is_known(tmp_path: Path) -> None:
    with filled(tmp_path) as db:
        before = db.stats().events
        assert db.forget("carl") == ForgetReport(before)
        assert db.stats().events == before
        assert db.user("bob").signals == 101
    with germane.open(tmp_path, read_only=True) as db, pytest.raises(ReadOnly):
        db.forget(NAME)


@pytest.mark.parametrize(
    ("given_", "field"), [(("",), "user"), ((7,), "user"), (("ann", 1), "erase"), (("ann", None), "erase")]
)
def test_what_cannot_be_used_is_refused(given_: tuple[Any, ...], field: str) -> None:
    with germane.open() as db, pytest.raises(InvalidArgument) as caught:
        db.forget(*given_)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE log SET checksum = checksum + 1 WHERE seq = 4",
        "DELETE FROM log WHERE seq = 5",
        "UPDATE log SET data = replace(data, 'hide', 'mute') WHERE type = 'relate'",
    ],
)
def test_a_damaged_log_is_left_as_it_is(tmp_path: Path, damage: str) -> None:
    """Fails when the chain is computed anew without looking at the old one: then the damage is gone."""
    with filled(tmp_path) as db:
        with db._journal.write() as writer:
            writer.connection.execute(damage)
            writer.change()
        findings = db.check().findings
        with pytest.raises(Corruption, match="nobody was forgotten"):
            db.forget(NAME)
        assert db.check().findings == findings
        assert db.user(NAME).signals == 101


def test_a_reader_of_the_old_state_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.upkeep.WAIT", 0.2)
    with filled(tmp_path) as db, germane.open(tmp_path) as other:
        with other._journal.read() as connection:
            connection.execute("SELECT count(*) FROM log").fetchall()
            with pytest.raises(Busy, match="is being read as it was before"):
                db.forget(NAME)
            assert traces(tmp_path) != []
            assert db.user(NAME).signals == 0
            (finding,) = db.check().findings
            assert "bytes of a user who was forgotten may be left" in finding.detail
        assert db.forget(NAME).events == 0
        assert traces(tmp_path) == []
        assert db.check() == other.check() == germane.CheckReport(True)


def test_what_could_not_be_cleaned_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when forgetting another user leaves what was shown to the first."""
    monkeypatch.setattr("germane.upkeep.WAIT", 0.1)
    with filled(tmp_path) as db, germane.open(tmp_path) as other:
        with other._journal.read() as connection:
            connection.execute("SELECT count(*) FROM log").fetchall()
            with pytest.raises(Busy):
                db.forget(NAME)
        assert db.forget("carl") == ForgetReport(db.stats().events, files=1)
        assert traces(tmp_path) == []


def test_a_reader_that_ends_in_time_is_no_error(tmp_path: Path) -> None:
    with filled(tmp_path) as db, germane.open(tmp_path) as other:
        began, may_end = threading.Event(), threading.Event()

        def read() -> None:
            with other._journal.read() as connection:
                connection.execute("SELECT count(*) FROM log").fetchall()
                began.set()
                may_end.wait(5)

        thread = threading.Thread(target=read)
        thread.start()
        began.wait(5)
        threading.Timer(0.3, may_end.set).start()
        assert db.forget(NAME).events == 105
        thread.join()
        assert traces(tmp_path) == []
