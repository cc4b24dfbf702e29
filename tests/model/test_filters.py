"""Filters: the grammar, its errors, and two forms that print each other."""

from __future__ import annotations

import copy
import datetime
import pickle
import random
import subprocess
import sys
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import Filter, InvalidArgument, QuerySyntaxError, to_plain, where
from germane.model.filter_text import parse_filter
from germane.model.filters import (
    FIELDS,
    OPERATORS,
    ORDERED,
    STATES,
    And,
    Comparison,
    Field,
    Joined,
    Not,
    Or,
    State,
)

UTC = datetime.UTC
NEW_YEAR = datetime.datetime(2026, 1, 1, tzinfo=UTC)


def shape(node: Filter) -> Any:
    """Return everything about a filter as data in which values of different types differ."""
    if isinstance(node, Comparison):
        values = node.value if isinstance(node.value, tuple) else (node.value,)
        return (*node.field, node.operator, [(type(value).__name__, repr(value)) for value in values])
    if isinstance(node, Joined):
        return (type(node).__name__, [shape(part) for part in node.parts])
    if isinstance(node, State):
        return ("State", node.state)
    assert isinstance(node, Not)
    return ("Not", shape(node.part))


@pytest.mark.parametrize(
    ("text", "made", "printed"),
    [
        ("meta.price < 10", where.meta.price < 10, None),
        ("meta.price<=-1.5e3", where.meta.price <= -1500.0, "meta.price <= -1500.0"),
        ("meta.price > .5", where.meta.price > 0.5, "meta.price > 0.5"),
        ("meta.price >= 5.", where.meta.price >= 5.0, "meta.price >= 5.0"),
        ("creator = 'O''Hara'", where.creator == "O'Hara", None),
        ("creator != ''", where.creator != "", None),
        ("tags contains 'jazz'", where.tags.contains("jazz"), None),
        ("id in('a','b')", where.id.in_(["a", "b"]), "id in ('a', 'b')"),
        ("kind in ()", where.kind.in_([]), None),
        ("meta.ok = TRUE", where.meta.ok == True, "meta.ok = true"),  # noqa: E712
        ("meta.x in (1, 1.0, true, '1')", where.meta.x.in_([1, 1.0, True, "1"]), None),
        ("meta.'odd name' = 1", where.meta["odd name"] == 1, None),
        ("meta.'it''s' = 1", where.meta["it's"] == 1, None),
        ("meta.a.b-1 = 1", None, None),
        ("meta.a.b = 1", where.meta["a.b"] == 1, None),
        ("meta.größe = 1", where.meta.größe == 1, "meta.'größe' = 1"),
        ("meta.and = 1", where.meta["and"] == 1, None),
        (
            "created_at >= time '2026-01-01T01:00:00+01:00'",
            where.created_at >= NEW_YEAR,
            "created_at >= time '2026-01-01T00:00:00+00:00'",
        ),
        ("created_at < 1.5", where.created_at < 1.5, "created_at < time '1970-01-01T00:00:01.500000+00:00'"),
        (
            "created_at < '2026-01-01T00:00:00Z'",
            where.created_at < NEW_YEAR,
            "created_at < time '2026-01-01T00:00:00+00:00'",
        ),
        ("meta.when = '2026-01-01T00:00:00Z'", where.meta.when == "2026-01-01T00:00:00Z", None),
        ("NOT id = 'a'", ~(where.id == "a"), "not id = 'a'"),
        ("not not id = 'a'", ~~(where.id == "a"), None),
        ("unseen", where.unseen, None),
        (
            "not saved and(following OR in_progress)",
            ~where.saved & (where.following | where.in_progress),
            "not saved and (following or in_progress)",
        ),
        ("meta.saved = 1 and unseen", (where.meta.saved == 1) & where.unseen, None),
        ("unseen_in_session", where.unseen_in_session, None),
        ("unseen_in_sessions", None, None),
        ("id = 'a' And\n\ttype = 'b'", (where.id == "a") & (where.type == "b"), "id = 'a' and type = 'b'"),
        (
            "meta.price < 10 and (tags contains 'jazz' or not creator in ('a', 'b'))",
            (where.meta.price < 10) & (where.tags.contains("jazz") | ~where.creator.in_(["a", "b"])),
            None,
        ),
    ],
)
def test_both_forms(text: str, made: Filter | None, printed: str | None) -> None:
    if made is None:
        with pytest.raises(QuerySyntaxError):
            parse_filter(text)
        return
    parsed = parse_filter(text)
    assert shape(parsed) == shape(made)
    assert str(parsed) == (printed or text)


def test_not_binds_before_and_before_or() -> None:
    a, b, c = (where.id == name for name in "abc")
    assert shape(parse_filter("not id = 'a' and id = 'b' or id = 'c'")) == shape((~a & b) | c)
    assert shape(parse_filter("id = 'a' or id = 'b' and not id = 'c'")) == shape(a | (b & ~c))
    assert shape(parse_filter("not (id = 'a' or id = 'b') and id = 'c'")) == shape(~(a | b) & c)
    assert str(~(a & b) & (b | c)) == "not (id = 'a' and id = 'b') and (id = 'b' or id = 'c')"
    assert shape(parse_filter("(id = 'a' and (id = 'b' and id = 'c'))")) == shape(And((a, b, c)))


VALUE = "a string in single quotes, a number, true, false or time '...'"
START = "a field, 'not' or '('"


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, f"expected {START}, but the text ends"),
        ("  ", 2, f"expected {START}, but the text ends"),
        ("meta.price", 10, "expected =, !=, <, <=, >, >=, 'contains' or 'in', but the text ends"),
        ("meta.price <", 12, f"expected {VALUE}, but the text ends"),
        ("meta.price < 10 and", 19, f"expected {START}, but the text ends"),
        ("meta.price << 10", 12, f"expected {VALUE}, not '<'"),
        ("creator == 'a'", 9, f"expected {VALUE}, not '='; equality is one ="),
        ('id = "a"', 5, f"expected {VALUE}, not '\"'; strings stand in single quotes"),
        (
            "id = 'a",
            5,
            f'expected {VALUE}, not "\'a"; this string is not closed: a quote within one is written twice',
        ),
        ("id = 'a' id = 'b'", 9, "expected 'and', 'or' or the end, not 'id'"),
        ("id = 'a' $", 9, "expected 'and', 'or' or the end, not '$'"),
        ("(id = 'a'", 9, "expected ')', 'and' or 'or', but the text ends"),
        ("id = 'a')", 8, "expected 'and', 'or' or the end, not ')'"),
        ("id in 'a'", 6, "expected '(', not \"'a'\""),
        ("id in ('a' 'b')", 11, "expected ')' or ',', not \"'b'\""),
        (
            "id in (,)",
            7,
            "expected ')', a string in single quotes, a number, true, false or time '...', not ','",
        ),
        ("saved = true", 6, "expected 'and', 'or' or the end, not '='"),
        ("UNSEEN", 6, "expected =, !=, <, <=, >, >=, 'contains' or 'in', but the text ends"),
        ("price < 10", 0, f"'price' is no field: there are {', '.join(FIELDS)}, and meta.NAME for metadata"),
        ("meta < 1", 0, f"'meta' is no field: there are {', '.join(FIELDS)}, and meta.NAME for metadata"),
        ("meta.'' = 1", 0, "a name of metadata: is empty: an id has 1 to 200 characters"),
        ("meta.x < true", 9, "true and false have no order: '<' cannot compare them"),
        ("meta.x = 9223372036854775808", 9, "9223372036854775808 does not fit 64 bits: give it as a string"),
        ("meta.x = 1" + "0" * 5000, 9, "a number of 5001 digits does not fit 64 bits"),
        ("meta.x in (1, 1e999)", 14, "inf is not a finite number"),
        ("meta.x = time 'noon'", 14, "'noon' is no time: write one like 2026-01-01T00:00:00+00:00"),
        (
            "created_at > '2026-01-01'",
            13,
            "'2026-01-01' has no time zone: write one like 2026-01-01T00:00:00+00:00",
        ),
        ("created_at > 1e300", 13, "1e+300 lies outside the years 1 to 9999 (UTC)"),
        ("id = '\ud800'", 5, "holds a lone surrogate at 0, which is no character: decode the text first"),
        ("not " * 100 + "id = 'a'", 0, "is nested deeper than 100 levels: make it flatter"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text: str, position: int, message: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse_filter(text)
    assert (caught.value.message, caught.value.position) == (f"{message} (at {position})", position)
    assert caught.value.text == text
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.position, again.text, str(again)) == (position, text, str(caught.value))


def test_depth_is_bounded_and_parentheses_cost_none() -> None:
    deepest = "not " * 99 + "id = 'a'"
    assert str(parse_filter(deepest)) == deepest
    assert str(parse_filter("(" * 4_000 + "id = 'a'" + ")" * 4_000)) == "id = 'a'"
    assert len(parse_filter(" or ".join(["id = 'a'"] * 5_000)).parts) == 5_000  # type: ignore[attr-defined]
    nested = "(id = 'a' and (id = 'b' or " * 2_000 + "id = 'c'" + "))" * 2_000
    with pytest.raises(QuerySyntaxError, match="nested deeper"):
        parse_filter(nested)
    made: Filter = where.id == "a"
    with pytest.raises(InvalidArgument, match="where: is nested deeper than 100 levels"):
        for _ in range(100):
            made = ~made


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: (where.id == "a") and (where.id == "b"), "a filter is neither true nor false: combine"),
        (lambda: not where.id.contains("a"), "a filter is neither true nor false: combine"),
        (lambda: 1 < where.meta.x < 3, "a filter is neither true nor false: combine"),
        (lambda: bool(where.meta.x), "meta.x alone is no filter: compare it"),
        (lambda: "a" in where.tags, r"Python's 'in' makes no filter: write where.tags.contains\('a'\)"),
        (lambda: where.meta.x < True, "true and false have no order"),
        (lambda: where.meta.x == [1], "a list of values goes with 'in'"),
        (lambda: where.meta.x.in_("ab"), "'in' takes a list of values, not str"),
        (
            lambda: where.meta.x.in_(1),  # type: ignore[arg-type]
            "'in' takes a list of values, not int",
        ),
        (lambda: where.meta.x == None, "a value is a string, a number"),  # noqa: E711
        (
            lambda: where.meta.x == where.meta.y,  # type: ignore[operator]
            "a value is a string, a number",
        ),
        (lambda: where.meta.x == float("nan"), "nan is not a finite number"),
        (lambda: where.meta.x > datetime.datetime(2026, 1, 1), "a naive datetime has no time zone"),
        (lambda: where.created_at > "noon", "'noon' is no time"),
        (lambda: where.created_at > True, "a time is an aware datetime or seconds since the epoch, not bool"),
        (lambda: where.meta[""] == 1, "is empty"),
        (lambda: Comparison(Field("price"), "=", 1), "'price' is no field"),
        (lambda: Comparison(Field("id"), "like", "a"), "'like' is none of =, !="),
        (lambda: cast(Any, Filter)(), "a filter compares something"),
        (lambda: State("seen"), "'seen' is none of unseen, saved, following, in_progress"),
        (lambda: bool(where.unseen), "a filter is neither true nor false"),
        (lambda: And([where.id == "a"]), "'and' joins at least two filters"),
    ],
)
def test_what_python_cannot_say(write: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message) as caught:
        write()
    assert caught.value.field == "where"


def test_unknown_names_of_where() -> None:
    with pytest.raises(AttributeError, match=r"'price' is no field: there are id, .* meta.NAME"):
        where.price  # noqa: B018
    with pytest.raises(AttributeError, match=r"write where.meta\['_x'\]"):
        where.meta._x  # noqa: B018
    with pytest.raises(TypeError):
        where.id & (where.id == "a")  # type: ignore[operator]
    with pytest.raises(TypeError):
        (where.id == "a") | "b"  # type: ignore[operator]
    assert [repr(getattr(where, name)) for name in dir(where)] == [f"where.{name}" for name in dir(where)]


def test_comparisons_turn_around() -> None:
    assert str(where.meta.price < 10) == "meta.price < 10"
    assert str("a" == where.creator) == "creator = 'a'"  # noqa: SIM300


def test_filters_are_immutable_values() -> None:
    made = (where.meta.x < 1) & ~where.tags.contains("a")
    again = parse_filter(str(made))
    assert made == again and hash(made) == hash(again) and len({made, again}) == 1
    assert made != (where.meta.x < 1) and made != str(made)
    assert (where.meta.x == 1) != (where.meta.x == 1.0) and (where.meta.x == 1) != (where.meta.x == True)  # noqa: E712
    for copied in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert shape(copied) == shape(made)
    with pytest.raises(AttributeError, match="immutable"):
        made.parts = ()
    with pytest.raises(AttributeError, match="immutable"):
        del made.parts
    assert to_plain({"where": made}) == {"where": "meta.x < 1 and not tags contains 'a'"}


def test_a_filter_tells_whether_it_asks_for_the_user() -> None:
    """Fails if a state is lost in what is made of it, and so in a copy."""
    made = (where.meta.x < 1) | ~(where.id.in_(["a"]) & ~where.saved)
    for each in (made, parse_filter(str(made)), pickle.loads(pickle.dumps(made)), where.saved, ~made):
        assert each.state == "saved"
    assert (where.meta.saved == "unseen").state is None


def test_values_of_a_set_are_in_one_order() -> None:
    assert str(where.id.in_({"b", "c", "a"})) == "id in ('a', 'b', 'c')"


def test_lark_is_imported_with_the_first_text() -> None:
    code = (
        "import sys; from germane import where; (where.id == 'a') & (where.meta.x < 1);"
        "import germane.ranking.search.request; assert 'lark' not in sys.modules;"
        "from germane.model.filter_text import parse_filter; parse_filter('meta.x < 1');"
        "assert 'lark' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


names = st.one_of(
    st.sampled_from(["price", "a.b", "a..b", "odd name", "it's", "and", "_x", "9", "größe", "class"]),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8),
)
fields = st.one_of(st.sampled_from(FIELDS).map(Field), names.map(lambda name: Field("meta", name)))
numbers = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.floats(allow_nan=False, allow_infinity=False))
times = st.datetimes(
    datetime.datetime(2, 1, 1), datetime.datetime(9998, 1, 1), timezones=st.timezones() | st.just(UTC)
)
ordered = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), numbers, times)


@st.composite
def comparisons(draw: st.DrawFn) -> Filter:
    field, operator = draw(fields), draw(st.sampled_from(OPERATORS))
    values: st.SearchStrategy[Any] = ordered if operator in ORDERED else ordered | st.booleans()
    if field.name == "created_at":
        values = times | st.integers(0, 10**9)
    return Comparison(field, operator, draw(st.lists(values, max_size=3) if operator == "in" else values))


def combined(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=2, max_size=3)
    return st.one_of(parts.map(Not), several.map(And), several.map(Or))


filters = st.recursive(comparisons() | st.sampled_from(STATES).map(State), combined, max_leaves=8)


@given(filters)
def test_the_forms_print_each_other(made: Filter) -> None:
    parsed = parse_filter(str(made))
    assert shape(parsed) == shape(made) and parsed == made and str(parsed) == str(made)
    evaluated = eval(repr(made), {"where": where, "datetime": datetime})
    assert shape(evaluated) == shape(made) and repr(evaluated) == repr(made)


PIECES = [
    "meta.", "price", "id", "tags", "created_at", " ", "=", "!=", "<", ">=", "in", "contains", "and", "OR",
    "not", "(", ")", ",", "'", "''", "'a'", "1", "-2.5", "1e9", "1e999", "true", "false", "time",
    "time '2026-01-01T00:00Z'",
    "meta.x = 1", "meta.'", "unseen", "in_progress",
    "\x00", "\n", "é", "\ud800", "中", "$", "\\", '"', "#", ".", "%", "9" * 30,
]  # fmt: skip


def test_ten_thousand_random_texts_parse_or_raise_a_syntax_error() -> None:
    """Fails when a text raises anything else, or when what parses does not print itself back."""
    dice = random.Random(7)
    parsed = 0
    for number in range(10_000):
        if number % 3:
            text = "".join(dice.choice(PIECES) for _ in range(dice.randrange(12)))
        else:  # a filter with one character changed
            whole = "meta.x < 10 and (tags contains 'jazz' or not id in ('a', 'b')) or meta.y = true"
            at = dice.randrange(len(whole))
            text = whole[:at] + dice.choice(["", "'", " ", "(", ")", "=", "x", "1"]) + whole[at + 1 :]
        try:
            made = parse_filter(text)
        except QuerySyntaxError as error:
            assert 0 <= error.position <= len(text)
            continue
        parsed += 1
        assert shape(parse_filter(str(made))) == shape(made)
    assert parsed > 500
