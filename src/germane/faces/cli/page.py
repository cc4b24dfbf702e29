"""A page of results as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from germane.faces.cli.output import console, counted, harmless, say, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from germane.model.pages import Page, Result, SearchStats
    from germane.model.reports import Stats

INDENT = 5


def print_page(query: str, page: Page, explain: bool, following: str | None = None) -> None:
    """Print a page of a search, the best first.

    Parameters
    ----------
    query : str
        As typed.
    page : Page
    explain : bool
        Whether to print what each score is the sum of.
    following : str, optional
        What to type for the next page; else the option.
    """
    out = console()
    first, last = page.offset + 1, page.offset + len(page.items)
    shown = f", {first:,} to {last:,}" if page.offset or page.has_more else ""
    if not page.items:
        shown = f", none after {page.offset:,}"
    say(f"{counted(page.total, 'section')} for {query}{shown} ({page.took_ms:.1f} ms)")
    if page.loosened:
        say("No section holds every word: these hold some of them.")
    for degradation in page.degraded:
        say(f"{degradation.code}: {degradation.detail}")
    for rank, result in enumerate(page.items, first):
        say()
        print_result(out, rank, result)
        if explain:
            _explain(out, result)
    if page.has_more:
        say(f"\nNext: {following or f'--offset {last}'}")


def print_stats(stats: SearchStats) -> None:
    """Print how often the words of a query occur."""
    say(f"{counted(stats.total_matches, 'section')} for {stats.query} ({stats.query_time_ms:.1f} ms)")
    rows = table("word", "occurrences", "sections", numbers=("occurrences", "sections"))
    for term in stats.top_terms:
        rows.add_row(harmless(term.term), f"{term.frequency:,}", f"{term.sections_matched:,}")
    if stats.top_terms:
        say()
        console().print(rows)


def print_nothing(query: str, collections: Sequence[str], where: str | None, held: Stats) -> None:
    """Say that nothing was found, and what may help."""
    say(f"Nothing found for {query}" if query.strip() else "Nothing found: the query holds no word.")
    unknown = [name for name in collections if name not in held.collections]
    if not held.items:
        say("The store is empty: 'germane learn PATH' fills it.")
    elif unknown:
        say(f"There is no collection {', '.join(unknown)}; there are: {', '.join(held.collections)}.")
    else:
        also = "" if where is None else f" Of what the words match, only items where {where} were looked for."
        say(f'Check the spelling, or ask for less: fewer +words, -words, "phrases" and field:words.{also}')


def print_result(out: Console, rank: int, result: Result) -> None:
    """Print a result: its place, its score, and what it is."""
    for line in _lines(rank, result):
        print_line(out, line)


def _lines(rank: int, result: Result) -> Iterator[tuple[int, Text]]:
    """Yield the lines of a result, each with its indentation."""
    from rich.text import Text

    heading = result.heading or (result.path or result.id).rpartition("/")[2]
    yield 0, Text.assemble((f"{rank:>3}", "dim"), f"  {result.score:.3f}  ", (harmless(heading), "bold"))
    if len(result.heading_path) > 1:
        yield INDENT, Text(harmless(" › ".join(result.heading_path[:-1])), "dim")
    if place := result.path or next(iter(result.docids), None):
        yield INDENT, Text(harmless(place) + _line_numbers(result.lines), "cyan")
    if result.snippet:
        snippet = Text(harmless(result.snippet))
        for start, end in result.highlights:
            snippet.stylize("bold yellow", start, end)
        yield INDENT, snippet
    matched = f"matched {', '.join(result.matched_terms)}; " if result.matched_terms else ""
    yield INDENT, Text(harmless(f"{matched}id {result.id}"), "dim")


def _line_numbers(lines: tuple[int, int] | None) -> str:
    if lines is None:
        return ""
    first, last = lines
    return f":{first}" if first == last else f":{first}-{last}"


def _explain(out: Console, result: Result) -> None:
    notes = {name: note for reason in result.reasons for name, note in _notes(reason.detail)}
    width = max((len(name) for name in result.contributions), default=3)
    for name, value in result.contributions.items():
        note = notes.get(name, "")
        print_line(out, (INDENT + 2, contribution(name, value, width, note)))
    print_line(out, (INDENT + 2, contribution("raw", result.raw, width)))


def contribution(name: str, value: float, width: int, note: str = "") -> Text:
    """Return a line of a sum: a name, its number, and what there is to say about it."""
    from rich.text import Text

    return Text.assemble(f"{harmless(name):<{width}}  {value:>12.6f}", (f"  {note}" if note else "", "dim"))


def _notes(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what stands behind each word's contributions, by their names."""
    for word, numbers in detail.get("words", {}).items():
        for field, count in numbers["tf"].items():
            yield (
                f"text.{word}.{field}",
                f"{count} of {counted(detail['lengths'][field], 'token')}; in {numbers['df']:,} of "
                f"{counted(detail['sections'], 'section')}, idf {numbers['idf']:.3f}",
            )


def print_line(out: Console, line: tuple[int, Text]) -> None:
    """Print a line after its indentation, which the lines that it is broken into have too."""
    indent, text = line
    for part in text.wrap(out, out.width - indent) if out.is_terminal else (text,):
        part.rstrip()
        out.print(" " * indent, part, sep="", soft_wrap=True)
