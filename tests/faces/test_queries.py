"""The verbs that rank by profiles: retrieve, query, explain, and the shell that reads them line by line."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
from pathlib import Path
from typing import Any

import pytest

import germane
from faces.running import PROGRAM, Cli, environment, program
from germane.faces.cli import failures


@pytest.fixture
def store(cli: Cli) -> Path:
    """A store of six items by two creators, the first viewed most."""
    folder = cli.folder / ".germane"
    with germane.open(folder) as db:
        db.put_many(
            germane.Item(
                id=f"lamp-{n}", title=f"Lamp {n}", body="A red lamp.", creator=f"c{n % 2}", metadata={"n": n}
            )
            for n in range(6)
        )
        db.signal_many([{"name": "view", "item": f"lamp-{n}"} for n in range(5) for _ in range(5 - n)])
    return folder


LIMITS = germane.Diversity(max_per_creator=1, max_share={"meta.n": 0.5}, relax=True)


def same(document: Any) -> Any:
    """Return a page without what differs from call to call."""
    return {**document, "id": "", "took_ms": 0, "cursor": document["cursor"] and "cursor"}


@pytest.mark.parametrize(
    ("argv", "arguments"),
    [
        (["most_viewed"], {"profile": "most_viewed"}),
        (["hot", "--limit", "2", "--explain"], {"profile": "hot", "limit": 2, "explain": True}),
        (["new", "--where", "meta.n < 3"], {"profile": "new", "where": germane.where.meta.n < 3}),
        (["new", "--collection", "x"], {"profile": "new", "collections": ["x"]}),
        (
            ["new", "--candidates", "lamp-1", "--candidates", "lamp-4"],
            {"profile": "new", "candidates": ["lamp-1", "lamp-4"]},
        ),
        (["shuffle", "--seed", "7"], {"profile": "shuffle", "seed": 7}),
        (
            ["new", "--max-per-creator", "1", "--max-share", "meta.n=0.5", "--relax"],
            {"profile": "new", "diversity": LIMITS},
        ),
    ],
)  # fmt: skip
def test_the_document_is_the_database_s_page(
    cli: Cli, store: Path, argv: list[str], arguments: dict[str, Any]
) -> None:
    with germane.open(store) as db:
        expected = json.loads(germane.to_json(db.retrieve(**arguments)))
    printed = json.loads(cli.good("retrieve", *argv, "--json"))
    assert [item["score"] for item in printed["items"]] == pytest.approx(
        [item["score"] for item in expected["items"]]
    )
    for document in (printed, expected):
        for item in document["items"]:
            item.update(
                score=0, raw=0, contributions=list(item["contributions"]), reasons=len(item["reasons"])
            )
    assert same(printed) == same(expected)


def test_people_see_rank_score_title_id_and_the_command_for_the_next_page(cli: Cli, store: Path) -> None:
    printed = cli.good("--db", ".germane", "retrieve", "most_viewed", "--limit", "2")
    lines = printed.splitlines()
    assert lines[0].startswith("5 items by most_viewed, 1 to 2 (")
    assert lines[2:6] == ["  1  1.000  Lamp 0", "     A red lamp.", "     id lamp-0", ""]
    following = lines[-1].removeprefix("Next: germane ").split()
    assert following[:3] == ["retrieve", "--db", ".germane"] and following[-2:] == ["--limit", "2"]
    second = cli.good(*following)
    assert second.startswith("5 items, 3 to 4 (") and "\n  3  " in second and "Lamp 2" in second
    last = cli.good(*second.splitlines()[-1].removeprefix("Next: germane ").split())
    assert "\n  5  " in last and "Next" not in last


def test_explain_draws_what_each_score_is_the_sum_of(cli: Cli, store: Path) -> None:
    with germane.open(store) as db:
        best = db.retrieve("most_viewed").items[0]
    printed = cli.good("retrieve", "most_viewed", "--explain", "--limit", "1")
    rows = dict(re.findall(r"^ {7}(\S+(?: \S+)*?) +(-?\d+\.\d+)", printed, re.MULTILINE))
    assert list(rows) == [*best.contributions, "raw"]
    assert [float(each) for each in rows.values()] == pytest.approx(
        [*best.contributions.values(), best.raw], abs=1e-3
    )
    count = next(line for line in printed.splitlines() if "view.count.all" in line)
    assert count.endswith("5.000000  " + "█" * 20)
    assert "       raw  " in printed


def test_what_diversity_held_back_is_said(cli: Cli, store: Path) -> None:
    printed = cli.good("retrieve", "new", "--max-per-creator", "1", "--explain")
    assert "\nHeld back: 4 by max_per_creator.\n" in printed
    assert "Diversity: held_back max_per_creator 4" in printed
    relaxed = cli.good("retrieve", "new", "--max-per-creator", "1", "--relax")
    assert "The limits were relaxed to fill the page." in relaxed and "Held back" not in relaxed


def test_a_feed_without_items_says_how_to_find_out_why(cli: Cli, store: Path) -> None:
    assert cli.good("retrieve", "most_liked").splitlines()[1:] == [
        "'germane explain ID --profile most_liked' says why an item is not there."
    ]
    assert "'germane learn PATH' fills it" in cli.good("--db", "empty", "init") + cli.good(
        "--db", "empty", "retrieve", "new"
    )


@pytest.mark.parametrize(
    ("argv", "lines"),
    [
        (["lamp-0", "--profile", "most_viewed"], ["lamp-0 is number 1 of 5 by most_viewed, score 1.000"]),
        (
            ["lamp-4", "--profile", "most_viewed", "--limit", "2"],
            [
                "lamp-4 is number 5 of 5 by most_viewed, score 0.000",
                "  BeyondPage: its place lies beyond a page of 2",
            ],
        ),
        (
            ["lamp-5", "--profile", "most_viewed"],
            [
                "lamp-5 is not among the 5 items ranked by most_viewed",
                "  NotACandidate: no strategy of the candidates finds it: signal(view.count.all, 2000), "
                "signal(view.decayed, 2000)",
            ],
        ),
        (
            ["lamp-0", "--profile", "new", "--where", "meta.n > 2", "--collection", "main"],
            ["lamp-0 is not among the 3 items ranked by new", "  Filter: it does not meet meta.n > 2"],
        ),
    ],
)
def test_explain_says_why(cli: Cli, store: Path, argv: list[str], lines: list[str]) -> None:
    printed = cli.good("explain", *argv).splitlines()
    assert printed[: len(lines)] == lines
    assert printed[-1].split()[0] == "raw"
    document = json.loads(cli.good("explain", *argv, "--json"))
    assert (document["id"], document["ranked"]) == (argv[0], " number " in lines[0])


def test_explain_says_by_which_gate_and_that_an_item_is_gone(cli: Cli, store: Path) -> None:
    with germane.open(store) as db:
        declared = db.schema.declaration()
    profile = germane.Profile("best", boosts=["view.count.all"], gates=["view.count.all >= 3"])
    signals = tuple(germane.Signal(**each) for each in declared["signals"])
    germane.open(store, germane.Schema(signals=signals, profiles=(profile,))).close()
    printed = cli.good("explain", "lamp-4", "--profile", "best")
    assert "  Gate: it does not pass view.count.all >= 3: it has 1\n" in printed
    cli.good("delete", "lamp-4")
    assert "  NotLive: the item was deleted, or never put\n" in cli.good(
        "explain", "lamp-4", "--profile", "best"
    )
    assert cli.bad(3, "explain", "nothing") == "there is no item 'nothing'"


def test_query_answers_as_the_verbs_do(cli: Cli, store: Path) -> None:
    for text, verb in (
        ("RETRIEVE items USING PROFILE most_viewed LIMIT 3", ["retrieve", "most_viewed", "--limit", "3"]),
        ("search 'red lamp' match all limit 3 where meta.n < 4",
         ["search", "red lamp", "--match", "all", "--limit", "3", "--where", "meta.n < 4"]),
    ):  # fmt: skip
        by_text, by_verb = (json.loads(cli.good(*argv, "--json")) for argv in (("query", text), verb))
        assert [each["id"] for each in by_text["items"]] == [each["id"] for each in by_verb["items"]]
        assert len(by_text["items"]) == 3 and by_text["total"] == by_verb["total"]


def test_query_prints_the_query_for_the_next_page(cli: Cli, store: Path) -> None:
    first = cli.good("query", "SEARCH 'lamp' LIMIT 4 EXPLAIN")
    assert first.endswith('\nNext: SEARCH "lamp" OFFSET 4 LIMIT 4 EXPLAIN\n') and "text.lamp.body" in first
    second = cli.good("query", 'SEARCH "lamp" OFFSET 4 LIMIT 4')
    assert second.startswith("6 sections for lamp, 5 to 6") and "Next" not in second
    first = cli.good("query", "RETRIEVE items USING PROFILE most_viewed LIMIT 3 EXPLAIN")
    following = first.splitlines()[-1].removeprefix("Next: ")
    assert following.startswith("RETRIEVE items CURSOR ") and following.endswith(" LIMIT 3 EXPLAIN")
    second = cli.good("query", following)
    assert second.startswith("5 items, 4 to 5 (") and "Next" not in second


def test_query_prints_counts_and_what_may_help(cli: Cli, store: Path) -> None:
    assert "occurrences" in cli.good("query", "SEARCH 'lamp' MODE stats")
    said = cli.good("query", "SEARCH 'xylophone' IN COLLECTIONS main WHERE meta.n < 3")
    assert said.startswith("Nothing found for xylophone") and "only items where meta.n < 3" in said


def test_a_query_that_does_not_parse_is_shown_with_a_caret(cli: Cli, store: Path) -> None:
    text = "RETRIEVE items WHERE meta.n <\t'a LIMIT 5"
    outcome = cli("query", text)
    assert (outcome.code, outcome.out) == (2, "")
    message, shown, caret = outcome.err.splitlines()
    assert message.startswith("germane: expected a string in single quotes") and "(at 30)" in message
    assert shown == f"  {text.replace(chr(9), ' ')}" and caret == " " * (2 + 30) + "^"


SCRIPT = """\
# the best first
RETRIEVE items USING PROFILE most_viewed LIMIT 1;

retrieve items limit
signal like lamp-5 --user ann --event-id 'e 1'
signal like lamp-5 --event-id 'e 1' --user ann
signal like nothing
signal
signal like 'lamp
RETRIEVE items USING PROFILE most_liked
RETRIEVE items LIMIT 0
help
QUIT
RETRIEVE items USING PROFILE most_viewed
"""


def test_the_shell_runs_a_script_to_its_end(cli: Cli, store: Path) -> None:
    """Fails when a statement is left out after one that failed, or when the last one's code is returned."""
    outcome = cli("shell", stdin=SCRIPT.encode())
    assert outcome.code == failures.USAGE
    assert outcome.out.count("items by") == 1 and "1 item by most_liked (" in outcome.out
    assert "  1  1.000  Lamp 0\n" in outcome.out and "  1  1.000  Lamp 5\n" in outcome.out
    assert "Recorded like on lamp-5.\nlike on lamp-5 was recorded before.\n" in outcome.out
    assert "RETRIEVE items [FOR USER u]" in outcome.out and "germane>" not in outcome.out
    assert outcome.err.splitlines() == [
        "germane: expected a whole number, but the text ends (at 20)",
        "  retrieve items limit",
        "                      ^",
        "germane: there is no item 'nothing' to signal on",
        "germane: missing argument 'NAME': see 'signal --help'",
        "germane: No closing quotation: quotes come in pairs",
        "germane: limit: 0 is out of range: it must be a whole number from 1 to 1000",
    ]


def test_the_shell_s_code_is_that_of_the_first_failure(cli: Cli, store: Path) -> None:
    assert cli("shell", stdin=b"signal like nothing\nRETRIEVE\n").code == failures.NOT_FOUND
    assert cli("shell", stdin=b"RETRIEVE\nsignal like nothing\n").code == failures.USAGE
    assert cli.good("shell", stdin=b"") == ""
    assert cli("--db", "none", "shell", stdin=b"").code == failures.NOT_FOUND


def test_the_shell_prints_a_document_a_line(cli: Cli, store: Path) -> None:
    printed = cli.good(
        "shell", "--json", stdin=b"SEARCH 'lamp'\nsignal like lamp-1\nRETRIEVE items USING PROFILE new\n"
    )
    documents = [json.loads(line) for line in printed.splitlines()]
    assert [document.get("total") for document in documents] == [6, None, 6]
    assert documents[1]["changed"] is True


def test_a_signal_of_the_shell_goes_to_its_own_store(cli: Cli, store: Path) -> None:
    outcome = cli("shell", stdin=b"signal like lamp-1 --db elsewhere\nsignal --help\n")
    assert outcome.code == failures.USAGE and "--db" in outcome.err and "--event-id" in outcome.out
    assert not (cli.folder / "elsewhere").exists()


def test_a_closed_pipe_ends_the_shell(cli: Cli, store: Path) -> None:
    script = cli.folder / "script"
    script.write_text("RETRIEVE items USING PROFILE new EXPLAIN\n" * 2000)
    piped = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {' '.join(PROGRAM)} shell < script | head -n 1"],
        cwd=cli.folder, env=environment(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (piped.returncode, piped.stderr) == (0, b"")


def test_the_shell_on_a_terminal_prompts_goes_on_after_errors_and_leaves_with_ctrl_d(
    cli: Cli, store: Path
) -> None:
    ours, theirs = pty.openpty()
    printed = b""

    def read() -> bytes:
        """What comes next from the terminal; nothing at its end."""
        assert select.select([ours], [], [], 60)[0], f"nothing more came after {printed!r}"
        try:
            return os.read(ours, 65536)
        except OSError:  # a terminal whose other end is closed
            return b""

    with subprocess.Popen(
        [*PROGRAM, "shell"], cwd=cli.folder, stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment(COLUMNS="100", TERM="dumb"),
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            for typed in (
                b"RETRIEVE items LIMTI 5\n",
                b"RETRIEVE items USING PROFILE most_viewed LIMIT 1\n",
                b"\x04",
            ):
                # A new prompt each time: what is typed ahead of it may reach the terminal before it
                # is read key by key, and Ctrl-D is lost then.
                since = len(printed)
                while not printed[since:].rstrip().endswith(b"germane>"):
                    printed += read()
                os.write(ours, typed)
            while data := read():
                printed += data
            assert process.wait(timeout=60) == 0, printed
        finally:
            process.kill()
            os.close(ours)
    shown = printed.decode().replace("\r\n", "\n")
    assert "did you mean LIMIT?" in shown and "                 ^\n" in shown and "Lamp 0" in shown


def test_reading_a_query_does_not_slow_down_what_needs_none(cli: Cli, store: Path) -> None:
    """The grammar is built when a query is first read: lark is not imported by other verbs."""
    listed = program("retrieve", "new", folder=cli.folder, env=environment(PYTHONPROFILEIMPORTTIME="1"))
    assert listed.returncode == 0 and b"germane.database" in listed.stderr
    assert b"lark" not in listed.stderr and b"query_text" not in listed.stderr
