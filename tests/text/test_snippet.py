"""Snippets: length, cuts, centre, highlights."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.text.analysis import Kind, analyzer
from germane.text.fields import FieldTexts
from germane.text.snippet import ELLIPSIS, LENGTH, Finder, snippet
from germane.text.stemming import kept_of, stemmer

words = st.lists(
    st.sampled_from(["lamp", "red", "filler", "somewhat", "中文字", "x" * 60, "getLamp"]), max_size=80
)


def shown(body: str, query: str, **fields: str) -> tuple[str, list[str]]:
    db = germane.open()
    db.put(germane.Item(id="a", body=body, type="text/plain", **fields))  # type: ignore[arg-type]
    (result,) = db.search(query).items
    return result.snippet, [result.snippet[a:b] for a, b in result.highlights]


@given(words, words)
def test_a_snippet_is_a_piece_of_the_body(before: list[str], after: list[str]) -> None:
    body = " ".join([*before, "lamp", *after])
    texts = FieldTexts("", "", body, "")
    text, highlights = snippet(texts, "english", [frozenset({"lamp"})], 0, 1)
    core = text.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS)
    assert core in body
    assert len(core) <= LENGTH
    assert any("lamp" in text[a:b].lower() for a, b in highlights)
    assert all(0 <= a < b <= len(text) for a, b in highlights)
    assert all(b < c for (_, b), (c, _) in pairwise(highlights))
    if len(body) <= LENGTH:
        assert text == body


@given(st.text(), st.text(), st.text(), st.sampled_from([0, 1, 2]), st.sampled_from([None, 0]))
def test_any_text_has_a_snippet(heading: str, body: str, code: str, field: int, best: int | None) -> None:
    text, highlights = snippet(
        FieldTexts(heading, "", body, code), "english", [frozenset({"a"})], best, field
    )
    assert all(0 <= a < b <= len(text) for a, b in highlights)


def test_cut_between_words_and_marked() -> None:
    body = "alpha " * 40 + "lamp " + "omega " * 40
    text, highlighted = shown(body, "lamp")
    assert text.startswith("...alpha ")
    assert text.endswith(" omega...")
    assert highlighted == ["lamp"]
    assert abs(text.index("lamp") - len(text) / 2) < 12


def test_a_hit_in_the_heading_shows_the_start_of_the_body() -> None:
    body = "The start. " + "words " * 60 + "lamp"
    text, highlighted = shown(body, "lamp", title="lamp lamp lamp")
    assert text.startswith("The start. words")
    assert len(text) <= LENGTH + 3
    assert highlighted == []


def test_the_occurrence_with_the_most_other_words_is_shown() -> None:
    body = "lamp " + "filler " * 60 + "a red lamp shines " + "filler " * 60
    text, highlighted = shown(body, "lamp red")
    assert highlighted == ["red", "lamp"]
    assert "a red lamp shines" in text


def test_without_a_body_there_is_none() -> None:
    assert shown("", "lamp", title="lamp") == ("", [])
    db = germane.open()
    db.put(germane.Item(id="b", title="lamp", body=b"\x00\x01", type="image/png"))
    assert db.search("lamp").items[0].snippet == ""


def test_compounds_and_pairs_are_highlighted_whole() -> None:
    assert shown("call getUserById now", "getUserById")[1] == ["getUserById"]
    assert shown("call getUserById now", "user")[1] == ["User"]
    assert shown("全文检索引擎", "检索引擎")[1] == ["检索引擎"]
    assert shown("ทำงาน", "ทำ")[1] == ["ทำ"]


def test_a_hit_in_the_description_is_shown() -> None:
    text, highlighted = shown("The body.", "bright", description="A bright lamp.")
    assert text == "A bright lamp. The body."
    assert highlighted == ["bright"]


def test_markdown_is_shown_as_read() -> None:
    db = germane.open()
    db.put(germane.Item(id="a", body="See the **red [lamp](http://x.org/y)** <!-- no --> `here`.\n\n- one\n"))
    assert db.search("lamp").items[0].snippet == "See the red lamp here. one"


def plain_matches(
    text: str, lang: str, terms: tuple[frozenset[str], ...]
) -> list[tuple[tuple[int, int], int]]:
    """Return what a finder returns, from the analysis of the whole text."""
    word_of = {term: number for number, each in reversed(list(enumerate(terms))) for term in each}
    return sorted(
        ((start + token.start, start + token.end), word_of[token.term])
        for start, chunk in analyzer(lang).analyze(text)
        for token in chunk.tokens
        if token.term in word_of and (token.kind is not Kind.SINGLE or len(token.surface) == 1)
    )


ENDINGS = """
    s es ies ied 's ed edly ing ingly ying ating bling izing y ily al ation ational ator ence ency ance able
    ably ability ible ibility ment ness ousness iveness ization izer logy lessly fully li ly e ee ie
""".split()
ROOTS = """
    b d h hop tr run di ly ty sk gener commun possibl get user use v2 o'c x i'm caf\u00e9 \u4e2d\u6587 \ufb01n
""".split()
MARKS = " _-./:@#'(),;\u2019\u2014\u00ad\u0130\x01\x1f\u00a0\n"
grown = st.builds(
    lambda root, endings: root + "".join(endings),
    st.sampled_from(ROOTS),
    st.lists(st.sampled_from(ENDINGS), max_size=3),
)
cased = st.builds(lambda word, case: case(word), grown, st.sampled_from([str.lower, str.upper, str.title]))
pieces = st.one_of(cased, st.sampled_from(MARKS), st.just(" "), st.text(max_size=3))
texts = st.lists(pieces, max_size=30).map("".join)


@given(texts, st.lists(texts, max_size=3), st.sampled_from(["english", "german", "turkish", "chinese"]))
def test_matches_are_those_of_the_whole_analysis(text: str, asked: list[str], lang: str) -> None:
    text = " ".join(text.split())
    found = [
        token.term
        for each in [text, *asked]
        for _, chunk in analyzer(lang).analyze(each)[:3]
        for token in chunk.tokens
    ]
    terms = tuple(frozenset(found[at : at + 2]) for at in range(0, len(found), 2))
    assert Finder(lang, terms).matches(text) == plain_matches(text, lang, terms)
    others = tuple(frozenset([term]) for term in found[1::2])
    assert Finder(lang, others).matches(text) == plain_matches(text, lang, others)


@given(grown.filter(lambda word: word.isascii() and word.replace("'", "").isalpha()))
def test_an_english_word_holds_what_is_kept_of_its_term(word: str) -> None:
    kept = kept_of(stemmer("english")(word), "english")
    assert kept
    assert kept in word


@given(texts)
def test_white_space_is_folded(body: str) -> None:
    text, _ = snippet(FieldTexts("", "", body, ""), "english", (), None, 0)
    folded = " ".join(body.split())
    assert text == folded if len(folded) <= LENGTH else folded.startswith(text.removesuffix(ELLIPSIS))
