"""Replay and tune from the command line, over a store and over a file."""

from __future__ import annotations

import json

from faces.running import Cli


def _log(cli: Cli) -> str:
    lines = ["ts\taction\titem\tuser"]
    for day in range(1, 28):
        for user in range(5):
            lines.append(f"2024-01-{day:02d}T0{user}:00:00\tview\town{user}\tu{user}")
            lines.append(f"2024-01-{day:02d}T0{user}:00:01\tview\tloud{day % 2}\t-")
    (cli.folder / "log.tsv").write_text("\n".join(lines) + "\n")
    return "log.tsv"


def test_a_file_and_a_store_that_imported_it_are_told_alike(cli: Cli) -> None:
    renamed = ("--rename", "ts=at", "--rename", "action=name")
    asked = ("--profile", "most_viewed", "--profile", "related", "--at", "1", "--json")
    log = _log(cli)
    of_file = json.loads(cli.good("replay", log, *renamed, *asked))
    cli.good("import", log, *renamed, "--put-items")
    of_store = json.loads(cli.good("replay", *asked))
    assert of_file == of_store
    assert of_file["profiles"]["most_viewed"]["coverage"] > 0
    table = cli.good("replay", "--profile", "most_viewed", "--sample", "5")
    assert "5 cases, 10 items each" in table
    assert "most_viewed" in table


def test_tune_proposes_and_writes_nothing(cli: Cli) -> None:
    log = _log(cli)
    cli.good("import", log, "--rename", "ts=at", "--rename", "action=name", "--put-items")
    schema = cli.good("schema", "show")
    printed = cli.good("tune", "most_viewed", "--at", "2", "--sample", "20")
    assert '[[profiles]]\nname = "most_viewed_tuned"' in printed
    assert cli.good("schema", "show") == schema
    assert "no profile with weights" in cli.bad(2, "tune", "new")


def test_what_the_file_is_must_be_told(cli: Cli) -> None:
    (cli.folder / "log").write_text("")
    assert "let it end in" in cli.bad(2, "replay", "log")
    assert "name: is missing" in cli.bad(2, "replay", _log(cli))


def test_related_items_from_the_command_line(cli: Cli) -> None:
    for item in ("lamp", "bulb", "sofa"):
        cli.good("put", "--id", item, "--title", item)
    for item in ("lamp", "bulb"):
        cli.good("signal", "view", item, "--user", "ann")
    found = json.loads(cli.good("related", "lamp", "--json"))
    assert [item["id"] for item in found["items"]] == ["bulb"]
    assert "bulb" in cli.good("related", "lamp")
    cli.bad(3, "related", "gone")
