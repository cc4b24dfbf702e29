"""The verbs of signals: signal, import, schema."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

import germane
from faces.running import Cli
from germane.faces.cli import events

TSV = "ts\twho\tid\taction\tprice\n2023-11-14T10:00:00\tann\ta\tview\t3\n1699956000\t-\tb\tlike\t4\n"
JSONL = """
{"name": "view", "item": "a", "at": 1699956000}

{"name": "view", "item": "b", "user": "ann", "weight": 2}
"""

LINE = '{"name":"view","item":"a"}'


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


def test_import_of_a_packed_file(cli: Cli, store: Path) -> None:
    (cli.folder / "e.csv.gz").write_bytes(gzip.compress("\ufeffname,item\nview,a\n".encode()))
    assert cli.good("import", "e.csv.gz") == "Recorded 1 events.\n"
    (cli.folder / "f.csv.gz").write_text("name,item\nview,a\n")
    assert "no gzip file" in cli.bad(2, "import", "f.csv.gz")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "e.csv",
            "item,name,user,at,weight,position,page,event_id,note\n"
            "a,view,ann,2023-11-14T10:00:00,2,1,p,e1,x\n"
            "a,view,,1699956000.5,,,,e2\n"
            "\n"
            "b,like,-,2023-11-14T11:00:00+01:00,-,-,-,e3,y,z\n",
        ),
        (
            "e.jsonl",
            '{"item":"a","name":"view","user":"ann","at":"2023-11-14T10:00:00","weight":2,"position":1,"page":"p",'
            '"event_id":"e1"}\n'
            '{"item":"a","name":"view","at":1699956000.5,"event_id":"e2","note":[1]}\n'
            '{"item":"b","name":"like","user":"","at":"2023-11-14T10:00:00Z","weight":null,"event_id":"e3"}\n',
        ),
    ],
)
def test_columns_hold_what_rows_said(cli: Cli, name: str, text: str) -> None:
    """Whatever is missing, short, blank or in another form, an event is the same from either format."""
    path = cli.folder / name
    path.write_text(text)
    with events.opened(str(path)) as source:
        (block,) = events.blocks(source, name[2:], {})
    with germane.open(clock=lambda: 1.7e9) as db:
        db.put_many([germane.Item(id="a", title="A"), germane.Item(id="b", title="B")])
        assert db.signal_many(block) == 3
        assert db.signal("view", "a", user="ann", weight=2, at=1699956000, event_id="e1").duplicate
        assert db.signal("view", "a", at=1699956000.5, event_id="e2").duplicate
        assert db.signal("like", "b", at=1699956000, event_id="e3").duplicate


def test_numbers_alone_are_read_as_one_column(cli: Cli, store: Path) -> None:
    (cli.folder / "e.csv").write_text(
        "name,item,at,weight,event_id\nview,a,1699956000,2,e\nview,a,1e9,0.5,f\n"
    )
    assert cli.good("import", "e.csv") == "Recorded 2 events.\n"
    with germane.open(store) as db:
        assert db.signal("view", "a", at=1699956000, weight=2, event_id="e").duplicate
        assert db.signal("view", "a", at=1e9, weight=0.5, event_id="f").duplicate


@pytest.mark.parametrize(
    ("name", "text", "code", "part"),
    [
        ("e.csv", "name,item\nview,a\nview,a\nview,a\nview,zzz\n", 3, "rows[3]: there is no item 'zzz'"),
        ("e.csv", "name,item\nview,a\nview,a\nview,a\nview,\n", 2, "rows[3] item: is missing"),
        ("e.csv", "name,item,at\nview,a,\nview,a,\nview,a,\nview,a,nan\n", 2, "[3] at: 'nan' cannot be read"),
        ("e.csv", "name,item,at\nview,a,\nview,a,\nview,a,nan\n", 2, "rows[2] at: nan is not a time"),
        ("e.csv", "name,item,at\nview,a,1\nview,a,1\nview,a,9e9\n", 2, "rows[2] at: lies more than 5"),
        ("e.csv", "name,item,weight\nview,a,1\nview,a,1\nview,a,nan\n", 2, "rows[2] weight: must be a"),
        ("e.csv", "name,item,position\nview,a,1\nview,a,1\nview,a,x\n", 2, "rows[2] position: 'x' cannot"),
        ("e.csv", "name,item\nview,a\nvi\x07ew,a\n", 2, "rows[1] name: holds a control character"),
        ("e.csv", "item\na\n", 2, "rows[0] name: is missing"),
        ("e.jsonl", f'{LINE}\n\n{LINE}\n{{"name":"view","item":[1]}}', 2, "rows[2] item"),
        ("e.jsonl", f'{LINE}\n{LINE}\n{{"name":"view"', 2, "rows[2]: is no JSON object"),
    ],
)
def test_rows_are_counted_through_all_blocks(
    cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, code: int, part: str
) -> None:
    """Fails when an error names the row of its block, and not that of the file."""
    monkeypatch.setattr(events, "BLOCK", 2)
    monkeypatch.setattr(events, "PART", 2)
    (cli.folder / name).write_text(text)
    assert part in cli.bad(code, "import", name)


def test_a_file_that_is_no_text_is_refused(cli: Cli, store: Path) -> None:
    (cli.folder / "e.csv").write_bytes(b"name,item\nview,\xff\n")
    assert "are no UTF-8 text" in cli.bad(2, "import", "e.csv")
    (cli.folder / "f.csv").write_text("name,item\nview," + "a" * 200_000)
    assert "rows: cannot be read: field larger than" in cli.bad(2, "import", "f.csv")
    (cli.folder / "g.csv").write_text("")
    assert cli.good("import", "g.csv") == "Recorded 0 events.\n"


class Interrupted(io.BytesIO):
    """Bytes at whose end somebody presses Ctrl-C."""

    def read1(self, size: int | None = -1, /) -> bytes:
        data = super().read1(size)
        if not data:
            raise KeyboardInterrupt
        return data


def test_an_import_that_is_interrupted_says_how_far_it_came(cli: Cli, store: Path) -> None:
    """Fails when what was read, and not what was recorded, is told."""
    text = b"name,item\n" + b"view,a\n" * (events.BLOCK + 5)
    outcome = cli("import", "-", "--format", "csv", stdin=Interrupted(text))
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == (
        "germane: interrupted; the first 100,000 events stand in the store: import those after them\n"
    )
    with germane.open(store) as db:
        assert db.count("view", "a", "all") == 100_000


def test_a_schema_shown_declares_itself(cli: Cli) -> None:
    cli.good("init", "--lang", "de")
    shown = cli.good("schema", "show")
    (cli.folder / "schema.toml").write_text(shown)
    assert "declares 8 signals and 0 profiles; language german" in cli.good("schema", "check", "schema.toml")
    assert json.loads(cli.good("schema", "show", "--json"))["lang"] == "german"
    with germane.open(cli.folder / ".germane") as db:
        assert germane.Schema.from_toml(cli.folder / "schema.toml") == db.schema


def test_profiles_are_shown_as_they_are_declared(cli: Cli) -> None:
    (cli.folder / "a.toml").write_text(
        '[[signals]]\nname = "view"\n\n[[profiles]]\nname = "best"\nboosts = ["2 view.count.all"]\n'
        "diversity = { max_per_creator = 2, max_share = { \"meta.'a b'\" = 0.5 } }\n"
    )
    cli.good("init", "--schema", "a.toml")
    (cli.folder / "b.toml").write_text(cli.good("schema", "show"))
    assert germane.Schema.from_toml(cli.folder / "a.toml") == germane.Schema.from_toml(cli.folder / "b.toml")
