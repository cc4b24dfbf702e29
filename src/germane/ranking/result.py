"""One ranked item as people receive it, whatever ranked it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from germane.log.content import Listing, Row
from germane.log.events import metadata_from_plain
from germane.model.frozen import FrozenDict, frozen
from germane.model.pages import Result
from germane.model.times import to_datetime
from germane.model.values import Value

_NO_METADATA: FrozenDict[Value] = FrozenDict()


def result(item: Row, listed: Sequence[Listing], **ranked: Any) -> Result:
    """Return an item's result.

    Parameters
    ----------
    item : Row
    listed : sequence of Listing
        The documents that list it, by docid.
    **ranked
        What ranking found: the fields of `Result` that are not the item's own.
    """
    first = listed[0] if listed else None
    return Result(
        id=item.id,
        rev=item.rev,
        docids=tuple(dict.fromkeys(each.docid for each in listed)) if listed else (),
        kind=item.kind,
        type=item.type,
        title=item.title,
        heading=item.title,
        level=first.level if first else None,
        path=first.path if first else None,
        heading_path=tuple(msgspec.json.decode(first.heading_path)) if first else (),
        lines=first.lines if first else None,
        creator=item.creator,
        collection=item.collection,
        tags=() if item.tags == "[]" else tuple(msgspec.json.decode(item.tags)),
        metadata=_NO_METADATA
        if item.metadata == "{}"
        else frozen(metadata_from_plain(msgspec.json.decode(item.metadata))),
        created_at=to_datetime(item.created_at),
        **ranked,
    )


def added(contributions: Mapping[str, float]) -> float:
    """Return the sum of contributions from left to right."""
    raw = 0.0
    for value in contributions.values():
        raw += value
    return raw
