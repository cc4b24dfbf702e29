"""``germane session``: from beginning to audit, refusals by exit code, and searches that take it."""

from __future__ import annotations

import json

import pytest

from faces.running import Cli
from germane.faces.cli import failures

SCHEMA = """
[[signals]]
name = "reward"
half_life = "7d"
[[policies]]
name = "one"
max_signals = 1
max_duration = "none"
"""


@pytest.fixture
def store(cli: Cli) -> None:
    (cli.folder / "schema.toml").write_text(SCHEMA)
    cli.good("init", "--schema", "schema.toml")
    for id, title in (("a", "Red lamp"), ("b", "Blue lamp")):
        cli.good("put", "--id", id, "--title", title, "--body", "a lamp")


def test_a_session_from_beginning_to_audit(cli: Cli, store: None) -> None:
    """Fails if any action is left out, or a search does not take the session."""
    id = cli.good("session", "start", "--agent", "helper-1", "--user", "ann", "--policy", "one").strip()
    assert cli.good("session", "annotate", id, "likes", "BLUE") == "Noted.\n"
    assert cli.good("session", "signal", id, "reward", "b", "--event-id", "e") == "Recorded reward on b.\n"
    again = cli.good("session", "signal", id, "reward", "b", "--event-id", "e")
    assert again == "reward on b was recorded before.\n"
    refused = cli("session", "signal", id, "reward", "a")
    assert refused.code == failures.REFUSED and "max_signals: 1 signals have been recorded" in refused.err
    shown = json.loads(cli.good("session", "show", id, "--json"))
    assert (shown["keywords"], shown["items"].keys(), shown["refused"]) == (["likes", "blue"], {"b"}, 1)
    found = json.loads(cli.good("search", "lamp", "--session", id, "--json"))
    assert [each["id"] for each in found["items"]] == ["b", "a"] and found["session"]["id"] == id
    assert "session.hint" in cli.good("explain", "b", "--text", "lamp", "--session", id)
    assert "open, by helper-1 for ann, policy one" in cli.good("session", "show", id)
    assert "closed, by helper-1" in cli.good("session", "close", id)
    closed = cli("session", "annotate", id, "late")
    assert closed.code == failures.REFUSED and "start another one" in closed.err
    lines = cli.good("session", "audit", id).splitlines()
    assert [line.split()[4] for line in lines] == [
        "start", "annotate", "signal", "signal", "close", "annotate",
    ]  # fmt: skip
    assert len(json.loads(cli.good("session", "audit", "--json"))) == 6


def test_what_cannot_be(cli: Cli, store: None) -> None:
    assert cli("session", "show", "nothing").code == failures.NOT_FOUND
    for words in (("start",), ("signal", "x"), ("wait",), ("show",), ("audit", "a", "b")):
        outcome = cli("session", *words)
        assert outcome.code == failures.USAGE and "type 'germane session" in outcome.err
    wrong = cli("session", "start", "--agent", "Helper")
    assert wrong.code == failures.USAGE and "[a-z0-9][a-z0-9._-]{0,63}" in wrong.err
    unknown = cli("session", "start", "--agent", "helper", "--policy", "two")
    assert unknown.code == failures.USAGE and "there are default, one" in unknown.err
    assert "session_missing" in cli.good("search", "lamp", "--session", "gone")
