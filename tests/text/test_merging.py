"""Merging: few parts, none of more rows than a row's number can tell, and nobody waits for it."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item
from germane.text import merging
from germane.text.index import Part
from germane.text.segment import ROWS

SIZES = st.sampled_from([1, 31, 32, 33, 256, 257, 2_048, 2_049, 9_000, 16_384, 16_385, 40_000, ROWS])


def part(count: int, dead: int = 0) -> Any:
    return SimpleNamespace(count=count, segment=range(count + dead))


@given(st.lists(st.tuples(SIZES, st.booleans()), max_size=60))
def test_what_is_merged_fits_and_the_parts_become_few(given_parts: list[tuple[int, bool]]) -> None:
    """Seen to fail when eight parts of one size are merged whatever they sum to."""
    parts = [part(count, 2 * count if is_dead else 0) for count, is_dead in given_parts]
    for _ in range(500):
        sources = merging.due(parts)
        if not sources:
            break
        assert merging.rows_of(sources) <= ROWS
        assert len(sources) > 1 or 2 * sources[0].count < len(sources[0].segment)
        at = min(parts.index(source) for source in sources)
        rest = [each for each in parts if each not in sources]
        parts = [*rest[:at], part(merging.rows_of(sources)), *rest[at:]]
    else:
        raise AssertionError("it never ends")
    large = sum(each.count > 16_384 for each in parts)
    assert len(parts) - large <= 4 * (merging.FAN - 1) + 8
    assert all(2 * each.count >= len(each.segment) for each in parts)


def test_beside_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen to fail when what died while a merge ran comes back to life."""
    monkeypatch.setattr(merging, "AT_ONCE", 0)
    monkeypatch.setattr(merging, "TAIL", 2)
    merge = merging.merged

    def slowly(sources: Any) -> Any:
        made = merge(sources)
        time.sleep(0.02)
        return made

    monkeypatch.setattr(merging, "merged", slowly)
    db = germane.open()
    for number in range(120):
        db.put(Item(id=f"i{number}", body=f"lamp {number}"))
        assert db.search("lamp").total == number + 1 - number // 3
        if number % 3 == 2:
            db.delete(f"i{number - 1}")
    for _ in range(200):
        with db._journal.read() as connection:
            held = db._text.at(connection)
        if not merging.due(held.parts):
            break
        db.put(Item(id="other", body=f"bulb {_}"))
        time.sleep(0.01)
    assert db.search("lamp").total == 80
    assert len(held.parts) < 40
    assert db.check().ok


def test_what_died_entirely_is_no_part_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen to fail when a merge whose rows all died meanwhile leaves an empty part behind."""
    db = germane.open()
    monkeypatch.setattr(merging, "TAIL", 1)
    for number in range(3):
        db.put(Item(id=f"i{number}", body="lamp"))
        db.search("lamp")
    with db._journal.read() as connection:
        sources = list(db._text.at(connection).parts[:2])
    segment = merging.merged(sources)
    for number in range(2):
        db.delete(f"i{number}")
    dead = [Part(each.segment, np.zeros_like(each.alive)) for each in sources]
    with db._journal.read() as connection:
        last = db._text.at(connection).parts[-1]
    assert merging.replaced([*dead, last], sources, segment) == [last]
    assert db.search("lamp").total == 1
