"""Analysis equals the oracle's on any text, and on the examples of the specification."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from germane.text.analysis import Analyzer, Kind, analyzer
from germane.text.words import chunk_spans, chunks
from oracle import words as oracle

LANGUAGES = ("english", "french", "german", "arabic", "hindi", "chinese")

# Characters at which something happens, beside any others: joiners, apostrophes, marks, scripts, digits.
TELLING = "aAbBzZéÉßſǅ'’_-./:@# 019½²٣Ⅷ\u0301\u0308\u0e31\u3099中文が한คำກမហИжअिنाüｶﾞﾊﾟ〇々ー\u200d\xad\t\n"
texts = st.text(
    alphabet=st.one_of(st.sampled_from(TELLING), st.characters(exclude_categories=["Cs"])), max_size=40
)

KINDS = {Kind.WORD: "token", Kind.WHOLE: "whole", Kind.SINGLE: "character"}


def tokens(text: str, lang: str) -> list[tuple[str, int, str, bool]]:
    found = []
    position = 0
    for _, chunk in analyzer(lang).analyze(text):
        found += [(t.term, position + t.offset, KINDS[t.kind], t.is_stop) for t in chunk.tokens]
        position += chunk.width
    return found


@given(texts, st.sampled_from(LANGUAGES))
@example("HTTPServer URLs getUserById v1.2.3 2nd", "english")
@example("l'eau d’or don't", "french")
@example("ﷺ ª ㎏ Ａ１", "english")
@example("1\u0301a'b", "english")
def test_any_text_is_analysed_as_the_oracle_does(text: str, lang: str) -> None:
    wanted = [(w.term, w.position, w.kind, w.stop) for w in oracle.analyse(text, lang)]
    assert tokens(text, lang) == wanted


@given(texts)
def test_chunks_are_the_same_with_and_without_their_places(text: str) -> None:
    assert chunks(text, True) == [chunk for _, chunk in chunk_spans(text, True)]
    assert all(text[start : start + len(chunk)] == chunk for start, chunk in chunk_spans(text, True))


@given(st.text(alphabet="aB1_-.' /\t", max_size=30))
def test_ascii_text_is_cut_as_any_other(text: str) -> None:
    # One character beyond ASCII sends the whole piece through the other pattern.
    assert [*chunks(text, True), "é"] == chunks(f"{text} é", True)
    assert len(chunks(f"é{text}", True)) in (len(chunks(text, True)), len(chunks(text, True)) + 1)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserById", ["get@0", "user@1", "by@2", "id@3", "getuserbyid@0"]),
        ("apply_secrets", ["appli@0", "secret@1", "apply_secrets@0"]),
        ("DEC-0054", ["dec@0", "0054@1", "dec-0054@0"]),
        ("v1.2.3", ["v@0", "1@1", "2@2", "3@3", "v1.2.3@0"]),
        ("src/app/main.py", ["src@0", "app@1", "main@2", "py@3", "src/app/main.py@0"]),
        ("HTTPServer", ["http@0", "server@1", "httpserver@0"]),
        ("URLs", ["url@0"]),
        ("foo--bar", ["foo@0", "bar@1"]),
        ("don’t", ["don't@0"]),
        ("中文分", ["中文@0", "文分@1", "中@0", "文@1", "分@1"]),
        ("中", ["中@0"]),
        ("हिन्दी", ["हिन्दी@0"]),
        ("CAFÉ cafe\u0301", ["cafe@0", "cafe@1"]),
    ],
)
def test_examples(text: str, terms: list[str]) -> None:
    assert [f"{term}@{position}" for term, position, _, _ in tokens(text, "english")] == terms


def test_a_cache_that_is_full_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.text.analysis.CACHE_SIZE", 3)
    small = Analyzer("english")
    text = "one two three four five six one two"
    assert [c.terms for c in small.chunks(text)] == [c.terms for c in Analyzer("english").chunks(text)]
