"""A page of a feed, and the explanation of one item's place, as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from germane.faces.cli.output import console, counted, say
from germane.faces.cli.page import INDENT, contribution, print_line, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from germane.model.pages import Explanation, Page, Reason

BAR = 20
"""Characters of the longest bar."""

# What each reason for an absence says, with what it has to tell.
_ABSENT = {
    "NotACandidate": "no strategy of the candidates finds it: {candidates}",
    "Filter": "it does not meet {filter}",
    "Gate": "it does not pass {gate}: it has {value:g}",
    "NotLive": "{detail}",
    "NoMatch": "{detail}",
    "BeyondPage": "its place lies beyond a page of {limit}",
}


def print_feed(name: str, page: Page, explain: bool, following: str) -> None:
    """Print a page of a feed, the best first.

    Parameters
    ----------
    name : str
        What it is ranked by; empty where a cursor says it.
    page : Page
    explain : bool
        Whether to print what each number is the sum of.
    following : str
        What to type for the next page.
    """
    out = console()
    first, last = page.offset + 1, page.offset + len(page.items)
    by = f" by {name}" if name else ""
    shown = f", {first:,} to {last:,}" if page.items and (page.offset or page.has_more) else ""
    say(f"{counted(page.total, 'item')}{by}{shown} ({page.took_ms:.1f} ms)")
    for degradation in page.degraded:
        say(f"{degradation.code}: {degradation.detail}")
    if page.held_back:
        held = ", ".join(f"{count:,} by {limit}" for limit, count in page.held_back.items())
        say(f"Held back: {held}.")
    if not page.constraints_satisfied:
        say("The limits were relaxed to fill the page.")
    greatest = max((abs(value) for each in page.items for value in each.contributions.values()), default=0.0)
    for rank, result in enumerate(page.items, first):
        say()
        print_result(out, rank, result)
        if explain:
            _print_sum(out, result.contributions, result.raw, greatest)
            for reason in result.reasons:
                if reason.code in ("Exploration", "Diversity", "ColdStart"):
                    say(f"{'':{INDENT + 2}}{reason.code}: {_details(reason)}")
    if page.has_more:
        say(f"\nNext: {following}")


def print_explanation(name: str, why: Explanation) -> None:
    """Print why an item stands where it stands, or why it is not there."""
    if why.ranked:
        score = "" if why.score is None else f", score {why.score:.3f}"
        say(f"{why.id} is number {why.rank:,} of {why.total:,} by {name}{score}")
    else:
        say(f"{why.id} is not among the {counted(why.total, 'item')} ranked by {name}")
    for reason in why.absence:
        told = _ABSENT.get(reason.code)
        said = _details(reason) if told is None else told.format_map(_Told(reason.detail))
        say(f"  {reason.code}: {said}")
    if why.contributions:
        greatest = max(map(abs, why.contributions.values()))
        _print_sum(console(), why.contributions, why.raw or 0.0, greatest)
    if why.token_count is not None:
        fields = ", ".join(f"{field} {count:,}" for field, count in why.field_token_counts.items())
        say(f"{'':{INDENT + 2}}{counted(why.token_count, 'token')}: {fields}")


def bar(value: float, greatest: float) -> str:
    """Return a bar as long as a number is great; one for a negative number is of another shade.

    Examples
    --------
    >>> bar(1.0, 4.0), bar(-4.0, 4.0), bar(0.0, 0.0)
    ('█████', '░░░░░░░░░░░░░░░░░░░░', '')
    """
    length = round(BAR * abs(value) / greatest) if greatest else 0
    return ("█" if value > 0 else "░") * length


def _print_sum(out: Console, contributions: Mapping[str, float], raw: float, greatest: float) -> None:
    width = max(map(len, [*contributions, "raw"]))
    for name, value in contributions.items():
        print_line(out, (INDENT + 2, contribution(name, value, width, bar(value, greatest))))
    print_line(out, (INDENT + 2, contribution("raw", raw, width)))


def _details(reason: Reason) -> str:
    told = reason.detail.get("detail")
    if told is not None:
        return str(told)
    return ", ".join(f"{name} {_plain(value)}" for name, value in reason.detail.items())


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Told(dict[str, Any]):
    """Details of a reason for a sentence; a list reads as one."""

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        return _plain(value) if isinstance(value, (list, tuple)) else value
