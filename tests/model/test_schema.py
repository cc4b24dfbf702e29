"""A schema: from arguments, from TOML, and in a store."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import InvalidArgument, Schema, SchemaError
from germane.faces.cli.verbs.schema import toml

KNOWN = "signals, profiles, policies, lang, synonyms, unknown_items, retention, impressions"


def test_a_language_is_brought_into_one_form() -> None:
    assert Schema(lang="de-AT") == Schema(lang="German") == Schema(lang="de")
    assert Schema().lang == "english"
    assert repr(Schema(lang="fr")) == "Schema([], lang='french')"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("lang", "englsh", "'englsh' is no language: give a name or code like 'english' or 'en'"),
        ("lang", None, "a store has a default language: give a name or code like 'english'"),
        ("lang", 1, "must be a string, not int"),
        ("profiles", "hot", "must be a list of Profile, not str"),
        ("policies", None, "must be a list of Policy, not NoneType"),
        ("synonyms", {}, "is not available in this version: leave it at None"),
        ("unknown_items", "keep", "'keep' is none of refuse, accept"),
        ("unknown_items", None, "None is none of refuse, accept"),
        (
            "retention",
            "ever",
            "'ever' is not a duration: give one like '30m', '24h' or '7d', or seconds above 0",
        ),
        ("retention", 0, "0 is not a duration: give one like '30m', '24h' or '7d', or seconds above 0"),
        ("retention", True, "True is not a duration: give one like '30m', '24h' or '7d', or seconds above 0"),
        ("retention", "59s", "'59s' is out of range: from a minute to 1000 years"),
        ("retention", "400000d", "'400000d' is out of range: from a minute to 1000 years"),
        ("impressions", 1, "must be True or False, not 1"),
    ],
)
def test_what_is_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(**{field: value})
    assert str(caught.value) == f"{field}: {message}"
    assert caught.value.field == field
    assert isinstance(caught.value, InvalidArgument)


def test_a_schema_is_immutable_and_a_value() -> None:
    schema = Schema(lang="de")
    with pytest.raises(AttributeError, match="a schema is immutable"):
        schema.lang = "english"
    with pytest.raises(AttributeError, match="a schema is immutable"):
        del schema.lang
    assert schema.lang == "german"
    for twin in (copy.copy(schema), copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert twin == schema
        assert hash(twin) == hash(schema)
    assert schema != "german"


@pytest.mark.parametrize("retention", ["90d", 90 * 86_400, 7_776_000.0, timedelta(days=90)])
def test_unknown_items_and_retention_are_printed_back(retention: Any, tmp_path: Path) -> None:
    """Fails when the declaration leaves one of them out: the store would forget it."""
    schema = Schema([germane.Signal("view")], lang="fr", unknown_items="accept", retention=retention)
    assert schema.retention == timedelta(days=90)
    assert repr(schema).endswith("lang='french', unknown_items='accept', retention=7776000.0)")
    path = tmp_path / "schema.toml"
    path.write_text(toml(schema.declaration()))
    assert Schema.from_toml(path) == Schema.from_declaration(schema.declaration()) == schema
    assert schema != Schema(schema.signals, lang="fr", unknown_items="accept")
    assert schema != Schema(schema.signals, lang="fr", retention=retention)
    with germane.open(tmp_path / "store", path):
        pass
    with germane.open(tmp_path / "store") as db:
        assert db.schema == schema


@pytest.mark.parametrize(
    ("text", "field", "message"),
    [
        ('language = "de"', "language", f"language: is nothing a schema declares: it declares {KNOWN}"),
        ("lang = 3", "lang", "lang: must be a string, not int"),
        ("signals = ['view']", "signals", "signals: each must be a table, not str"),
        ("lang = ", "schema", "schema: '{path}' is not TOML: Invalid value (at end of document)"),
        ("a = " + "[" * 10_000, "schema", "schema: '{path}' is not TOML: maximum recursion depth exceeded"),
        ("a = " + "9" * 5_000, "schema", "schema: '{path}' is not TOML: Exceeds the limit"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, field: str, message: str) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.from_toml(path)
    assert str(caught.value).startswith(message.format(path=path))
    assert caught.value.field == field


@given(st.binary(max_size=50))
def test_any_file_is_a_schema_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    try:
        Schema.from_toml(path)
    except SchemaError as error:
        assert error.field


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.toml", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
    ):
        with pytest.raises(SchemaError) as caught:
            germane.open(schema=path)
        assert str(caught.value) == f"schema: {path} {reason}"
    with pytest.raises(SchemaError, match="null byte"):
        germane.open(schema="a\0b")


def test_a_file_declares_what_arguments_do(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text('lang = "de"\nsignals = []\nimpressions = true\n')
    assert Schema.from_toml(path) == Schema(lang="german")
    with germane.open(schema=str(path)) as db:
        assert db.schema == Schema(lang="german")
    assert Schema.from_declaration(Schema(lang="fr").declaration()) == Schema(lang="fr")


def test_a_store_keeps_its_schema_until_another_is_declared(tmp_path: Path) -> None:
    with germane.open(tmp_path / "s", Schema(lang="de")) as db:
        assert db.schema.lang == "german"
    with germane.open(tmp_path / "s") as db:
        events = db.stats().events
        assert db.schema.lang == "german"
    with germane.open(tmp_path / "s", Schema(lang="german")) as db:
        assert db.stats().events == events  # the same one again is no news
    with germane.open(tmp_path / "s", Schema(lang="fr")) as db:
        assert db.schema.lang == "french"
        assert db.stats().events == events + 1
    with pytest.raises(germane.ReadOnly, match="the schema differs from the store's"):
        germane.open(tmp_path / "s", Schema(), read_only=True)


def test_a_schema_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidArgument) as caught:
        germane.open(schema={"lang": "de"})  # type: ignore[arg-type]
    assert str(caught.value) == "schema: must be a Schema or the path of a TOML file, not dict"
