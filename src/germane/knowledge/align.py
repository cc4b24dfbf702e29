"""Aligning the old and the new sections of a source, so that sections keep their ids."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple


class Known(NamedTuple):
    """What is compared of a section.

    Parameters
    ----------
    heading_path : tuple of str
    rev : str
    level : int
    """

    heading_path: tuple[str, ...]
    rev: str
    level: int


def align(old: Sequence[Known], new: Sequence[Known]) -> list[int | None]:
    """Return for each new section the old one that it continues, or None.

    Four passes, each over what the ones before left: equal heading path and rev; equal rev; equal
    heading path; the same level between the same aligned neighbours (a renamed heading). Within a pass
    equal sections are paired in order.

    Examples
    --------
    >>> before = [Known(("A",), "1", 1), Known(("A", "B"), "2", 2)]
    >>> align(before, [Known(("Z",), "3", 1), Known(("Z", "B"), "2", 2)])
    [0, 1]
    """
    matched: list[int | None] = [None] * len(new)
    free = set(range(len(old)))
    keys: tuple[Callable[[Known], Hashable], ...] = (
        lambda known: (known.heading_path, known.rev),
        lambda known: known.rev,
        lambda known: known.heading_path,
    )
    for key in keys:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for number in sorted(free):
            waiting[key(old[number])].append(number)
        for number, section in enumerate(new):
            if matched[number] is None and (queue := waiting.get(key(section))):
                matched[number] = queue.popleft()
                free.discard(matched[number])
    _align_renamed(old, new, matched, free)
    return matched


def _align_renamed(
    old: Sequence[Known], new: Sequence[Known], matched: list[int | None], free: set[int]
) -> None:
    by_level: dict[int, list[int]] = defaultdict(list)
    for number in sorted(free):
        by_level[old[number].level].append(number)
    start = 0
    while start < len(new):
        if matched[start] is not None:
            start += 1
            continue
        end = start
        while end < len(new) and matched[end] is None:
            end += 1
        last = matched[start - 1] if start else -1
        after = matched[end] if end < len(new) else len(old)
        assert last is not None
        assert after is not None
        for number in range(start, end):
            left = by_level[new[number].level]
            at = bisect_right(left, last)
            if at < len(left) and left[at] < after:
                last = matched[number] = left.pop(at)
        start = end
