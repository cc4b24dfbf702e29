"""Exit codes and messages: one line each, naming what was wrong and what to type instead."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import germane
from faces.running import Cli
from germane.faces.cli import failures
from germane.log.file import FILE
from germane.model.errors import BeyondRetention

OCCURRED: tuple[tuple[BaseException, int], ...] = (
    (germane.InvalidArgument("limit", "0 is out of range"), 2),
    (BeyondRetention("as_of", "lies before what is kept", 5), 2),
    (germane.SchemaError("lang", "'x' is no language"), 2),
    (germane.QuerySyntaxError("expected a word", 3), 2),
    (failures.Misuse("give one of them"), 2),
    (germane.NotFound("there is no item 'a'"), 3),
    (germane.CursorExpired("the cursor is too old"), 3),
    (germane.Corruption("the journal is damaged"), 4),
    (germane.PolicyViolation("max_signals is 3", "max_signals"), 5),
    (germane.SessionClosed("the session has ended"), 5),
    (germane.Busy("locked by another process"), 6),
    (germane.Conflict("the revision is another"), 6),
    (germane.ReadOnly("cannot be written"), 6),
    (PermissionError(13, "Permission denied", "secret.md"), 6),
    (KeyboardInterrupt(), 130),
    (germane.Interrupted(germane.LearnReport(documents=3, added=7)), 130),
)


@pytest.mark.parametrize(("error", "code"), OCCURRED, ids=lambda each: type(each).__name__)
def test_every_kind_of_error_has_its_exit_code_and_one_line(error: BaseException, code: int) -> None:
    assert failures.exit_code(error) == code
    line = failures.message(error)
    assert line and "\n" not in line


def test_no_kind_of_error_is_without_a_code() -> None:
    kinds = {germane.Error}
    while more := {child for kind in kinds for child in kind.__subclasses__()} - kinds:
        kinds |= more
    assert kinds - {germane.Error} <= {type(error) for error, _ in OCCURRED} | {germane.SchemaError}


def test_an_error_that_nobody_foresaw_has_no_code() -> None:
    assert failures.exit_code(ZeroDivisionError("division by zero")) is None


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device", "a.md"), "a.md: No space left on device"),
        (OSError("no details"), "no details"),
        (germane.InvalidArgument("metadata.price", "is no number"), "--meta price: is no number"),
        (germane.InvalidArgument("metadata key", "is empty"), "a key of --meta: is empty"),
        (germane.InvalidArgument("tags", "is empty"), "--tag: is empty"),
        (germane.InvalidArgument("created_at", "nan is not a time"), "--created-at: nan is not a time"),
        (germane.InvalidArgument("iterable", "gives nothing"), "iterable: gives nothing"),
        (germane.NotFound("two\nlines"), "two lines"),
        (
            germane.Interrupted(germane.LearnReport(documents=1, added=2000)),
            "interrupted; 1 document of this run (2,000 new sections) stand in the store: "
            "run the same command again to go on",
        ),
    ],
)
def test_messages_name_the_option_and_stay_on_one_line(error: BaseException, line: str) -> None:
    assert failures.message(error) == line


@pytest.mark.parametrize(
    ("argv", "parts"),
    [
        (("serach", "lamp"), ["'serach'", "'germane search'", "germane --help"]),
        (("Learn",), ["'germane learn'"]),
        (("xyzzy",), ["no verb 'xyzzy'", "'germane search xyzzy'"]),
        (("gaps",), ["no verb 'gaps'"]),
        (("retrieve", "nothing"), ["profile: 'nothing' is no profile", "trending"]),
        (("retrieve", "hot", "--limit", "0"), ["--limit: 0 is out of range"]),
        (("session", "start"), ["say who begins it", "--agent AGENT"]),
        (("retrieve", "hot", "--relax"), ["--relax goes with --max-per-creator or --max-share"]),
        (("retrieve", "hot", "--max-per-creator", "0"), ["--max-per-creator: 0 is out of range"]),
        (("retrieve", "hot", "--max-share", "kind"), ["--max-share: 'kind'", "meta.format=0.6"]),
        (("retrieve", "hot", "--max-share", "id=0.5"), ["--max-share: 'id' is no field to limit"]),
        (("retrieve", "hot", "--max-share", "kind=2"), ["--max-share kind: must be above 0"]),
        (("retrieve", "hot", "--as-of", "1.5"), ["--as-of: '1.5' is neither a position"]),
        (("retrieve", "hot", "--as-of", "2026-01-01"), ["--as-of", "no time zone"]),
        (("retrieve", "hot", "--candidates", ""), ["--candidates: is empty"]),
        (("retrieve", "hot", "--collection", ""), ["--collection: is empty"]),
        (("query",), ["TEXT", "'germane query --help'"]),
        (("query", "RETRIEVE items LIMIT 0"), ["limit: 0 is out of range"]),
        (("explain",), ["ID", "'germane explain --help'"]),
        (("explain", "a", "--limit", "0"), ["--limit: 0 is out of range"]),
        (("--bad",), ["--bad", "'germane --help'"]),
        (("--json",), ["--json needs a verb"]),
        (("--db", "", "stats"), ["--db", "is empty"]),
        (("search",), ["WORDS", "'germane search --help'"]),
        (("search", "lamp", "--limit", "many"), ["--limit", "many"]),
        (("search", "lamp", "--limit", "0"), ["--limit: 0 is out of range", "1 to 1000"]),
        (("search", "lamp", "--offset", "-1"), ["--offset: -1", "from 0"]),
        (("search", "lamp", "--mode", "pages"), ["--mode: 'pages'", "sections, stats"]),
        (("search", "lamp", "--match", "some"), ["--match: 'some'", "any, all"]),
        (("search", "lamp", "--lang", "q"), ["--lang: 'q'"]),
        (("search", "lamp", "--collection", ""), ["--collection: is empty"]),
        (("search", "lamp", "--weight", "size=1"), ["--weight: 'size=1'", "heading, body, code"]),
        (("search", "lamp", "--weight", "body"), ["--weight: 'body'", "body=0.5"]),
        (("search", "lamp", "--weight", "body=big"), ["--weight: 'body=big'"]),
        (("search", "lamp", "--weight", "body=-1"), ["--weight body:", "-1.0"]),
        (("search", "lamp", "--weight", "body=nan"), ["--weight body:"]),
        (("search", "lamp", "-shade"), ["'germane search -- -word'"]),
        (("search", "-1"), ["'germane search -- -word'"]),
        (("search", "--release", "notes"), ["--release", "'germane search -- -word'"]),
        (("get",), ["ID", "--document"]),
        (("get", "a", "--document", "b"), ["one of them"]),
        (("get", "--document", "b", "--body"), ["--body"]),
        (("get", "--document", "b", "--rev", "c"), ["--rev"]),
        (("get", "a", "--body", "--json"), ["--body", "--json"]),
        (("delete",), ["ID", "--document"]),
        (("delete", "a", "--document", "b"), ["one of them"]),
        (("update",), ["ID"]),
        (("update", "a"), ["nothing to change"]),
        (("update", "a", "--tag", "x", "--no-tags"), ["--no-tags"]),
        (("update", "a", "--meta", "k=1", "--unset", "k"), ["--unset", "'k'"]),
        (("update", "a", "--meta", "price"), ["--meta: 'price'", "KEY=VALUE"]),
        (
            ("update", "a", "--created-at", "2024-05-01"),
            ["--created-at", "time zone", "2024-05-01T00:00:00Z"],
        ),
        (("update", "a", "--collection", ""), ["--collection"]),
        (("put",), ["nothing to put", "--body"]),
        (("put", "text"), ["'text'", "--file PATH"]),
        (("put", "-", "--body", "x"), ["one of them"]),
        (("put", "--body", "x", "--file", "y"), ["one of them"]),
        (("put", "--title", "x", "--meta", "=1"), ["--meta"]),
        (("put", "--title", "x", "--meta", "k=null"), ["--meta k"]),
        (("put", "--title", "x", "--type", "text"), ["--type", "text/markdown"]),
        (("put", "--title", "x", "--lang", "q"), ["--lang"]),
        (("put", "--title", "x", "--id", ""), ["--id"]),
        (("put", "--title", "x", "--tag", ""), ["--tag"]),
        (("put", "--title", "x", "--kind", "a\nb"), ["--kind", "control character"]),
        (("put", "--title", "x", "--created-at", "yesterday"), ["--created-at", "ISO", "'yesterday'"][::2]),
        (("put", "--title", "x", "--created-at", "inf"), ["--created-at"]),
        (("put", "--title", "x\udce9"), ["--title", "surrogate"]),
        (("learn",), ["PATH"]),
        (("learn", "-", "docs"), ["stdin"]),
        (("learn", ".", "--title", "x"), ["--title"]),
        (("learn", ".", "--docid", "x"), ["--docid"]),
        (("learn", ".", "--collection", ""), ["--collection"]),
        (("learn", ".", "--tag", ""), ["--tag"]),
        (("init", "--lang", "q"), ["--lang"]),
        (("init", "--schema", "none.toml"), ["--schema", "none.toml"]),
        (("init", "--schema", "none.toml", "--lang", "de"), ["--lang", "--schema"]),
        (("version", "please"), ["please"]),
    ],
)
def test_wrong_usage(cli: Cli, argv: tuple[str, ...], parts: list[str]) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp")
    said = cli.bad(2, *argv)
    assert [part for part in parts if part not in said] == [], said


def test_a_schema_that_declares_nonsense_is_wrong_usage(cli: Cli) -> None:
    (cli.folder / "bad.toml").write_text("language = 'german'")
    assert "language" in cli.bad(2, "init", "--schema", "bad.toml")
    (cli.folder / "worse.toml").write_text("lang =")
    assert "not TOML" in cli.bad(2, "init", "--schema", "worse.toml")
    assert not (cli.folder / ".germane").exists()


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (("get", "b"), "'b'"),
        (("get", "a", "--rev", "b"), "'b'"),
        (("get", "--document", "b"), "'b'"),
        (("get", "gone"), "put it again"),
        (("update", "b", "--tag", "t"), "'b'"),
        (("put", "--file", "none.md"), "'none.md'"),
        (("learn", "none.md"), "'none.md'"),
    ],
)
def test_not_found(cli: Cli, argv: tuple[str, ...], part: str) -> None:
    for id in ("a", "gone"):
        cli.good("put", "--id", id, "--title", "Lamp")
    cli.good("delete", "gone")
    assert part in cli.bad(3, *argv)


def test_the_id_of_a_document_is_answered_with_how_to_get_it(cli: Cli, docs: Path) -> None:
    assert cli.bad(3, "get", "docs/guide.md").endswith("type 'germane get --document docs/guide.md'")


def test_an_error_with_json_is_still_text_on_stderr(cli: Cli) -> None:
    cli.good("init")
    for argv in (("--json", "get", "a"), ("get", "a", "--json"), ("--json", "search", "x", "--limit", "0")):
        cli.bad(3 if "get" in argv else 2, *argv)


@pytest.mark.parametrize(
    "argv", [("search", "lamp"), ("put", "--title", "x"), ("check",), ("init",)], ids=" ".join
)
def test_a_damaged_store_is_corrupt(cli: Cli, argv: tuple[str, ...]) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp")
    (cli.folder / ".germane" / FILE).write_bytes(b"no database at all " * 500)
    assert FILE in cli.bad(4, *argv)


def test_a_journal_that_cannot_be_opened_is_input_and_output(cli: Cli) -> None:
    (cli.folder / ".germane" / FILE).mkdir(parents=True)
    assert "cannot be opened" in cli.bad(6, "put", "--title", "x")


def test_a_folder_that_cannot_be_made_is_input_and_output(cli: Cli) -> None:
    (cli.folder / "file").write_text("")
    assert "cannot be made" in cli.bad(6, "--db", "file/store", "init")


def test_a_body_that_cannot_be_read_is_input_and_output(cli: Cli) -> None:
    assert "directory" in cli.bad(6, "put", "--file", ".")
    assert not (cli.folder / ".germane").exists()


def test_a_store_of_another_program_is_left_alone(cli: Cli) -> None:
    (cli.folder / "theirs").mkdir()
    with sqlite3.connect(cli.folder / "theirs" / FILE) as theirs:
        theirs.execute("CREATE TABLE t (x)")
    assert "another program" in cli.bad(2, "--db", "theirs", "put", "--title", "x")


def test_a_failed_check_exits_with_1_and_a_repaired_one_with_0(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp")
    assert cli.good("check") == "The store is sound.\n"
    with sqlite3.connect(cli.folder / ".germane" / FILE) as journal:
        journal.execute("UPDATE item SET creator = 'nobody'")
    plain, document = cli("check"), cli("--json", "check")
    assert (plain.code, plain.err, document.code, document.err) == (1, "", 1, "")
    assert plain.out.endswith("'germane check --repair' builds what differs anew.\n")
    assert '"ok":false' in document.out
    assert "(repaired)" in cli.good("check", "--repair")
    assert cli.good("check") == "The store is sound.\n"


def test_what_cannot_be_repaired_is_told_apart(cli: Cli) -> None:
    """A log that lost an event: views can be built anew from it, but not the log itself."""
    for id in "abc":
        cli.good("put", "--id", id, "--title", "Lamp")
    copy = cli.folder / "copy"
    shutil.copytree(cli.folder / ".germane", copy)
    with sqlite3.connect(copy / FILE) as journal:
        journal.execute("DELETE FROM log WHERE seq = 2")
    outcome = cli("--db", "copy", "check", "--repair")
    assert (outcome.code, outcome.err) == (1, "")
    assert "restore a backup" in outcome.out
