"""The built-in profiles: they exist in every store, whatever its schema."""

from __future__ import annotations

from germane.model.errors import InvalidArgument, quoted
from germane.model.profiles import Profile
from germane.model.signals import WINDOWS
from germane.model.strategies import Strategy

BEST = 2_000
"""Candidates that a profile of the top and trending kind takes from each of its own terms."""

_PROFILES = {
    profile.name: profile
    for profile in (
        Profile("new", sort="created_at"),
        Profile("old", sort="-created_at"),
        *(
            Profile(
                f"most_{done}",
                candidates=[f"signal({signal}.count.all, {BEST})", f"signal({signal}.decayed, {BEST})"],
                boosts=[f"{signal}.count.all", f"0.5 saturate(1)({signal}.decayed)"],
            )
            for done, signal in (("viewed", "view"), ("liked", "like"), ("shared", "share"))
        ),
        Profile("hot", sort="hot"),
        Profile(
            "trending",
            candidates=[
                f"signal({term}, {BEST})" for term in ("share.velocity.24h", "view.velocity.24h", "reach")
            ],
            boosts=[
                "0.5 minmax(share.velocity.24h)",
                "0.3 minmax(view.velocity.24h)",
                "0.2 minmax(log1p(reach))",
            ],
        ),
        Profile("rising", candidates=[f"signal(rising, {BEST})"], sort="rising"),
        Profile("controversial", sort="controversial"),
        Profile("hidden_gems", sort="gem"),
        Profile("shuffle", sort="shuffle"),
    )
}
_TOP = {
    window: Profile(
        "top",
        candidates=[
            *(f"signal({signal}.count.{window}, {BEST})" for signal in ("view", "like", "share")),
            f"signal(engagement, {BEST})",
        ],
        boosts=[
            f"view.count.{window}",
            f"3 like.count.{window}",
            f"5 share.count.{window}",
            "0.5 saturate(1)(engagement)",
        ],
    )
    for window in WINDOWS
}
_FOR_YOU = ["nearest(500)", "signal(engagement, 500)", "following(500)", "fresh(200)", "signal(again, 500)"]
"""Where the candidates of ``for_you`` come from."""
COLD_START = Profile(
    "for_you",
    candidates=_FOR_YOU,
    boosts=["0.93 saturate(3)(engagement)", "0.07 recency.168h"],
    exploration=0.1,
)
"""What ``for_you`` is for those of whom no signal is known."""
FOR_YOU = Profile(
    "for_you",
    candidates=_FOR_YOU,
    boosts=[
        "0.4 preference",
        "0.1 saturate(3)(engagement)",
        "0.07 recency.168h",
        "0.3 affinity",
        "0.2 saturate(1)(again)",
    ],
    exploration=0.1,
)
"""What it is for the others."""
_PROFILES["for_you"] = FOR_YOU
_PROFILES["following"] = Profile("following", candidates=["following(1000000)"], sort="created_at")
_PROFILES["notification"] = Profile(
    "notification",
    candidates=["following(10000)", "signal(affinity, 10000)"],
    boosts=["affinity", "recency.24h"],
)
UNSEEN = ("notification",)
"""Profiles that leave out what the user has seen."""

_RELATED = ("cooccurrence", "cosine", "shared_tags")
"""What makes an item related to another."""

NAMES = (*_PROFILES, "top", "related", "search")
"""Names that no schema can declare."""


def related(id: str, n: int = BEST) -> Profile:
    """Return the profile of what is related to an item.

    Raises
    ------
    InvalidArgument
        There is no id.

    Examples
    --------
    >>> [str(each) for each in related("lamp").candidates]
    ['related(lamp, 2000)']
    """
    if not id:
        raise InvalidArgument("profile", "'related' needs the id of an item: write related:ID")
    return Profile("related", candidates=[Strategy("related", n, id=id)], boosts=_RELATED)


def built_in(name: str) -> Profile | None:
    """Return the built-in profile of a name, with its parameter after a colon; None without one.

    Raises
    ------
    InvalidArgument
        The parameter is missing, unknown, or none is taken.

    Examples
    --------
    >>> str(built_in("top:24h").boosts[1])
    '3 like.count.24h'
    """
    base, colon, given = name.partition(":")
    if base == "related":
        return related(given)
    if base == "top":
        if given not in _TOP:
            known = ", ".join(f"top:{window}" for window in _TOP)
            raise InvalidArgument("profile", f"{quoted(name)} needs a window: {known}")
        return _TOP[given]
    if colon and base in _PROFILES:
        raise InvalidArgument("profile", f"{quoted(base)} takes nothing after a colon")
    return _PROFILES.get(base)
