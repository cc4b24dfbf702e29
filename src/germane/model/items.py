"""An item: whatever is put, found and ranked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

import msgspec

from germane.model.embeddings import check_embedding
from germane.model.errors import InvalidArgument, quoted
from germane.model.frozen import FrozenDict
from germane.model.languages import language_name
from germane.model.times import to_datetime, to_micros
from germane.model.values import Value, check_id, check_metadata, check_names, check_text

_OPTIONAL: dict[str, Callable[[object, str], str]] = {
    "id": check_id, "title": check_text, "description": check_text, "creator": check_id,
}  # fmt: skip
_NO_METADATA: FrozenDict[Value] = FrozenDict()
_NO_TAGS: tuple[str, ...] = ()
_MIME = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A thing that can be found: a section, a post, a product, a video.

    Its content (type, lang, title, description, body) is what `rev` hashes; the rest can change in
    place. Values are checked when the item is made.

    Parameters
    ----------
    id : str, optional
        Names the item for life; without one it takes the rev of its first version.
    title : str, optional
        Searched as the field ``heading``.
    body : str or bytes
        Searched as ``body`` or ``code`` by its type; bytes are stored and not searched.
    type : str
        MIME type of the body.
    description : str, optional
        Searched as part of ``body``, ahead of it.
    creator : str, optional
        Who made it.
    metadata : mapping
        Names to strings, numbers, booleans, aware datetimes, or lists of these.
    tags : iterable of str
        Distinct labels.
    collection : str
        The partition it lies in.
    kind : str
        What sort of thing it is.
    lang : str, optional
        Name, code or tag of the language; the store's default without one.
    created_at : datetime or float, optional
        The time of insertion without one.
    embedding : sequence of float, optional
        Its vector: 1 to 4,096 finite numbers, kept as float32; all items of a store have as many.
    rev : str
        The hash of the content, whatever is given here.

    Raises
    ------
    InvalidArgument
        A field cannot be used; the error names it.

    Examples
    --------
    >>> item = Item(title="Ownership", body="Each value has an owner.")
    >>> item.rev[:8]
    'f3982e3e'
    """

    id: str | None = None
    title: str | None = None
    body: str | bytes = ""
    type: str = "text/markdown"
    description: str | None = None
    creator: str | None = None
    metadata: Mapping[str, Value] = msgspec.field(default_factory=lambda: _NO_METADATA)
    tags: Iterable[str] = _NO_TAGS
    collection: str = "main"
    kind: str = "default"
    lang: str | None = None
    created_at: datetime | float | None = None
    embedding: Sequence[float] | None = None
    rev: str = ""

    def __post_init__(self) -> None:
        # Most fields of most items are as they came, and need not be set again.
        force = msgspec.structs.force_setattr
        for field, check in _OPTIONAL.items():
            value = getattr(self, field)
            if value is not None and (checked := check(value, field)) is not value:
                force(self, field, checked)
        if (collection := check_id(self.collection, "collection")) is not self.collection:
            force(self, "collection", collection)
        if (kind := check_id(self.kind, "kind")) is not self.kind:
            force(self, "kind", kind)
        if (body := check_body(self.body)) is not self.body:
            force(self, "body", body)
        if (mime := check_type(self.type)) is not self.type:
            force(self, "type", mime)
        if self.metadata is not _NO_METADATA:
            force(self, "metadata", check_metadata(self.metadata))
        if self.tags is not _NO_TAGS:
            force(self, "tags", check_names(self.tags, "tags"))
        if self.lang is not None:
            force(self, "lang", check_lang(self.lang))
        if self.created_at is not None:
            force(self, "created_at", to_datetime(to_micros(self.created_at, "created_at")))
        if self.embedding is not None:
            force(self, "embedding", check_embedding(self.embedding))
        force(self, "rev", rev_of(self.type, self.lang, self.title, self.description, self.body))


class Receipt(msgspec.Struct, frozen=True):
    """What a write returns.

    Parameters
    ----------
    id : str
        The item or document.
    rev : str or None
        Its current revision; None for documents and for what is gone.
    seq : int
        Position in the log at which the state is as the caller asked for.
    changed : bool
        Whether anything had to be written.
    duplicate : bool
        Whether the same write had been made before under the same event id.
    """

    id: str
    rev: str | None
    seq: int
    changed: bool
    duplicate: bool = False


def check_body(value: object) -> str | bytes:
    """Return a body: text, or bytes."""
    if isinstance(value, str):
        return check_text(value, "body")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise InvalidArgument("body", f"must be str or bytes, not {type(value).__name__}")


def check_type(value: object) -> str:
    """Return a MIME type in lower case, without parameters."""
    return _mime(check_text(value, "type"))


@lru_cache(maxsize=256)
def _mime(value: str) -> str:
    text = value.split(";")[0].strip().lower()
    if not _MIME.fullmatch(text) or len(text) > 127:
        raise InvalidArgument("type", f"{quoted(value)} is no MIME type: give one like 'text/markdown'")
    return text


def check_lang(value: object, field: str = "lang") -> str | None:
    """Return a language's name, or None for the store's default."""
    if value is None:
        return None
    name = language_name(check_text(value, field))
    if name is None:
        raise InvalidArgument(
            field, f"{quoted(value)} is no language: give a name or code like 'english' or 'en'"
        )
    return name


def rev_of(type: str, lang: str | None, title: str | None, description: str | None, body: str | bytes) -> str:
    """Return the hash of an item's content: BLAKE2b-160 over its length-prefixed parts, in hex."""
    told = []
    for part in (type, lang, title, description, body):
        if part is None:
            told.append(b"-")
        elif isinstance(part, str):
            data = part.encode()
            told += (b"s%d:" % len(data), data)
        else:
            told += (b"b%d:" % len(part), part)
    return hashlib.blake2b(b"".join(told), digest_size=20).hexdigest()


def hash_id(*parts: str | int) -> str:
    """Return an id made of parts: BLAKE2b-128 over their length-prefixed text, in hex."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = str(part).encode("utf-8", "surrogateescape")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
