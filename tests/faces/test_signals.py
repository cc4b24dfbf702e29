"""The verbs of signals: signal, import, schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import germane
from faces.running import Cli

TSV = "ts\twho\tid\taction\tprice\n2023-11-14T10:00:00\tann\ta\tview\t3\n1699956000\t-\tb\tlike\t4\n"
JSONL = """
{"name": "view", "item": "a", "at": 1699956000}

{"name": "view", "item": "b", "user": "ann", "weight": 2}
"""


@pytest.fixture
def store(cli: Cli) -> Path:
    cli.good("put", "--id", "a", "--title", "A")
    cli.good("put", "--id", "b", "--title", "B")
    return cli.folder / ".germane"


def test_signal_records_once(cli: Cli, store: Path) -> None:
    assert (
        cli.good("signal", "like", "a", "--event-id", "e", "--at", "2023-11-14T10:00:00Z")
        == "Recorded like on a.\n"
    )
    assert cli.good("signal", "like", "a", "--event-id", "e") == "like on a was recorded before.\n"
    receipt = json.loads(cli.good("signal", "view", "b", "--user", "ann", "--weight", "2", "--json"))
    assert (receipt["id"], receipt["changed"], receipt["duplicate"]) == ("b", True, False)
    with germane.open(store) as db:
        assert (db.count("like", "a", "all"), db.count("view", "b", "all")) == (1, 1)


@pytest.mark.parametrize(
    ("argv", "code", "part"),
    [
        (("signal", "veiw", "a"), 2, "'veiw' is no declared signal"),
        (("signal", "view", "zzz"), 3, "there is no item 'zzz'"),
        (("signal", "view", "a", "--at", "soon"), 2, "at: 'soon' is no time"),
        (("import", "missing.jsonl"), 6, "missing.jsonl"),
        (("import", "events"), 2, "give --format jsonl, csv or tsv"),
        (("import", "e.csv", "--rename", "a=b"), 2, "'a=b' is not COLUMN=FIELD"),
        (("schema", "list"), 2, "type 'germane schema show'"),
        (("schema", "check", "none.toml"), 2, "none.toml"),
    ],
)
def test_mistakes_say_what_to_type(
    cli: Cli, store: Path, argv: tuple[str, ...], code: int, part: str
) -> None:
    outcome = cli(*argv)
    assert outcome.code == code, outcome
    assert part in outcome.err
    assert outcome.out == ""


def test_import_of_rows_with_their_own_names(cli: Cli, store: Path) -> None:
    (cli.folder / "log.tsv").write_text(TSV)
    argv = ["import", "log.tsv", "--rename", "ts=at", "--rename", "who=user", "--rename", "id=item"]
    assert cli.good(*argv, "--rename", "action=name") == "Recorded 2 events.\n"
    with germane.open(store) as db:
        assert (db.count("view", "a", "all"), db.count("like", "b", "all")) == (1, 1)


def test_import_of_json_lines_from_stdin(cli: Cli, store: Path) -> None:
    printed = cli.good("import", "--format", "jsonl", "-", "--json", stdin=JSONL.encode())
    assert json.loads(printed) == {"recorded": 2}
    with germane.open(store) as db:
        assert db.decayed("view", "b") == pytest.approx(2.0, rel=1e-3)


def test_import_puts_missing_items_when_told_to(cli: Cli) -> None:
    (cli.folder / "e.csv").write_text("name,item\nview,new\nview,new\n")
    outcome = cli("import", "e.csv")
    assert (outcome.code, outcome.out) == (3, "")
    assert "rows[0]: there is no item 'new'" in outcome.err
    assert cli.good("import", "e.csv", "--put-items") == "Recorded 2 events.\n"
    assert "title" in cli.good("get", "new")


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("e.csv", "name,item,at\nview,a,soon\n", "rows[0] at: 'soon' cannot be read"),
        ("e.csv", "name,item,weight\nview,a,1\nview,a,x\n", "rows[1] weight: 'x' cannot be read"),
        ("e.jsonl", "[1]\n", "rows[0]: is no JSON object"),
        ("e.jsonl", '{"name": "view"}\n', "rows[0] item: is missing"),
    ],
)
def test_import_names_the_row(cli: Cli, store: Path, name: str, text: str, part: str) -> None:
    (cli.folder / name).write_text(text)
    outcome = cli("import", name)
    assert outcome.code == 2
    assert part in outcome.err


def test_a_schema_shown_declares_itself(cli: Cli) -> None:
    cli.good("init", "--lang", "de")
    shown = cli.good("schema", "show")
    (cli.folder / "schema.toml").write_text(shown)
    assert "declares 8 signals; language german" in cli.good("schema", "check", "schema.toml")
    assert json.loads(cli.good("schema", "show", "--json"))["lang"] == "german"
    with germane.open(cli.folder / ".germane") as db:
        assert germane.Schema.from_toml(cli.folder / "schema.toml") == db.schema
