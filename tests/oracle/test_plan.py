"""The oracle's reading of queries, against examples worked by hand."""

import pytest

from .plan import Plan, plan
from .query import Item, parse
from .search import Oracle
from .sections import FIELDS, Section


def test_items() -> None:
    assert parse('red +fox -"old dog" title:"a b"c tag:x/y +code:f') == [
        Item("", "", "red", False),
        Item("+", "", "fox", False),
        Item("-", "", "old dog", True),
        Item("", "title", "a b", True),
        Item("", "", "c", False),
        Item("", "tag", "x/y", False),
        Item("+", "code", "f", False),
    ]


def test_whatever_does_not_parse_is_words() -> None:
    assert parse('"open end') == [Item("", "", "open", False), Item("", "", "end", False)]
    assert parse('mid"dle word"') == [Item("", "", 'mid"dle', False), Item("", "", 'word"', False)]
    assert parse("Title:x foo:y") == [Item("", "", "Title:x", False), Item("", "", "foo:y", False)]
    assert words(plan('+ - +!! "" \'', ["english"])) == []
    assert words(plan("title: title:!! tag: fox*", ["english"])) == ["title", "tag", "fox"]
    assert plan("title: title:!! tag:", ["english"]).demands == []
    assert len(plan("+title:", ["english"]).demands) == 1


def words(query: Plan) -> list[str]:
    return [word.folded for word in query.scored]


def test_scored_words() -> None:
    assert words(plan("The foxes, the fox and a dog", ["english"])) == ["foxes", "dog"]
    assert words(plan("to be", ["english"])) == ["to", "be"]
    assert words(plan("to_do", ["english"])) == ["to", "do", "to_do"]
    assert words(plan("to_do fox", ["english"])) == ["to_do", "fox"]
    assert words(plan("getUser by", ["english"])) == ["get", "user", "getuser"]
    assert words(plan("中文字 -東京", ["english"])) == ["中文", "文字"]


def test_the_stems_of_all_languages_are_one_word() -> None:
    query = plan("die natural", ["german", "french", "english"])
    assert words(query) == ["die", "natural"]
    assert query.scored[1].terms == {"natural", "natur"}
    assert [word.stop for word in query.words] == [False, False]
    assert words(plan("die natural", ["german"])) == ["natural"]


def test_languages_that_disagree_on_spans() -> None:
    query = plan('"l’homme vu"', ["english", "french"])
    assert [word.typed for word in query.words] == ["l", "l’homme", "homme", "vu"]
    (demand,) = query.demands
    assert demand.readings == {  # type: ignore[union-attr]
        (frozenset({"l'homm"}), frozenset({"vu"})),
        (frozenset({"l"}), frozenset({"homm"}), frozenset({"vu"})),
    }


def test_a_whole_follows_its_last_part_in_every_language() -> None:
    assert [word.typed for word in plan("d'unX_y", ["english", "french"]).words] == [
        *("d", "d'un", "un", "X", "y", "d'unX_y", "unX_y")
    ]


def test_the_fields_of_a_word_are_united() -> None:
    assert plan("title:fox code:foxes", ["english"]).scored[0].fields == {"heading", "code"}
    assert plan("title:fox Fox", ["english"]).scored[0].fields == set(FIELDS)
    assert plan("title:fox -body:fox", ["english"]).scored[0].fields == {"heading"}


SECTIONS = {
    "a": ("Red fox", "the quick red fox jumps"),
    "b": ("Dog", "a red dog and the fox"),
    "c": ("Store", "see getUserById or get user\n```\nfox_trot = 1\n```"),
    "d": ("To be", "or not to be; 信息检索"),
    "e": ("User", "the user gets by an id"),
}


@pytest.fixture(name="oracle")
def fixture_oracle() -> Oracle:
    return Oracle(
        Section(
            id=name,
            title=title,
            description="short note" if name == "b" else None,
            body=body,
            type="text/markdown",
            lang="english",
            tags=("new", "x*") if name in "ab" else (),
            docids=(f"doc-{name}", "all"),
            collection="other" if name == "e" else "main",
            created_at=0.0,
        )
        for name, (title, body) in SECTIONS.items()
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("fox", "abc"),
        ("red +fox", "abc"),
        ("fox -red", "c"),
        ('fox -"red fox"', "bc"),
        ('"red fox"', "a"),
        ('"fox the"', ""),
        ('"note a red"', "b"),
        ('"fox and red"', ""),
        ('"to be or"', ""),
        ('"or not to be"', "d"),
        ('"the fox"', "b"),
        ("the fox", "abc"),
        ("+the fox", "ab"),
        ("the", "abe"),
        ("title:fox", "a"),
        ("code:fox", "c"),
        ("body:fox title:dog", "b"),
        ("-title:fox fox", "bc"),
        ('title:"red fox" jumps', "a"),
        ('body:"fox red"', ""),
        ("getUserById", "ce"),
        ("+getUserById", "c"),
        ('"get user"', "c"),
        ("-getUserById user", "e"),
        ("+get,user", "c"),
        ("信息", "d"),
        ("索", "d"),
        ("+息检索", "d"),
        ("+信检", ""),
        ("信检 fox", "abc"),
        ("tag:new", "ab"),
        ("tag:new -doc:doc-a", "b"),
        ("tag:new -fox", ""),
        ("tag:new tag:old", ""),
        ("tag:x*", "ab"),
        ('doc:"all" -tag:new', "cde"),
        ("type:text/markdown dog", "b"),
        ("type:text fox", ""),
        ("-fox", ""),
        ("-tag:new", ""),
        ("", ""),
        ("Title:fox", "abc"),
        ('+"', ""),
    ],
)
def test_matches(oracle: Oracle, query: str, found: str) -> None:
    assert "".join(sorted(hit.id for hit in oracle.search(query).hits)) == found
    assert oracle.search(query).total == len(found)


def test_all_words(oracle: Oracle) -> None:
    strict = oracle.search("quick the fox", match="all")
    assert ([hit.id for hit in strict.hits], strict.loosened) == (["a"], False)
    loose = oracle.search("quick dog", match="all")
    assert (sorted(hit.id for hit in loose.hits), loose.loosened) == (["a", "b"], True)
    none = oracle.search("zebra", match="all")
    assert (none.hits, none.loosened) == ([], False)
    assert [hit.id for hit in oracle.search("title:fox red", match="all").hits] == ["a"]
    assert sorted(hit.id for hit in oracle.search("getUserById", match="all").hits) == ["c", "e"]


def test_collections(oracle: Oracle) -> None:
    assert [hit.id for hit in oracle.search("user", collections=["other"]).hits] == ["e"]
    assert oracle.search("user", collections=["none"]).hits == []
    assert oracle.search("doc:all", collections={"other"}).total == 1


def test_the_language_of_a_query(oracle: Oracle) -> None:
    assert oracle.search("jumping").total == 1
    assert oracle.search("jumping", lang="german").total == 0


def test_a_query_speaks_every_language_of_the_sections() -> None:
    texts = [("english", "natural food"), ("german", "natural food"), ("french", "l'homme natural")]
    oracle = Oracle(
        Section(lang, None, None, text, "text/plain", lang, (), (), lang[0], 0.0) for lang, text in texts
    )
    assert oracle.search("natural").total == 3
    assert oracle.search("natural", lang="english").total == 1
    assert oracle.search("natural", collections=["e"]).total == 1
    assert oracle.search("fooding", collections=["g"]).total == 0
    assert oracle.search('"natural foods"').total == 2  # in English and in German
    assert [hit.id for hit in oracle.search("+l'homme").hits] == ["french"]
    assert [hit.id for hit in oracle.search('natural -"l\'homme natural"').hits] == ["english", "german"]
    (hit,) = oracle.search("l'homme").hits
    assert hit.matched == ["homme"]
    assert dict(hit.contributions)["zone"] == 0.0  # l'homme and homme are counted; l is a stop word
