"""Sessions: what an agent has done with items lately, what it noted, and what was written or refused when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from germane.model.frozen import FrozenDict, frozen
from germane.model.values import Value


class Annotation(msgspec.Struct, frozen=True):
    """A note of a session; its words are keywords.

    Parameters
    ----------
    text : str
    at : datetime
        When it was written.
    """

    text: str
    at: datetime


class SessionReading(msgspec.Struct, frozen=True, kw_only=True):
    """What one signal comes to on one item, within a session.

    Parameters
    ----------
    signal, item : str
    decayed : float
        Sum of the weights, each halved with every half-life of its age.
    counts : dict of str to int
        For each window of the signal how many fall into it, to the minute.
    velocities : dict of str to float
        The same per second of the window; empty for a signal without velocity.
    """

    signal: str
    item: str
    decayed: float
    counts: Mapping[str, int]
    velocities: Mapping[str, float]

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "counts", FrozenDict(self.counts))
        msgspec.structs.force_setattr(self, "velocities", FrozenDict(self.velocities))


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A session in short, as a page carries it.

    Parameters
    ----------
    id : str
    user : str or None
    agent, policy : str
    state : {"open", "closed", "swept"}
        Closed: it is an archive. Swept: the archive has expired.
    started_at : datetime
    closed_at : datetime or None
    keywords : tuple of str
        The words of the annotations, lowercased, each once.
    reward_velocity : float
        Decayed score of the session's ``reward`` signals, 0 at least; of an archive as it was when it ended.
    signals, annotations : int
        How many there are.
    accepted, refused : int
        Writes.
    """

    id: str
    user: str | None
    agent: str
    policy: str
    state: str
    started_at: datetime
    closed_at: datetime | None
    keywords: tuple[str, ...]
    reward_velocity: float
    signals: int
    annotations: int
    accepted: int
    refused: int


class SessionSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A session at one moment; of an archive the values that it ended with.

    Parameters
    ----------
    id, user, agent, policy, state, started_at, closed_at, keywords, reward_velocity, accepted, refused
        As in `SessionSummary`.
    metadata : mapping
    annotations : tuple of Annotation
        In order.
    signals : tuple of SessionReading
        For each signal and item, in the order in which they first came.
    items : dict of str to float
        The items that were signalled on, and the net weight of each: the sum of polarity times weight, each
        decayed by its signal's half-life.
    """

    id: str
    user: str | None
    agent: str
    policy: str
    state: str
    started_at: datetime
    closed_at: datetime | None
    metadata: Mapping[str, Value]
    annotations: tuple[Annotation, ...]
    keywords: tuple[str, ...]
    signals: tuple[SessionReading, ...]
    reward_velocity: float
    items: Mapping[str, float]
    accepted: int
    refused: int

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "metadata", FrozenDict(self.metadata))
        msgspec.structs.force_setattr(self, "items", FrozenDict(self.items))


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the audit log: who did what, when, and whether it was accepted.

    Parameters
    ----------
    at : datetime
    session, agent : str
    user : str or None
    action : {"start", "signal", "annotate", "close", "sweep"}
    accepted : bool
    cause : str or None
        Of a refusal the limit that stood in the way, or ``closed``; of an end ``close`` or ``max_duration``.
    count : int
        Refusals of one kind within a minute are one entry: how many they were.
    detail : mapping
        What was written.
    """

    at: datetime
    session: str
    agent: str
    user: str | None
    action: str
    accepted: bool
    cause: str | None = None
    count: int = 1
    detail: Mapping[str, Any] = msgspec.field(default_factory=FrozenDict)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "detail", frozen(self.detail))
