"""Any sequence of writes, on two database objects of one folder, gives what a rebuild and the oracle give.

After each step the pages and statistics of both objects are compared with each other, with a store that was
folded anew from the log, and with the oracle over plain dictionaries. HYPOTHESIS_PROFILE=deep looks longer.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.writers import bits
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import germane
from germane import Schema, SearchWeights
from germane.log.fold import refold
from germane.model.times import to_datetime
from germane.text import view
from germane.text.view import TextView
from oracle.search import Oracle
from support.expected import Content, Expected, Labels, item

IS_DEEP = settings.default is not None and settings.default.max_examples > 1_000
WORDS = "river rivers running run the and stone häuser haus der maison maisons la fox foxes v2".split()
LANGUAGES = ["german", "french", "english"]
POOL = [f"i{n}" for n in range(6)]

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
prose = st.lists(words, max_size=3).map("\n\n".join)
fenced = st.builds("{}\n\n```\n{}\n```\n\n{}".format, words, words, words)
contents = st.builds(
    Content,
    title=st.none() | words,
    body=prose | fenced,
    type=st.sampled_from(["text/markdown", "text/markdown", "text/plain", "text/x-python", "image/png"]),
    lang=st.none() | st.sampled_from(LANGUAGES),
    description=st.none() | words,
).filter(lambda content: content.type == "text/markdown" or "```" not in content.body)
labels = st.builds(
    Labels,
    tags=st.lists(st.sampled_from(["red", "blue"]), unique=True).map(tuple),
    collection=st.sampled_from(["main", "main", "other"]),
)
ids = st.sampled_from(POOL)
whole = st.tuples(ids, contents)
both = st.sampled_from([0, 1])
sections = st.lists(st.tuples(words, words | st.just("") | fenced), max_size=3)

QUERIES: list[tuple[str, dict[str, Any]]] = [
    ("river running", {}),
    ("the fox haus", {"match": "all"}),
    ("maisons stone", {"collections": ["other"]}),
    ("tag:red", {}),
    ('river -haus "stone fox"', {}),
    ("v2 run +foxes", {"match": "all", "lang": "english"}),
    ("doc:doc0 river", {}),
    ("title:haus code:run der", {"collections": ["main", "other"]}),
]
FRESH: dict[str, Any] = {"freshness": 0.7, "half_life_days": 2.0, "proximity": 0.4}


@pytest.fixture(autouse=True, scope="module")
def small_is_large() -> Iterator[None]:
    """Let few items make many segments, and checkpoints worth their while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextView, "worth_saving", 2)
        patch.setattr(view, "ROWS", 3)
        yield


class Stores(RuleBasedStateMachine):
    """Two objects of one folder, and what they must hold."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        self.now = 1_000_000.0
        self.expected = Expected()
        self.dbs = [self.open(), self.open()]

    def open(self, schema: Schema | None = None) -> germane.Database:
        return germane.open(self.folder / "store", schema, clock=lambda: self.now)

    def teardown(self) -> None:
        if not hasattr(self, "dbs"):
            return
        first, second = self.dbs
        assert first.check() == germane.CheckReport(True)
        seen = bits(first)
        for db in (first, second, first):
            db.rebuild()
            assert bits(first) == bits(second) == seen
        for db in self.dbs:
            db.close()
        shutil.rmtree(self.folder)

    def tick(self) -> float:
        self.now += 3_600.5
        return self.now

    @rule(which=both, id=ids, content=contents, label=labels)
    def put(self, which: int, id: str, content: Content, label: Labels) -> None:
        now = self.tick()
        assert self.dbs[which].put(item(id, content, label)) == id
        self.expected.put(id, content, label, now)

    @rule(which=both, batch=st.lists(whole, max_size=5), label=labels)
    def put_many(self, which: int, batch: list[tuple[str, Content]], label: Labels) -> None:
        now = self.tick()
        self.dbs[which].put_many([item(id, content, label) for id, content in batch])
        for id, content in batch:
            self.expected.put(id, content, label, now)

    @rule(which=both, at=st.integers(0, 20), label=labels, days=st.none() | st.integers(0, 9))
    def update(self, which: int, at: int, label: Labels, days: int | None) -> None:
        self.tick()
        id = self._any(at)
        changes: dict[str, Any] = {"tags": label.tags, "collection": label.collection}
        if days is not None:
            changes["created_at"] = days * 86_400.0
        if not self.expected.is_live(id):
            with pytest.raises(germane.NotFound):
                self.dbs[which].update(id, **changes)
            return
        self.dbs[which].update(id, **changes)
        was = self.expected.items[id]
        created_at = was.created_at if days is None else days * 86_400.0
        self.expected.items[id] = type(was)(was.content, label, created_at)

    @rule(which=both, at=st.integers(0, 20))
    def delete(self, which: int, at: int) -> None:
        self.tick()
        id = self._any(at)
        assert self.dbs[which].delete(id).changed == self.expected.is_live(id)
        if id in self.expected.items:
            self.expected.retire([id])

    @rule(
        which=both,
        docid=st.sampled_from(["doc0", "doc1"]),
        told=st.lists(whole, max_size=4, unique_by=lambda pair: pair[0]),
        label=labels,
    )
    def put_document(self, which: int, docid: str, told: list[tuple[str, Content]], label: Labels) -> None:
        now, before = self.tick(), self._events()
        listed = [item(id, content, label) for id, content in told]
        assert self.dbs[which].put_document(docid, title=docid, sections=listed) == docid
        if self._events() != before:
            self.expected.put_document(docid, told, label, self._events(), now)

    @rule(which=both, docid=st.sampled_from(["doc0", "doc1", "text0", "tree/f0.md"]))
    def delete_document(self, which: int, docid: str) -> None:
        self.tick()
        is_there = docid in self.expected.documents
        assert self.dbs[which].delete_document(docid).changed == is_there
        if is_there:
            self.expected.delete_document(docid)

    @rule(which=both, docid=st.sampled_from(["text0", "text1"]), told=sections, label=labels)
    def learn_text(self, which: int, docid: str, told: list[tuple[str, str]], label: Labels) -> None:
        now = self.tick()
        self.dbs[which].learn_text(_markdown(told), docid=docid, tags=label.tags, collection=label.collection)
        self._take_in(docid, told, label, now)

    @rule(which=both, files=st.dictionaries(st.sampled_from(["f0", "f1", "f2"]), sections), label=labels)
    def learn(self, which: int, files: dict[str, list[tuple[str, str]]], label: Labels) -> None:
        now = self.tick()
        for path in self.tree.iterdir():
            path.unlink()
        for name, told in files.items():
            (self.tree / f"{name}.md").write_text(_markdown(told), encoding="utf-8")
        report = self.dbs[which].learn(self.tree, tags=label.tags, collection=label.collection)
        assert report.errors == ()
        for name, told in files.items():
            self._take_in(f"tree/{name}.md", told, label, now)
        for docid in [docid for docid in self.expected.documents if docid.startswith("tree/")]:
            if docid.removeprefix("tree/").removesuffix(".md") not in files:
                self.expected.delete_document(docid)

    @rule(which=both)
    def reopen(self, which: int) -> None:
        self.dbs[which].close()
        self.dbs[which] = self.open()

    @rule(which=both)
    def rebuild(self, which: int) -> None:
        assert self.dbs[which].rebuild() == self._events()

    @precondition(lambda self: len(self.expected.items) > 3)
    @rule(lang=st.sampled_from(LANGUAGES))
    def declare(self, lang: str) -> None:
        self.tick()
        self.open(Schema(lang=lang)).close()
        self.expected.lang = lang

    @rule(
        text=st.lists(
            st.builds(
                "{}{}".format, st.sampled_from(["", "", "", "+", "-", "title:"]), st.sampled_from(WORDS)
            ),
            min_size=1,
            max_size=4,
        ).map(" ".join),
        match=st.sampled_from(["any", "all"]),
        collections=st.none() | st.lists(st.sampled_from(["main", "other", "none"]), unique=True),
    )
    def search(self, text: str, match: str, collections: list[str] | None) -> None:
        self._compare(
            self._all(), Oracle(self.expected.sections()), text, match=match, collections=collections
        )

    @invariant()
    def everything_agrees(self) -> None:
        if not hasattr(self, "dbs"):
            return
        stores = self._all()
        oracle = Oracle(self.expected.sections())
        self._compare_statistics(stores, oracle)
        for text, how in QUERIES:
            self._compare(stores, oracle, text, **how)

    def _all(self) -> list[germane.Database]:
        return [*self.dbs, _rebuilt(self.dbs[0], self.now)]

    def _compare(self, stores: list[germane.Database], oracle: Oracle, text: str, **how: Any) -> None:
        weights = SearchWeights(**FRESH)
        first, *others = [_page(db, text, weights=weights, limit=1000, **how) for db in stores]
        for other in others:
            assert other == first
        total, loosened, found = first
        answer = oracle.search(text, now=self.now, **FRESH, **how)
        assert (total, loosened) == (answer.total, answer.loosened)
        by_id = {hit.id: hit for hit in answer.hits}
        assert {id for id, *_ in found} == set(by_id)
        assert len(found) == len(by_id)
        for (id, score, contributions, matched), hit in zip(found, answer.hits, strict=True):
            # Equal scores may differ in their last bit, and so stand in another order.
            assert score == pytest.approx(hit.score, rel=1e-9)
            assert contributions == pytest.approx(dict(by_id[id].contributions), rel=1e-9, abs=1e-12)
            assert list(matched) == by_id[id].matched
        assert found == sorted(found, key=lambda result: (-result[1], result[0]))
        for offset, limit in ((0, 1), (1, 2), (3, 50)):
            page = _page(stores[offset % 2], text, weights=weights, offset=offset, limit=limit, **how)
            assert page == (total, loosened, found[offset : offset + limit])

    def _compare_statistics(self, stores: list[germane.Database], oracle: Oracle) -> None:
        first, *others = [msgspec.structs.replace(db.stats(), bytes=0) for db in stores]
        for other in others:
            assert other == first
        statistics = oracle.statistics()
        assert (first.total_sections, first.total_terms, first.total_tokens) == (
            statistics.N,
            statistics.total_terms,
            statistics.total_tokens,
        )
        assert first.avg_section_length == pytest.approx(statistics.mean_length, rel=1e-12)
        for name, mean in statistics.avgdl.items():
            assert getattr(first, f"avg_{name}_length") == pytest.approx(mean, rel=1e-12)
        assert first.items == sum(known.live for known in self.expected.items.values())
        assert first.documents == len(self.expected.documents)
        assert first.lang == self.expected.lang

    def _take_in(self, docid: str, told: list[tuple[str, str]], label: Labels, now: float) -> None:
        """Take in what was learned of a document, under the ids that its sections were given."""
        try:
            document = self.dbs[0].document(docid)
        except germane.NotFound:
            assert docid not in self.expected.documents
            assert not told, "a document with sections was not learned"
            return
        before = self.expected.documents.get(docid)
        if before is not None and before.seq == document.seq:
            return
        wanted = [Content(heading, body) for heading, body in told]
        found = [place.id for place in document.sections]
        assert len(found) == len(set(found)) == len(wanted)
        for id, content in zip(found, wanted, strict=True):
            learned = self.dbs[1].get(id)
            assert (learned.title, learned.body) == (content.title, content.body)
        self.expected.learn(docid, list(zip(found, wanted, strict=True)), label, document.seq, now)

    def _any(self, at: int) -> str:
        known = sorted({*self.expected.items, *POOL})
        return known[at % len(known)]

    def _events(self) -> int:
        return self.dbs[0].stats().events


def _page(db: germane.Database, text: str, **how: Any) -> tuple[int, bool, list[tuple[Any, ...]]]:
    page = db.search(text, **how)
    return (
        page.total,
        page.loosened,
        [(r.id, r.score, r.contributions, r.matched_terms) for r in page.items],
    )


def _rebuilt(db: germane.Database, now: float) -> germane.Database:
    """Return a store in memory, folded anew from another's log."""
    made = germane.open(clock=lambda: now)
    with db._journal.read() as source, made._journal.write() as writer:
        for table, places in (("log", 6), ("content", 6)):
            writer.connection.execute(f"DELETE FROM {table}")
            writer.connection.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * places)})",
                source.execute(f"SELECT * FROM {table}"),
            )
        refold(writer.connection, writer.connection)
        writer.change()
    return made


def _markdown(told: list[tuple[str, str]]) -> str:
    return "".join(f"## {heading}\n\n{body}\n\n" for heading, body in told)


TestStores = Stores.TestCase
TestStores.settings = settings(
    max_examples=1_000 if IS_DEEP else 15, stateful_step_count=40 if IS_DEEP else 12, deadline=None
)


def test_times_of_the_model_are_those_of_the_store() -> None:
    """The oracle takes seconds: what the model keeps must be exactly what the store keeps."""
    with germane.open(clock=lambda: 1_003_600.5) as db:
        db.put(germane.Item(id="a", body="word"))
        assert db.get("a").created_at == to_datetime(1_003_600_500_000)
