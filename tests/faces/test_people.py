"""The verbs of users: relate, user, and --user of those that rank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faces.running import Cli


@pytest.fixture(autouse=True)
def store(cli: Cli) -> Path:
    cli.good("put", "--id", "a", "--title", "Lamp A", "--creator", "bob")
    cli.good("put", "--id", "b", "--title", "Lamp B", "--creator", "eve")
    return cli.folder / ".germane"


def found(cli: Cli, *argv: str) -> list[str]:
    return [result["id"] for result in json.loads(cli.good(*argv, "--json"))["items"]]


def test_what_is_hidden_is_gone_until_undone(cli: Cli) -> None:
    assert cli.good("relate", "ann", "hide", "a") == "ann: hide a, from now on.\n"
    assert cli.good("relate", "ann", "hide", "a") == "ann: nothing changed.\n"
    assert found(cli, "search", "lamp", "--user", "ann") == ["b"]
    assert found(cli, "search", "lamp", "--user", "bob") == found(cli, "search", "lamp") == ["a", "b"]
    assert found(cli, "retrieve", "new", "--user", "ann") == ["b"]
    assert "HardNegative" in cli.good("explain", "a", "--profile", "new", "--user", "ann")
    assert "HardNegative" in cli.good("explain", "a", "--text", "lamp", "--user", "ann")
    receipt = json.loads(cli.good("relate", "ann", "hide", "a", "--undo", "--json"))
    assert (receipt["id"], receipt["changed"]) == ("a", True)
    assert cli.good("relate", "ann", "hide", "a", "--undo") == "ann: nothing changed.\n"
    assert cli.good("relate", "ann", "mute", "bob") == "ann: mute bob, from now on.\n"
    assert found(cli, "search", "lamp", "--user", "ann") == ["b", "a"]
    assert cli.good("relate", "ann", "mute", "bob", "--undo") == "ann: mute bob, no more.\n"


def test_user_show(cli: Cli) -> None:
    cli.good("relate", "ann", "follow", "bob")
    cli.good("relate", "ann", "follow", "eve")
    cli.good("signal", "view", "a", "--user", "ann")
    cli.good("signal", "view", "a", "--user", "ann")
    assert cli.good("user", "show", "ann") == (
        "ann has seen 1 item; 2 signals recorded.\nfollow   bob, eve\nlikes    bob 0.20\n"
    )
    shown = json.loads(cli.good("user", "show", "ann", "--json"))
    assert (shown["seen"], shown["relations"]["follow"]) == (1, ["bob", "eve"])
    assert cli.good("user", "show", "nobody") == "nobody has seen 0 items; 0 signals recorded.\n"
    assert found(cli, "search", "lamp", "--user", "ann", "--where", "unseen and following") == ["b"]


def test_user_forget(cli: Cli) -> None:
    for name in ("zoe", "eve"):
        cli.good("relate", name, "hide", "a")
        cli.good("signal", "view", "b", "--user", name)
    assert cli.good("user", "forget", "zoe") == "zoe is forgotten: 2 events changed.\n"
    assert cli.good("user", "show", "zoe") == "zoe has seen 0 items; 0 signals recorded.\n"
    assert found(cli, "search", "lamp", "--user", "zoe") == ["a", "b"]
    assert cli.good("user", "forget", "zoe") == "Nothing is known of zoe.\n"
    report = json.loads(cli.good("user", "forget", "eve", "--erase", "--json"))
    assert (report["events"], report["folded"], report["sketched"]) == (2, 0, 0)
    assert not any(b"zoe" in path.read_bytes() for path in (cli.folder / ".germane").iterdir())


@pytest.mark.parametrize(
    ("argv", "code", "part"),
    [
        (("relate", "zoe", "like", "a"), 2, "'like' is no relation: there are follow (a creator), save"),
        (("relate", "zoe", "hide", "z"), 3, "there is no item 'z' to hide"),
        (("relate", "zoe", "hide"), 2, "missing argument 'TARGET'"),
        (("relate", "", "hide", "a"), 2, "user is empty"),
        (
            ("user", "lose", "zoe"),
            2,
            "type 'germane user show USER', or 'germane user forget USER [--erase]'",
        ),
        (("user", "show", "zoe", "--erase"), 2, "type 'germane user show USER'"),
        (("user", "forget", ""), 2, "user is empty"),
        (("search", "lamp", "--where", "unseen"), 2, "--where: 'unseen' is about a user: say which"),
        (("search", "lamp", "--user", ""), 2, "--user is empty"),
    ],
)
def test_mistakes_say_what_to_type(cli: Cli, argv: tuple[str, ...], code: int, part: str) -> None:
    assert part.lower() in cli.bad(code, *argv).lower().replace("user: is", "user is")
