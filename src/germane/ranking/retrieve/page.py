"""Stage 6: the page that people receive: results, contributions, reasons."""

from __future__ import annotations

import apsw

from germane.log.content import UNREADABLE, Row, items_by_ordinals, unreadable
from germane.model.forms import parse_form
from germane.model.pages import Reason, Result
from germane.ranking.result import added, result
from germane.ranking.retrieve.diversify import Chosen
from germane.ranking.retrieve.feed import Feed
from germane.text.fields import field_texts
from germane.text.snippet import snippet

_LEADING = 4_000
"""Characters of a body that a snippet of its beginning looks at."""
_CODES = {"recency": "Recency", "created_at": "Recency", "text": "TextMatch", "preference": "PreferenceMatch"}


def results(
    connection: apsw.Connection, feed: Feed, chosen: Chosen, places: dict[int, int], explain: bool
) -> tuple[Result, ...]:
    """Return the results of what was chosen.

    Parameters
    ----------
    connection : apsw.Connection
        Inside a read transaction.
    feed : Feed
    chosen : Chosen
    places : dict of int to int
        Where in the feed's columns each ordinal stands.
    explain : bool
        Whether to give reasons.
    """
    made = []
    contributions = feed.contributions
    for ordinal, (item, is_listed) in zip(
        chosen.shown, items_by_ordinals(connection, chosen.shown), strict=True
    ):
        column = contributions[:, places[ordinal]].tolist() if feed.names else []
        named = dict(zip(feed.names, column, strict=True))
        why = (*reasons(named, feed.cold), *_placed(feed, chosen, ordinal)) if explain else ()
        raw = added(named)
        try:
            one = result(
                connection,
                item,
                is_listed=is_listed,
                snippet=_beginning(item),
                highlights=(),
                matched_terms=(),
                score=feed.score(raw),
                raw=raw,
                text_score=0.0,
                contributions=named,
                reasons=why,
            )
        except UNREADABLE as error:
            raise unreadable(item.id, error) from None
        made.append(one)
    return tuple(made)


def reasons(contributions: dict[str, float], cold: bool) -> list[Reason]:
    """Return why an item has its sum: a reason for every contribution that is not zero."""
    made = []
    for name, value in contributions.items():
        if value == 0:
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
