"""The oracle's analysis, against examples worked by hand."""

import pytest

from .characters import fold
from .sections import Section, index
from .words import analyse


def tokens(text: str, language: str = "none") -> list[str]:
    """The tokens in order; the language `none` has neither stems nor stop words."""
    words = [word for word in analyse(text, language) if word.kind == "token"]
    assert [word.position for word in words] == list(range(len(words)))
    return [word.term for word in words]


def extras(text: str, language: str = "none") -> list[tuple[str, int]]:
    """The terms that are no tokens, with their positions."""
    return [(word.term, word.position) for word in analyse(text, language) if word.kind != "token"]


@pytest.mark.parametrize(
    ("text", "parts", "whole"),
    [
        ("getUserById", "get user by id", "getuserbyid"),
        ("apply_secrets", "apply secrets", "apply_secrets"),
        ("DEC-0054", "dec 0054", "dec-0054"),
        ("v1.2.3", "v 1 2 3", "v1.2.3"),
        ("src/app/main.py", "src app main py", "src/app/main.py"),
        ("HTTPServer", "http server", "httpserver"),
        ("parseURLs", "parse urls", "parseurls"),
        ("utf8Mode", "utf 8 mode", "utf8mode"),
        ("it’s_Done", "it's done", "it's_done"),
        ("caféLatte", "cafe latte", "cafelatte"),
        ("cafe\u0301Latte", "cafe latte", "cafelatte"),
        ("C#/x@y:z", None, None),
        ("x@y:z#w", "x y z w", "x@y:z#w"),
    ],
)
def test_compounds(text: str, parts: str | None, whole: str | None) -> None:
    if parts is None:  # two joiners in a row separate
        assert extras(text) == [("x@y:z", 1)]
        return
    assert tokens(text) == parts.split()
    assert extras(text) == [(whole, 0)]


def test_a_whole_stands_at_its_first_part() -> None:
    assert tokens("the DEC-0054 text") == ["the", "dec", "0054", "text"]
    assert extras("the DEC-0054 text") == [("dec-0054", 1)]


@pytest.mark.parametrize(
    "text", ["URLs", "HTTP", "Word", "ABc", "ABⓐⓑ", "don't", "-word-", "_word", "word.", "ab ", "İO"]
)
def test_one_word_is_no_compound(text: str) -> None:
    assert len(tokens(text)) == 1
    assert extras(text) == []


@pytest.mark.parametrize(
    "text", ["a--b", "a - b", "a-'b", "a. b", "a+b", "a,b", "a'-b", "a-\u0301b", "a''b", "'a' 'b'"]
)
def test_anything_but_one_joiner_separates(text: str) -> None:
    assert tokens(text) == ["a", "b"]
    assert extras(text) == []


def test_an_apostrophe_between_letters_belongs_to_the_word_except_in_some_languages() -> None:
    assert tokens("l’homme d'or e\u0301'a") == ["l'homme", "d'or", "e'a"]
    assert tokens("5'a a'5") == ["5", "a", "a", "5"]
    for language in ("french", "italian", "catalan"):
        assert tokens("l’an", language) == ["l", "an"]
        assert extras("l’an", language) == []


def test_folding() -> None:
    assert fold("Straße") == "strasse"
    assert fold("É\u0327 ﬁ Ⅷ ½ Σς") == "e fi viii 1\u20442 σσ"
    assert fold("’") == "'"
    assert fold("हिन्दी") == "हिन्दी"
    assert fold("ｶﾞ") == "\u30ac"


def test_marks_belong_to_the_letter_before_them() -> None:
    assert tokens("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert tokens("\u0301a \u093fक") == ["a", "क"]


def test_languages_stem_and_stop() -> None:
    words = {word.folded: word for word in analyse("The Running runner2 getUsers", "english")}
    assert words["the"].stop
    assert words["running"].term == "run"
    assert not words["running"].stop
    assert words["users"].term == "user"
    assert words["getusers"].term == "getusers"
    assert tokens("läufer2x Häuser", "german") == ["lauf", "2", "x", "haus"]
    assert tokens("running ½s", "none") == ["running", "1\u20442", "s"]
    assert analyse("The", "none")[0].stop is False
    assert analyse("don’t", "english")[0].stop is True
    assert analyse("été", "french")[0].stop is True


def test_words_with_digits_are_not_stemmed() -> None:
    assert tokens("²", "english") == ["2"]
    assert tokens("छ", "nepali") == ["छ"]  # its stem would be empty
    assert tokens("١٢", "arabic") == ["١٢"]


@pytest.mark.parametrize(
    ("text", "pairs", "characters"),
    [
        ("信息检索", "信息 息检 检索", [("信", 0), ("息", 1), ("检", 2), ("索", 2)]),
        ("東京タワー", "東京 京タ タワ ワー", [("東", 0), ("京", 1), ("タ", 2), ("ワ", 3), ("ー", 3)]),
        ("한국어", "한국 국어", [("한", 0), ("국", 1), ("어", 1)]),
        ("ไทย", "ไท ทย", [("ไ", 0), ("ท", 1), ("ย", 1)]),
        ("ທລາ", "ທລ ລາ", [("ທ", 0), ("ລ", 1), ("າ", 1)]),
        ("ខ្មែរ", "ខ្ ្ម មែ ែរ", [("ខ", 0), ("្", 1), ("ម", 2), ("ែ", 3), ("រ", 3)]),
        ("မြန်", "မြ ြန န်", [("မ", 0), ("ြ", 1), ("န", 2), ("်", 2)]),
        ("ﾊﾟﾝ", "パン", [("パ", 0), ("ン", 0)]),
        ("ทำ", "ท\u0e4d \u0e4dา", [("ท", 0), ("\u0e4d", 1), ("า", 1)]),
        ("二〇", "二〇", [("二", 0), ("〇", 0)]),
    ],
)
def test_runs_of_bigrams(text: str, pairs: str, characters: list[tuple[str, int]]) -> None:
    assert tokens(text) == pairs.split()
    assert extras(text) == characters


def test_a_single_character_is_a_token() -> None:
    assert tokens("中 ガ") == ["中", "ガ"]
    assert extras("中 ガ") == []


def test_a_run_of_bigrams_joins_nothing() -> None:
    assert tokens("foo中文-x v1_東京") == ["foo", "中文", "x", "v", "1", "東京"]
    assert extras("foo中文-x v1_東京") == [("中", 1), ("文", 1), ("v1", 3), ("東", 5), ("京", 5)]
    assert tokens("中a'文") == ["中", "a", "文"]


def test_digits_of_those_scripts_are_no_bigrams() -> None:
    assert tokens("\u0e51\u0e52") == ["\u0e51\u0e52"]
    assert tokens("\u0e31\u0e01") == ["\u0e01"]


def test_the_source_of_a_bigram() -> None:
    assert [("ﾀﾊﾟﾝ"[word.start : word.end]) for word in analyse("ﾀﾊﾟﾝ", "none")[:2]] == ["ﾀﾊﾟ", "ﾊﾟﾝ"]
    assert [("ทำ"[word.start : word.end]) for word in analyse("ทำ", "none")[:2]] == ["ทำ", "ำ"]


def make(**fields: str) -> Section:
    values = {"title": None, "description": None, "body": "", "type": "text/plain", "lang": "none", **fields}
    return Section(id="a", tags=(), docids=(), collection="main", created_at=0.0, **values)  # type: ignore[arg-type]


def test_the_position_stream() -> None:
    body = "one\n```python\ntwo v1\n```x\n```\nthree\n```\nfour\n```"
    entry = index(make(title="中文字", description="d", body=body, type="text/markdown"))
    assert entry.lengths == {"heading": 2, "body": 3, "code": 5}
    assert entry.token_count == 10
    assert entry.postings["heading"]["字"] == [1]
    assert entry.postings["body"] == {"d": [2], "one": [3], "three": [4]}
    assert entry.postings["code"] == {"two": [5], "v": [6], "1": [7], "v1": [6], "x": [8], "four": [9]}


@pytest.mark.parametrize(
    ("kind", "lengths"),
    [
        ("text/plain", {"heading": 1, "body": 2, "code": 0}),
        ("text/x-python", {"heading": 1, "body": 1, "code": 1}),
        ("application/json", {"heading": 1, "body": 1, "code": 1}),
        ("image/png", {"heading": 1, "body": 1, "code": 0}),
    ],
)
def test_the_field_of_a_body(kind: str, lengths: dict[str, int]) -> None:
    assert index(make(title="t", description="d", body="b", type=kind)).lengths == lengths
