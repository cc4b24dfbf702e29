"""``germane gc``: what retention takes away, said and done."""

from __future__ import annotations

import json

import germane
from faces.running import Cli


def test_it_says_first_and_does_when_told(cli: Cli) -> None:
    (cli.folder / "schema.toml").write_text('retention = "90d"\n[[signals]]\nname = "view"\n')
    cli.good("init", "--schema", str(cli.folder / "schema.toml"))
    assert cli.good("gc") == "No event is older than the schema's retention.\n"
    store = cli.folder / ".germane"
    with germane.open(store, clock=lambda: 4e9) as db:
        db.put(germane.Item(id="a", title="Lamp"))
        db.put(germane.Item(id="a", title="Old lamp"))
    with germane.open(store, clock=lambda: 4e9) as db:
        assert db.gc() == germane.GcReport(2, 0, 0)  # closing has replaced the declarations
        db.put(germane.Item(id="a", title="Older lamp"))
    with germane.open(store, clock=lambda: 4e9 + 95 * 86_400) as db:
        db.put(germane.Item(id="a", title="Oldest lamp"))
    before = json.loads(cli.good("--json", "search", "lamp"))["items"]
    said = "3 events would be replaced by what they came to, and 2 contents dropped.\n"
    assert cli.good("gc") == said
    assert json.loads(cli.good("--json", "gc"))["events"] == 3
    assert cli.good("gc", "--run") == said.replace("would be ", "")
    assert cli.good("gc", "--run") == "No event is older than the schema's retention.\n"
    after = json.loads(cli.good("--json", "search", "lamp"))["items"]
    assert after == before
    assert cli.good("check") == "The store is sound.\n"
