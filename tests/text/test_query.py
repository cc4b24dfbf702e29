"""The query language: what parses, and that nothing is an error."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.text.plan import make_plan
from germane.text.query import Clause, parse

PIECES = (
    *"\"+-*:() \t\n\\/'’_.@#",
    *(
        "title:",
        "body:",
        "code:",
        "tag:",
        "type:",
        "doc:",
        "foo:",
        "AND",
        "OR",
        "NOT",
        "the",
        "lamp",
        "getUserById",
    ),
    *("中文", "ﷺ", "\u0301", "\u200d", "\x00", "\ud800", "\U0010ffff", "𝒳", "ﾊﾟ", "1" * 400, "a-" * 50, "🙂"),
)


def random_query(random: Random) -> str:
    if random.random() < 0.3:
        return "".join(
            chr(random.choice((random.randrange(0x110000), random.randrange(0x300)))) for _ in range(12)
        )
    return "".join(random.choice(PIECES) for _ in range(random.randint(0, 10)))


def test_no_query_is_an_error() -> None:
    """A hundred thousand of them: operators without operands, controls, lone surrogates, any character."""
    db = germane.open()
    db.put_many(
        [
            germane.Item(id="a", title="the lamp", body="getUserById in src/app ```\nx\n```", tags=["lamp"]),
            germane.Item(id="b", body="中文 ﾊﾟ and 𝒳", lang="french"),
        ]
    )
    random = Random(20)
    for number in range(100_000):
        text = random_query(random)
        if number % 10:
            db.top(text, 3)
        else:
            page = db.search(
                text, mode=random.choice(("sections", "stats")), match=random.choice(("any", "all"))
            )
            assert page.total >= len(page.items)


@given(st.text(max_size=30))
def test_parsing_loses_no_word(text: str) -> None:
    kept = "".join(clause.text for clause in parse(text))
    for char in kept:
        assert char in text or char in "titlebodycodetagtypedoc"
    if not any(mark in text for mark in '"+-:'):
        assert kept.split() == "".join(text.split()).split()


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("red lamp", [Clause("", "", "red", False), Clause("", "", "lamp", False)]),
        ('"red lamp"', [Clause("", "", "red lamp", True)]),
        ('+title:"red lamp"x', [Clause("+", "title", "red lamp", True), Clause("", "", "x", False)]),
        (
            'tag:"two words" -doc:a/b.md',
            [Clause("", "tag", "two words", True), Clause("-", "doc", "a/b.md", False)],
        ),
        ('say "hello', [Clause("", "", "say", False), Clause("", "", '"hello', False)]),
        ("foo:bar Title:x", [Clause("", "", "foo:bar", False), Clause("", "", "Title:x", False)]),
        ("title: + - ++x", [Clause("", "", "title", False), Clause("+", "", "+x", False)]),
        ('"" +', []),
    ],
)
def test_examples(text: str, clauses: list[Clause]) -> None:
    assert parse(text) == clauses


def names(text: str, *langs: str) -> list[str]:
    return [word.name for word in make_plan(text, langs or ("english",)).words]


def test_scored_words() -> None:
    assert names("the lamp of the lamps") == ["lamp"]
    assert names("to be or not to be") == ["to", "be", "or", "not"]
    assert names("the getUserById") == ["get", "user", "id", "getuserbyid"]
    assert names("title:red red") == ["red"]
    assert make_plan("title:red body:red", ["english"]).words[0].fields == frozenset({0, 1})
    assert make_plan("title:red red", ["english"]).words[0].fields is None


def test_a_word_is_stemmed_in_every_language() -> None:
    (word,) = make_plan("Häuser", ["english", "german"]).words
    assert word.terms == {"hauser", "haus"}
    assert word.surface == "Häuser"


def test_a_stop_word_is_one_in_all_languages() -> None:
    assert names("war lamp", "german") == ["lamp"]
    assert names("war lamp", "english", "german") == ["war", "lamp"]


def test_a_lone_compound_is_known_as_one() -> None:
    assert make_plan("getUserById", ["english"]).is_one_compound
    assert not make_plan("getUserById lamp", ["english"]).is_one_compound
    assert not make_plan("lamp", ["english"]).is_one_compound
