"""Answering a query in its textual form, for the verbs that take one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from germane.faces.cli.failures import Misuse
from germane.faces.cli.feed import print_feed
from germane.faces.cli.output import print_json
from germane.faces.cli.page import print_nothing, print_page, print_stats
from germane.model.errors import InvalidArgument

if TYPE_CHECKING:
    from germane.database import Database
    from germane.model.pages import Page
    from germane.model.queries import Query


def answer(database: Database, text: str, as_json: bool) -> None:
    """Answer a RETRIEVE or a SEARCH, and print its page.

    Raises
    ------
    QuerySyntaxError
        The text does not parse.
    Misuse
        An argument cannot be used; it is called as in the text, not as an option.
    """
    from germane.model.query_text import parse_query

    query = parse_query(text)
    try:
        page: Page = getattr(database, query.surface)(**query.arguments)
    except InvalidArgument as error:
        raise Misuse(error.message) from None
    if as_json:
        print_json(page)
    elif query.surface == "retrieve":
        _print_retrieved(query, page)
    else:
        _print_found(database, query, page)


def _print_retrieved(query: Query, page: Page) -> None:
    given = query.arguments
    name = "" if "cursor" in given else given.get("profile", "for_you")
    print_feed(name, page, given.get("explain", False), _following(query, page))


def _print_found(database: Database, query: Query, page: Page) -> None:
    given = query.arguments
    if page.stats is not None:
        print_stats(page.stats)
    elif page.total:
        print_page(given["text"], page, given.get("explain", False), _following(query, page))
    else:
        where = str(given["where"]) if "where" in given else None
        print_nothing(given["text"], given.get("collections", ()), where, database.stats())


def _following(query: Query, page: Page) -> str:
    """Return the query for the next page. A cursor says all but how much to show."""
    from germane.model.queries import Query

    if query.surface == "search":
        return str(Query("search", {**query.arguments, "offset": page.offset + len(page.items)}))
    if page.cursor is None:
        return ""
    kept = {name: query.arguments[name] for name in ("limit", "explain") if name in query.arguments}
    return str(Query("retrieve", {**kept, "cursor": page.cursor}))
