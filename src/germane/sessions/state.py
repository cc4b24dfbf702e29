"""The state of a session: its signals and annotations, and what they come to at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import apsw
import msgspec
import numpy as np

from germane.log.events import metadata_from_plain
from germane.model.sessions import Annotation, SessionReading, SessionSnapshot, SessionSummary
from germane.model.signals import WINDOWS, Signal
from germane.model.times import SECOND, Micros, to_datetime, to_duration
from germane.sessions.context import Context, keywords_of
from germane.sessions.rows import SessionRow
from germane.signals.decay import FloatArray, IntArray

REWARD = "reward"
"""The signal whose decayed score is the reward velocity."""
_MINUTE = 60 * SECOND

Signals = Mapping[str, Signal]


class SessionState(NamedTuple):
    """What was written to a session up to one position of the log; nothing in it changes.

    Parameters
    ----------
    row : SessionRow
    names : tuple of str
        The signals that occur.
    kinds : int64[n]
        Places in `names`, of each signal that was recorded, in order.
    items : int64[n]
        Ordinals.
    weights : float64[n]
    at, recorded_at : int64[n]
    annotations : tuple of (str, int)
        Texts and when they were written.
    keywords, texts : tuple of str
    ages : tuple of float
        The weight of each annotation, as `Context` has them.
    """

    row: SessionRow
    names: tuple[str, ...]
    kinds: IntArray
    items: IntArray
    weights: FloatArray
    at: IntArray
    recorded_at: IntArray
    annotations: tuple[tuple[str, Micros], ...]
    keywords: tuple[str, ...]
    texts: tuple[str, ...] = ()
    ages: tuple[float, ...] = ()

    @classmethod
    def of(cls, connection: apsw.Connection, row: SessionRow) -> SessionState:
        """Return the state of a session as the tables hold it."""
        query = (
            "SELECT name, item, weight, at, recorded_at FROM session_signal WHERE session = ? ORDER BY seq"
        )
        told: list[Any] = connection.execute(query, (row.id,)).fetchall()
        names: dict[str, int] = {}
        kinds = [names.setdefault(name, len(names)) for name, *_ in told]
        notes: list[Any] = connection.execute(
            "SELECT text, at FROM annotation WHERE session = ? ORDER BY seq", (row.id,)
        ).fetchall()
        return cls(
            row,
            tuple(names),
            np.array(kinds, np.int64),
            np.array([each[1] for each in told], np.int64),
            np.array([each[2] for each in told], np.float64),
            np.array([each[3] for each in told], np.int64),
            np.array([each[4] for each in told], np.int64),
            tuple((str(text), int(at)) for text, at in notes),
            _distinct(text for text, _ in notes),
            tuple(str(text) for text, _ in notes),
            _ages(row, [int(at) for _, at in notes]),
        )

    def until(self, moment: Micros) -> SessionState:
        """Return what had been written at a time."""
        known = self.recorded_at <= moment
        notes = tuple(each for each in self.annotations if each[1] <= moment)
        if known.all() and len(notes) == len(self.annotations):
            return self
        return self._replace(
            kinds=self.kinds[known],
            items=self.items[known],
            weights=self.weights[known],
            at=self.at[known],
            recorded_at=self.recorded_at[known],
            annotations=notes,
            keywords=_distinct(text for text, _ in notes),
        )

    def moment(self, now: Micros) -> Micros:
        """Return the time that values are of: now, or when the session ended."""
        end = self.row.end(now)
        return now if end is None else end

    def decayed(self, signals: Signals, moment: Micros) -> FloatArray:
        """Return the weight of each recorded signal at a time: 0 before it happened."""
        half_lives = np.full(len(self.names), np.inf)
        known = np.zeros(len(self.names))
        for place, name in enumerate(self.names):
            signal = signals.get(name)
            if signal is not None:
                known[place] = 1.0
                if signal.half_life is not None:
                    half_lives[place] = to_duration(signal.half_life, "half_life")
        age = moment - self.at
        decayed = self.weights * np.exp2(-np.maximum(age, 0) / half_lives[self.kinds])
        values: FloatArray = np.where(age >= 0, decayed * known[self.kinds], 0.0)
        return values

    def net(
        self, signals: Signals, moment: Micros, decayed: FloatArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return the items that were signalled on until a time, ascending, and the net weight of each."""
        decayed = self.decayed(signals, moment) if decayed is None else decayed
        there = self.at <= moment
        polarity = np.array(
            [float(signals[name].polarity) if name in signals else 0.0 for name in self.names]
        )
        items, place = np.unique(self.items[there], return_inverse=True)
        values = (polarity[self.kinds] * decayed)[there] if len(self.names) else np.zeros(0)
        return items, np.bincount(place, values, len(items)).astype(np.float64, copy=False)

    def reward_velocity(self, signals: Signals, moment: Micros, decayed: FloatArray | None = None) -> float:
        """Return the decayed score of the session's rewards, 0 at least."""
        if REWARD not in self.names:
            return 0.0
        of_rewards = self.kinds == self.names.index(REWARD)
        decayed = self.decayed(signals, moment) if decayed is None else decayed
        return max(0.0, float(np.add.reduce(decayed[of_rewards])))

    def context(self, signals: Signals, now: Micros) -> Context:
        """Return what it says to ranking."""
        moment = self.moment(now)
        decayed = self.decayed(signals, moment)
        items, net = self.net(signals, moment, decayed)
        reward = self.reward_velocity(signals, moment, decayed)
        return Context(
            id=self.row.id,
            user=self.row.user,
            keywords=self.keywords,
            texts=self.texts,
            ages=self.ages,
            reward_velocity=reward,
            items=items,
            net=net,
            summary=self.summary(now, reward),
        )

    def summary(self, now: Micros, reward_velocity: float) -> SessionSummary:
        """Return it in short."""
        row, end = self.row, self.row.end(now)
        return SessionSummary(
            id=row.id,
            user=row.user,
            agent=row.agent,
            policy=row.policy.name,
            state=row.state(now),
            started_at=to_datetime(row.started_at),
            closed_at=None if end is None else to_datetime(end),
            keywords=self.keywords,
            reward_velocity=reward_velocity,
            signals=row.signals,
            annotations=row.annotations,
            accepted=row.signals + row.annotations,
            refused=row.refused,
        )

    def snapshot(
        self, connection: apsw.Connection, signals: Signals, now: Micros, refused: int
    ) -> SessionSnapshot:
        """Return it whole, as of a time."""
        row, moment = self.row, self.moment(now)
        is_swept = row.state(now) == "swept"
        known = self._replace(annotations=(), keywords=()) if is_swept else self
        items, net = known.net(signals, moment)
        ids = {
            ordinal: str(connection.execute("SELECT id FROM item WHERE ordinal = ?", (ordinal,)).get)
            for ordinal in ([] if is_swept else dict.fromkeys(self.items[self.at <= moment].tolist()))
        }
        by_item = dict(zip(items.tolist(), net.tolist(), strict=True))
        end = row.end(now)
        written = len(self.items) + len(self.annotations)
        return SessionSnapshot(
            id=row.id,
            user=row.user,
            agent=row.agent,
            policy=row.policy.name,
            state=row.state(now),
            started_at=to_datetime(row.started_at),
            closed_at=None if end is None else to_datetime(end),
            metadata={} if is_swept else metadata_from_plain(msgspec.json.decode(row.metadata)),
            annotations=tuple(Annotation(text, to_datetime(at)) for text, at in known.annotations),
            keywords=known.keywords,
            signals=() if is_swept else tuple(known._readings(signals, moment, ids)),
            reward_velocity=0.0 if is_swept else known.reward_velocity(signals, moment),
            items={id: by_item[ordinal] for ordinal, id in ids.items()},
            accepted=row.signals + row.annotations if is_swept else written,
            refused=refused,
        )

    def _readings(self, signals: Signals, moment: Micros, ids: Mapping[int, str]) -> Iterator[SessionReading]:
        decayed = self.decayed(signals, moment)
        pairs: dict[tuple[int, int], list[int]] = {}
        for place in np.flatnonzero(self.at <= moment).tolist():
            pairs.setdefault((int(self.kinds[place]), int(self.items[place])), []).append(place)
        for (kind, ordinal), places in pairs.items():
            signal = signals.get(self.names[kind])
            if signal is None:
                continue
            minutes = self.at[places] // _MINUTE * _MINUTE
            counts, velocities = {}, {}
            for window in signal.windows:
                length = WINDOWS[window]
                inside = len(places) if length is None else int(np.count_nonzero(minutes > moment - length))
                counts[window] = inside
                velocities[window] = 0.0 if length is None else inside / (length / SECOND)
            yield SessionReading(
                signal=signal.name,
                item=ids[ordinal],
                decayed=float(np.add.reduce(decayed[places])),
                counts=counts,
                velocities=velocities if signal.velocity else {},
            )


def _ages(row: SessionRow, at: list[Micros]) -> tuple[float, ...]:
    """Return the weights of annotations that were written at these times."""
    half_life = row.policy.annotation_half_life
    if half_life is None:
        return (1.0,) * len(at)
    micros = to_duration(half_life, "half_life")
    return tuple(2.0 ** (-(at[-1] - each) / micros) for each in at)


def _distinct(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for text in texts for word in keywords_of(text)))
