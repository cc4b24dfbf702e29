"""The rules for ids, names, texts and metadata values."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.model.errors import Error, InvalidArgument, quoted
from germane.model.values import (
    check_choice,
    check_count,
    check_id,
    check_metadata,
    check_names,
    check_text,
    check_value,
    neutral,
)

VALUE = "a value is a string, a number, a boolean, an aware datetime or a list of these"
SURROGATE = "which is no character: decode the text first"
BOUNDS = "a whole number from 1 to 10"
WIDE = "does not fit 64 bits: give it as a string"


class Colour(enum.StrEnum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Shouting(str):
    def __str__(self) -> str:
        return self.upper()


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (check_text, 3, "f: must be a string, not int"),
        (check_text, "a\ud800", f"f: holds a lone surrogate at 1, {SURROGATE}"),
        (check_id, b"a", "f: must be a string, not bytes"),
        (check_id, "", "f: is empty: an id has 1 to 200 characters"),
        (check_id, "a" * 201, "f: has 201 characters: an id has at most 200"),
        (check_id, "a\nb", "f: holds a control character at 1"),
        (check_id, "ab\x7f", "f: holds a control character at 2"),
        (check_id, "\x9f", "f: holds a control character at 0"),
        (check_id, "\0", "f: holds a control character at 0"),
        (check_names, "tag", "f: must be a list of strings, not str"),
        (check_names, b"tag", "f: must be a list of strings, not bytes"),
        (check_names, None, "f: must be a list of strings, not NoneType"),
        (check_names, ["a", 1], "f: must be a string, not int"),
        (check_names, ["a", ""], "f: is empty: an id has 1 to 200 characters"),
        (check_metadata, None, "f: must be a mapping, not NoneType"),
        (check_metadata, [("a", 1)], "f: must be a mapping, not list"),
        (check_metadata, {1: 1}, "f key: must be a string, not int"),
        (check_metadata, {"": 1}, "f key: is empty: an id has 1 to 200 characters"),
        (check_metadata, {"a": math.nan}, "f.a: nan is not a finite number"),
        (check_metadata, {"a": -math.inf}, "f.a: -inf is not a finite number"),
        (check_metadata, {"a": 1 << 63}, f"f.a: 9223372036854775808 {WIDE}"),
        (check_metadata, {"a": 10**5000}, f"f.a: a value of type int {WIDE}"),
        (
            check_metadata,
            {"a": datetime(2024, 1, 1)},
            "f.a: a naive datetime has no time zone: give one, as in datetime(..., tzinfo=timezone.utc)",
        ),
        (
            check_metadata,
            {"a": None},
            f"f.a: {VALUE}, not NoneType",
        ),
        (
            check_metadata,
            {"a": [["b"]]},
            f"f.a: {VALUE}, not list",
        ),
        (check_metadata, {"a": ["\udfff"]}, f"f.a: holds a lone surrogate at 0, {SURROGATE}"),
    ],
)  # fmt: skip
def test_what_is_refused(check: Callable[[Any, str], Any], value: object, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        check(value, "f")
    assert str(caught.value) == message
    assert caught.value.field == message.partition(":")[0]


@pytest.mark.parametrize("id", ["a", "a" * 200, "𝕏" * 200, " ", "a b", "é/ü:#", "\u200b", "\u2028", "\xa0"])
def test_ids(id: str) -> None:
    assert check_id(id, "id") == id


def test_names_are_distinct_and_keep_their_order() -> None:
    assert check_names(["b", "a", "b"], "tags") == ("b", "a")
    assert check_names((name for name in "ba"), "tags") == ("b", "a")


def test_names_of_a_set_are_the_same_in_every_process() -> None:
    names = {f"tag{number}" for number in range(50)}
    assert check_names(names, "tags") == tuple(sorted(names))


def test_only_the_text_and_the_number_of_a_subclass_are_kept() -> None:
    kept = check_metadata({Colour.RED: Colour.RED, "n": np.float64(0.5), "l": [Size.SMALL]})
    assert kept == {"red": "red", "n": 0.5, "l": (1,)}
    assert {type(value) for value in (*kept, kept["red"])} == {str}
    assert type(kept["n"]) is float
    assert [type(each) for each in kept["l"]] == [int]  # type: ignore[union-attr]
    assert check_text(Shouting("quiet"), "title") == "quiet"


def test_lists_become_tuples_and_booleans_stay_booleans() -> None:
    assert check_value([1, True, "a"], "v") == (1, True, "a")
    assert check_value(True, "v") is True
    assert check_value([], "v") == ()


def test_datetimes_become_utc() -> None:
    value = check_value(datetime.fromisoformat("2024-06-01T12:00:00+02:00"), "v")
    assert value == datetime(2024, 6, 1, 10, tzinfo=UTC)
    assert isinstance(value, datetime)
    assert value.tzinfo is UTC


def test_choices() -> None:
    assert check_choice("any", "match", ("any", "all")) == "any"
    for wrong in ("some", None, 1, ["any"], np.array(["any", "all"])):
        with pytest.raises(InvalidArgument, match=r"^match: .* is none of any, all$") as caught:
            check_choice(wrong, "match", ("any", "all"))
        assert caught.value.field == "match"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "limit: 0 is out of range: it must be a whole number from 1 to 10"),
        (11, "limit: 11 is out of range: it must be a whole number from 1 to 10"),
        pytest.param(10**5000, f"limit: a value of type int is out of range: it must be {BOUNDS}", id="huge"),
        (True, "limit: must be a whole number from 1 to 10, not True"),
        (1.0, "limit: must be a whole number from 1 to 10, not 1.0"),
        ("1", "limit: must be a whole number from 1 to 10, not '1'"),
        (None, "limit: must be a whole number from 1 to 10, not None"),
    ],
)
def test_counts(value: object, message: str) -> None:
    assert check_count(1, "limit", 1, 10) == 1
    assert check_count(10, "limit", 1, 10) == 10
    assert check_count(10**9, "limit", 1) == 10**9
    with pytest.raises(InvalidArgument) as caught:
        check_count(value, "limit", 1, 10)
    assert str(caught.value) == message


def test_parameters_to_come_accept_only_their_neutral_value() -> None:
    neutral(where=(None, None), rerank=(1000, 1000), facets=((), ()), watch=(False, False))
    refused: tuple[tuple[str, object, object], ...] = (
        ("where", "x", None),
        ("watch", 0, False),
        ("facets", [], ()),
        ("rerank", 1, 2),
    )
    for name, value, wanted in refused:
        with pytest.raises(InvalidArgument) as caught:
            neutral(**{name: (value, wanted)})
        assert str(caught.value) == f"{name}: is not available in this version: leave it at {wanted!r}"
        assert caught.value.field == name


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_any_string_is_an_id_or_refused(text: str) -> None:
    allowed = (
        0 < len(text) <= 200
        and not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
        and not any(0xD800 <= ord(char) < 0xE000 for char in text)
    )
    try:
        assert check_id(text, "id") == text
    except InvalidArgument:
        assert not allowed
    else:
        assert allowed


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


@given(st.one_of(st.integers(), st.text(), st.floats(), st.binary(), st.builds(Mute), st.just(10**5000)))
def test_any_value_can_stand_in_a_message(value: object) -> None:
    assert len(quoted(value)) <= 100


def test_errors_are_values_too() -> None:
    error = InvalidArgument("f", "is wrong")
    assert isinstance(error, Error)
    assert isinstance(error, ValueError)
    assert (error.field, error.message, str(error)) == ("f", "f: is wrong", "f: is wrong")
