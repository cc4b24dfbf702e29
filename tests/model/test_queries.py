"""Queries as text: what each clause says, errors that name the place, and a text that reads back."""

from __future__ import annotations

import datetime
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from germane import Diversity, InvalidArgument, QuerySyntaxError, SearchWeights, to_plain, where
from germane.database import Database
from germane.model.filter_text import parse_filter
from germane.model.filters import Comparison, Field, Filter
from germane.model.queries import CLAUSES, RESERVED, Query
from germane.model.query_text import parse_query

NEW_YEAR = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
CHEAP = where.meta.price < 10


@pytest.mark.parametrize(
    ("text", "arguments", "printed"),
    [
        ("retrieve items", {}, "RETRIEVE items"),
        (
            "RETRIEVE items FOR USER u FOR SESSION s USING PROFILE for_you WHERE meta.genre = 'jazz' "
            "DIVERSITY max_per_creator 2 LIMIT 50",
            {
                "user": "u",
                "session": "s",
                "where": where.meta.genre == "jazz",
                "diversity": Diversity(max_per_creator=2),
                "limit": 50,
            },
            "RETRIEVE items FOR USER u FOR SESSION s WHERE meta.genre = 'jazz' DIVERSITY max_per_creator 2 "
            "LIMIT 50",
        ),
        (
            "Retrieve Items limit 5 cursor 'a=' using profile top:24h in collections main, 'my notes',main",
            {"limit": 5, "cursor": "a=", "profile": "top:24h", "collections": ("main", "my notes")},
            "RETRIEVE items USING PROFILE top:24h IN COLLECTIONS main, 'my notes' CURSOR 'a=' LIMIT 5",
        ),
        ("RETRIEVE items LIMIT 20 USING PROFILE for_you", {}, "RETRIEVE items"),
        ("RETRIEVE items USING PROFILE related:85123A", {"profile": "related:85123A"}, None),
        (
            "RETRIEVE items USING PROFILE hot@2 FACETS type, meta.x",
            {"profile": "hot@2", "facets": ("type", "meta.x")},
            None,
        ),
        ("RETRIEVE items FOR USER 'o''hara'", {"user": "o'hara"}, None),
        ("RETRIEVE items FOR USER 'limit'", {"user": "limit"}, None),
        ("RETRIEVE items FOR USER 'Limit:x'", {"user": "Limit:x"}, "RETRIEVE items FOR USER Limit:x"),
        (
            "RETRIEVE items SIMILAR TO 42 CANDIDATES 1, 007, x-1",
            {"similar_to": "42", "candidates": ("1", "007", "x-1")},
            None,
        ),
        ("RETRIEVE items SEED -7", {"seed": -7}, None),
        ("RETRIEVE items SEED '-7'", {"seed": "-7"}, None),
        ("RETRIEVE items SEED monday", {"seed": "monday"}, "RETRIEVE items SEED 'monday'"),
        ("RETRIEVE items EXPLAIN AS OF 12", {"explain": True, "as_of": 12}, None),
        (
            "RETRIEVE items AS OF '2026-01-01T01:00:00+01:00'",
            {"as_of": NEW_YEAR},
            "RETRIEVE items AS OF time '2026-01-01T00:00:00+00:00'",
        ),
        (
            "RETRIEVE items DIVERSITY relax max_share type .5 max_share meta.'a b' 0.25 MAX_PER_CREATOR 2",
            {
                "diversity": Diversity(
                    max_per_creator=2, max_share={"type": 0.5, "meta.'a b'": 0.25}, relax=True
                )
            },
            "RETRIEVE items DIVERSITY max_per_creator 2, max_share type 0.5, max_share meta.'a b' 0.25, "
            "relax",
        ),
        ("RETRIEVE items DIVERSITY none", {"diversity": Diversity()}, None),
        (
            "RETRIEVE items WHERE id in ('a') IN COLLECTIONS b",
            {"where": where.id.in_(["a"]), "collections": ("b",)},
            "RETRIEVE items IN COLLECTIONS b WHERE id in ('a')",
        ),
        ('SEARCH ""', {"text": ""}, None),
        ("SEARCH 'it''s'", {"text": "it's"}, 'SEARCH "it\'s"'),
        (r'SEARCH "\"move semantics\" +closure"', {"text": '"move semantics" +closure'}, None),
        ('SEARCH """a b"" c"', {"text": '"a b" c'}, r'SEARCH "\"a b\" c"'),
        (r'SEARCH "C:\dir \\"', {"text": "C:\\dir \\"}, r'SEARCH "C:\\dir \\"'),
        ('SEARCH "two\nlines"', {"text": "two\nlines"}, None),
        (
            "SEARCH 'x' MATCH all MODE stats LANG de OFFSET 5 SORT BY created_at EXPLAIN",
            {
                "text": "x",
                "match": "all",
                "mode": "stats",
                "lang": "de",
                "offset": 5,
                "sort_by": "created_at",
                "explain": True,
            },
            'SEARCH "x" MODE stats MATCH all LANG de SORT BY created_at OFFSET 5 EXPLAIN',
        ),
        (
            "SEARCH 'x' PERSONALIZATION 0 RERANK 50 TYPOS false",
            {"text": "x", "personalization": 0.0, "rerank": 50, "typos": False},
            'SEARCH "x" PERSONALIZATION 0.0 RERANK 50 TYPOS false',
        ),
        ("SEARCH 'x' TYPOS true OFFSET 0 WEIGHTS body 1", {"text": "x"}, 'SEARCH "x"'),
        (
            "SEARCH 'x' weights half_life_days 7 heading 3, b .5",
            {"text": "x", "weights": SearchWeights(half_life_days=7, heading=3, b=0.5)},
            'SEARCH "x" WEIGHTS heading 3.0, b 0.5, half_life_days 7.0',
        ),
        (
            "SEARCH 'x' ALGO hybrid SCORER pooled AGGREGATE max",
            {"text": "x", "algo": "hybrid", "scorer": "pooled", "aggregate": "max"},
            'SEARCH "x" ALGO hybrid SCORER pooled AGGREGATE max',
        ),
    ],
)
def test_what_a_text_says(text: str, arguments: dict[str, Any], printed: str | None) -> None:
    query = parse_query(text)
    assert query == Query(text.split()[0].lower(), arguments)
    assert query.arguments == arguments
    assert str(query) == (printed or text)


def test_the_documentation_has_every_clause_and_examples_that_parse() -> None:
    """Fails when a clause is added and not documented."""
    text = (Path(__file__).parents[2] / "docs" / "interfaces.md").read_text(encoding="utf-8")
    section = text.partition("## Queries as text")[2].partition("\n## ")[0]
    examples = section.partition("```sql\n")[2].partition("```")[0].splitlines()
    assert len(examples) == 6
    for written in examples:
        query = parse_query(written)
        assert parse_query(str(query)) == query
    clauses = {clause for surface in CLAUSES.values() for clause in surface}
    assert {clause.words for clause in clauses if f"`{clause.words}" not in section} == set()
    assert {clause.argument for clause in clauses if f"`{clause.argument}`" not in section} == set()


NAME = "a name or a string in single quotes"
CONSTRAINT = "max_per_creator, max_share, mmr or relax"
WEIGHTS = "heading, body, code, k1, b, proximity, zone, freshness, half_life_days"
TEXT = "a text in double quotes or a string in single quotes"
FIELDS = "id, type, tags, creator, document, collection, kind, created_at"
RETRIEVE = (
    "FOR, USING, SIMILAR, CANDIDATES, IN, WHERE, DIVERSITY, FACETS, SEED, CURSOR, LIMIT, EXPLAIN, AS "
    "or the end"
)
VALUE = "a string in single quotes, a number, true, false or time '...'"


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "expected RETRIEVE or SEARCH, but the text ends"),
        (" \n", 2, "expected RETRIEVE or SEARCH, but the text ends"),
        ("SELECT * FROM items", 0, "expected RETRIEVE or SEARCH, not 'SELECT'"),
        ("RETREIVE items", 0, "expected RETRIEVE or SEARCH, not 'RETREIVE'; did you mean RETRIEVE?"),
        ("RETRIEVE", 8, "expected 'items', but the text ends"),
        ("RETRIEVE LIMIT 5", 9, "expected 'items', not 'LIMIT'"),
        ("RETRIEVE items 5", 15, f"expected {RETRIEVE}, not '5'"),
        ("RETRIEVE items LIMTI 5", 15, f"expected {RETRIEVE}, not 'LIMTI'; did you mean LIMIT?"),
        ("RETRIEVE items OFFSET 5", 15, f"expected {RETRIEVE}, not 'OFFSET'; OFFSET goes with SEARCH"),
        (
            "RETRIEVE items LIMIT 5 WHERE id = 'a' FOR USER u EXPLAIN $",
            57,
            "expected FOR, USING, SIMILAR, CANDIDATES, IN, DIVERSITY, FACETS, SEED, CURSOR, AS or the end, "
            "not '$'",
        ),
        ("RETRIEVE items LIMIT", 20, "expected a whole number, but the text ends"),
        ("RETRIEVE items LIMIT 5.5", 21, "expected a whole number, not '5.5'"),
        ("RETRIEVE items LIMIT -5", 21, "expected a whole number, not '-5'"),
        ("RETRIEVE items LIMIT " + "9" * 5000, 21, "a number of 5000 digits does not fit 64 bits"),
        ("RETRIEVE items LIMIT 9223372036854775808", 21, "a number of 19 digits does not fit 64 bits"),
        ("RETRIEVE items LIMIT 5 LIMIT 6", 23, "LIMIT stands there already"),
        ("RETRIEVE items FOR", 18, "expected USER or SESSION, but the text ends"),
        ("RETRIEVE items FOR ann", 19, "expected USER or SESSION, not 'ann'"),
        ("RETRIEVE items FOR USER a FOR ann", 30, "expected SESSION, not 'ann'"),
        ("RETRIEVE items FOR USER a FOR USER b", 26, "FOR USER stands there already"),
        ("RETRIEVE items FOR USER", 23, f"expected {NAME}, but the text ends"),
        (
            "RETRIEVE items FOR USER limit 5",
            24,
            f"expected {NAME}, not 'limit'; a name that is a word of the language stands in quotes: 'limit'",
        ),
        ('RETRIEVE items FOR USER "ann"', 24, f"expected {NAME}, not '\"'; strings stand in single quotes"),
        ("RETRIEVE items FOR USER ''", 24, "a name: is empty: an id has 1 to 200 characters"),
        ("RETRIEVE items FOR USER a/b", 25, f"expected {RETRIEVE}, not '/'"),
        ("RETRIEVE items FOR USER 'a\x00'", 24, "a name: holds a control character at 1"),
        (f"RETRIEVE items FOR USER {'a' * 201}", 24, "a name: has 201 characters: an id has at most 200"),
        ("RETRIEVE items USING trending", 21, "expected PROFILE, not 'trending'"),
        ("RETRIEVE items IN main", 18, "expected COLLECTIONS, not 'main'"),
        (
            "RETRIEVE items IN COLLECTIONS a, LIMIT 5",
            33,
            f"expected {NAME}, not 'LIMIT'; a name that is a word of the language stands in quotes: 'limit'",
        ),
        ("RETRIEVE items SEED 1.5x*", 24, f"expected {RETRIEVE.replace(' SEED,', '')}, not '*'"),
        (
            "RETRIEVE items SEED",
            19,
            "expected a name, a whole number or a string in single quotes, but the text ends",
        ),
        ("RETRIEVE items AS 5", 18, "expected OF, not '5'"),
        (
            "RETRIEVE items AS OF now",
            21,
            "expected a whole number, a string in single quotes or time '...', not 'now'",
        ),
        (
            "RETRIEVE items AS OF '2026-01-01'",
            21,
            "'2026-01-01' has no time zone: write one like 2026-01-01T00:00:00+00:00",
        ),
        (
            "RETRIEVE items AS OF time 'noon'",
            26,
            "'noon' is no time: write one like 2026-01-01T00:00:00+00:00",
        ),
        (
            "RETRIEVE items DIVERSITY",
            24,
            "expected max_per_creator, max_share, mmr, relax or none, but the text ends",
        ),
        (
            "RETRIEVE items DIVERSITY few",
            25,
            "expected max_per_creator, max_share, mmr, relax or none, not 'few'",
        ),
        ("RETRIEVE items DIVERSITY relax, LIMIT 5", 32, f"expected {CONSTRAINT}, not 'LIMIT'"),
        ("RETRIEVE items DIVERSITY relax, relax", 32, "relax stands there already"),
        (
            "RETRIEVE items DIVERSITY max_per_creator 0",
            41,
            "max_per_creator: 0 is out of range: it must be a whole number from 1 to 1000",
        ),
        (
            "RETRIEVE items DIVERSITY max_share type 2",
            40,
            "max_share.type: must be above 0 and at most 1, not 2.0",
        ),
        (
            "RETRIEVE items DIVERSITY max_share id 0.5",
            38,
            "max_share: 'id' is no field to limit: there are type, tags, creator, document, collection, "
            "kind, and meta.NAME",
        ),
        ("RETRIEVE items DIVERSITY max_share 0.5", 35, "expected a field, not '0.5'"),
        (
            "RETRIEVE items DIVERSITY max_share type 0.5 max_share type 0.4",
            44,
            "max_share type stands there already",
        ),
        ("RETRIEVE items WHERE", 20, "expected a field, 'not' or '(', but the text ends"),
        (
            "RETRIEVE items WHERE price < 10",
            21,
            f"'price' is no field: there are {FIELDS}, and meta.NAME for metadata",
        ),
        ("RETRIEVE items WHERE meta.x == 1", 29, f"expected {VALUE}, not '='; equality is one ="),
        ("RETRIEVE items WHERE (id = 'a' LIMIT 5", 31, "expected ')', 'and' or 'or', not 'LIMIT'"),
        ("RETRIEVE items WHERE meta.x IN COLLECTIONS a", 31, "expected '(', not 'COLLECTIONS'"),
        (
            "RETRIEVE items WHERE meta.x < true LIMIT 5",
            30,
            "true and false have no order: '<' cannot compare them",
        ),
        (
            "RETRIEVE items WHERE " + "not " * 100 + "id = 'a'",
            21,
            "is nested deeper than 100 levels: make it flatter",
        ),
        ("RETRIEVE items WHERE id = 'a' WHERE id = 'b'", 30, "WHERE stands there already"),
        ("SEARCH lamp", 7, f"expected {TEXT}, not 'lamp'; the words of a search stand in quotes"),
        (
            'SEARCH "lamp',
            7,
            f"expected {TEXT}, not '\"'; this text is not closed: a quote within one is written \\\"",
        ),
        (
            "SEARCH 'lamp",
            7,
            f'expected {TEXT}, not "\'lamp"; this string is not closed: a quote within one is written twice',
        ),
        (
            "SEARCH 'x' SEED 5",
            11,
            "expected FOR, USING, IN, WHERE, FACETS, LIMIT, EXPLAIN, AS, MODE, MATCH, PERSONALIZATION, ALGO, "
            "SCORER, WEIGHTS, AGGREGATE, RERANK, TYPOS, LANG, SORT, OFFSET or the end, not 'SEED'; "
            "SEED goes with RETRIEVE",
        ),
        ("SEARCH 'x' SORT created_at", 16, "expected BY, not 'created_at'"),
        ("SEARCH 'x' TYPOS maybe", 17, "expected true or false, not 'maybe'"),
        ("SEARCH 'x' PERSONALIZATION much", 27, "expected a number, not 'much'"),
        ("SEARCH 'x' PERSONALIZATION 1e999", 27, "a number: must be a finite number, not inf"),
        ("SEARCH 'x' WEIGHTS", 18, f"expected {WEIGHTS}, but the text ends"),
        ("SEARCH 'x' WEIGHTS title 2", 19, f"expected {WEIGHTS}, not 'title'"),
        ("SEARCH 'x' WEIGHTS body -1", 24, "weights.body: must be a number from 0 to 1e+06, not -1.0"),
        ("SEARCH 'x' WEIGHTS body 1 body 2", 26, "body stands there already"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, position: int, message: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text)
    assert (caught.value.message, caught.value.position) == (f"{message} (at {position})", position)
    assert caught.value.text == text
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.position, again.text, str(again)) == (position, text, str(caught.value))


@pytest.mark.parametrize(
    ("surface", "arguments", "message"),
    [
        ("select", {}, "surface: 'select' is none of retrieve, search"),
        ("search", {}, "text: must be a string, not NoneType"),
        ("retrieve", {"offset": 5}, "offset: has no clause in RETRIEVE"),
        ("retrieve", {"session_weights": None}, "session_weights: has no clause in RETRIEVE"),
        ("retrieve", {"limit": "5"}, "limit: must be a whole number from 0 to 9223372036854775807, not '5'"),
        ("retrieve", {"user": ""}, "user: is empty: an id has 1 to 200 characters"),
        ("retrieve", {"candidates": []}, "candidates: is empty: a clause names at least one"),
        ("retrieve", {"where": "id = 'a'"}, "where: must be a filter, not str"),
        ("retrieve", {"diversity": {}}, "diversity: must be a Diversity, not dict"),
        ("retrieve", {"explain": 1}, "explain: must be True or False, not 1"),
        ("retrieve", {"cursor": 1}, "cursor: must be a string, not int"),
        ("search", {"text": "x", "offset": False}, "offset: must be a whole number"),
        ("retrieve", {"seed": 1.5}, "seed: must be a string, not float"),
        ("retrieve", {"as_of": 1.5}, "as_of: must be a whole number from 0 to 9223372036854775807, not 1.5"),
        ("search", {"text": "x", "weights": {}}, "weights: must be SearchWeights, not dict"),
        (
            "search",
            {"text": "x", "personalization": float("nan")},
            "personalization: must be a finite number",
        ),
    ],
)
def test_what_no_text_can_say(surface: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Query(surface, arguments)
    assert str(caught.value).startswith(message)


def test_a_text_is_a_string() -> None:
    with pytest.raises(InvalidArgument, match="text: must be a string, not bytes"):
        parse_query(b"SEARCH 'x'")  # type: ignore[arg-type]


@pytest.mark.parametrize("surface", CLAUSES)
def test_clauses_give_arguments_of_the_call_and_know_its_defaults(surface: str) -> None:
    """Fails when a clause names an argument that the method lacks, or takes another default."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(getattr(Database, surface)).parameters.items()
    }
    assert {clause.argument: clause.default for clause in CLAUSES[surface]} == {
        clause.argument: defaults[clause.argument] for clause in CLAUSES[surface]
    }
    without = {"self", "text", "session_weights", "vector"}
    assert set(defaults) - without == {clause.argument for clause in CLAUSES[surface]}


def test_a_query_is_a_value() -> None:
    query = parse_query("SEARCH 'x' LIMIT 5 WHERE meta.price < 10")
    assert query == Query("search", {"where": CHEAP, "limit": 5, "text": "x", "offset": 0})
    assert hash(query) == hash(parse_query(str(query)))
    assert pickle.loads(pickle.dumps(query)) == query
    assert to_plain(query) == {
        "surface": "search",
        "arguments": {"text": "x", "where": "meta.price < 10", "limit": 5},
    }
    with pytest.raises(AttributeError):
        query.surface = "retrieve"  # type: ignore[misc]
    with pytest.raises(TypeError):
        query.arguments["limit"] = 6  # type: ignore[index]


# Random queries: every clause with values that need quotes, and some that look like other things.

names = st.one_of(
    st.sampled_from(
        ["u", "limit", "Limit", "IN", "as", "it's", "top:24h", "x@2", "-1", "42", "a b", "é", "''", "TIME"]
    ),
    st.sampled_from(RESERVED),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8),
)
texts = st.lists(st.sampled_from("\"\\' ab") | st.characters(), max_size=12).map("".join)
scalars = st.one_of(
    names,
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes(timezones=st.just(datetime.UTC)),
)
fields = st.one_of(
    st.sampled_from(["type", "creator", "tags"]).map(Field), names.map(lambda key: Field("meta", key))
)


def made_filters() -> st.SearchStrategy[Filter]:
    compared: st.SearchStrategy[Filter] = st.one_of(
        st.builds(Comparison, fields, st.sampled_from(["=", "!=", "<", "contains"]), scalars),
        st.builds(Comparison, fields, st.just("in"), st.lists(scalars, max_size=3)),
    )
    return st.recursive(
        compared,
        lambda inner: st.one_of(
            inner.map(lambda part: ~part),
            st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1] | pair[0]),
        ),
        max_leaves=5,
    )


shares = st.dictionaries(fields.map(str), st.floats(0.001, 1), max_size=3)
KIND: dict[str, st.SearchStrategy[Any]] = {
    "name": names,
    "names": st.lists(names, min_size=1, max_size=4),
    "string": texts.map(lambda text: text.encode("utf-8", "replace").decode()),
    "whole": st.integers(0, (1 << 63) - 1),
    "number": st.floats(-1e300, 1e300),
    "truth": st.booleans(),
    "flag": st.booleans(),
    "filter": made_filters(),
    "moment": st.one_of(st.integers(0, 1 << 40), st.datetimes(timezones=st.just(datetime.UTC))),
    "seed": st.one_of(st.integers(-(1 << 63) + 1, (1 << 63) - 1), names),
    "weights": st.dictionaries(
        st.sampled_from(SearchWeights.__struct_fields__), st.floats(1e-6, 1), max_size=4
    ).map(lambda given: SearchWeights(**given)),
    "diversity": st.builds(
        Diversity,
        max_per_creator=st.none() | st.integers(1, 1000),
        max_share=shares,
        relax=st.booleans(),
    ),
}


@st.composite
def queries(draw: st.DrawFn) -> Query:
    surface = draw(st.sampled_from(sorted(CLAUSES)))
    chosen = draw(st.lists(st.sampled_from(CLAUSES[surface]), unique=True, max_size=6))
    arguments = {clause.argument: draw(KIND[clause.kind]) for clause in chosen}
    return Query(surface, arguments | ({"text": draw(texts)} if surface == "search" else {}))


@settings(max_examples=300, deadline=None)
@given(queries())
def test_any_query_prints_a_text_that_reads_back(query: Query) -> None:
    """Fails when a name with a quote is printed bare, or when a text's backslash is not doubled."""
    again = parse_query(str(query))
    assert again == query
    assert str(again) == str(query)


PIECES = st.sampled_from(
    "RETRIEVE items SEARCH FOR USER SESSION USING PROFILE IN COLLECTIONS WHERE DIVERSITY max_per_creator "
    "relax none max_share meta.x LIMIT EXPLAIN AS OF SEED CURSOR WEIGHTS heading and or not contains "
    "'a' \"a\" ' \" 5 0.5 -1 ( ) , = < time true u top:24h \\ é \x00 \ud800 1e999".split(" ")
)


@settings(max_examples=500, deadline=None)
@given(
    st.one_of(
        st.text(max_size=40), st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES).map("".join)
    )
)
@example("RETRIEVE items WHERE id = '\ud800'")
@example("RETRIEVE items WHERE meta.x in (1e999)")
def test_any_text_is_a_query_or_an_error_within_it(text: str) -> None:
    try:
        query = parse_query(text)
    except QuerySyntaxError as error:
        assert 0 <= error.position <= len(text)
        assert error.text == text and "expected ," not in error.message
    else:
        assert parse_query(str(query)) == query


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from("id = 'a' and or not ( ) meta.x < 5 in contains , ' price".split(" ")), max_size=10
    )
)
def test_a_filter_in_a_query_errs_where_it_does_alone(words: list[str]) -> None:
    """One grammar: the same filter is read the same, and its errors are further on by what stands before."""
    before, alone = "RETRIEVE items WHERE ", " ".join(words)
    try:
        made = parse_filter(alone)
    except QuerySyntaxError as error:
        with pytest.raises(QuerySyntaxError) as caught:
            parse_query(before + alone)
        assert caught.value.position == error.position + len(before)
    else:
        assert parse_query(before + alone).arguments["where"] == made
