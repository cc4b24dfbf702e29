"""A story: anything that can happen to a store, and all that it answers, to be compared bit for bit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st

import germane
from germane import Item, NotFound, Schema, SearchWeights, Signal

START = 1_700_000_000.0
IDS = "abcdef"
USERS = ("u0", "u1", "u2")
PROFILES = ("most_viewed", "hot", "trending", "shuffle")
SCHEMAS = (
    Schema([Signal("view", half_life="1h"), Signal("like")], unknown_items="accept"),
    Schema([Signal("view", half_life="2h", windows=("24h", "all"))], lang="german", unknown_items="accept"),
)
QUERIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("lamp lights", {"weights": SearchWeights(freshness=0.7, half_life_days=0.1)}),
    ("häuser lamp", {"where": "meta.n > 2 or document = 'd1'", "explain": True}),
    ("red +lamp doc:d0", {}),
)


def when(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def remembered(page: germane.Page) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(page)
    return {name: value for name, value in data.items() if name not in ("id", "took_ms")}


def answers(db: germane.Database, as_of: int | datetime | None = None) -> list[Any]:
    """Return what is said of texts, and every reading of every item, at one moment."""
    pages = [remembered(db.search(text, as_of=as_of, **more)) for text, more in QUERIES]
    pages += [remembered(db.retrieve(profile, as_of=as_of, seed=1)) for profile in PROFILES]
    best = db.top("lamp", as_of=as_of)
    readings: dict[tuple[str, str], Any] = {}
    with db._moments.at(as_of) as moment:
        known = dict(moment.connection.execute("SELECT id, ordinal FROM item"))
        ordinals = np.array([int(known.get(id, 99)) for id in IDS])
        with moment.ledgers() as (ledgers, now):
            for signal in ledgers.signals:
                ledger = ledgers[signal.name]
                readings[signal.name, ""] = ledger.decayed_scores(ordinals, now).tobytes()
                for window in signal.windows:
                    readings[signal.name, window] = ledger.counts(ordinals, window, now).tolist()
        with moment.views.people.at(moment.connection) as seen:
            for user in USERS:
                readings[user, ""] = seen.items(user, moment.now).tolist(), seen.signals(user)
        related = list(moment.connection.execute("SELECT * FROM relation"))
    return [pages, best, readings, related]


ids = st.sampled_from(IDS)
words = st.lists(st.sampled_from("lamp lamps light lights red blue häuser haus".split()), max_size=5)
steps = st.one_of(
    st.tuples(st.just("put"), ids, words.map(" ".join), st.integers(0, 5)),
    st.tuples(st.just("update"), ids, st.integers(0, 5)),
    st.tuples(st.just("delete"), ids),
    st.tuples(st.just("document"), st.sampled_from(["d0", "d1"]), st.lists(ids, unique=True, max_size=3)),
    st.tuples(st.just("undocument"), st.sampled_from(["d0", "d1"])),
    st.tuples(st.just("signal"), ids, st.integers(-7_200, 290), st.floats(-3, 3)),
    st.tuples(st.just("many"), st.lists(ids, min_size=1, max_size=4), st.integers(-90_000, 290)),
    st.tuples(st.just("relate"), st.sampled_from(["save", "hide"]), ids, st.booleans()),
    st.tuples(st.just("schema"), st.integers(0, 1)),
)
history = st.lists(st.tuples(steps, st.sampled_from([0.5, 61.0, 3_000.0, 40_000.0])), min_size=1, max_size=14)


class Story:
    """A store to which things happen, and its clock."""

    def __init__(self, path: Path | None = None, schema: Schema = SCHEMAS[0]) -> None:
        self.now = START
        self.db = germane.open(path, schema, clock=lambda: self.now)

    def do(self, step: tuple[Any, ...]) -> None:
        kind, *told = step
        getattr(self, kind)(*told)

    def put(self, id: str, body: str, n: int) -> None:
        self.db.put(Item(id=id, title="Lamp", body=body, metadata={"n": n}, creator="ann"))

    def update(self, id: str, n: int) -> None:
        try:
            self.db.update(id, metadata={"n": n}, tags=[f"t{n}"])
        except NotFound:
            assert id not in self.live()

    def delete(self, id: str) -> None:
        self.db.delete(id)

    def document(self, docid: str, listed: list[str]) -> None:
        sections = [Item(id=id, title="Lamp", body=f"light of {docid}") for id in listed]
        self.db.put_document(docid, title=docid, sections=sections)

    def undocument(self, docid: str) -> None:
        self.db.delete_document(docid)

    def signal(self, id: str, ahead: int, weight: float) -> None:
        self.many([id], ahead, weight)

    def many(self, listed: list[str], ahead: int, weight: float = 1.0) -> None:
        rows: list[dict[str, Any]] = [
            {
                "name": "view",
                "item": id,
                "at": self.now + ahead,
                "weight": weight,
                "user": f"u{len(listed) % 3}",
            }
            for id in listed
        ]
        try:
            if len(rows) == 1:
                self.db.signal(**rows[0])
            else:
                self.db.signal_many(rows)
        except NotFound:
            assert not set(listed) <= self.live()

    def relate(self, relation: str, id: str, does: bool) -> None:
        try:
            (self.db.relate if does else self.db.unrelate)("u1", relation, id)
        except NotFound:
            assert id not in self.live()

    def schema(self, which: int) -> None:
        self.db._declare(SCHEMAS[which])

    def live(self) -> set[str]:
        with self.db._journal.read() as connection:
            return {str(id) for (id,) in connection.execute("SELECT id FROM item WHERE live = 1")}
