"""Relations: what they are to, receipts and errors, and that they hold through everything."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest

import germane
from germane import InvalidArgument, Item, NotFound, to_plain


@pytest.fixture
def db() -> germane.Database:
    made = germane.open()
    made.put_many([Item(id=id, title="word", creator=creator) for id, creator in (("a", "x"), ("b", "y"))])
    return made


def found(db: germane.Database, user: str | None = "u") -> list[str]:
    return [result.id for result in db.search("word", user=user).items]


def test_a_receipt_says_whether_anything_changed(db: germane.Database) -> None:
    first = db.relate("u", "hide", "a")
    assert (first.id, first.rev, first.changed, first.duplicate) == ("a", db.get("a").rev, True, False)
    again = db.relate("u", "hide", "a")
    assert (again.seq, again.changed) == (first.seq, False)
    assert db.relate("u", "follow", "x").rev is None
    undone = db.unrelate("u", "hide", "a")
    assert (undone.seq, undone.changed) == (first.seq + 2, True)
    assert db.unrelate("u", "hide", "a").changed is False
    assert db.stats().events == undone.seq


def test_what_a_relation_is_to(db: germane.Database) -> None:
    for relation in ("save", "hide"):
        with pytest.raises(NotFound, match=f"there is no item 'x' to {relation}"):
            db.relate("u", relation, "x")
        db.relate("u", relation, "a")
    for relation in ("follow", "block", "mute"):
        assert db.relate("u", relation, "nobody yet").changed
    db.put(Item(id="c", title="word", creator="nobody yet"))
    assert found(db) == ["b"]
    assert [result.id for result in db.search("word", user="u", where="following").items] == []
    db.unrelate("u", "block", "nobody yet")
    assert found(db) == ["b", "c"]


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        (
            ("u", "like", "a"),
            "relation",
            "relation: 'like' is no relation: there are follow (a creator), save (an item), "
            "mute (an item or a creator), hide (an item), block (a creator)",
        ),
        (("u", 1, "a"), "relation", "relation: 1 is no relation: there are follow (a creator), "),
        (("", "hide", "a"), "user", "user: is empty"),
        ((None, "hide", "a"), "user", "user: must be a string, not NoneType"),
        (("u", "hide", "a\n"), "target", "target: holds a control character at 1"),
    ],
)
def test_errors_name_the_field(
    db: germane.Database, arguments: tuple[Any, ...], field: str, message: str
) -> None:
    before = db.stats().events
    for call in (db.relate, db.unrelate):
        with pytest.raises(InvalidArgument) as caught:
            call(*cast("Any", arguments))
        assert caught.value.field == field
        assert caught.value.message.startswith(message)
    assert db.stats().events == before


def test_a_read_only_store_takes_none(tmp_path: Path) -> None:
    germane.open(tmp_path / "store").close()
    with germane.open(tmp_path / "store", read_only=True) as db, pytest.raises(germane.ReadOnly):
        db.relate("u", "follow", "x")


def test_a_deleted_item_gets_its_relations_back(db: germane.Database) -> None:
    """Fails if relations go with an item, or its state lists what is not there."""
    for relation in ("save", "hide"):
        db.relate("u", relation, "a")
    db.signal("view", "a", user="u")
    db.delete("a")
    assert db.user("u").relations["hide"] == db.user("u").relations["save"] == ()
    assert (db.user("u").seen, db.user("u").signals) == (0, 1)
    with pytest.raises(NotFound):
        db.relate("v", "save", "a")
    db.put(Item(id="a", title="word again"))
    assert db.user("u").relations["hide"] == db.user("u").relations["save"] == ("a",)
    assert found(db) == ["b"]
    assert db.user("u").seen == 1
    db.delete("a")
    assert db.unrelate("u", "hide", "a").changed
    db.put(Item(id="a", title="word"))
    assert found(db) == ["a", "b"]


def test_state_of_a_user(db: germane.Database) -> None:
    for relation, target in (("follow", "y"), ("follow", "x"), ("save", "b"), ("block", "z")):
        db.relate("u", relation, target)
    db.signal_many({"name": ["view"] * 3, "item": ["a", "a", "b"], "user": ["u", "u", "v"]})
    state = to_plain(db.user("u"))
    assert state.pop("affinities") == pytest.approx({"x": 0.2})
    assert state == {
        "user": "u",
        "relations": {"follow": ["y", "x"], "save": ["b"], "mute": [], "hide": [], "block": ["z"]},
        "seen": 1,
        "signals": 2,
        "preference": None,
        "sessions": [],
    }
    with pytest.raises(TypeError):
        db.user("u").relations["follow"] = ()  # type: ignore[index]
    stranger = db.user("never heard of")
    assert (stranger.seen, stranger.signals, set(stranger.relations.values())) == (0, 0, {()})
    with pytest.raises(InvalidArgument, match="user: is empty"):
        db.user("")


def test_the_past_has_its_own(db: germane.Database) -> None:
    """Fails if a query as of then asks the relations, or what was seen, of now."""
    before = db.stats().events
    hidden = db.relate("u", "hide", "a").seq
    seen = db.signal("view", "b", user="u").seq
    db.unrelate("u", "hide", "a")
    for as_of, where, expected in (
        (before, None, ["a", "b"]),
        (hidden, None, ["b"]),
        (hidden, "unseen", ["b"]),
        (seen, "unseen", []),
        (seen + 1, "unseen", ["a"]),
    ):
        page = db.search("word", user="u", as_of=as_of, where=where)
        assert [result.id for result in page.items] == expected
        page = db.retrieve("old", user="u", as_of=as_of, where=where)
        assert sorted(result.id for result in page.items) == expected


CHILD = """
import germane, sys
from people.test_relations import steps
db = germane.open(sys.argv[1])
for undone, relation, target in steps():
    (db.unrelate if undone else db.relate)("u", relation, target)
    print("done", flush=True)
"""


def steps() -> Iterator[tuple[bool, str, str]]:
    """Yield what a process does until it is killed: whether to undo, the relation, the target."""
    for number in range(10_000):
        yield False, ("hide", "mute")[number % 2], f"i{number % 50}"
        if number % 3:
            yield True, ("hide", "mute")[number % 2], f"i{(number + 7) % 50}"


def after(stands: set[tuple[str, str]], count: int) -> set[tuple[str, str]]:
    stands = set(stands)
    for undone, relation, target in islice(steps(), count):
        (stands.discard if undone else stands.add)((relation, target))
    return stands


def test_nothing_hidden_comes_back_when_a_process_is_killed(tmp_path: Path) -> None:
    """Fails if a relation is acknowledged before it is committed, or its event and its row are apart."""
    folder = tmp_path / "store"
    stands: set[tuple[str, str]] = set()
    with germane.open(folder) as watching:
        watching.put_many([Item(id=f"i{number}", title="word") for number in range(50)])
        for least in (1, 40, 171):
            process = subprocess.Popen(
                [sys.executable, "-c", CHILD, str(folder)],
                stdout=subprocess.PIPE,
                text=True,
                cwd=Path(__file__).parent.parent,
            )
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(least)]
            process.kill()
            lines += process.stdout.readlines()
            assert process.wait() == -signal.SIGKILL
            acknowledged = lines.count("done\n")
            assert acknowledged >= least
            relations = watching.user("u").relations
            found = {(relation, target) for relation in ("hide", "mute") for target in relations[relation]}
            # One more may have been committed, and not told.
            assert found in (after(stands, acknowledged), after(stands, acknowledged + 1))
            stands = found
            page = watching.search("word", user="u", limit=1000)
            ids = [result.id for result in page.items]
            assert set(ids) == {f"i{n}" for n in range(50)} - {id for what, id in stands if what == "hide"}
            are_muted = [("mute", id) in stands for id in ids]
            assert are_muted == sorted(are_muted)
        assert watching.check().ok
        before = watching.user("u")
        watching.rebuild()
        assert watching.user("u") == before
    shutil.rmtree(folder / "views", ignore_errors=True)
    with germane.open(folder) as again:
        assert again.user("u") == before
