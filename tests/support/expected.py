"""What a store must hold after any sequence of writes, kept in plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import germane
from oracle.sections import Section


@dataclass(frozen=True)
class Content:
    """What the revision of an item hashes."""

    title: str | None
    body: str
    type: str = "text/markdown"
    lang: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class Labels:
    tags: tuple[str, ...] = ()
    collection: str = "main"


@dataclass(frozen=True)
class Known:
    """An item, live or not."""

    content: Content
    labels: Labels
    created_at: float
    live: bool = True


@dataclass
class Listing:
    """A document: what it lists, live items and others, and what a write to it left."""

    ids: list[str]
    labels: Labels
    seq: int


@dataclass
class Expected:
    """The state that the log comes to."""

    lang: str = "english"
    items: dict[str, Known] = field(default_factory=dict)
    documents: dict[str, Listing] = field(default_factory=dict)

    def put(self, id: str, content: Content, labels: Labels, now: float) -> None:
        was = self.items.get(id)
        self.items[id] = Known(content, labels, was.created_at if was else now)

    def is_live(self, id: str) -> bool:
        return id in self.items and self.items[id].live

    def retire(self, ids: Iterable[str]) -> None:
        for id in ids:
            self.items[id] = replace(self.items[id], live=False)

    def only_listed_in(self, docid: str, ids: Iterable[str]) -> list[str]:
        """Return those of the live items that no other document lists."""
        others = {id for other, listing in self.documents.items() if other != docid for id in listing.ids}
        return [id for id in ids if self.is_live(id) and id not in others]

    def put_document(
        self, docid: str, sections: Sequence[tuple[str, Content]], labels: Labels, seq: int, now: float
    ) -> None:
        """Take in a document that was put: its sections carry the labels that they were put with."""
        retired = self._dropped(docid, [id for id, _ in sections])
        for id, content in sections:
            known = self.items.get(id)
            if known is None or not known.live or (known.content, known.labels) != (content, labels):
                self.put(id, content, labels, now)
        self.documents[docid] = Listing([id for id, _ in sections], labels, seq)
        self.retire(retired)

    def learn(
        self, docid: str, sections: Sequence[tuple[str, Content]], labels: Labels, seq: int, now: float
    ) -> None:
        """Take in a document that was learned: a section that stayed as it was keeps what became of it."""
        before = self.documents.get(docid)
        stayed = set(before.ids) if before is not None and before.labels == labels else set()
        retired = self._dropped(docid, [id for id, _ in sections])
        for id, content in sections:
            if not (id in stayed and self.is_live(id) and self.items[id].content == content):
                self.put(id, content, labels, now)
        self.documents[docid] = Listing([id for id, _ in sections], labels, seq)
        self.retire(retired)

    def delete_document(self, docid: str) -> None:
        retired = self._dropped(docid, ())
        del self.documents[docid]
        self.retire(retired)

    def sections(self) -> list[Section]:
        """Return the live items as the oracle takes them."""
        return [
            Section(
                id=id,
                title=known.content.title,
                description=known.content.description,
                body=known.content.body,
                type=known.content.type,
                lang=known.content.lang or self.lang,
                tags=known.labels.tags,
                docids=tuple(docid for docid, listing in self.documents.items() if id in listing.ids),
                collection=known.labels.collection,
                created_at=known.created_at,
            )
            for id, known in self.items.items()
            if known.live
        ]

    def _dropped(self, docid: str, kept: Sequence[str]) -> list[str]:
        before = self.documents.get(docid)
        return self.only_listed_in(docid, [id for id in before.ids if id not in kept]) if before else []


def item(id: str, content: Content, labels: Labels) -> germane.Item:
    return germane.Item(
        id=id,
        title=content.title,
        body=content.body,
        type=content.type,
        lang=content.lang,
        description=content.description,
        tags=labels.tags,
        collection=labels.collection,
    )
