"""Profiles as plain strings, as they are printed, and the built-in ones as published.

A profile is a dict of ``candidates, boosts, penalties, gates`` (lists of strings), ``sort`` (a string or
None), ``max_per_creator``, ``max_share``, ``relax``, ``exploration`` and ``unseen``; what is left out says
nothing.
"""

from typing import Any

FOR_YOU = ["nearest(500)", "signal(engagement, 500)", "following(500)", "fresh(200)", "signal(again, 500)"]
Profile = dict[str, Any]
Form = tuple[str, list[tuple[str, float]]]
"""A term, and the transforms around it with their parameter, the innermost first."""


def parse_form(text: str) -> Form:
    """Take a printed form apart: ``minmax(saturate(3)(reach))`` has the term ``reach``."""
    if not text.endswith(")"):
        return text, []
    name, _, rest = text.partition("(")
    parameter = 0.0
    if name == "saturate":
        given, _, rest = rest.partition(")(")
        parameter = float(given)
    term, transforms = parse_form(rest[:-1])
    return term, [*transforms, (name, parameter)]


def parse_weighted(text: str) -> tuple[float, str]:
    """A weight and a printed form: ``0.5 reach``, or ``reach`` alone."""
    if text[0].isalpha():
        return 1.0, text
    weight, _, form = text.partition(" ")
    return float(weight), form


def parse_gate(text: str) -> tuple[str, float]:
    term, threshold = text.split(" >= ")
    return term, float(threshold)


def parse_strategy(text: str) -> tuple[str, str, int]:
    """Kind, term and number: ``signal(engagement, 500)``."""
    kind, _, given = text.rstrip(")").partition("(")
    term, _, n = given.rpartition(", ")
    return kind, term, int(n or 0)


def summands(profile: Profile) -> list[tuple[str, float, str]]:
    """What is summed, in order: the name that it is listed by, its weight with its sign, and the form."""
    sort = profile.get("sort")
    if sort:
        return [(sort, -1.0 if sort.startswith("-") else 1.0, sort.removeprefix("-"))]
    found = []
    for sign, field in ((1.0, "boosts"), (-1.0, "penalties")):
        for text in profile.get(field, ()):
            weight, form = parse_weighted(text)
            found.append(("-" * (sign < 0) + form, sign * weight, form))
    return found


def best(*terms: str) -> list[str]:
    """The candidates of the trending and top family: the best 2,000 of each of their own terms."""
    return [f"signal({term}, 2000)" for term in terms]


def most(signal: str) -> Profile:
    terms = (f"{signal}.count.all", f"{signal}.decayed")
    return {"candidates": best(*terms), "boosts": [terms[0], f"0.5 saturate(1)({terms[1]})"]}


def top(window: str) -> Profile:
    counts = [f"{signal}.count.{window}" for signal in ("view", "like", "share")]
    weighed = [counts[0], f"3 {counts[1]}", f"5 {counts[2]}", "0.5 saturate(1)(engagement)"]
    return {"candidates": best(*counts, "engagement"), "boosts": weighed}


BUILT_IN: dict[str, Profile] = {
    "new": {"sort": "created_at"},
    "old": {"sort": "-created_at"},
    **{f"top:{window}": top(window) for window in ("1h", "24h", "7d", "30d", "all")},
    "most_viewed": most("view"),
    "most_liked": most("like"),
    "most_shared": most("share"),
    "hot": {"sort": "hot"},
    "trending": {
        "candidates": best("share.velocity.24h", "view.velocity.24h", "reach"),
        "boosts": [
            "0.5 minmax(share.velocity.24h)",
            "0.3 minmax(view.velocity.24h)",
            "0.2 minmax(log1p(reach))",
        ],
    },
    "rising": {"candidates": best("rising"), "sort": "rising"},
    "controversial": {"sort": "controversial"},
    "hidden_gems": {"sort": "gem"},
    "shuffle": {"sort": "shuffle"},
    "for_you": {  # a user without history
        "candidates": FOR_YOU,
        "boosts": ["0.93 saturate(3)(engagement)", "0.07 recency.168h"],
        "exploration": 0.1,
    },
    "following": {"candidates": ["following(1000000)"], "sort": "created_at"},
    "notification": {
        "candidates": ["following(10000)", "signal(affinity, 10000)"],
        "boosts": ["affinity", "recency.24h"],
        "unseen": True,
    },
}
WITH_HISTORY: Profile = {
    "candidates": FOR_YOU,
    "boosts": [
        "0.4 preference",
        "0.1 saturate(3)(engagement)",
        "0.07 recency.168h",
        "0.3 affinity",
        "0.2 saturate(1)(again)",
    ],
    "exploration": 0.1,
}
"""What ``for_you`` is for a user with history."""


def related(id: str) -> Profile:
    return {"candidates": [f"related({id}, 2000)"], "boosts": ["cooccurrence", "cosine", "shared_tags"]}


def origin(profile: Profile) -> str | None:
    """The item of the first ``related(ID, n)``."""
    strategies = map(parse_strategy, profile.get("candidates", ()))
    return next((id for kind, id, _ in strategies if kind == "related" and id), None)
