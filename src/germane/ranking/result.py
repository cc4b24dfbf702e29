"""One ranked item as people receive it, whatever ranked it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw
import msgspec

from germane.log.content import Row, listings
from germane.log.events import metadata_from_plain
from germane.model.frozen import frozen
from germane.model.pages import Result
from germane.model.times import to_datetime


def result(connection: apsw.Connection, item: Row, is_listed: bool = True, **ranked: Any) -> Result:
    """Return an item's result.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction.
    item : Row
    is_listed : bool
        False when no document is known to list it.
    **ranked
        What ranking found: the fields of `Result` that are not the item's own.
    """
    listed = listings(connection, item.ordinal) if is_listed else []
    place = listed[0][2] if listed else None
    return Result(
        id=item.id,
        rev=item.rev,
        docids=tuple(dict.fromkeys(docid for docid, _, _ in listed)),
        kind=item.kind,
        type=item.type,
        title=item.title,
        heading=item.title,
        level=place.level if place else None,
        path=listed[0][1] if listed else None,
        heading_path=place.heading_path if place else (),
        lines=place.lines if place else None,
        creator=item.creator,
        collection=item.collection,
        tags=() if item.tags == "[]" else tuple(msgspec.json.decode(item.tags)),
        metadata=frozen(metadata_from_plain(msgspec.json.decode(item.metadata))),
        created_at=to_datetime(item.created_at),
        **ranked,
    )


def added(contributions: Mapping[str, float]) -> float:
    """Return the sum of contributions from left to right."""
    raw = 0.0
    for value in contributions.values():
        raw += value
    return raw
