"""Retention and forgetting: a session outlives the events that were replaced, and goes with its user."""

from __future__ import annotations

from pathlib import Path

import pytest

import germane
from germane import Item, NotFound, Policy, Schema, Signal

DAY = 86_400.0
SCHEMA = Schema(
    [Signal("reward", half_life="7d")],
    policies=[Policy("p", max_duration=None, learn=True, max_annotations=1)],
    retention="1d",
)


@pytest.mark.parametrize("in_base", [False, True])
def test_sessions_beyond_retention_and_of_a_forgotten_user(tmp_path: Path, in_base: bool) -> None:
    """Fails if a base lacks the rows of sessions, or keeps those of a user who was forgotten."""
    now = 1e9
    db = germane.open(tmp_path / "s", SCHEMA, clock=lambda: now)
    db.put_many(Item(id=id, title=id, creator="carl") for id in "abc")
    theirs = db.start_session(user="zoe-secret", agent="a", policy="p", metadata={"task": "hidden-task"})
    theirs.annotate("needle-word here")
    theirs.signal("reward", "a", 2.0)
    with pytest.raises(germane.PolicyViolation):
        theirs.annotate("again")
    others = db.start_session(user="other", agent="a", policy="p")
    others.signal("reward", "b")
    now += 5 * DAY
    db.put(Item(id="z", title="z"))
    if in_base:
        before = theirs.snapshot(), db.audit()
        assert db.gc(dry_run=False).events > 0
        assert (theirs.snapshot(), db.audit()) == before
    theirs.signal("reward", "c")
    assert theirs.snapshot().items.keys() == {"a", "c"}
    kept = others.snapshot()
    db.forget("zoe-secret")
    assert db.check().ok
    with pytest.raises(NotFound):
        db.session(theirs.id)
    assert db.search("z", session=theirs).degraded[0].code == "session_missing"
    assert {entry.session for entry in db.audit()} == {others.id}
    assert others.snapshot() == kept
    db.rebuild()
    assert others.snapshot() == kept
    db.close()
    for path in (tmp_path / "s").rglob("*"):
        held = path.read_bytes() if path.is_file() else b""
        for word in (b"zoe-secret", b"needle-word", b"hidden-task", theirs.id.encode()):
            assert word not in held, (path, word)
