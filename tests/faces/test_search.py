"""What search prints, and that it is the database's answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import germane
from faces.running import Cli


def page(cli: Cli, *argv: str) -> Any:
    return json.loads(cli.good("--json", "search", *argv))


def same(document: Any) -> Any:
    """Return a page without what differs from call to call."""
    stats = document["stats"] and {**document["stats"], "query_time_ms": 0}
    return {**document, "id": "", "took_ms": 0, "stats": stats}


@pytest.mark.parametrize(
    ("argv", "arguments"),
    [
        (["red", "lamp"], {}),
        (["red", "lamp", "--limit", "1", "--offset", "1"], {"limit": 1, "offset": 1}),
        (["red", "blue", "--match", "all"], {"match": "all"}),
        (["red", "lamp", "--mode", "stats"], {"mode": "stats"}),
        (["red", "lamp", "--explain"], {"explain": True}),
        (["red", "lamp", "--lang", "de"], {"lang": "de"}),
        (["red", "lamp", "--collection", "main", "--collection", "x"], {"collections": ["main", "x"]}),
        (["red", "lamp", "--collection", "x"], {"collections": ["x"]}),
        (
            ["red", "lamp", "--where", "type = 'text/markdown' and document != 'x'"],
            {"where": "type = 'text/markdown' and document != 'x'"},
        ),
        (["red", "lamp", "--where", "meta.price < 10"], {"where": germane.where.meta.price < 10}),
        (
            ["red", "lamp", "--weight", "heading=0", "--weight", "zone=3"],
            {"weights": germane.SearchWeights(heading=0, zone=3)},
        ),
    ],
)
def test_the_document_is_the_database_s_page(
    cli: Cli, docs: Path, argv: list[str], arguments: dict[str, Any]
) -> None:
    words = [word for word in argv[:2] if not word.startswith("-")]
    with germane.open(cli.folder / ".germane", read_only=True) as db:
        expected = json.loads(germane.to_json(db.search(" ".join(words), **arguments)))
    assert same(page(cli, *argv)) == same(expected)


def test_words_of_several_arguments_are_one_query(cli: Cli, docs: Path) -> None:
    assert same(page(cli, "red lamp", "-q"[1:])) == same(page(cli, "red", "lamp", "q"))


def test_words_that_begin_with_a_dash_go_after_two(cli: Cli, docs: Path) -> None:
    found = page(cli, "--", "lamp", "-blue")
    assert [item["heading"] for item in found["items"]] == ["Red lamps", "Guide"]


def test_people_see_rank_score_heading_place_snippet_words_and_id(cli: Cli, docs: Path) -> None:
    found = page(cli, "red", "bulb")
    printed = cli.good("search", "red", "bulb")
    assert printed.startswith("2 sections for red bulb (")
    first, second = printed.split("\n\n")[1:]
    best = found["items"][0]
    assert first.splitlines() == [
        f"  1  {best['score']:.3f}  Red lamps",
        "     Guide",
        "     docs/guide.md:5-7",
        "     A red lamp glows red, and needs a bulb.",
        f"     matched red, bulb; id {best['id']}",
    ]
    assert second.splitlines()[1] == "     Guide › Red lamps"
    assert "\x1b" not in printed


def test_an_item_without_a_heading_or_document_goes_by_its_id(cli: Cli) -> None:
    cli.good("put", "--id", "shop/lamp", "--body", "A red lamp.")
    lines = cli.good("search", "lamp").splitlines()
    assert lines[2].endswith("  lamp") and lines[-1] == "     matched lamp; id shop/lamp"
    assert len(lines) == 5


def test_an_item_without_a_body_has_no_snippet(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Lamp")
    assert len(cli.good("search", "lamp").splitlines()) == 4


def test_explain_prints_every_contribution_and_their_sum(cli: Cli, docs: Path) -> None:
    best = page(cli, "red", "bulb", "--limit", "1")["items"][0]
    printed = cli.good("search", "red", "bulb", "--limit", "1", "--explain")
    rows = dict(re.findall(r"^ {7}(\S+) +(-?\d+\.\d+)", printed, re.MULTILINE))
    assert list(rows) == [*best["contributions"], "raw"]
    for name, value in best["contributions"].items():
        assert rows[name] == f"{value:.6f}"
    assert rows["raw"] == f"{best['raw']:.6f}"
    assert re.search(r"text\.red\.body .* 2 of 9 tokens; in \d of 4 sections, idf \d", printed)


def test_more_pages_are_announced(cli: Cli, docs: Path) -> None:
    printed = cli.good("search", "lamps", "--limit", "1", "--offset", "1")
    assert printed.startswith("3 sections for lamps, 2 to 2 (")
    assert "\n  2  " in printed
    assert printed.endswith("Next: --offset 2\n")
    assert "Next" not in cli.good("search", "lamps")
    assert "none after 50" in cli.good("search", "lamps", "--offset", "50")


def test_a_loosened_page_says_so(cli: Cli, docs: Path) -> None:
    assert "No section holds every word" in cli.good("search", "--match", "all", "blue", "bulb")
    assert "No section" not in cli.good("search", "--match", "all", "red", "bulb")


def test_nothing_found_says_what_may_help(cli: Cli, docs: Path) -> None:
    said = cli.good("search", "xylophone")
    assert said.startswith("Nothing found for xylophone\n") and "spelling" in said
    assert "no collection notes; there are: main" in cli.good("search", "lamp", "--collection", "notes")
    assert "no word" in cli.good("search", "")
    assert page(cli, "xylophone")["items"] == []


def test_an_empty_store_says_how_to_fill_it(cli: Cli) -> None:
    cli.good("init")
    assert "'germane learn PATH' fills it" in cli.good("search", "lamp")


def test_stats_are_a_table(cli: Cli, docs: Path) -> None:
    printed = cli.good("search", "--mode", "stats", "red", "bulb")
    rows = [line.split() for line in printed.splitlines()]
    assert ["word", "occurrences", "sections"] in rows
    assert ["red", "3", "1"] in rows and ["bulb", "3", "2"] in rows


def test_long_lines_stay_whole_where_there_is_no_terminal(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "lamp " * 60)
    assert ("lamp " * 60).strip() in cli.good("search", "lamp")


def test_stored_text_cannot_steer_a_terminal(cli: Cli) -> None:
    cli.good(
        "put",
        "--id",
        "a",
        "--title",
        "\x1b]0;owned\x07",
        "--body",
        "lamp \x1b[31m red \x9b31m [bold]x[/bold]",
    )
    printed = cli.good("search", "lamp")
    assert "\x1b" not in printed and "\x9b" not in printed and "␛[31m" in printed
    assert "[bold]x[/bold]" in printed


def test_a_filter_limits_what_is_found(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--body", "A lamp.", "--meta", "price=5", "--tag", "used")
    cli.good("put", "--id", "b", "--body", "A lamp.", "--meta", "price=20")
    assert [item["id"] for item in page(cli, "lamp", "--where", "meta.price < 10")["items"]] == ["a"]
    assert [item["id"] for item in page(cli, "lamp", "--where", "NOT tags = 'used'")["items"]] == ["b"]
    said = cli.good("search", "lamp", "--where", "meta.price > 20")
    assert "only items where meta.price > 20 were looked for" in said


def test_a_filter_that_does_not_parse_is_shown_with_a_caret(cli: Cli, docs: Path) -> None:
    def shown(text: str) -> list[str]:
        outcome = cli("search", "lamp", "--where", text)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("germane: ") and "Traceback" not in outcome.err
        first, *rest = outcome.err.splitlines()
        assert len(rest) == 2, outcome.err
        return [first, *rest]

    assert shown("meta.price <\n< 10") == [
        "germane: expected a string in single quotes, a number, true, false or time '...', not '<' (at 13)",
        "  meta.price < < 10",
        "               ^",
    ]
    assert shown("creator = '中文' and x = 1")[1:] == [
        "  creator = '中文' and x = 1",
        "                       ^",  # each of the two characters is two columns wide
    ]
    assert shown("")[1:] == ["  ", "  ^"]
    long = " or ".join(["id = 'a'"] * 50)
    _, text, caret = shown(f"{long} or id == 'b' or {long}")
    assert len(text) < 100 and text.startswith("  ...") and text.endswith("...")
    assert text[caret.index("^") - 1 :].startswith("== 'b'")
    assert "\x1b" not in "".join(shown("id = \x1b[31m"))


def test_a_search_in_the_past(cli: Cli) -> None:
    cli.good("put", "--id", "a", "--title", "Old lamp")
    seq = page(cli, "old")["as_of"]
    cli.good("delete", "a")
    assert page(cli, "old")["total"] == 0
    assert page(cli, "old", "--as-of", str(seq))["items"][0]["id"] == "a"
    assert cli.bad(2, "search", "old", "--as-of", "2001-01-01T00:00:00Z").startswith(
        "--as-of: lies before the store began"
    )
    assert cli.bad(2, "search", "old", "--as-of", "1.5") == (
        "--as-of: '1.5' is neither a position nor a time like 2024-05-01T12:00:00Z"
    )
