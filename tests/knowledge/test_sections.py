"""Cutting Markdown at its headings: where sections begin and end, and what is no heading."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from germane.knowledge.files import decode
from germane.knowledge.sections import Cut, Source, cut_markdown, cut_plain


def titles(text: str) -> list[tuple[int, str | None]]:
    return [(cut.level, cut.title) for cut in cut_markdown(text).sections]


class Written(NamedTuple):
    """A piece of a document as it is written, and the heading that it is, if it is one."""

    lines: tuple[str, ...]
    level: int = 0
    title: str = ""


WORDS = st.lists(st.sampled_from(["red", "Lamp", "naïve", "日本語", "𝕏", "e\u0301"]), min_size=1, max_size=3)
PROSE = WORDS.map(" ".join)


@st.composite
def atx(draw: st.DrawFn) -> Written:
    level, title = draw(st.integers(1, 6)), draw(PROSE)
    closing = draw(st.sampled_from(["", " #", " ######", "  ##  ", " {#anchor}", " {.a .b}"]))
    return Written((" " * draw(st.integers(0, 3)) + "#" * level + " " + title + closing,), level, title)


@st.composite
def setext(draw: st.DrawFn) -> Written:
    level, lines = draw(st.integers(1, 2)), draw(st.lists(PROSE, min_size=1, max_size=3))
    rule = ("=" if level == 1 else "-") * draw(st.integers(3, 6))
    return Written((*lines, rule), level, " ".join(lines))


FILLER = st.one_of(
    PROSE.map(lambda text: Written((text,))),
    PROSE.map(lambda text: Written((text, f"and {text}"))),
    st.sampled_from([
        Written(("```sh", "# no heading", "", "#", "---", "```")),
        Written(("~~~~", "~~~", "## no heading", "~~~~")),
        Written(("- item", "", "  # in a list", "- # directly")),
        Written(("1. one", "   two", "   ---")),
        Written(("> # in a quote", "> text")),
        Written(("<div>", "# in HTML", "</div>")),
        Written(("    # indented code",)),
        Written(("#no heading", "####### nor this")),
        Written(("\\# escaped",)),
        Written(("| a | b |", "|---|---|", "| 1 | # |")),
        Written(("[^1]: # in a footnote",)),
        Written(("***",)),
    ]),
)  # fmt: skip
DOCUMENT = st.lists(st.one_of(FILLER, atx(), setext()), max_size=12)


@given(DOCUMENT, st.sampled_from(["\n", "\r\n"]), st.integers(0, 2), st.booleans())
def test_generated_documents(pieces: list[Written], newline: str, blank: int, is_ended: bool) -> None:
    """Headings, levels, parents, paths, lines and bodies are those of a plain line-by-line oracle."""
    lines: list[str] = []
    expected: list[tuple[int, str | None, int, int]] = []  # level, title, first line, lines of the heading
    is_open = False
    for piece in pieces:
        if piece.lines[0].startswith(" ") and is_open:
            continue  # what is indented after a list or a footnote belongs to it
        is_open = piece.lines[0][0] in "-1["
        if piece.level:
            expected.append((piece.level, piece.title, len(lines) + 1, len(piece.lines)))
        lines += [*piece.lines, *[""] * (1 + blank)]
    text = newline.join(lines[: None if is_ended else -1])
    first = expected[0][2] if expected else len(lines) + 1
    if any(line.strip() for line in lines[: first - 1]):
        expected.insert(0, (0, None, 1, 0))

    sections = cut_markdown(text).sections
    assert [(cut.level, cut.title, cut.lines[0]) for cut in sections] == [each[:3] for each in expected]
    for number, (cut, (level, title, start, height)) in enumerate(zip(sections, expected, strict=True)):
        end = expected[number + 1][2] - 1 if number + 1 < len(expected) else len(lines)
        while not lines[end - 1].strip():
            end -= 1
        assert cut.lines == (start, end)
        assert cut.body.splitlines() == trimmed(lines[start - 1 + height : end])
        assert cut.body.replace(newline, "").count("\r") == 0
        parent = max((n for n in range(number) if 0 < expected[n][0] < level), default=None)
        assert cut.parent == parent
        above = sections[parent].heading_path if parent is not None else ()
        assert cut.heading_path == (*above, *((title,) if title else ()))
    covered = [line for cut in sections for line in range(cut.lines[0], cut.lines[1] + 1)]
    assert len(set(covered)) == len(covered)
    assert {n for n, line in enumerate(lines, 1) if line.strip()} <= set(covered)


def trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return [*lines[:-1], *[line.rstrip() for line in lines[-1:]]]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# Plain", "Plain"),
        ("# *Bold* and `code`", "Bold and code"),
        ("# [A link](http://x.y) ![an image](z.png)", "A link an image"),
        ("# [[page|Wiki link]]", "Wiki link"),
        ("# A ~~struck~~ &amp; escaped \\* word", "A struck & escaped * word"),
        ("# Vec<T> and <b>HTML</b><br>here <!-- not this -->", "Vec<T> and HTML here"),
        ("#   many    spaces   ##", "many spaces"),
        ("# C# #", "C#"),
        ("# Name {#id .class key=value}", "Name"),
        ("# Footnote[^1]\n\n[^1]: x", "Footnote"),
        ("Two\nlines\n===", "Two lines"),
        ("#\ttab", "tab"),
        ("# nul \0 inside", "nul \0 inside"),
    ],
)
def test_the_text_of_a_heading(source: str, title: str) -> None:
    assert titles(source)[0] == (1, title)


def test_an_empty_heading_is_a_section_without_a_title() -> None:
    sections = cut_markdown("# A\n##\ntext\n### B").sections
    assert [(cut.level, cut.title, cut.heading_path) for cut in sections] == [
        (1, "A", ("A",)), (2, None, ("A",)), (3, "B", ("A", "B")),
    ]  # fmt: skip
    assert sections[1].body == "text"


def test_skipped_levels_keep_their_numbers() -> None:
    sections = cut_markdown("### Deep\n# Top\n#### Deeper\n## Mid").sections
    assert [(cut.level, cut.parent, cut.heading_path) for cut in sections] == [
        (3, None, ("Deep",)), (1, None, ("Top",)), (4, 1, ("Top", "Deeper")), (2, 1, ("Top", "Mid")),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\ufeff", "\t\r\n", "---\n---\n", "---\na: 1\n---\n\n"])
def test_no_text_is_no_section(text: str) -> None:
    assert cut_markdown(text).sections == ()


def test_prose_alone_is_one_section() -> None:
    assert cut_markdown("\n\nonly\n\nprose\n\n").sections == (
        Cut(None, "only\n\nprose", 0, None, (), (1, 5)),
    )
    assert titles("prose\n\n# A") == [(0, None), (1, "A")]


def test_bytes_before_and_between_lines() -> None:
    for text in ("\ufeff# A\r\n\r\nbody\r\n\r\nmore\r\n\r\n## B\r\n", "# A\r\rbody\r\rmore\r\r## B\r"):
        sections = cut_markdown(text).sections
        assert [(cut.title, cut.lines) for cut in sections] == [("A", (1, 5)), ("B", (7, 7))]
        assert sections[0].body.split() == ["body", "more"]


def test_the_title_of_a_source() -> None:
    assert cut_markdown("# One\n# Two").title == "One"
    assert cut_markdown("## Two\n# One").title == "One"
    assert cut_markdown("## Two").title is None
    assert cut_markdown("---\ntitle: Front\n---\n# One").title == "Front"
    assert cut_markdown("---\ntitle: Front\n---\n# One", title="Given").title == "Given"


def test_a_title_without_a_heading_opens_the_source() -> None:
    text = "---\ntitle: Front\ndescription: About it.\n---\n\nintro\n\n## Two\nbody"
    opening, two = cut_markdown(text).sections
    assert opening == Cut("Front", "intro", 1, None, ("Front",), (5, 6), "About it.")
    assert (two.heading_path, two.parent, two.lines, two.description) == (("Front", "Two"), 0, (8, 9), None)
    assert titles("---\ntitle: Front\n---\n") == [(1, "Front")]
    assert titles("---\ntitle: Front\n---\n# Front\n") == [(1, "Front")]
    assert titles("---\ntitle: Front\n---\n# One\n") == [(1, "Front"), (1, "One")]


def test_a_description_belongs_to_the_first_section() -> None:
    one, two = cut_markdown("---\ndescription: About it.\n---\n# One\n# Two\n").sections
    assert (one.description, two.description) == ("About it.", None)
    (only,) = cut_markdown("---\ndescription: About it.\n---\n").sections
    assert (only.title, only.description) == (None, "About it.")


@pytest.mark.parametrize(
    ("written", "title"),
    [("Hello", "Hello"), ("2024", "2024"), ("1.5", "1.5"), ("2024-05-01", "2024-05-01"), ("' '", None),
     ("true", None), ("[a]", None), ("", None), ("2024-05-01 10:00:00", "2024-05-01 10:00:00+00:00")],
)  # fmt: skip
def test_titles_that_a_parser_takes_for_something_else(written: str, title: str | None) -> None:
    assert cut_markdown(f"---\ntitle: {written}\n---\ntext").title == title


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [rust, 'machine learning', rust]", ("rust", "machine learning")),
        ("tags: rust, machine learning", ("rust", "machine learning")),
        ("tags: rust  notes", ("rust", "notes")),
        ("tags: '#rust #notes'", ("rust", "notes")),
        ("tags:\n  - rust\n  - 2024\n  -\n  - ''", ("rust", "2024")),
        ("tags: 2024", ("2024",)),
        ("tags:", ()),
        ("tags: {a: 1}", ()),
        (f"tags: [{'x' * 201}, ok]", ("ok",)),
        ('tags: ["a\\nb", ok]', ("ok",)),
    ],
)
def test_tags(written: str, tags: tuple[str, ...]) -> None:
    assert cut_markdown(f"---\n{written}\n---\ntext").tags == tags


@pytest.mark.parametrize(
    ("lang", "name"), [("de", "german"), ("pt-BR", "portuguese"), ("klingon", None), ("3", None)]
)
def test_languages(lang: str, name: str | None) -> None:
    assert cut_markdown(f"---\nlang: {lang}\n---\ntext").lang == name


def test_plain_text_is_one_section_verbatim() -> None:
    for text, last in (("# no heading\n\ntext", 3), ("a\nb\n", 2), ("a", 1), ("\n\na\r\n\n", 4)):
        assert cut_plain(text) == Source(
            None, "text/plain", {}, (), None, (Cut(None, text, 0, None, (), (1, last)),)
        )
    assert cut_plain(" \n").sections == ()
    assert cut_plain("text", "Title").sections == (Cut("Title", "text", 1, None, ("Title",), (1, 1)),)


LINES = st.lists(
    st.sampled_from(
        ["# h", "text", "", "---", "+++", "===", "```", "~~~", "> q", "- l", "  ", "\t", "<div>", "import a",
         "export {", "}", "title: x", "a = 1", "[^1]: f", "\ufeff", "\r", "\0", "\u2028", "\x85", "日本"]
    ),
    max_size=20,
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n"])
ANY = st.one_of(st.text(max_size=200), st.builds(lambda lines, end: end.join(lines), LINES, ENDS))


@settings(max_examples=500)
@given(ANY, st.booleans())
@example("# a\rb", False)
@example("\r", True)
def test_any_text_is_cut(text: str, is_mdx: bool) -> None:
    source = cut_markdown(text, is_mdx)
    height = text.count("\n") + text.count("\r") + 1
    last = 0
    for number, cut in enumerate(source.sections):
        assert last < cut.lines[0] <= cut.lines[1] <= height or number == 0 or cut.lines[0] == last
        assert cut.parent is None or 0 <= cut.parent < number
        assert 0 <= cut.level <= 6
        last = cut.lines[1]


def test_any_bytes_are_cut() -> None:
    rng = random.Random(7)
    pieces = [
        b"# h\n",
        b"---\n",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\0",
        b"\xe9",
        b"```\n",
        b"a: [\n",
        b"\n",
    ]
    for _ in range(2_000):
        data = b"".join(rng.choice([rng.choice(pieces), rng.randbytes(rng.randrange(8))]) for _ in range(9))
        text, _ = decode(data)
        if text is not None:
            cut_markdown(text)
            cut_markdown(text, is_mdx=True)
            cut_plain(text)


HOSTILE = {
    "quotes": ">" * 20_000 + " # deep",
    "lists": "- " * 5_000 + "# deep",
    "brackets": "# " + "[" * 20_000,
    "emphasis": "# " + "*a_" * 20_000,
    "headings": "\n".join("#" * (1 + n % 6) + f" {n}" for n in range(20_000)),
    "ticks": "# " + "`" * 50_000,
    "less": "<" * 50_000,
    "tags": "# " + "<a " * 20_000,
    "comments": "# " + "<!--" * 10_000,
    "table": "| a " * 10_000 + "\n" + "|---" * 10_000,
    "setext": "x\n" * 50_000 + "===",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_cut(text: str) -> None:
    assert cut_markdown(text).sections
    assert cut_markdown(text, is_mdx=True).sections


def test_a_title_in_front_matter_is_a_section_unless_a_chapter_has_it_already() -> None:
    front = "---\ntitle: Recommended gas\n---\n"
    paths = [cut.heading_path for cut in cut_markdown(f"{front}# Specification\ntext\n").sections]
    assert paths == [("Recommended gas",), ("Specification",)]
    paths = [cut.heading_path for cut in cut_markdown(f"{front}# Recommended gas\ntext\n").sections]
    assert paths == [("Recommended gas",)]
