"""A document: a manifest that lists sections in order."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from germane.model.frozen import frozen
from germane.model.values import Value


class Placement(msgspec.Struct, frozen=True):
    """Where a section stands in a document.

    Parameters
    ----------
    id : str
        The section.
    level : int
        Depth of its heading, 1 to 6; 0 for text that stands under no heading.
    parent : str or None
        The section whose heading encloses this one.
    heading_path : tuple of str
        Its heading and those that enclose it, outermost first.
    lines : tuple of (int, int), or None
        First and last line in the source, counted from 1.
    """

    id: str
    level: int = 0
    parent: str | None = None
    heading_path: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest as it stands in the store.

    Parameters
    ----------
    docid : str
        Names the document for life.
    title : str
        Its title.
    path : str or None
        Its source: the root's name, then the path below the root.
    metadata : mapping
        Names to values; of a learned file, its front matter.
    sections : tuple of Placement
        The live sections, in order.
    seq : int
        Position in the log of its last change.
    """

    docid: str
    title: str
    path: str | None = None
    metadata: Mapping[str, Value] = msgspec.field(default_factory=dict)
    sections: tuple[Placement, ...] = ()
    seq: int = 0

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "metadata", frozen(self.metadata))
