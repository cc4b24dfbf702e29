"""Typed events: what the log holds, a JSON document each, and columns where there are many alike."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from germane.model.documents import Placement
from germane.model.errors import Corruption
from germane.model.times import to_datetime, to_micros
from germane.model.values import Scalar, Value

PlainMetadata = dict[str, Any]
"""Metadata as JSON: a time is ``{"time": microseconds}``, which no other value can look like."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all events; a verdict (what was decided) is part of its event."""


class PutItem(Event, frozen=True, kw_only=True):
    """An item has this current version; its content lies under `rev`."""

    id: str
    rev: str
    created_at: int
    creator: str | None = None
    metadata: PlainMetadata = {}
    tags: tuple[str, ...] = ()
    collection: str = "main"
    kind: str = "default"
    embedding: bytes | None = None
    """float32, little-endian; base64 in JSON."""


class UpdateItem(Event, frozen=True, kw_only=True):
    """An item changed in place; fields that are unset stayed as they were."""

    id: str
    creator: str | msgspec.UnsetType | None = msgspec.UNSET
    metadata: PlainMetadata | msgspec.UnsetType = msgspec.UNSET
    tags: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    collection: str | msgspec.UnsetType = msgspec.UNSET
    created_at: int | msgspec.UnsetType = msgspec.UNSET
    embedding: bytes | msgspec.UnsetType | None = msgspec.UNSET


class DeleteItem(Event, frozen=True, kw_only=True):
    """An item is gone from every answer."""

    id: str


class PutDocument(Event, frozen=True, kw_only=True):
    """A document lists these sections; some are new or changed, and some it dropped are retired."""

    docid: str
    title: str
    metadata: PlainMetadata = {}
    tags: tuple[str, ...] = ()
    collection: str = "main"
    root: str | None = None
    source: str | None = None
    digest: str | None = None
    sections: tuple[Placement, ...] = ()
    items: tuple[PutItem, ...] = ()
    retired: tuple[str, ...] = ()


class DeleteDocument(Event, frozen=True, kw_only=True):
    """A document is gone, and so are the sections that no other one lists."""

    docid: str
    retired: tuple[str, ...] = ()


class AddRoot(Event, frozen=True, kw_only=True):
    """Files below a location are learned under this root's name."""

    name: str
    location: str


class RecordSignal(Event, frozen=True, kw_only=True):
    """Something that was done with an item, at the event's own time."""

    name: str
    item: str
    weight: float = 1.0
    user: str | None = None
    event_id: str | None = None
    page: str | None = None
    position: int | None = None
    is_timed: bool = False
    """Whether the caller gave the time."""
    is_first: bool = False
    """Whether this is the first that the store hears of the item: it gets its ordinal here."""
    session: str | None = None


class RecordSignals(Event, frozen=True, kw_only=True):
    """Many of them as columns, little-endian; the event's own time is that of its recording."""

    names: tuple[str, ...]
    name: bytes
    """Places in `names`: uint16."""
    item: bytes
    """Ordinals of the items, which the log gives out in the order in which items first appear: int64."""
    weight: bytes
    """float64."""
    at: bytes
    """Microseconds since the epoch: int64."""
    users: tuple[str, ...] = ()
    user: bytes = b""
    """Places in `users`, -1 for none: int32; empty when there are no users."""
    event_ids: tuple[str | None, ...] = ()
    pages: tuple[str | None, ...] = ()
    positions: tuple[int | None, ...] = ()
    is_timed: bool = False
    first: tuple[str, ...] = ()
    """Ids of items that the store hears of for the first time: they get the next ordinals, in order."""


class Relate(Event, frozen=True, kw_only=True):
    """From here on a user follows, saves, mutes, hides or blocks a target."""

    user: str
    relation: str
    target: str


class Unrelate(Event, frozen=True, kw_only=True):
    """From here on a user does no more."""

    user: str
    relation: str
    target: str


Learned = tuple[tuple[str, float], ...]
"""Items, and the net weight that a session which ended left them with; to be learned of its user."""


class StartSession(Event, frozen=True, kw_only=True):
    """An agent begins a session, for a user or for nobody."""

    session: str
    agent: str
    user: str | None = None
    policy: dict[str, Any]
    """The policy as it was declared then: it holds for the session, whatever is declared later."""
    metadata: PlainMetadata = {}


class AnnotateSession(Event, frozen=True, kw_only=True):
    """A session notes something."""

    session: str
    text: str


class CloseSession(Event, frozen=True, kw_only=True):
    """A session is an archive from here on."""

    session: str
    user: str | None = None
    learned: Learned = ()


class RefuseWrite(Event, frozen=True, kw_only=True):
    """Something was not written to a session."""

    session: str
    action: str
    cause: str


class Ended(msgspec.Struct, frozen=True, array_like=True):
    """A session that was open as long as it may be."""

    session: str
    at: int
    user: str | None
    learned: Learned


class SweepSessions(Event, frozen=True, kw_only=True):
    """Sessions whose time was over, and archives that have expired."""

    ended: tuple[Ended, ...] = ()
    expired: tuple[str, ...] = ()


class DeclareSchema(Event, frozen=True, kw_only=True):
    """The store's declarations from here on."""

    schema: dict[str, Any]


class Forgotten(Event, frozen=True, kw_only=True):
    """Here stood an event of a user who was forgotten; the positions of the others stay what they are."""

    first: tuple[str, ...] = ()
    """Ids of items that the store heard of here for the first time: they keep their ordinals."""


class ForgetUser(Event, frozen=True, kw_only=True):
    """Up to here the log was rewritten without a user."""

    who: str
    """Keyed hash of the user: tells who it was to those who know the name, and nobody else."""
    erased: bool = False
    """Whether the user's signals are gone; otherwise they are nobody's."""


class Base(Event, frozen=True, kw_only=True):
    """What all events up to here came to; they are no longer kept one by one."""

    parts: dict[str, tuple[int, ...]]
    """For each part the CRC-32 of its chunks, which lie in the table `base`."""
    seal: int
    """CRC-32 over this event, its position, its times and the chain's value, which does not cover them."""


TYPES: dict[str, type[Event]] = {
    "put": PutItem,
    "update": UpdateItem,
    "delete": DeleteItem,
    "document": PutDocument,
    "delete_document": DeleteDocument,
    "root": AddRoot,
    "schema": DeclareSchema,
    "signal": RecordSignal,
    "signals": RecordSignals,
    "base": Base,
    "relate": Relate,
    "unrelate": Unrelate,
    "forgotten": Forgotten,
    "forget": ForgetUser,
    "session": StartSession,
    "annotate": AnnotateSession,
    "close": CloseSession,
    "refuse": RefuseWrite,
    "sweep": SweepSessions,
}
_NAMES = {cls: name for name, cls in TYPES.items()}
_BINARY = "signals"
_DECODERS: dict[str, Any] = {name: msgspec.json.Decoder(cls) for name, cls in TYPES.items()}
_DECODERS[_BINARY] = msgspec.msgpack.Decoder(RecordSignals)
_encoder = msgspec.json.Encoder()
_sorted = msgspec.json.Encoder(order="sorted")


def plain(value: Any) -> str:
    """Return data as canonical JSON, so that equal states are equal bytes."""
    return _sorted.encode(value).decode()


def encode(event: Event) -> tuple[str, str | bytes]:
    """Return an event's type and its data: JSON, or MessagePack for columns."""
    if isinstance(event, RecordSignals):
        return _BINARY, msgspec.msgpack.encode(event)
    return _NAMES[type(event)], _encoder.encode(event).decode()


def decode(seq: int, type: str, data: str | bytes) -> Event:
    """Return the event that the log holds at a position.

    Raises
    ------
    Corruption
        The type is unknown, or the data is not of that type.
    """
    try:
        event: Event = _DECODERS[type].decode(data)
        return event
    except KeyError:
        raise Corruption(f"event {seq} of the log has the unknown type {type!r}: restore a backup") from None
    except (msgspec.DecodeError, UnicodeError, TypeError) as error:
        raise Corruption(
            f"event {seq} of the log ({type}) does not decode ({error}): restore a backup"
        ) from None


def metadata_to_plain(metadata: dict[str, Value]) -> PlainMetadata:
    """Return metadata in its JSON form."""
    return {
        key: [_to_plain(each) for each in value] if isinstance(value, tuple) else _to_plain(value)
        for key, value in metadata.items()
    }


def metadata_from_plain(data: PlainMetadata) -> dict[str, Value]:
    """Return metadata from its JSON form."""
    return {
        key: tuple(_from_plain(each) for each in value) if isinstance(value, list) else _from_plain(value)
        for key, value in data.items()
    }


def _to_plain(value: Scalar) -> Any:
    return {"time": to_micros(value, "metadata")} if isinstance(value, datetime) else value


def _from_plain(value: Any) -> Scalar:
    return to_datetime(value["time"]) if isinstance(value, dict) else value
