"""Aligning old and new sections: the four passes, and what every edit of a source keeps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from germane.knowledge.align import Known, align

KNOWN = st.builds(
    Known,
    st.lists(st.sampled_from("abc"), max_size=2).map(tuple),
    st.sampled_from("12345"),
    st.integers(1, 3),
)
LIST = st.lists(KNOWN, max_size=12)


@dataclass(frozen=True)
class Heading:
    """One heading of a source; its name and its text are its own."""

    name: str
    level: int
    text: str = field(default="")

    @property
    def rev(self) -> str:
        return f"{self.name}|{self.text}"


def known(source: list[Heading]) -> list[Known]:
    """What a cutter makes of a source."""
    stack: list[Heading] = []
    found = []
    for heading in source:
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
        found.append(Known(tuple(each.name for each in stack), heading.rev, heading.level))
    return found


LEVELS = st.lists(st.integers(1, 4), min_size=1, max_size=15)
SOURCE = LEVELS.map(lambda levels: [Heading(f"h{n}", level, f"t{n}") for n, level in enumerate(levels)])


@given(LIST, LIST)
def test_no_old_section_is_continued_twice(old: list[Known], new: list[Known]) -> None:
    found = align(old, new)
    continued = [number for number in found if number is not None]
    assert len(found) == len(new)
    assert len(set(continued)) == len(continued)
    assert all(0 <= number < len(old) for number in continued)


@given(LIST)
def test_an_unchanged_source_aligns_to_itself(old: list[Known]) -> None:
    assert align(old, old) == list(range(len(old)))


@given(LIST, LIST)
def test_the_passes_go_in_order(old: list[Known], new: list[Known]) -> None:
    """Whatever an earlier pass could still pair is paired: nothing of it is left for a later one."""
    found = align(old, new)
    free = set(range(len(old))) - set(found)
    taken_later: set[int] = set()
    left = set(range(len(new)))
    for key in (lambda k: (k.heading_path, k.rev), lambda k: k.rev, lambda k: k.heading_path):
        paired = {at for at in left if found[at] is not None and key(old[found[at]]) == key(new[at])}  # type: ignore[index]
        left -= paired
        taken_later = {number for at in left if (number := found[at]) is not None}
        open_keys = {key(old[number]) for number in free | taken_later}
        assert not open_keys & {key(new[at]) for at in left}
    for at in left - {at for at in left if found[at] is None}:
        assert old[found[at]].level == new[at].level  # type: ignore[index]


@given(LIST, LIST)
def test_equal_sections_are_paired_in_order(old: list[Known], new: list[Known]) -> None:
    found = align(old, new)
    for key in set(old) & set(new):
        pairs = [number for at, number in enumerate(found) if new[at] == key and number is not None]
        exact = [number for number in pairs if old[number] == key]
        assert exact == sorted(exact)


def test_pass_1_takes_equal_path_and_rev_before_equal_rev() -> None:
    old = [Known(("A", "X"), "1", 2), Known(("B", "X"), "1", 2)]
    assert align(old, [Known(("B", "X"), "1", 2)]) == [1]
    assert align(old, [Known(("C", "X"), "1", 2)]) == [0]


def test_pass_2_takes_equal_rev_before_equal_path() -> None:
    old = [Known(("A",), "1", 1), Known(("B",), "2", 1)]
    assert align(old, [Known(("A",), "2", 1)]) == [1]


def test_pass_3_takes_equal_path_before_equal_place() -> None:
    old = [Known(("A",), "1", 1), Known(("B",), "2", 1), Known(("C",), "3", 1)]
    assert align(old, [Known(("B",), "9", 1)]) == [1]


def test_pass_4_needs_the_same_level_between_the_same_neighbours() -> None:
    old = [Known(("A",), "1", 1), Known(("A", "B"), "2", 2), Known(("C",), "3", 1)]
    renamed = Known(("A", "Z"), "9", 2)
    assert align(old, [old[0], renamed, old[2]]) == [0, 1, 2]
    assert align(old, [old[0], renamed._replace(level=3), old[2]]) == [0, None, 2]
    assert align(old, [old[0], old[2], renamed]) == [0, 2, None]
    assert align(old, [renamed, old[0], old[2]]) == [None, 0, 2]


def test_pass_4_pairs_several_in_order() -> None:
    old = [Known((name,), name, level) for name, level in (("A", 1), ("B", 2), ("C", 2), ("D", 3))]
    new = [Known((name,), name, level) for name, level in (("E", 1), ("F", 2), ("G", 2), ("H", 3))]
    assert align(old, new) == [0, 1, 2, 3]
    assert align(old, new[1:3]) == [1, 2]
    assert align(old, [new[3], new[1]]) == [3, None]


@given(SOURCE, st.data())
def test_renaming_a_heading_keeps_every_id(source: list[Heading], data: st.DataObject) -> None:
    """A chapter's title too: the heading paths of all that stands under it change with it."""
    at = data.draw(st.integers(0, len(source) - 1))
    renamed = [*source[:at], replace(source[at], name="renamed"), *source[at + 1 :]]
    assert align(known(source), known(renamed)) == list(range(len(source)))


@given(SOURCE, st.data())
def test_editing_a_text_keeps_every_id(source: list[Heading], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(source) - 1))
    edited = [*source[:at], replace(source[at], text="edited"), *source[at + 1 :]]
    assert align(known(source), known(edited)) == list(range(len(source)))


@given(SOURCE, st.data())
def test_renaming_and_editing_a_heading_keeps_every_id(source: list[Heading], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(source) - 1))
    changed = [*source[:at], Heading("renamed", source[at].level, "edited"), *source[at + 1 :]]
    assert align(known(source), known(changed)) == list(range(len(source)))


@given(SOURCE, st.data())
def test_deleting_a_section_keeps_the_ids_of_the_others(source: list[Heading], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(source) - 1))
    left = [number for number in range(len(source)) if number != at]
    assert align(known(source), known([source[number] for number in left])) == left


@given(SOURCE, st.integers(1, 4), st.data())
def test_inserting_a_section_keeps_every_id(source: list[Heading], level: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(source)))
    more = [*source[:at], Heading("new", level, "new"), *source[at:]]
    assert align(known(source), known(more)) == [*range(at), None, *range(at, len(source))]


@given(SOURCE, st.data())
def test_moving_sections_keeps_every_id(source: list[Heading], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(source))))
    assert align(known(source), known([source[number] for number in order])) == order


@given(SOURCE, st.integers(-2, 2))
def test_shifting_all_levels_keeps_every_id(source: list[Heading], by: int) -> None:
    shifted = [replace(heading, level=heading.level + by) for heading in source]
    assert align(known(source), known(shifted)) == list(range(len(source)))


@given(st.integers(1, 6), st.integers(0, 5))
def test_equal_sections_under_a_renamed_chapter_stay_with_it(chapters: int, renamed: int) -> None:
    """Each chapter has the same example in it: only paths tell them apart."""
    renamed %= chapters
    source = [
        heading for n in range(chapters) for heading in (Heading(f"chapter {n}", 1), Heading("example", 2))
    ]
    after = [replace(h, name="renamed") if n == 2 * renamed else h for n, h in enumerate(source)]
    assert align(known(source), known(after)) == list(range(len(source)))


def test_many_sections_are_aligned() -> None:
    """With a step for every pair of sections this would take hours."""
    old = [Known((f"h{n}",), f"{n}", n % 6) for n in range(50_000)]
    new = [Known((f"k{n}",), f"new {n}", n % 6) for n in range(50_000)]
    assert align(old, new) == list(range(50_000))
    assert align(old, old[::-1]) == list(range(50_000))[::-1]
    assert align(old, [known._replace(level=7) for known in new]) == [None] * 50_000
