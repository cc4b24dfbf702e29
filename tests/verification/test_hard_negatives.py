"""What a user hid, and what creators made that they blocked, is never returned to them, by any query."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.model.builtin import NAMES

from . import hard_negatives
from .hard_negatives import (
    CREATORS,
    ITEMS,
    PROFILES,
    SCHEMA,
    SOME,
    USER,
    WHOLE,
    WORKERS,
    Feeds,
    Known,
    Step,
    check,
    do,
    encoded,
    look,
    step,
)

LIVES, STEPS = 3, 3


class Other:
    """Another process that does a step when it is told to, and asks everything after it."""

    def __init__(self, path: Path, seed: int, known: Known) -> None:
        name = f"{hard_negatives.__package__}.hard_negatives"
        self.process = subprocess.Popen(
            [sys.executable, "-m", name, str(path), WORKERS[1], str(seed), encoded(known)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )

    def begin(self, cursors: list[str]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(cursors)}\n")
        self.process.stdin.flush()

    def said(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the other process failed"
        return json.loads(line)

    def killed(self) -> list[Any]:
        """Kill it, and return what it said until then, without what it did not come to say."""
        assert self.process.stdout is not None
        self.process.kill()
        rest = [json.loads(line) for line in self.process.stdout if line.endswith("\n")]
        self.process.communicate()
        return rest


def stands(db: germane.Database, known: Known) -> Known:
    """Return what stands in a store, by what it says of the user and of each item."""
    creators, live = dict(known.creators), set()
    for id in ITEMS:
        try:
            creators[id] = db.get(id).creator
            live.add(id)
        except germane.NotFound:
            continue
    relations = db.user(USER).relations
    listed = {(relation, target) for relation, targets in relations.items() for target in targets}
    # What is hidden and not live is not listed, and hidden again as soon as it is put.
    gone = {(relation, target) for relation, target in known.relations if relation == "hide"}
    return Known(
        creators, frozenset(live), frozenset(listed | {each for each in gone if each[1] not in live})
    )


@pytest.mark.parametrize("seed", range(2))
def test_hidden_and_blocked_are_never_returned(tmp_path: Path, seed: int) -> None:
    """Two processes change what a user wants to see, one of them is killed again and again.

    After each acknowledged step every kind of query, in both processes, returns nothing that stands hidden or
    blocked, and all of the rest where it returns everything: what was undone is back. A step in which a
    process was killed stands or does not.

    Fails when ``retrieve`` or a search, or a search with a profile alone, leaves hard negatives among its
    candidates, when the pages of a feed that was begun before do not look at them again, or not at those of
    its user, when what is hidden is kept past the relations, when blocking a creator does nothing, and when
    ``explain`` does not name the reason.
    """
    dice = random.Random(seed)
    known, feeds = Known(), Feeds()
    with germane.open(tmp_path / "store", SCHEMA) as db:
        for number, id in enumerate(ITEMS):
            known = took(db, ("put", id, CREATORS[number % len(CREATORS)], str(number)), known)
        for life in range(LIVES):
            other = Other(tmp_path / "store", 100 * seed + life, known)
            cursors: list[str] = []
            for _ in range(STEPS):
                known = took(db, step(WORKERS[0], dice, known), known)
                check(look(db, feeds, []), known)
                other.begin(feeds.last)
                do(db, ("signal", "view", ITEMS[0]) if ITEMS[0] in known.live else ("rebuild",))  # meanwhile
                made, done, found = tuple(other.said()), other.said(), other.said()
                assert done == "done"
                known = known.after(made)
                check(found, known)
                check(look(db, feeds, cursors), known)
            other.begin(feeds.last)
            time.sleep(dice.choice([0.0, 0.001, 0.003, 0.01, 0.05]))
            rest = other.killed()
            known = after_a_kill(db, rest, known)
            check(look(db, feeds, []), known)
        assert db.check().ok
        db.rebuild()
        check(look(db, feeds, []), known)
    with germane.open(tmp_path / "store") as again:
        check(look(again, feeds, []), known)


def took(db: germane.Database, made: Step, known: Known) -> Known:
    do(db, made)
    return known.after(made)


def after_a_kill(db: germane.Database, rest: list[Any], known: Known) -> Known:
    """Return what stands: what was acknowledged, or what was begun and may stand."""
    after = known.after(tuple(rest[0])) if rest else known
    found = stands(db, after)
    assert found in ([after] if "done" in rest else [known, after])
    return found


def test_every_built_in_profile_is_asked() -> None:
    """Fails when a profile is built in that the queries above leave out."""
    asked = {name.partition(":")[0] for name in (*WHOLE, *SOME)} | {"related", "search"}
    assert asked == {*NAMES, *(profile.name for profile in PROFILES)}
