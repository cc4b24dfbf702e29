"""A sweep that is early, late or never there gives the same values: ends are functions of time."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import Database, Item, Policy, Schema, Signal

SCHEMA = Schema(
    [Signal("reward", half_life="1h"), Signal("skip", half_life="30m", polarity=-1)],
    policies=[
        Policy("short", max_duration="10m", retention="20m", learn=True),
        Policy("brief", max_duration="5m", retention="1h", max_signals=2),
        Policy("long", max_duration=None, retention="15m"),
    ],
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "signal", "annotate", "close", "wait"]),
        st.integers(0, 3),
        st.integers(1, 900),
    ),
    min_size=1,
    max_size=14,
)  # fmt: skip


def told(db: Database, ids: list[str]) -> Any:
    """All that anyone can ask of the sessions."""
    return (
        [db.session(id).snapshot() for id in ids],
        [(each.at, each.session, each.action, each.accepted, each.cause, each.count) for each in db.audit()],
        db.user("ann").affinities.keys(),
        [[degraded.code for degraded in db.search("lamp", session=id).degraded] for id in ids],
        [[result.contributions for result in db.retrieve("new", session=id).items] for id in ids],
    )


@settings(deadline=None)
@given(STEPS)
def test_early_late_or_never(steps: list[tuple[str, int, int]]) -> None:
    """Fails if anything is told of a session by what was swept, and not by the time.

    One store sweeps before every question, since something is written to it; the other one never does but
    when a step itself writes. Both are asked at the same times.
    """
    now = 1e9
    stores = [germane.open(schema=SCHEMA, clock=lambda: now) for _ in range(2)]
    for db in stores:
        db.put(Item(id="a", title="lamp", creator="carl", created_at=1e8))
    names: list[list[str]] = [[], []]
    for action, which, seconds in steps:
        now += seconds
        stores[0].relate("sweeper", "follow", f"at {now}")
        for db, ids in zip(stores, names, strict=True):
            try:
                if action == "start":
                    policy = ("short", "brief", "long", "default")[which]
                    ids.append(db.start_session(user="ann", agent="a", policy=policy).id)
                elif ids and action != "wait":
                    session = db.session(ids[which % len(ids)])
                    if action == "signal":
                        session.signal("reward" if seconds % 2 else "skip", "a", float(seconds))
                    elif action == "annotate":
                        session.annotate(f"lamp {seconds}")
                    else:
                        session.close()
            except (germane.PolicyViolation, germane.SessionClosed):
                pass
        known = dict(zip(names[1], names[0], strict=True))
        ours, theirs = (told(db, ids) for db, ids in zip(stores, names, strict=True))
        assert str(ours) == _renamed(str(theirs), known)
    for db in stores:
        assert db.check().ok


def _renamed(text: str, known: dict[str, str]) -> str:
    for theirs, ours in known.items():
        text = text.replace(theirs, ours)
    return text
