"""What each verb does and prints, for people and as JSON; search has pages of its own."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import germane
from faces.running import Cli
from germane.version import __version__


def as_json(cli: Cli, *argv: str | Path, stdin: bytes = b"") -> Any:
    """Return the one document that a command prints, with --json before and after the verb alike."""
    printed = cli.good(*argv, "--json", stdin=stdin)
    assert printed.endswith("\n") and printed.count("\n") == 1
    return json.loads(printed)


def test_germane_alone_shows_what_to_begin_with(cli: Cli) -> None:
    said = cli.good()
    for command in ("germane learn", "germane search", "germane --help"):
        assert command in said
    assert f"no store yet: learn makes {cli.folder / '.germane'}" in said
    cli.good("init")
    assert f"The store is {cli.folder / '.germane'}" in cli.good()


def test_version(cli: Cli) -> None:
    assert cli.good("version").startswith(f"germane {__version__} ")
    assert as_json(cli, "version")["version"] == __version__


def test_init_makes_a_store_says_where_and_what_next(cli: Cli) -> None:
    said = cli.good("init", "--lang", "de")
    assert str(cli.folder / ".germane") in said and "german" in said and "germane learn PATH" in said
    with germane.open(cli.folder / ".germane") as db:
        assert db.schema.lang == "german"


def test_init_takes_a_schema(cli: Cli) -> None:
    (cli.folder / "schema.toml").write_text('lang = "fr"')
    assert as_json(cli, "init", "--schema", "schema.toml") == {
        "path": str(cli.folder / ".germane"),
        "created": True,
        "lang": "french",
    }


def test_init_leaves_a_store_that_is_there_as_it_is(cli: Cli) -> None:
    cli.good("init", "--lang", "de")
    cli.good("put", "--id", "a", "--title", "Lampe")
    assert "already" in cli.good("init")
    assert "already" in cli.good("init", "--lang", "german")
    assert as_json(cli, "init")["created"] is False
    assert "exists already" in cli.bad(2, "init", "--lang", "en")
    with germane.open(cli.folder / ".germane") as db:
        assert (db.schema.lang, db.stats().items) == ("german", 1)


def test_put_prints_the_id_and_keeps_every_field(cli: Cli) -> None:
    printed = cli.good(
        "put", "--id", "lamp", "--title", "Lamp", "--body", "Glows.", "--type", "text/plain",
        "--description", "A lamp", "--creator", "ann", "--tag", "red", "--tag", "sale",
        "--collection", "shop", "--kind", "product", "--lang", "de",
        "--created-at", "2024-05-01T12:00:00+02:00",
        "--meta", "price=30", "--meta", "on=true", "--meta", 'sizes=["S", "M"]', "--meta", "note=a=b",
        "--meta", 'year="2024"', "--meta", "big=1e999", "--meta", "odd=NaN", "--meta", "table={}",
        "--meta", "deep=" + "[" * 5000,
    )  # fmt: skip
    assert printed == "lamp\n"
    with germane.open(cli.folder / ".germane") as db:
        item = db.get("lamp")
    assert (item.title, item.body, item.type, item.description) == ("Lamp", "Glows.", "text/plain", "A lamp")
    assert (item.creator, item.tags, item.collection, item.kind) == (
        "ann",
        ("red", "sale"),
        "shop",
        "product",
    )
    assert item.lang == "german" and str(item.created_at) == "2024-05-01 10:00:00+00:00"
    assert item.metadata == {
        "price": 30, "on": True, "sizes": ("S", "M"), "note": "a=b", "year": "2024", "big": "1e999",
        "odd": "NaN", "table": "{}", "deep": "[" * 5000,
    }  # fmt: skip


def test_put_under_a_known_id_makes_a_new_version(cli: Cli) -> None:
    first = as_json(cli, "put", "--id", "a", "--body", "one")
    second = as_json(cli, "put", "--id", "a", "--body", "two")
    assert first["rev"] != second["rev"]
    assert cli.good("get", "a", "--body") == "two"
    assert cli.good("get", "a", "--rev", first["rev"], "--body") == "one"


@pytest.mark.parametrize(
    ("name", "data", "type", "is_text"),
    [
        ("a.md", "# Grüße".encode(), "text/markdown", True),
        ("a.txt", b"text", "text/plain", True),
        ("a.PY", b"print()", "text/x-python", True),
        ("a.rs", b"fn main() {}", "text/x-rust", True),
        ("a.ts", b"let x = 1;", "text/typescript", True),
        ("a.json", b"{}", "application/json", True),
        ("a.unheard", b"text", "text/plain", True),
        ("a.unheard", b"\x00\x01", "application/octet-stream", False),
        ("a.png", b"\x89PNG\x00\xff", "image/png", False),
        ("README", b"text", "text/plain", True),
    ],
)
def test_put_guesses_the_type_of_a_file(cli: Cli, name: str, data: bytes, type: str, is_text: bool) -> None:
    (cli.folder / name).write_bytes(data)
    id = cli.good("put", "--file", name).strip()
    with germane.open(cli.folder / ".germane") as db:
        item = db.get(id)
    assert (item.type, isinstance(item.body, str)) == (type, is_text)


def test_put_takes_a_type_before_guessing(cli: Cli) -> None:
    (cli.folder / "a.md").write_text("x")
    cli.good("put", "--id", "a", "--file", "a.md", "--type", "text/x-rust")
    assert as_json(cli, "get", "a")["type"] == "text/x-rust"


def test_put_reads_stdin(cli: Cli) -> None:
    cli.good("put", "--id", "a", "-", stdin="Grüße\r\n".encode())
    assert as_json(cli, "get", "a")["body"] == "Grüße\r\n"
    cli.good("put", "--id", "b", "-", stdin=b"\xff\xfe")
    assert as_json(cli, "get", "b")["type"] == "application/octet-stream"


def test_text_that_is_no_utf8_is_kept_and_said_to_be_unsearched(cli: Cli) -> None:
    (cli.folder / "old.txt").write_bytes(b"caf\xe9")
    outcome = cli("put", "--id", "a", "--title", "Old", "--file", "old.txt")
    assert (outcome.code, outcome.out) == (0, "a\n")
    assert "no UTF-8" in outcome.err


def test_get_prints_fields_and_then_the_body_verbatim(cli: Cli) -> None:
    cli.good(
        "put", "--id", "a", "--title", "Lamp", "--body", "  [bold]\n\tend ", "--tag", "x", "--meta", "l=[1,2]"
    )
    fields, _, body = cli.good("get", "a").partition("\n\n")
    assert body == "  [bold]\n\tend \n"
    rows = dict(line.split(maxsplit=1) for line in fields.splitlines())
    assert (rows["id"], rows["title"], rows["tags"]) == ("a", "Lamp", "x")
    assert "meta l       1, 2" in fields
    assert "creator" not in fields


def test_get_shows_the_size_of_bytes_and_how_to_write_them(cli: Cli) -> None:
    data = bytes(range(256)) * 5
    (cli.folder / "a.bin").write_bytes(data)
    cli.good("put", "--id", "a", "--file", "a.bin")
    shown = cli("get", "a")
    assert "1,280 bytes" in shown.out and "germane get a --body" in shown.out
    assert base64.b64decode(as_json(cli, "get", "a")["body"]) == data


def test_get_document_lists_its_sections(cli: Cli, docs: Path) -> None:
    printed = cli.good("get", "--document", "docs/guide.md")
    assert "docid        docs/guide.md" in printed
    sections = as_json(cli, "get", "--document", "docs/guide.md")["sections"]
    assert [section["heading_path"][-1] for section in sections] == [
        "Guide",
        "Red lamps",
        "Bulbs",
        "Blue lamps",
    ]
    for section in sections:
        line = next(line for line in printed.splitlines() if section["id"] in line)
        assert f"{section['lines'][0]}-{section['lines'][1]}" in line and section["heading_path"][-1] in line


def test_update_merges_metadata_and_replaces_tags(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp", "--meta", "price=30", "--meta", "old=1", "--tag", "x")
    changed = ("update", "a", "--meta", "price=25", "--unset", "old", "--tag", "y", "--tag", "z")
    assert (
        cli.good(*changed, "--creator", "ann", "--collection", "shop", "--created-at", "5")
        == "Updated item a.\n"
    )
    item = as_json(cli, "get", "a")
    assert (item["metadata"], item["tags"]) == ({"price": 25}, ["y", "z"])
    assert (item["creator"], item["collection"], item["created_at"]) == (
        "ann",
        "shop",
        "1970-01-01T00:00:05Z",
    )
    assert cli.good("update", "a", "--meta", "price=25") == "Item a is like that already.\n"
    assert as_json(cli, "update", "a", "--no-tags")["changed"] is True
    assert as_json(cli, "get", "a")["tags"] == []


def test_delete_says_whether_there_was_anything(cli: Cli, docs: Path) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp")
    assert cli.good("delete", "a") == "Deleted item a.\n"
    assert cli.good("delete", "a") == "There is no item a: nothing to delete.\n"
    assert as_json(cli, "delete", "a")["changed"] is False
    assert as_json(cli, "delete", "--document", "docs/guide.md")["changed"] is True
    assert "There is no document" in cli.good("delete", "--document", "docs/guide.md")
    assert as_json(cli, "stats")["items"] == 0


def test_stats_are_those_of_the_database(cli: Cli, docs: Path) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp", "--collection", "shop")
    with germane.open(cli.folder / ".germane", read_only=True) as db:
        held = db.stats()
    printed = as_json(cli, "stats")
    assert printed == {**germane.to_plain(held), "bytes": printed["bytes"]}
    shown = cli.good("stats")
    for words in ("documents", "collection shop", "language", str(cli.folder / ".germane")):
        assert words in shown


def test_rebuild_says_how_far_it_got(cli: Cli, docs: Path) -> None:
    before = as_json(cli, "search", "lamp")["items"]
    assert "events" in cli.good("rebuild")
    assert as_json(cli, "rebuild")["seq"] == as_json(cli, "stats")["events"]
    assert as_json(cli, "search", "lamp")["items"] == before


def test_learn_reports_sections_and_what_was_left_out(cli: Cli) -> None:
    folder = cli.folder / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# One\n\ntext\n\n# Two\n\ntext")
    (folder / "b.png").write_bytes(b"\x89PNG")
    (folder / "c.png").write_bytes(b"\x89PNG")
    (folder / "d.md").write_text("")
    (folder / "e.md").write_bytes(b"# Caf\xe9")
    said = cli.good("learn", "docs", "--tag", "x", "--tag", "y", "--collection", "notes")
    assert "Sections: 3 added, 0 changed, 0 unchanged, 0 removed." in said
    assert "Skipped 3 (-v lists them):" in said and "  2: a format that is not learned (.png)" in said
    assert "b.png" not in said
    assert "1 problem:" in said and "e.md: is no UTF-8" in said
    assert "germane search" in said
    listed = cli.good("learn", "docs", "-v", "--tag", "x", "--tag", "y", "--collection", "notes")
    assert "3 unchanged" in listed and "b.png: a format" in listed and "c.png: a format" in listed
    report = as_json(cli, "learn", "docs", "--tag", "x", "--tag", "y", "--collection", "notes")
    assert (report["unchanged"], len(report["skipped"]), len(report["errors"])) == (3, 3, 0)
    result = as_json(cli, "search", "one")["items"][0]
    assert (result["tags"], result["collection"]) == (["x", "y"], "notes")


def test_learn_lists_at_most_twenty_problems(cli: Cli) -> None:
    folder = cli.folder / "docs"
    folder.mkdir()
    for number in range(23):
        (folder / f"{number:02}.md").write_bytes(b"# Caf\xe9")
    said = cli.good("learn", "docs")
    assert said.count("is no UTF-8") == 20 and "  and 3 more" in said
    (folder / "00.md").write_bytes(b"# Caf\xe9 again")
    assert "more" not in cli.good("learn", "docs")


def test_learning_a_file_of_another_format_by_name_is_a_problem(cli: Cli) -> None:
    (cli.folder / "a.png").write_bytes(b"\x89PNG")
    said = cli.good("learn", "a.png")
    assert "1 problem:" in said and "a.png: a format that is not learned" in said


def test_learn_reads_one_document_from_stdin(cli: Cli) -> None:
    text = "\ufeff# Lamps\n\nRed ones.\n\n## Blue\n\nBlue ones.\n".encode()
    assert as_json(cli, "learn", "-", "--docid", "lamps", "--title", "All lamps", stdin=text)["added"] == 2
    document = as_json(cli, "get", "--document", "lamps")
    assert (document["title"], len(document["sections"])) == ("All lamps", 2)
    assert (
        as_json(cli, "learn", "-", "--docid", "lamps", "--title", "All lamps", stdin=text)["unchanged"] == 2
    )
    assert "--docid" not in cli.good("learn", "-", stdin=b"just text")
    assert "byte 3" in cli.bad(2, "learn", "-", stdin=b"caf\xe9")


def test_paths_in_any_encoding_are_learned_and_printed(cli: Cli) -> None:
    name = b"caf\xe9.md".decode("utf-8", "surrogateescape")
    (cli.folder / name).write_text("# Kaffee")
    assert as_json(cli, "learn", name)["added"] == 1
    assert r"caf\xe9.md:1" in cli.good("search", "kaffee")


def test_a_vector_is_a_list_in_json(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "A", "--embedding", "[1, 0.5]")
    assert json.loads(cli.good("get", "a", "--json"))["embedding"] == [1.0, 0.5]
    cli.good("update", "a", "--embedding", "[0.5, 1]")
    assert json.loads(cli.good("get", "a", "--json"))["embedding"] == [0.5, 1.0]
    assert "embedding: is no list of numbers" in cli.bad(2, "put", "--title", "A", "--embedding", "x")
