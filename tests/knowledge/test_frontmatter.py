"""Front matter: what is read, what stays text, and what hostile blocks cost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.knowledge.frontmatter import FrontMatter, read_front_matter
from germane.model.values import Value, check_metadata


def yaml(block: str) -> FrontMatter:
    return read_front_matter(f"---\n{block}\n---\ntext")


def toml(block: str) -> FrontMatter:
    return read_front_matter(f"+++\n{block}\n+++\ntext")


@pytest.mark.parametrize(
    ("block", "metadata"),
    [
        ("title: Hello", {"title": "Hello"}),
        ("a: 1\nb: 1.5\nc: true\nd: null\ne: ''", {"a": 1, "b": 1.5, "c": True, "e": ""}),
        ("day: 2024-05-01", {"day": datetime(2024, 5, 1, tzinfo=UTC)}),
        ("at: 2024-05-01T10:00:00+02:00", {"at": datetime(2024, 5, 1, 8, tzinfo=UTC)}),
        ("at: 2024-05-01 10:00:00", {"at": datetime(2024, 5, 1, 10, tzinfo=UTC)}),
        ("l: [1, x, null, 2024-05-01]", {"l": (1, "x", datetime(2024, 5, 1, tzinfo=UTC))}),
        ("l: []", {"l": ()}),
        ("l: [{a: 1, d: 2024-05-01}, [2]]", {"l": ('{"a": 1, "d": "2024-05-01 00:00:00+00:00"}', "[2]")}),
        ("seo:\n  index: true\n  image: {alt: x}", {"seo.index": True, "seo.image.alt": "x"}),
        ("s: !!set {b, a}", {"s": ("a", "b")}),
        (
            "2: one\ntrue: yes\n2024-05-01: day",
            {"2": "one", "True": True, "2024-05-01 00:00:00+00:00": "day"},
        ),
        ("a: &x {k: 1}\nb: {<<: *x}", {"a.k": 1, "b.k": 1}),
        ("n: .nan\ni: -.inf", {"n": "nan", "i": "-inf"}),
        ("n: 9223372036854775807\nm: 9223372036854775808", {"n": (1 << 63) - 1, "m": "too large a number"}),
        ("{title: Hello}", {"title": "Hello"}),
        ("# a comment\n\ntitle : Hello", {"title": "Hello"}),
        ("größe: 3", {"größe": 3}),
        ("b: !!binary AAAA", {}),
        ("", {}),
        (" \n", {}),
    ],
)
def test_yaml(block: str, metadata: dict[str, Value]) -> None:
    for newline in ("\n", "\r\n"):
        source = f"---\n{block}\n---\ntext".replace("\n", newline)
        found = read_front_matter(source)
        assert tuple(found) == (metadata, len(source) - len("text"), None)
        assert check_metadata(found.metadata) == metadata


@pytest.mark.parametrize(
    ("block", "metadata"),
    [
        ('title = "Hello"\nn = 1', {"title": "Hello", "n": 1}),
        ("day = 2024-05-01\nat = 10:00:00", {"day": datetime(2024, 5, 1, tzinfo=UTC), "at": "10:00:00"}),
        ("[seo]\nindex = true\n[[l]]\na = 1", {"seo.index": True, "l": ('{"a": 1}',)}),
        ("n = nan", {"n": "nan"}),
        ("# only a comment", {}),
        ("", {}),
    ],
)
def test_toml(block: str, metadata: dict[str, Value]) -> None:
    assert toml(block) == (metadata, len(f"+++\n{block}\n+++\n"), None)


@pytest.mark.parametrize(
    "source",
    [
        "", "text", "---", "--- \n", "---\ntitle: x\n", "\n---\ntitle: x\n---\n", " ---\ntitle: x\n---\n",
        "----\ntitle: x\n----\n", "---\ntitle: x\n----\n", "---\ntitle: x\n ---\n", "---\ntitle: x\n+++\n",
        # Between rules stands text, a list, a heading.
        "---\nSome prose.\n---\nmore", "---\n- a\n- b\n---\n", "---\n# Heading\n---\n", "---\nhttp://x.y\n---\n",
        "---\nIn short: prose\n---\n", "---\n- a: 1\n---\n",
    ],
)  # fmt: skip
def test_what_is_no_front_matter(source: str) -> None:
    assert read_front_matter(source) == ({}, 0, None)


@pytest.mark.parametrize("end", ["---", "...", "--- ", "---\t"])
def test_how_a_block_may_end(end: str) -> None:
    assert read_front_matter(f"---\ntitle: x\n{end}") == ({"title": "x"}, len(f"---\ntitle: x\n{end}"), None)
    assert read_front_matter(f"---  \ntitle: x\n{end}\ntext\n---\n").length == len(
        f"---  \ntitle: x\n{end}\n"
    )


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (yaml("title: Foo: bar"), "the front matter does not parse: mapping values are not allowed"),
        (yaml("a: ["), "the front matter does not parse: while parsing a flow node"),
        (yaml("a: 2024-13-01"), "the front matter does not parse: month must be in 1..12"),
        (
            yaml("a: !!python/object/apply:os.system [x]"),
            "the front matter does not parse: could not determine",
        ),
        (yaml("a: 1\n--- # x\nb: 2"), "the front matter does not parse: expected a single document"),
        (yaml("a: *b"), "the front matter does not parse: found undefined alias"),
        (yaml("? [a]\n: b\nc: 1"), "the front matter does not parse: while constructing a mapping"),
        (yaml("- 1\na: 2"), "the front matter does not parse: while parsing a block collection"),
        (yaml("'x'\n\n'a: 1'\n\n\"a\": 1"), "the front matter does not parse: "),
        (yaml("|\n a: 1"), "the front matter is no mapping"),
        (toml("a = "), "the front matter does not parse: Invalid value"),
        (toml("a = 1\na = 2"), "the front matter does not parse: Cannot overwrite a value"),
        (toml("a: 1"), "the front matter does not parse: Expected '='"),
        (toml("a = 2024-02-30"), "the front matter does not parse: Invalid date"),
    ],
)
def test_blocks_that_do_not_parse(found: FrontMatter, problem: str) -> None:
    assert found.metadata == {}
    assert found.length > 0
    assert found.problem is not None
    assert found.problem.startswith(problem)
    assert len(found.problem) < 250


@pytest.mark.parametrize(
    ("block", "kept", "problem"),
    [
        (
            f"ok: 1\n{'k' * 201}: 2\nz: 3",
            {"ok": 1, "z": 3},
            "a name: has 201 characters: an id has at most 200",
        ),
        ("'': 1\nz: 3", {"z": 3}, "a name: is empty: an id has 1 to 200 characters"),
        ('"a\\tb": 1\nz: 3', {"z": 3}, "a name: holds a control character at 1"),
        ("a: 0001-01-01T00:00:00+23:00\nz: 3", {"z": 3}, "lies outside the years 1 to 9999 (UTC)"),
        ("l: [9999-12-31T23:00:00-23:00]\nz: 3", {"z": 3}, "lies outside the years 1 to 9999 (UTC)"),
    ],
)
def test_one_value_that_cannot_be_used_leaves_the_others(
    block: str, kept: dict[str, Value], problem: str
) -> None:
    found = yaml(block)
    assert found.metadata == kept
    assert found.problem is not None
    assert found.problem.startswith("the front matter: ")
    assert problem in found.problem


def aliases(first: str, by: int, levels: int, pattern: str = "[{}]") -> str:
    """A block that stands for by ** levels values."""
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{n}: &a{n} {pattern.format(', '.join([f'*a{n - 1}'] * by))}" for n in range(1, levels)]
    return "\n".join(lines)


def merges(by: int, levels: int) -> str:
    names = ", ".join(f"k{n}: 1" for n in range(100))
    return aliases(f"{{{names}}}", by, levels, "{{<<: [{}]}}")


def mappings(by: int, levels: int) -> str:
    lines = ["a0: &a0 {}"]
    lines += [f"a{n}: &a{n} {{{', '.join(f'{k}: *a{n - 1}' for k in range(by))}}}" for n in range(1, levels)]
    return "\n".join(lines)


HOSTILE = {
    "billion laughs": aliases("[lol, lol]", 10, 12),
    "laughs of nothing": aliases("[]", 10, 12),
    "laughs of mappings": mappings(10, 12),
    "laughs in pairs": aliases("!!pairs [k: v]", 10, 12, "!!pairs [k: [{}]]"),
    "laughs in a set": aliases("!!set {x}", 10, 12),
    "wide laughs": aliases("[x]", 1_000, 3),
    "a long text, often": aliases("x" * 9_000, 1_000, 2),
    "merged mappings": merges(9, 5),
    "itself": "a: &a [*a, *a, *a]\nb: &b {c: *b, d: *b, e: *b}",
    "deep lists": "a: " + "[" * 8_000 + "]" * 8_000,
    "deep lists, allowed": "a: " + "[" * 900 + "]" * 900,
    "deep mappings": "a: " + "{a: " * 3_000 + "}" * 3_000,
    "deep sequences": "a:\n  " + "- " * 7_000,
    "many quotes": "a: " + '"' * 16_000,
    "many anchors": "a: " + "&a " * 5_000,
    "many questions": "a: 1\n" + "? " * 8_000,
    "huge number": "a: 0x" + "f" * 16_000,
    "huge number in base 60": "a: " + ":".join(["1"] * 8_000),
    "huge number as a name": "a:\n  ? 0x" + "f" * 900 + "\n  : 1",
    "huge number inside": "a: [{b: 0x" + "f" * 16_000 + "}]",
    "huge decimal": "a: " + "9" * 16_000,
    "huge exponent": "a: 1e" + "9" * 16_000,
    "many names": "\n".join(f"n{n}: {n}" for n in range(1_500)),
    "many tags": "tags: [" + ", ".join(["x"] * 5_000) + "]",
}


@pytest.mark.parametrize("block", HOSTILE.values(), ids=HOSTILE)
def test_hostile_yaml_costs_little(block: str) -> None:
    found = yaml(block)
    assert len(block) < 16_384
    assert sum(len(repr(value)) for value in found.metadata.values()) < 200_000
    assert len(found.metadata) <= 5_000
    check_metadata(found.metadata)


@pytest.mark.parametrize("name", ["billion laughs", "laughs of nothing", "laughs of mappings", "wide laughs"])
def test_too_many_values_are_said(name: str) -> None:
    assert yaml(HOSTILE[name]).problem == "the front matter holds too many values: the rest was left out"


@pytest.mark.parametrize(
    "block",
    [
        "a = " + "[" * 8_000 + "]" * 8_000,
        "a = " + "{a=" * 2_000 + "1" + "}" * 2_000,
        "a." * 4_000 + "a = 1",
        "[" + "a." * 4_000 + "a]",
        "a = 0x" + "f" * 8_000,
        "a = " + "9" * 8_000,
        "a = [{b = 0x" + "f" * 8_000 + "}]",
        "a = 1e" + "9" * 8_000,
        "a = 9999-12-31T23:59:59-23:59",
        'a = "' + "\\" * 9_000 + '"',
    ],
)
def test_hostile_toml_costs_little(block: str) -> None:
    check_metadata(toml(block).metadata)


def test_a_block_that_is_too_long_stays_text() -> None:
    for found in (yaml("a: " + "x" * 17_000), toml("a." * 50_000 + "a = 1"), yaml("a: " + "[" * 100_000)):
        assert found == ({}, 0, "the front matter is longer than 16384 characters: taken as text")


SCRAPS = st.lists(
    st.sampled_from(
        ["a", ": ", "- ", "[", "]", "{", "}", "&a ", "*a", "!!set", "!!omap", "<<", "|", ">", '"', "'", "\n",
         "  ", "#", "1", "0x1", "2024-01-01", "true", "~", "?", "\\", "=", ".", "\t", "\0", "\u2028", "é",
         "[[", "]]"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@settings(max_examples=300)
@given(st.one_of(SCRAPS, st.text(max_size=100)))
def test_any_block_is_read(block: str) -> None:
    for found in (yaml(f"k: {block}"), yaml(block), toml(f"k = {block}"), toml(block)):
        assert check_metadata(found.metadata) == found.metadata
        assert found.problem is None or found.problem.startswith("the front matter")
