"""The tastes of all users at one position of the log: preference vectors, and affinity to creators.

Both depend on what an item was when a signal was on it: its vector and its creator of then. So the items'
vectors and creators are followed through the log as well, beside the signals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import apsw
import msgspec
import numpy as np

from germane.log.base import arrays_from_chunks, chunks
from germane.log.chain import recorded_at
from germane.log.checkpoint import Arrays
from germane.log.events import (
    Base,
    CloseSession,
    Event,
    Learned,
    PutDocument,
    PutItem,
    RecordSignal,
    RecordSignals,
    SweepSessions,
    UpdateItem,
)
from germane.log.runs import SIGNALS, Ordinals, records
from germane.model.schema import Schema
from germane.model.times import DAY, Micros, to_duration
from germane.people.affinity import Affinities
from germane.people.preferences import Preferences, VectorArray, moved, rate
from germane.people.taste import Taste
from germane.people.texts import texts_from_arrays, texts_to_arrays
from germane.vectors.matrix import RowArray, Vectors

PART = "tastes/"
"""The parts of a log's base that hold tastes, one for each declaration that may be asked for."""

_TYPES = (*SIGNALS, "put", "update", "document", "close", "sweep")
_RUN = 10_000
"""Events that are applied at a time."""


class Kind(NamedTuple):
    """What a signal does to tastes, or under an empty name the end of a session.

    Parameters
    ----------
    name : str
    preference : float
        The rate at which it moves a preference; below zero when it speaks against an item.
    affinity : float
        What it adds to an affinity.
    half_life : int
        Microseconds in which that halves.
    """

    name: str
    preference: float
    affinity: float
    half_life: Micros

    @classmethod
    def of(cls, schema: Schema) -> tuple[Kind, ...]:
        """Return what the signals of a schema do, without those that do nothing, and what sessions do."""
        signals = tuple(
            cls(
                signal.name,
                signal.polarity * signal.preference,
                signal.affinity,
                to_duration(signal.affinity_half_life, "affinity_half_life"),
            )
            for signal in schema.signals
            if signal.preference or signal.affinity
        )
        return (*signals, ENDED) if any(policy.learn for policy in schema.policies) else signals


ENDED = Kind("", 0.1, 1.0, 30 * DAY)
"""What is learned of an item when a session ends, at a net weight that goes to infinity."""


class Act(NamedTuple):
    """A signal of a user, with what its item was then.

    Parameters
    ----------
    user : str
    kind : int
        Its place among the kinds.
    at : int
        When it happened, in microseconds.
    creator : int
        By number; -1 for none.
    row : int
        Of the item's vector; -1 without one, and for what waits, which has its vector with it.
    share : float
        How much of what its kind does it does, from -1 to 1.
    """

    user: str
    kind: int
    at: Micros
    creator: int
    row: int
    share: float = 1.0


class Lesson(NamedTuple):
    """What a session says when it ends: its net weights w, as shares ``w / (1 + abs(w))``.

    Parameters
    ----------
    at : int
        When it ended.
    items : list of (int, float)
        Ordinals and shares, in the order in which the items came.
    """

    at: Micros
    items: list[tuple[int, float]]

    @classmethod
    def of(cls, at: Micros, learned: Learned, ordinals: Mapping[str, int]) -> Lesson:
        """Return what ending with these net weights says."""
        return cls(at, [(ordinals[id], weight / (1.0 + abs(weight))) for id, weight in learned])


class Tastes:
    """What is known of the tastes of all users; a function of the log and of the kinds alone.

    An act ahead of the time at which it was recorded waits, and counts from the first record of the log
    that is not before it, or as soon as a reader's time reaches it.

    Parameters
    ----------
    kinds : tuple of Kind
    """

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.kinds = kinds
        self.seq = 0
        self.applied = 0
        """Records that were applied since this was begun or loaded."""
        self._place = {kind.name: place for place, kind in enumerate(kinds)}
        self._vectors = Vectors()
        self._creators: dict[str, int] = {}
        self._names: list[str] = []
        self._creator_of: RowArray = np.zeros(0, np.int32)
        self._is_seen = False  # whether others see the creators of items
        self._preferences = Preferences()
        self._affinities = Affinities(tuple(sorted({kind.half_life for kind in kinds})))
        self._waiting: list[tuple[Act, VectorArray | None]] = []

    @property
    def size(self) -> int:
        """What is held, counted in records that it takes as long to apply."""
        return len(self._vectors) + len(self._preferences) + len(self._affinities)

    def of(self, user: str | None, now: Micros, ended: Sequence[Lesson] = ()) -> Taste:
        """Return the taste of a user at a time; of None, or one who never did anything, an empty one.

        Parameters
        ----------
        user : str or None
        now : int
        ended : sequence of Lesson
            Of the user's sessions that have ended, and of which the log says nothing yet.
        """
        preference, count, affinities = None, 0, dict[int, float]()
        if user is not None:
            preference, count = self._preferences.of(user)
            affinities = self._affinities.of(user, now)
            due = [each for each in self._waiting if each[0].user == user and each[0].at <= now]
            due.sort(key=lambda each: each[0].at)
            for lesson in ended:
                due += [(act, self._vector(act.row)) for act in self._lessons(user, lesson)]
            for act, vector in due:
                kind = self.kinds[act.kind]
                if kind.preference and vector is not None:
                    before = np.zeros(len(vector)) if preference is None else preference
                    moves = np.array([rate(kind.preference * act.share, count)])
                    preference = moved(before[None], moves, vector[None])[0]
                    count += 1
                if kind.affinity and act.creator >= 0:
                    added = kind.affinity * act.share * self._affinities.left(kind.half_life, now - act.at)
                    affinities[act.creator] = affinities.get(act.creator, 0.0) + added
        self._is_seen = True
        return Taste(
            preference=None if preference is None else preference.astype(np.float32),
            updates=count,
            affinities=affinities,
            creators=self._names,
            creator_of=self._creator_of,
            vectors=self._vectors.seen(),
        )

    def catch_up(self, connection: apsw.Connection, seq: int) -> None:
        """Apply the records of the log up to a position."""
        ordinals = Ordinals(connection)
        run: list[Act] = []
        for place, at, when, event in records(connection, self.seq, seq, _TYPES):
            if isinstance(event, RecordSignal):
                kind = self._place.get(event.name)
                if kind is None or event.user is None:
                    continue
                run = self._released(run, when)
                self._enter(run, self._act(event.user, kind, at, ordinals[event.item]), when)
            elif isinstance(event, RecordSignals):
                if event.user:
                    run = self._released(run, when)
                    self._apply_columns(run, event, when)
            elif isinstance(event, (CloseSession, SweepSessions)):
                run = self._released(run, when)
                for user, lesson in _lessons_of(event, at, ordinals):
                    run += self._lessons(user, lesson)
            elif isinstance(event, Base):  # the first record: this has not come as far
                self._resume(connection, event, place)
            else:
                # What an item was until here, it was for the acts before.
                self._apply(run)
                run = []
                self._follow(event, ordinals)
            if len(run) >= _RUN:
                self._apply(run)
                run = []
        self._apply(self._released(run, recorded_at(connection, seq)))
        self.seq = seq

    def to_arrays(self) -> Arrays:
        """Return the state in a form that depends on the log up to `seq` alone."""
        held = [vector for _, vector in self._waiting if vector is not None]
        acts = [(act.kind, act.at, act.creator, vector is not None) for act, vector in self._waiting]
        count = int(np.flatnonzero(self._creator_of >= 0)[-1:].max(initial=-1)) + 1
        return {
            **texts_to_arrays("creators", self._names),
            "creator_of": self._creator_of[:count],
            **{f"vector_{name}": array for name, array in self._vectors.to_arrays().items()},
            **texts_to_arrays("preferring", self._preferences.users),
            **self._preferences.to_arrays(),
            **texts_to_arrays("liking", self._affinities.users),
            **self._affinities.to_arrays(),
            **texts_to_arrays("waiting_users", [act.user for act, _ in self._waiting]),
            "waiting": np.array(acts, np.int64).reshape(len(acts), 4),
            "waiting_vectors": np.array(held, np.float32).reshape(len(held), self._vectors.dimension),
        }

    @classmethod
    def from_arrays(cls, kinds: tuple[Kind, ...], seq: int, arrays: Arrays) -> Tastes:
        """Return what `to_arrays` made arrays of.

        Raises
        ------
        KeyError, ValueError, IndexError
            The arrays are not of that form.
        """
        made = cls(kinds)
        made._names = texts_from_arrays("creators", arrays)
        made._creators = {name: number for number, name in enumerate(made._names)}
        made._creator_of = arrays["creator_of"].copy()
        made._vectors = Vectors.from_arrays(arrays["vector_items"], arrays["vector_matrix"])
        made._preferences = Preferences.from_arrays(
            texts_from_arrays("preferring", arrays), arrays["preferences"], arrays["preference_counts"]
        )
        made._affinities = Affinities.from_arrays(
            made._affinities.half_lives, texts_from_arrays("liking", arrays), arrays["affinity_users"],
            arrays["affinity_creators"], arrays["affinity_landmarks"], arrays["affinities"],
        )  # fmt: skip
        held = iter(arrays["waiting_vectors"].copy())
        waiting = zip(texts_from_arrays("waiting_users", arrays), arrays["waiting"].tolist(), strict=True)
        for user, (kind, at, creator, has_vector) in waiting:
            made._waiting.append((Act(user, kind, at, creator, -1), next(held) if has_vector else None))
        made.seq = seq
        return made

    def _act(self, user: str, kind: int, at: Micros, ordinal: int) -> Act:
        creator = int(self._creator_of[ordinal]) if ordinal < len(self._creator_of) else -1
        return Act(user, kind, at, creator, self._vectors.row(ordinal))

    def _lessons(self, user: str, lesson: Lesson) -> list[Act]:
        """Return what the end of a session says of its user, as acts; nothing unless that is declared."""
        kind = self._place.get(ENDED.name)
        if kind is None:
            return []
        acts = (self._act(user, kind, lesson.at, item)._replace(share=share) for item, share in lesson.items)
        return [act for act in acts if act.creator >= 0 or act.row >= 0]

    def _vector(self, row: int) -> VectorArray | None:
        return self._vectors.taken(np.array([row]))[0] if row >= 0 else None

    def _enter(self, run: list[Act], act: Act, when: Micros) -> None:
        """Let an act join the run, or wait for its time with the vector of now."""
        if act.at <= when:
            run.append(act)
        else:
            vector = self._vector(act.row)
            self._waiting.append((act._replace(row=-1), vector))

    def _apply_columns(self, run: list[Act], event: RecordSignals, when: Micros) -> None:
        known = np.array([self._place.get(name, -1) for name in event.names], np.int64)
        kinds, users = known[np.frombuffer(event.name, "<u2")], np.frombuffer(event.user, "<i4")
        items, at = np.frombuffer(event.item, "<i8"), np.frombuffer(event.at, "<i8")
        rows = np.flatnonzero((kinds >= 0) & (users >= 0))
        columns = (column[rows].tolist() for column in (users, kinds, at, items))
        for user, kind, moment, item in zip(*columns, strict=True):
            self._enter(run, self._act(event.users[user], kind, moment, item), when)
            if len(run) >= _RUN:
                self._apply(run)
                run.clear()

    def _released(self, run: list[Act], reached: Micros) -> list[Act]:
        """Let what waited until a time count, after the run before; return the run that goes on."""
        due = [each for each in self._waiting if each[0].at <= reached]
        if not due:
            return run
        self._apply(run)
        self._waiting = [each for each in self._waiting if each[0].at > reached]
        for act, vector in sorted(due, key=lambda each: each[0].at):
            self._apply([act], None if vector is None else vector[None])
        return []

    def _apply(self, run: list[Act], vectors: VectorArray | None = None) -> None:
        """Apply acts in order; their vectors are those that the items have, unless they are given."""
        if not run:
            return
        self.applied += len(run)
        moving = [
            act for act in run if self.kinds[act.kind].preference and (act.row >= 0 or vectors is not None)
        ]
        if moving:
            if vectors is None:
                vectors = self._vectors.taken(np.array([act.row for act in moving]))
            self._preferences.move(
                [self._preferences.number(act.user) for act in moving],
                [self.kinds[act.kind].preference * act.share for act in moving],
                vectors,
            )
        liking = [act for act in run if act.creator >= 0 and self.kinds[act.kind].affinity]
        # Numbered in the order of the log, whatever their half-lives.
        pairs = self._affinities.pairs([act.user for act in liking], [act.creator for act in liking])
        for half_life in self._affinities.half_lives:
            places = [n for n, act in enumerate(liking) if self.kinds[act.kind].half_life == half_life]
            self._affinities.add(
                half_life,
                pairs[places],
                [self.kinds[liking[n].kind].affinity * liking[n].share for n in places],
                [liking[n].at for n in places],
            )

    def _follow(self, event: Event, ordinals: Ordinals) -> None:
        """Follow what items are."""
        self.applied += 1
        if isinstance(event, PutDocument):
            for item in event.items:
                self._follow(item, ordinals)
        elif isinstance(event, (PutItem, UpdateItem)):
            self._set(ordinals[event.id], event.creator, event.embedding)

    def _set(
        self,
        ordinal: int,
        creator: str | msgspec.UnsetType | None,
        embedding: bytes | msgspec.UnsetType | None,
    ) -> None:
        if not isinstance(creator, msgspec.UnsetType):
            number = -1 if creator is None else self._number(creator)
            if number >= 0 or ordinal < len(self._creator_of):
                self._name(ordinal, number)
        if not isinstance(embedding, msgspec.UnsetType):
            self._vectors.set(ordinal, None if embedding is None else np.frombuffer(embedding, "<f4"))

    def _number(self, creator: str) -> int:
        number = self._creators.setdefault(creator, len(self._names))
        if number == len(self._names):
            self._names.append(creator)
        return number

    def _name(self, ordinal: int, number: int) -> None:
        if ordinal >= len(self._creator_of):
            larger = np.full(max(ordinal + 1, len(self._creator_of) * 3 // 2, 64), -1, np.int32)
            larger[: len(self._creator_of)] = self._creator_of
            self._creator_of, self._is_seen = larger, False
        elif self._is_seen and self._creator_of[ordinal] != number:
            self._creator_of, self._is_seen = self._creator_of.copy(), False
        self._creator_of[ordinal] = number

    def _resume(self, connection: apsw.Connection, base: Base, seq: int) -> None:
        """Go on from what a base holds: for these kinds, or for the newest that are held."""
        variants = 0
        while f"{PART}{variants}" in base.parts:
            variants += 1
        for number in reversed(range(variants)):
            declared, *told = chunks(connection, base, f"{PART}{number}")
            kinds = msgspec.json.decode(declared, type=tuple[Kind, ...])
            is_alike = kinds == self.kinds
            if is_alike or number == variants - 1:
                held = Tastes.from_arrays(kinds, seq, arrays_from_chunks(told))
                found = held if is_alike else held.declared(self.kinds)
            if is_alike:
                break
        if variants:
            self.__dict__.update(found.__dict__)

    def declared(self, kinds: tuple[Kind, ...]) -> Tastes:
        """Return what goes on from here under other kinds: what came until here keeps its worth.

        What signals added to affinities decays on as it was declared, where a half-life is declared
        still; the rest is left out, and so is what waits of a kind that is no more.
        """
        made = self._beside(kinds)
        made._preferences = self._preferences
        made._affinities = self._affinities.kept(made._affinities.half_lives)
        for act, vector in self._waiting:
            place = made._place.get(self.kinds[act.kind].name)
            if place is not None:
                made._waiting.append((act._replace(kind=place), vector))
        return made

    def without(self, user: str) -> Tastes:
        """Return the tastes without a user: what the log comes to when the user's events are nobody's."""
        made = self._beside(self.kinds)
        made.seq = self.seq
        preferences, affinities = self._preferences, self._affinities
        made._preferences = preferences.without(user) if user in preferences else preferences
        made._affinities = affinities.without(user) if user in affinities else affinities
        made._waiting = [each for each in self._waiting if each[0].user != user]
        return made

    def __contains__(self, user: object) -> bool:
        """Tell whether anything is known of a user."""
        is_waiting = any(act.user == user for act, _ in self._waiting)
        return is_waiting or user in self._preferences or user in self._affinities

    def _beside(self, kinds: tuple[Kind, ...]) -> Tastes:
        """Return tastes of nobody that follow the same items, and take over from here."""
        made = Tastes(kinds)
        made._names, made._creators, made._creator_of = self._names, self._creators, self._creator_of
        made._vectors = self._vectors
        return made


def _lessons_of(
    event: CloseSession | SweepSessions, at: Micros, ordinals: Mapping[str, int]
) -> Iterator[tuple[str, Lesson]]:
    """Yield what the ends that an event tells of say of whom."""
    if isinstance(event, CloseSession):
        if event.user is not None:
            yield event.user, Lesson.of(at, event.learned, ordinals)
        return
    for each in event.ended:
        if each.user is not None:
            yield each.user, Lesson.of(each.at, each.learned, ordinals)
