"""Stage 6: the page that people receive: results, contributions, reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import msgspec
import numpy as np

from germane.knowledge.catalog import Catalog
from germane.log.content import UNREADABLE, Row, items_by_ordinals, unreadable
from germane.model.forms import parse_form
from germane.model.frozen import FrozenDict
from germane.model.pages import Reason, Result
from germane.ranking.result import result
from germane.ranking.retrieve.diversify import Chosen
from germane.ranking.retrieve.feed import Feed
from germane.ranking.session import TERMS, Boost
from germane.ranking.session import reasons as reasons_of_session
from germane.text.fields import field_texts
from germane.text.snippet import snippet

_LEADING = 4_000
"""Characters of a body that a snippet of its beginning looks at."""
_CODES = {"recency": "Recency", "created_at": "Recency", "text": "TextMatch", "preference": "PreferenceMatch"}


_UNRANKED: dict[str, Any] = {
    "highlights": (), "matched_terms": (), "score": 0.0, "raw": 0.0, "text_score": 0.0, "contributions": {},
}  # fmt: skip
_copied: Callable[[Result], Result] = Result.__copy__  # type: ignore[attr-defined]
_set = msgspec.structs.force_setattr

MOST_CARDS = 8_192
"""Items whose own part of a result is kept: about 1 kB each."""


def results(
    connection: apsw.Connection,
    catalog: Catalog,
    feed: Feed,
    chosen: Chosen,
    places: dict[int, int],
    explain: bool,
    boost: Boost | None = None,
) -> tuple[Result, ...]:
    """Return the results of what was chosen.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction.
    catalog : Catalog
        At its position of the log.
    feed : Feed
    chosen : Chosen
    places : dict of int to int
        Where in the feed's columns each ordinal stands.
    explain : bool
        Whether to give reasons.
    boost : Boost or None
        Of the session, as it is now.
    """
    made = []
    taken = [places[ordinal] for ordinal in chosen.shown]
    columns = feed.contributions[:, taken]
    raws = sum(columns, np.zeros(len(taken))).tolist()  # from left to right, row by row
    cards = _cards(connection, catalog, chosen.shown)
    for ordinal, raw, column, card in zip(chosen.shown, raws, columns.T.tolist(), cards, strict=True):
        named = FrozenDict(zip(feed.names, column, strict=True))
        ranked = _copied(card)
        _set(ranked, "score", feed.score(raw))
        _set(ranked, "raw", raw)
        _set(ranked, "contributions", named)
        if explain:
            why = (
                *reasons(named, feed.cold),
                *reasons_of_session(named, boost, ordinal),
                *_placed(feed, chosen, ordinal),
            )
            _set(ranked, "reasons", why)
        made.append(ranked)
    return tuple(made)


def _cards(connection: apsw.Connection, catalog: Catalog, ordinals: list[int]) -> list[Result]:
    """Return results of some items that nothing has ranked yet; those of the items asked for last are kept.

    A result is a copy of such a card: what an item is, is said once.
    """
    cards: dict[int, Result] = catalog.cards
    found = {ordinal: card for ordinal in ordinals if (card := cards.get(ordinal)) is not None}
    missing = [ordinal for ordinal in ordinals if ordinal not in found]
    if missing:
        for item, listed in items_by_ordinals(connection, missing):
            try:
                card = result(item, listed, snippet=_beginning(item), **_UNRANKED)
            except UNREADABLE as error:
                raise unreadable(item.id, error) from None
            found[item.ordinal] = cards[item.ordinal] = card
        while len(cards) > MOST_CARDS:
            cards.pop(next(iter(cards)), None)
    return [found[ordinal] for ordinal in ordinals]


def reasons(contributions: dict[str, float], cold: bool) -> list[Reason]:
    """Return why an item has its sum: a reason for every contribution that is not zero."""
    made = []
    for name, value in contributions.items():
        if value == 0 or name in TERMS:
            continue
        is_penalty = name.startswith("-")
        kind = parse_form(name.removeprefix("-")).term.kind
        code = _CODES.get(kind, "SignalPenalty" if is_penalty else "SignalBoost")
        if kind == "affinity":
            code = "CreatorAffinity"
        made.append(Reason(code, {"term": name, "contribution": value}))
    if cold:
        made.append(
            Reason("ColdStart", {"detail": "nothing is known of the user: ranked by engagement and age"})
        )
    return made


def _placed(feed: Feed, chosen: Chosen, ordinal: int) -> list[Reason]:
    if ordinal in chosen.explored:
        place = chosen.explored[ordinal]
        return [
            Reason("Exploration", {"place": place, "propensity": feed.propensity, "eligible": feed.eligible})
        ]
    if ordinal in chosen.relaxed:
        return [Reason("Diversity", {"detail": "held back by a limit, and let through to fill the page"})]
    passed = list(chosen.held_back.values())
    limits = {limit: passed.count(limit) for limit in dict.fromkeys(passed)}
    return [Reason("Diversity", {"held_back": limits})] if limits and chosen.shown[-1] == ordinal else []


def _beginning(item: Row) -> str:
    body = item.body[:_LEADING] if isinstance(item.body, str) else item.body
    if not body:
        return ""
    return snippet(field_texts(item.type, None, None, body), item.lang or "english", (), None, 0)[0]
