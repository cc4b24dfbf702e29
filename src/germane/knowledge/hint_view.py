"""The view of hints: keeps the texts of items at the head of the log."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import numpy as np

from germane.knowledge.hints import Hints, Part, Texts, text_of
from germane.log.checkpoint import Arrays
from germane.log.content import schema, titles_changed_since
from germane.log.saved import differing
from germane.log.snapshot import SnapshotView
from germane.model.reports import Finding
from germane.text.analysis import VERSION
from germane.text.arrays import BoolArray, IntArray

FORMAT = "1"
"""Version of the form in which checkpoints are written."""


class HintView(SnapshotView[Hints]):
    """Gives the texts in which keywords are looked for; made when a session with annotations first asks."""

    name = "hints"
    title = "view of the texts that keywords are looked for in"
    part = "hints"
    worth_saving = 10_000

    def save(self, connection: apsw.Connection) -> None:
        """Write a checkpoint, in a process that asked for it: a store without sessions never makes one."""
        if self._kept is not None:
            super().save(connection)

    def check(self, connection: apsw.Connection) -> Iterator[Finding]:
        """Yield what is wrong with the texts or their checkpoint, against those built from the tables."""
        found, is_saved = self._checkpoints.check(connection, self._format(connection))
        yield from found
        if self._kept is None and not is_saved:
            return
        fresh = HintView().at(connection)
        for name in differing(self._arrays(self.at(connection)), self._arrays(fresh)):
            yield Finding(self.part, f"{name!r} of the {self.title} differs from the tables")

    def _format(self, connection: apsw.Connection) -> str:
        return f"{FORMAT}/{VERSION}/{schema(connection).lang}"

    def _arrays(self, kept: Hints) -> Arrays:
        whole = _whole(kept)
        return {
            "ordinals": whole.ordinals,
            "data": np.frombuffer(whole.raw.data, np.uint8),
            "ends": whole.raw.ends,
        }

    def _caught_up(self, connection: apsw.Connection, seq: int, turn: int) -> tuple[Hints, int]:
        lang = schema(connection).lang

        def make(seq: int, arrays: Arrays) -> Hints:
            texts = Texts(arrays["data"].tobytes(), np.array(arrays["ends"], np.int64))
            part = Part(np.array(arrays["ordinals"], np.int64), texts, lang)
            if len(texts.ends) != len(part.ordinals):
                raise ValueError("texts and items differ in number")
            return Hints(seq, turn, (part,), (np.ones(len(part.ordinals), np.bool_),))

        hints = self._kept
        if hints is None or hints.epoch != turn or any(part.lang != lang for part in hints.parts):
            hints = self._loaded(connection, make) or Hints(0, turn, (), ())
        return _caught_up(connection, hints, seq, lang)


def _caught_up(connection: apsw.Connection, hints: Hints, seq: int, lang: str) -> tuple[Hints, int]:
    """Return the texts at a position, and how many items have changed."""
    if hints.seq == seq:
        return hints, 0
    changed: list[int] = []
    ordinals: list[int] = []
    texts: list[str] = []
    for ordinal, is_live, title, tags, metadata in titles_changed_since(connection, hints.seq):
        changed.append(ordinal)
        if is_live:
            ordinals.append(ordinal)
            texts.append(text_of(title, tags, metadata))
    if not changed:
        return Hints(seq, hints.epoch, hints.parts, hints.alive, hints._matching, hints._columns), 0
    gone = np.array(changed, np.int64)
    parts, alive = list(hints.parts), [
        _without(part, mask, gone) for part, mask in zip(hints.parts, hints.alive, strict=True)
    ]  # fmt: skip
    if ordinals:
        parts.append(Part(np.array(ordinals, np.int64), Texts.of(texts), lang))
        alive.append(np.ones(len(ordinals), np.bool_))
    # What was looked for before is looked for in what is new, so that merging keeps it found.
    for whole, keyword in hints._matching if ordinals else ():
        parts[-1].holding(keyword, whole)
    while len(parts) > 1 and len(parts[-2].ordinals) < 2 * len(parts[-1].ordinals):
        _merge(parts, alive)
    return Hints(seq, hints.epoch, tuple(parts), tuple(alive)), len(changed)


def _without(part: Part, alive: BoolArray, gone: IntArray) -> BoolArray:
    places = part.ordinals.searchsorted(gone)
    places = places[places < len(part.ordinals)]
    hit = places[np.isin(part.ordinals[places], gone)]
    if not alive[hit].any():
        return alive
    left = alive.copy()
    left[hit] = False
    return left


def _merge(parts: list[Part], alive: list[BoolArray]) -> None:
    """Make one part of the last two, without the texts that are no more."""
    last, last_alive = parts.pop(), alive.pop()
    before, before_alive = parts.pop(), alive.pop()
    if not last_alive.all():
        last = _only(last, last_alive)
    parts.append(before.joined(last, before.ordinals[~before_alive]))
    alive.append(np.ones(len(parts[-1].ordinals), np.bool_))


def _only(part: Part, alive: BoolArray) -> Part:
    nothing = Part(np.zeros(0, np.int64), Texts.of(()), part.lang)
    return part.joined(nothing, part.ordinals[~alive])


def _whole(hints: Hints) -> Part:
    """Return all texts of live items as one part."""
    parts, alive = list(hints.parts), list(hints.alive)
    if not parts:
        return Part(np.zeros(0, np.int64), Texts.of(()), "english")
    while len(parts) > 1:
        _merge(parts, alive)
    return _only(parts[0], alive[0])
