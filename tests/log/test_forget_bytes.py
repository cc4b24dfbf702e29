"""Forgetting, in the bytes of the log: free pages, times and hashes say nothing of who was forgotten."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

import germane
from germane import Item, Schema, Signal
from germane.log.events import ForgetUser
from support.forgotten import NAME, clock, filled, traces

DAY = 86_400.0


@pytest.mark.parametrize("erase", [False, True])
def test_nothing_is_left_where_whole_pages_come_free(tmp_path: Path, erase: bool) -> None:
    """Fails when `scrub` leaves out its VACUUM: the name stays in pages that are free."""
    with filled(tmp_path) as db:
        for n in range(400):
            event_id = f"{n} {NAME} ".ljust(190, "x") if n % 4 else None
            user = "bob" if n % 8 == 0 else NAME
            db.signal("view", "abcdef"[n % 6], user=user, event_id=event_id, page=f"of {user}", position=n)
        for n in range(40):
            target = f"{n} ".ljust(190, "y")
            db.relate(NAME, "follow", target)
            db.unrelate(NAME, "follow", target)
    with germane.open(tmp_path, clock=clock) as db:
        # The rows lie in the file itself, not only in the log beside it.
        assert "journal.sqlite" in traces(tmp_path)
        assert db.forget(NAME, erase).events > 400
        assert traces(tmp_path) == []
        assert db.check() == germane.CheckReport(True)
    assert traces(tmp_path) == []
    assert "journal.sqlite" in traces(tmp_path, "bob")


def test_when_an_event_was_that_is_gone_is_not_told() -> None:
    """Fails when an erased event keeps its time: when something was done says something of who did it."""
    now = clock()
    with germane.open(schema=Schema([Signal("view")]), clock=lambda: now) as db:
        db.put(Item(id="a", title="a"))
        ago = clock() - 5 * DAY
        gone = db.signal("view", "a", user=NAME, at=ago).seq
        kept = db.signal("view", "a", user="bob", at=ago).seq
        now += 60
        db.forget(NAME, erase=True)
        with db._journal.read() as connection:
            told = list(
                connection.execute(
                    "SELECT seq, type, at, recorded_at FROM log WHERE seq IN (?, ?) ORDER BY seq",
                    (gone, kept),
                )
            )
        recorded, before = int(clock() * 1e6), int(ago * 1e6)
        assert told == [(gone, "forgotten", recorded, recorded), (kept, "signal", before, recorded)]
        assert db.check() == germane.CheckReport(True)


def test_the_hash_of_who_was_forgotten_takes_the_secret_of_the_store() -> None:
    """Fails when the hash is made without its key: then whoever tries names finds the user."""
    told = []
    for _ in range(2):
        with germane.open(schema=Schema([Signal("view")])) as db:
            db.put(Item(id="a", title="a"))
            db.signal("view", "a", user=NAME)
            db.forget(NAME)
            with db._journal.read() as connection:
                data = connection.execute("SELECT data FROM log WHERE type = 'forget'").get
            told.append(msgspec.json.decode(data, type=ForgetUser).who)
    without_key = hashlib.blake2b(NAME.encode(), digest_size=16).hexdigest()
    assert len({*told, without_key}) == 3
    assert {len(who) for who in told} == {len(without_key)}
