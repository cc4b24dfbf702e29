"""The numbers that a query may weigh text by."""

from __future__ import annotations

import msgspec

from germane.model.errors import InvalidArgument, quoted

_GREATEST = {"b": 1.0, "half_life_days": 1e9}


class SearchWeights(msgspec.Struct, frozen=True, kw_only=True):
    """Weights and parameters of a text score; all apply at query time.

    Parameters
    ----------
    heading, body, code : float
        Weights of the fields in BM25F, 0 to 1e6.
    k1 : float
        How slowly repeats of a word saturate, 0 to 1e6.
    b : float
        How much a field's length counts, 0 to 1.
    proximity, zone, freshness : float
        Weights of the three supplements, 0 to 1e6.
    half_life_days : float
        Age at which freshness halves, above 0.

    Raises
    ------
    InvalidArgument
        A number out of range or not finite; the error names it.

    References
    ----------
    S. Robertson, H. Zaragoza. *The Probabilistic Relevance Framework: BM25 and Beyond* (2009).

    Examples
    --------
    >>> SearchWeights(heading=0.5).heading
    0.5
    """

    heading: float = 2.0
    body: float = 1.0
    code: float = 1.5
    k1: float = 1.2
    b: float = 0.75
    proximity: float = 1.0
    zone: float = 0.5
    freshness: float = 0.0
    half_life_days: float = 30.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            greatest = _GREATEST.get(name, 1e6)
            usable = isinstance(value, (int, float)) and not isinstance(value, bool)
            # Not a number is outside of every range, and so is infinity.
            if not usable or not 0 <= value <= greatest or (name == "half_life_days" and value < 1e-6):
                least = "above 0 (at least 1e-6)" if name == "half_life_days" else "from 0"
                raise InvalidArgument(
                    f"weights.{name}", f"must be a number {least} to {greatest:g}, not {quoted(value)}"
                )
            msgspec.structs.force_setattr(self, name, float(value))


class SessionWeights(msgspec.Struct, frozen=True, kw_only=True):
    """How much a session counts in a ranking: ``scale * (hint*h + velocity*v + entity*e)`` is added.

    Parameters
    ----------
    hint, velocity, entity : float
        Weights of the keywords that match, of the reward velocity, and of what was done with the item and
        with others of its creator, 0 to 1e6.
    scale : "spread" or float
        What they are multiplied by: ``spread`` is the greatest text score among the matches of a search, and
        the difference between the greatest and the least base of a retrieval; or a number above 0.
    keywords : {"raw", "words"}
        Whether a keyword is looked for anywhere in an item's text, or among its analysed words.

    Raises
    ------
    InvalidArgument
        A value cannot be used; the error names it.

    Examples
    --------
    >>> SessionWeights(entity=0, scale=1).hint
    0.3
    """

    hint: float = 0.3
    velocity: float = 0.2
    entity: float = 0.3
    scale: float | str = "spread"
    keywords: str = "raw"

    def __post_init__(self) -> None:
        for name in ("hint", "velocity", "entity"):
            value = getattr(self, name)
            usable = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not usable or not 0 <= value <= 1e6:
                raise InvalidArgument(
                    f"session_weights.{name}", f"must be a number from 0 to 1e6, not {quoted(value)}"
                )
            msgspec.structs.force_setattr(self, name, float(value))
        if self.scale != "spread":
            usable = isinstance(self.scale, (int, float)) and not isinstance(self.scale, bool)
            if not usable or not 0 < self.scale <= 1e12:  # type: ignore[operator]
                raise InvalidArgument(
                    "session_weights.scale",
                    f"must be 'spread' or a number above 0, at most 1e12, not {quoted(self.scale)}",
                )
            msgspec.structs.force_setattr(self, "scale", float(self.scale))
        if self.keywords not in ("raw", "words"):
            raise InvalidArgument(
                "session_weights.keywords", f"must be 'raw' or 'words', not {quoted(self.keywords)}"
            )
