"""Writes that can be foretold: what a writer does next follows from its seed and from what it has done.

A writer owns the ids that begin with its name. Whoever knows how many of its steps were acknowledged knows
what the store must hold of it, and whoever reads the store can tell whether that is so.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import germane

SHARED = "shared"
"""An item that every writer updates, each under a metadata key of its own."""
POOL = 400
"""Ids that one writer uses again and again."""
WORDS = "river stone cloud ember field lantern harbor meadow copper willow frost anchor violet signal".split()
KINDS = {
    "put": 30, "update": 20, "delete": 8, "put_many": 8, "document": 8, "delete_document": 2, "text": 6,
    "learn": 4, "tally": 7, "pulse": 7,
}  # fmt: skip

_IN_LETTERS = str.maketrans("0123456789", "bcfghjkmnp")
"""Digits as consonants: a word that is no compound and has no stem but itself."""

Sections = tuple[tuple[str | None, str], ...]
"""Title and body of each section of a document."""


class Facts(NamedTuple):
    """What is compared of an item."""

    title: str | None
    body: str
    tags: tuple[str, ...]
    version: int


@dataclass(frozen=True)
class Holding:
    """What a store holds of one writer.

    Parameters
    ----------
    items : mapping
        Items outside of documents, by id.
    documents : mapping
        Sections by docid.
    tally, pulse : int
        Last step that changed the shared item, and the writer's own pulse.
    """

    items: Mapping[str, Facts] = field(default_factory=dict)
    documents: Mapping[str, Sections] = field(default_factory=dict)
    tally: int = 0
    pulse: int = 0


class Step(NamedTuple):
    """One call of the database.

    Parameters
    ----------
    number : int
    kind : str
        A key of `KINDS`.
    target : str
        An id or docid, where there is one.
    items, documents : dict
        What is put; of ``learn``, all files of the writer.
    """

    number: int
    kind: str
    target: str
    items: dict[str, Facts]
    documents: dict[str, Sections]


def plan(name: str, seed: int, number: int, held: Holding) -> Step:
    """Return a writer's next step."""
    chance = random.Random(f"{name} {seed} {number}")
    kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
    items: dict[str, Facts] = {}
    documents: dict[str, Sections] = {}
    target = ""
    if kind in ("update", "delete"):
        target = chance.choice(sorted(held.items)) if held.items else ""
    elif kind == "delete_document":
        learned = sorted(docid for docid in held.documents if docid.startswith(f"{name}:"))
        target = chance.choice(learned) if learned else ""
    elif kind in ("put", "put_many"):
        count = 1 if kind == "put" else chance.randint(2, 200)
        for at in chance.sample(range(POOL), count):
            items[f"{name}:{at}"] = Facts(*_text(chance, name, f"i{at}", number), (name,), 0)
    elif kind in ("document", "text"):
        target = f"{name}:{kind}{chance.randrange(5)}"
        documents[target] = _sections(chance, name, target[-1], number)
    elif kind == "learn":
        files = {docid: told for docid, told in held.documents.items() if docid.startswith(f"{name}/")}
        for at in chance.sample(range(6), 2):
            files.pop(f"{name}/file{at}.md", None)
        for at in chance.sample(range(6), 3):
            files[f"{name}/file{at}.md"] = _sections(chance, name, str(at), number)
        documents |= files
    return Step(number, kind, target, items, documents)


def stages(name: str, held: Holding, step: Step) -> list[Holding]:
    """Return what the store may hold during a step: before it, at each commit within it, and after it."""
    after = held
    if step.kind in ("put", "put_many"):
        after = replace(held, items={**held.items, **step.items})
    elif step.kind == "update" and step.target:
        was = held.items[step.target]
        changed = was._replace(tags=(name, f"s{step.number % 3}"), version=step.number)
        after = replace(held, items={**held.items, step.target: changed})
    elif step.kind == "delete" and step.target:
        after = replace(held, items={id: facts for id, facts in held.items.items() if id != step.target})
    elif step.kind in ("document", "text"):
        after = replace(held, documents={**held.documents, **step.documents})
    elif step.kind == "delete_document" and step.target:
        kept = {docid: told for docid, told in held.documents.items() if docid != step.target}
        after = replace(held, documents=kept)
    elif step.kind == "learn":
        added = replace(held, documents={**held.documents, **step.documents})
        kept = {docid: told for docid, told in held.documents.items() if not docid.startswith(f"{name}/")}
        return [held, added, replace(held, documents={**kept, **step.documents})]
    elif step.kind == "tally":
        after = replace(held, tally=step.number)
    elif step.kind == "pulse":
        after = replace(held, pulse=step.number)
    return [held, after]


def perform(db: germane.Database, name: str, step: Step, tree: Path) -> None:
    """Make a step's call; ``learn`` writes its files below `tree`, whose last part is the name, first."""
    if step.kind == "put":
        for item in _items(step):
            db.put(item)
    elif step.kind == "put_many":
        db.put_many(_items(step))
    elif step.kind == "update" and step.target:
        db.update(step.target, tags=(name, f"s{step.number % 3}"), metadata={"version": step.number})
    elif step.kind == "delete" and step.target:
        db.delete(step.target)
    elif step.kind == "document":
        told = step.documents[step.target]
        listed = [
            germane.Item(id=f"{step.target}.{at}", title=title, body=body, tags=(name,))
            for at, (title, body) in enumerate(told)
        ]
        db.put_document(step.target, title=step.target, sections=listed)
    elif step.kind == "text":
        db.learn_text(_markdown(step.documents[step.target]), docid=step.target, tags=(name,))
    elif step.kind == "delete_document" and step.target:
        db.delete_document(step.target)
    elif step.kind == "learn":
        tree.mkdir(parents=True, exist_ok=True)
        for path in tree.glob("*.md"):
            if f"{name}/{path.name}" not in step.documents:
                path.unlink()
        for docid, told in step.documents.items():
            (tree / docid.partition("/")[2]).write_text(_markdown(told))
        db.learn(tree, tags=(name,))
    elif step.kind == "tally":
        db.update(SHARED, metadata={name: step.number})
    elif step.kind == "pulse":
        db.put(germane.Item(id=f"{name}:pulse", body=f"pulse{name} beat {step.number}"))


def read(db: germane.Database, name: str) -> Holding:
    """Return what a store holds of a writer, as its searches find it.

    Raises
    ------
    AssertionError
        Something is there twice, or stands in a document without being found.
    """
    ids = list(_found(db, name))
    assert len(ids) == len(set(ids)), "an item was found twice"
    documents: dict[str, Sections] = {}
    items: dict[str, Facts] = {}
    listed: set[str] = set()
    for id, docids in _found(db, name).items():
        for docid in docids:
            if docid not in documents:
                places = [place.id for place in db.document(docid).sections]
                assert not listed & set(places), "a section stands in two documents"
                listed |= set(places)
                documents[docid] = tuple(_title_and_body(db.get(place)) for place in places)
        if not docids:
            item = db.get(id)
            version = item.metadata.get("version", 0)
            assert isinstance(version, int)
            items[id] = Facts(*_title_and_body(item), tuple(item.tags), version)
    assert set(ids) == listed | set(items), "a section of a document is not found"
    tally = db.get(SHARED).metadata.get(name, 0)
    assert isinstance(tally, int)
    return Holding(items, documents, tally, pulse(db, name))


def pulse(db: germane.Database, name: str) -> int:
    """Return a writer's last pulse as a search finds it, 0 without any."""
    page = db.search(f"pulse{name}")
    assert page.total <= 1, "a pulse was found twice"
    return int(page.items[0].snippet.split()[-1]) if page.items else 0


def found_by_word(db: germane.Database, name: str, held: Holding, count: int) -> int:
    """Search some items by the word that only their version holds, and return how many were searched.

    Raises
    ------
    AssertionError
        One is not found, or something else is.
    """
    chosen = random.Random(name).sample(sorted(held.items), min(count, len(held.items)))
    for id in chosen:
        word = held.items[id].body.split()[0]
        assert [result.id for result in db.search(word, match="all").items] == [id], f"{word} is lost"
    return len(chosen)


def _found(db: germane.Database, name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    offset = 0
    while True:
        page = db.search(f"tag:{name}", offset=offset, limit=1000)
        for result in page.items:
            assert result.id not in found, f"{result.id} was found twice"
            found[result.id] = result.docids
        offset += len(page.items)
        if not page.has_more:
            assert len(found) == page.total
            return found


def _items(step: Step) -> Iterator[germane.Item]:
    for id, facts in step.items.items():
        yield germane.Item(id=id, title=facts.title, body=facts.body, tags=facts.tags)


def _sections(chance: random.Random, name: str, of: str, number: int) -> Sections:
    return tuple(_text(chance, name, f"d{of}x{at}", number) for at in range(chance.randint(1, 6)))


def _text(chance: random.Random, name: str, of: str, number: int) -> tuple[str, str]:
    """Return a title and a body; its first word stands nowhere else."""
    title = " ".join(chance.choices(WORDS, k=2))
    own = f"{name}w{of}w{number}".translate(_IN_LETTERS)
    return title, f"{own} " + " ".join(chance.choices(WORDS, k=chance.randint(3, 40)))


def _markdown(told: Sections) -> str:
    return "".join(f"## {title}\n\n{body}\n\n" for title, body in told)


def _title_and_body(item: germane.Item) -> tuple[str | None, str]:
    assert isinstance(item.body, str)
    return item.title, item.body
