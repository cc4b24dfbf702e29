"""The feed: an order that is ranked once and paged through, and the cursor that names what is left of it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import Any

import msgspec
import numpy as np

from germane.log.shown import KEPT_FOR, Shown
from germane.model.errors import CursorExpired
from germane.model.times import SECOND, Micros
from germane.ranking.behaviour.operations import FloatArray
from germane.signals.decay import IntArray

KEPT = 1_000
"""Items that a feed shows, at most, unless its first page holds more."""
PAGES = 3
"""Pages of an order that are kept at a time, where it is of many candidates."""

_KEY, _MAC = 16, 16
_FORMAT = 4


class Feed(msgspec.Struct, array_like=True, kw_only=True):
    """What is left of an order, and what its items scored when they were ranked.

    Of few candidates the whole order is kept, up to `KEPT`. Of many it is kept in stretches, because finding
    the best thousand of a million takes far longer than finding the best hundred: when a stretch runs out,
    what was not shown yet is ranked again, by the signals of that moment. No page repeats an item or passes
    over one, either way.

    Parameters
    ----------
    asked : dict
        The request, as plain data.
    as_of, total, offset : int
        The position of the log; how many candidates there were; how many items came before.
    least, greatest : float
        Sums over all candidates.
    names : tuple of str
        Names of the contributions.
    ordinals : bytes
        int64[items]: those of the order, then those to explore that are not among them.
    columns : bytes
        float64[names, items].
    order, explorers : bytes
        int32: places in `ordinals`, in order; what was held back comes first.
    held : int
        How many of the order were held back.
    shown : bytes
        int64: ordinals of the items that came before, where the order is kept in stretches.
    in_stretches : bool
        Whether what lies beyond the order is ranked when it runs out.
    seed : str
        What the feed draws by.
    eligible : int
        Among how many the explorers were drawn.
    cold : bool
        Whether the profile was the one for those of whom nothing is known.
    scale : float or None
        What the terms of a session were multiplied by.
    """

    asked: dict[str, Any]
    as_of: int
    total: int
    offset: int
    least: float
    greatest: float
    names: tuple[str, ...]
    ordinals: bytes
    columns: bytes
    order: bytes
    explorers: bytes
    held: int
    shown: bytes
    in_stretches: bool
    seed: str
    eligible: int
    cold: bool
    scale: float | None = None
    format: int = _FORMAT

    @property
    def items(self) -> IntArray:
        """The ordinals."""
        return np.frombuffer(self.ordinals, "<i8")

    @property
    def order_places(self) -> IntArray:
        """Where the order's items stand among `items`."""
        return np.frombuffer(self.order, "<i4").astype(np.int64)

    @property
    def explorer_places(self) -> IntArray:
        """Where what there is to explore stands among `items`."""
        return np.frombuffer(self.explorers, "<i4").astype(np.int64)

    @property
    def in_order(self) -> list[int]:
        """The ordinals of the order."""
        ordinals: list[int] = self.items[self.order_places].tolist()
        return ordinals

    @property
    def to_explore(self) -> list[int]:
        """The ordinals of what there is to explore."""
        ordinals: list[int] = self.items[self.explorer_places].tolist()
        return ordinals

    @property
    def contributions(self) -> FloatArray:
        """The contributions: float64[names, items]."""
        return np.frombuffer(self.columns, "<f8").reshape(len(self.names), len(self.items))

    @property
    def propensity(self) -> float:
        """With what probability a place that explores shows one of the eligible items."""
        return 1 / self.eligible if self.eligible else 0.0

    @property
    def sums(self) -> FloatArray:
        """The sums, added from left to right: float64[items]."""
        total = np.zeros(len(self.items))
        for column in self.contributions:
            total += column
        return total

    def score(self, raw: float) -> float:
        """Return where a sum lies among all candidates: 0 to 1."""
        spread = self.greatest - self.least
        return 1.0 if spread == 0 else (raw - self.least) / spread


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Feed)


def encoded(feed: Feed) -> bytes:
    """Return a feed as bytes."""
    return _encoder.encode(feed)


def packed(places: Any) -> bytes:
    """Return places as bytes."""
    return np.asarray(places, "<i4").tobytes()


def new_key(parent: bytes | None, limit: int) -> bytes:
    """Return the key of what a page leaves; the same page leaves the same, however often it is asked for."""
    if parent is None:
        return secrets.token_bytes(_KEY)
    return hashlib.blake2b(parent + limit.to_bytes(4, "big"), digest_size=_KEY).digest()


def cursor_of(shown: Shown, key: bytes) -> str | None:
    """Return the signed name of what a page leaves; None when there is nothing to sign with."""
    secret = shown.secret()
    return None if secret is None else base64.urlsafe_b64encode(key + _signature(secret, key)).decode()


def resume(shown: Shown, cursor: str, now: Micros) -> tuple[bytes, Feed]:
    """Return what a cursor names.

    Raises
    ------
    CursorExpired
        It is too old, or was not made by this store.
    """
    minutes = KEPT_FOR // (60 * SECOND)
    refused = CursorExpired(
        f"the cursor is older than {minutes} minutes, or no cursor of this store: begin a new feed without it"
    )
    try:
        token = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise refused from None
    secret = shown.secret()
    key, signature = token[:_KEY], token[_KEY:]
    if (
        secret is None
        or len(token) != _KEY + _MAC
        or not hmac.compare_digest(_signature(secret, key), signature)
    ):
        raise refused
    state = shown.state(key, now)
    if state is None:
        raise refused
    try:
        feed = _decoder.decode(state)
    except msgspec.MsgspecError:
        raise refused from None
    if feed.format != _FORMAT:
        raise refused
    return key, feed


def _signature(secret: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(key, key=secret, digest_size=_MAC).digest()
