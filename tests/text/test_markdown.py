"""Markdown as a reader sees it: prose, and fenced code."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.text.fields import field_texts, is_code
from germane.text.markdown import has_markup, prose_and_code


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("plain words, no markup", "plain words, no markup"),
        ("**bold** and _emphasis_ and `code`", "bold and emphasis and code\n"),
        ("[text](http://a.b/c) ![alt](x.png) [two][ref]", "text alt two\n"),
        ("arr[0] stays, [x] too", "arr[0] stays, [x] too\n"),
        ("a Vec<T> and a Map<K, V>", "a Vec<T> and a Map<K, V>\n"),
        ('one<br/>two <span class="x">three</span>', "one two three\n"),
        ("<!-- unseen -->\n\nseen", "\nseen\n"),
        ('<Listing number="4-1" caption="A move">\n\ntext\n\n</Listing>', "4-1 A move\n\ntext\n\n"),
        ('since <Since v="1.2" /> it', "since 1.2 it\n"),
        ("<Tabs>\n\n- one\n- two\n\n</Tabs>", "\n\none\n\ntwo\n\n\n\n"),
        ("1984. A novel", "1984. A novel\n\n"),
        ("1. first\n2. second", "first\nsecond\n\n"),
        ("| a | b |\n|---|---|\n| c | d |", "a\nb\n\nc\nd\n\n\n"),
        ("[[Page|as named]]", "as named\n"),
        ("a \\* b &amp; c", "a * b & c\n"),
    ],
)
def test_prose(source: str, prose: str) -> None:
    assert prose_and_code(source)[0].split() == prose.split()


MARKUP = re.compile(r"[`*_\[\]<>#~\\&|]|^[ \t]*(?:\d+[.)]|[-+=:])|^(?: {4}|\t)", re.MULTILINE)


@given(st.lists(st.sampled_from([*" \t\n\r-+=:1.)*a", "    ", "word "]), max_size=8).map("".join))
def test_markup_is_a_mark_or_the_start_of_a_line(source: str) -> None:
    assert has_markup(source) == bool(MARKUP.search(source))


def test_only_fenced_code_is_code() -> None:
    source = "before\n\n```rust\nfn main() {}\n```\n\n    indented\n\n~~~\nmore\n~~~\nafter `inline`"
    prose, code = prose_and_code(source)
    assert code == "fn main() {}\nmore\n"
    assert prose.split() == ["before", "indented", "after", "inline"]


def test_include_lines_are_left_out() -> None:
    first = "```rust\n{{#rustdoc_include ../listings/ch04/src/main.rs:here}}\n```\n\n"
    source = first + "```\n{{#include x}}\nlet y;\n{{ y }}\n```"
    assert prose_and_code(source)[1] == "let y;\n{{ y }}\n"


@given(
    st.text(
        alphabet=st.one_of(
            st.sampled_from("`*_[]()<>#~\\&|!-=+1. \n\t\"'/aZ"), st.characters(exclude_categories=["Cs"])
        ),
        max_size=80,
    )
)
def test_no_source_is_an_error(source: str) -> None:
    prose, code = prose_and_code(source)
    assert prose_and_code(source) == (prose, code)


@given(st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), max_size=30))
def test_plain_words_stay_as_they_are(words: list[str]) -> None:
    assert prose_and_code(" ".join(words)) == (" ".join(words), "")


def test_types_decide_the_field() -> None:
    assert field_texts("text/x-python", "t", "d", "x = 1") == ("t", "d", "", "x = 1")
    assert field_texts("application/json", None, None, "{}") == ("", "", "", "{}")
    assert field_texts("text/plain", None, None, "# x") == ("", "", "# x", "")
    assert field_texts("image/png", "t", None, b"\x00") == ("t", "", "", "")
    assert field_texts("application/pdf", "t", None, "text") == ("t", "", "", "")
    assert is_code("text/typescript")
    assert not is_code("text/html")
