"""A store, and a folder of files for it to learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import germane
from germane import Database, LearnReport

Write = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder to learn."""
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def write(tree: Path) -> Write:
    """Write a file below the folder; its name may be bytes."""

    def written(name: str | bytes, content: str | bytes) -> Path:
        path = tree / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def db() -> Iterator[Database]:
    with germane.open() as store:
        yield store


class Watch:
    """What a store knows of learned documents, and what a learning changed."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def ids(self, docid: str) -> dict[str, str]:
        """Headings to ids, in order; text under no heading is ``-``."""
        places = self.db.document(docid).sections
        return {place.heading_path[-1] if place.heading_path else "-": place.id for place in places}

    def revs(self, docid: str) -> dict[str, str]:
        """Ids to revisions, in order."""
        return {place.id: self.db.get(place.id).rev for place in self.db.document(docid).sections}

    def paths(self) -> list[str]:
        """Source paths of all live sections, sorted, each once."""
        everything = self.db.search("body", limit=1000)
        assert everything.total == self.db.stats().items  # every section in these tests says so
        return sorted({result.path or "" for result in everything.items})

    def sound(self) -> None:
        """Assert that the log, the tables and the index agree."""
        assert self.db.check().findings == ()


def counts(report: LearnReport) -> tuple[int, int, int, int]:
    """Sections added, changed, unchanged and removed."""
    return report.added, report.changed, report.unchanged, report.removed


@pytest.fixture
def watch(db: Database) -> Iterator[Watch]:
    found = Watch(db)
    yield found
    found.sound()
