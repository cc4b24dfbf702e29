"""Evaluation: a profile's numbers for items. The canonical sum, and every contribution, come from here."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from germane.model.forms import Form, Term
from germane.model.profiles import Profile
from germane.model.signals import WINDOWS
from germane.model.times import SECOND
from germane.ranking.behaviour import formulas
from germane.ranking.behaviour.interval import BOUNDING, Interval
from germane.ranking.behaviour.kept import Reads, Scales, kept_bounds
from germane.ranking.behaviour.operations import EXACT, ROUGH, SLACK, FloatArray, Operations
from germane.ranking.behaviour.readings import Reading, Readings, Scores, Zero
from germane.signals.blocks import Numbers
from germane.signals.decay import BLOCK, IntArray
from germane.text.arrays import BoolArray

Take = Callable[[Reading], Any]
"""Gives the numbers of a reading for what is evaluated: an array, or an interval."""

_SEQUENTIAL = (
    "decayed",
    "count",
    "velocity",
    "ratio",
    "reach",
    "meta",
    "created_at",
    "preference",
    "affinity",
)
"""Terms that are the same computed roughly and exactly."""
_LINEAR = ("decayed", "count", "reach", "meta")
"""Terms that are a reading as it is."""
_KEPT = ("decayed", "count", "velocity", "reach", "engagement", "controversial", "wilson", "gem")
"""Terms that change with signals, and with time only by factors."""
_SMALL = 1e-250
SESSION = "session"
"""The kind of the terms of a session, which no profile can name."""


class Rough(NamedTuple):
    """Sums as NumPy computes them, which may be off by `SLACK` of their size.

    Parameters
    ----------
    values : float64[items]
    size : float64[items] or None
        The sums without the signs of their parts; None where the values are the exact ones.
    """

    values: FloatArray
    size: FloatArray | None

    @property
    def least(self) -> FloatArray:
        """Return what the exact sums are at least."""
        return self.values if self.size is None else self.values - SLACK * self.size

    @property
    def greatest(self) -> FloatArray:
        """Return what the exact sums are at most."""
        return self.values if self.size is None else self.values + SLACK * self.size


class Part(NamedTuple):
    """One named number of a sum.

    Parameters
    ----------
    name : str
        Printed form; of a penalty with a leading minus.
    weight : float
    sign : {1.0, -1.0}
    form : Form
    """

    name: str
    weight: float
    sign: float
    form: Form


class Evaluation:
    """Computes what a profile sums.

    Parameters
    ----------
    readings : Readings
    parts : tuple of Part
        In the order in which they are summed.
    scales : dict of Extremes to float, optional
        What numbers are scaled by instead of the present scale, in rough sums.
    """

    def __init__(self, readings: Readings, parts: tuple[Part, ...], scales: Scales | None = None) -> None:
        self.readings = readings
        self.parts = parts
        self._scales = scales
        self._over: dict[tuple[Form, int], FloatArray] = {}
        self._known: tuple[IntArray, FloatArray] | None = None

    @property
    def is_over_candidates(self) -> bool:
        """Whether `settle` must be called before anything is evaluated."""
        return any(part.form.is_over_candidates for part in self.parts)

    @property
    def is_plain(self) -> bool:
        """Whether rough numbers are the exact ones: of one term alone, that is no logarithm or power."""
        if len(self.parts) != 1 or self.parts[0].weight != 1.0:
            return False
        form = self.parts[0].form
        return form.term.kind in _SEQUENTIAL and all(each.name != "log1p" for each in form.transforms)

    @property
    def is_drawn(self) -> bool:
        """Whether any number is drawn by the seed: to find the best of such all must be drawn."""
        return any(part.form.term.kind == "shuffle" for part in self.parts)

    @property
    def above_zero(self) -> IntArray | None:
        """The items that alone may have a sum above zero, ascending; None where all may."""
        found = []
        for part in self.parts:
            sparse = self._sparse(part.form.term)
            if sparse is None or part.form.transforms or part.sign * part.weight < 0:
                return None
            if isinstance(sparse, Scores):
                found.append(sparse.above_zero)
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def settle(self, candidates: IntArray) -> None:
        """Find what transforms over all candidates need to know of them."""
        for part in self.parts:
            if part.form.is_over_candidates:
                self._form(part.form, EXACT, lambda reading: reading.at(candidates), settling=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the contributions, in order."""
        return tuple(part.name for part in self.parts)

    def know(self, ordinals: IntArray) -> None:
        """Compute the contributions of some items, and keep them for when they are asked for.

        Parameters
        ----------
        ordinals : int64[items]
            Ascending.
        """
        if self._known is None or self._known[0] is not ordinals:
            self._known = ordinals, self._table(ordinals)

    def with_session(self, factors: tuple[float, ...]) -> Evaluation:
        """Return this sum, and what a session adds: hint, velocity and entity times their factors."""
        added = Evaluation(
            self.readings,
            tuple(
                Part(f"{SESSION}.{of}", factor, 1.0, Form(Term(SESSION, of=of)))
                for of, factor in zip(("hint", "velocity", "entity"), factors, strict=True)
            ),
        )
        made = Evaluation(self.readings, self.parts + added.parts)
        made._over = self._over
        if self._known is not None:
            ordinals, table = self._known
            made._known = ordinals, np.concatenate((table, added._table(ordinals)))
        return made

    def contributions(self, ordinals: IntArray) -> FloatArray:
        """Return the contributions to some items' sums, in order: float64[parts, items]."""
        if self._known is not None:
            among, table = self._known
            if among is ordinals:
                return table
            places = among.searchsorted(ordinals)
            if len(among) and bool((among.take(places, mode="clip") == ordinals).all()):
                return table.take(places, axis=1)
        return self._table(ordinals)

    def sums(self, ordinals: IntArray) -> FloatArray:
        """Return the exact sums of some items, added from left to right: float64[items]."""
        total = np.zeros(len(ordinals))
        for column in self.contributions(ordinals):
            total += column
        return total

    def _table(self, ordinals: IntArray) -> FloatArray:
        table = np.empty((len(self.parts), len(ordinals)))
        for place, part in enumerate(self.parts):
            column = part.weight * self._form(part.form, EXACT, lambda reading: reading.at(ordinals))
            # Added to zero: nothing is 0.0, and never -0.0.
            table[place] = 0.0 - column if part.sign < 0 else column + 0.0
        return table

    def rough(self, blocks: IntArray) -> Rough:
        """Return the sums of all items of some blocks, roughly."""
        return self._rough(
            len(blocks) * BLOCK,
            lambda reading: self._based(reading).within(blocks),
            lambda numbers: numbers.unscaled(blocks),
        )

    def at_least(self, threshold: float) -> BoolArray | None:
        """Return which of all items have an exact sum that reaches a threshold: bool[size].

        None where that is more than one comparison with an array that is there.
        """
        if not self.is_plain or len(self._plan) != 1:
            return None
        _, coefficient, numbers = self._plan[0]
        if numbers is None or coefficient <= _SMALL or (coefficient != 1.0 and abs(threshold) <= _SMALL):
            return None
        # The product is rounded, and never falls as the value grows: there is a least one that reaches.
        least = threshold / coefficient
        while least * coefficient >= threshold:
            least = math.nextafter(least, -math.inf)
        while least * coefficient < threshold:
            least = math.nextafter(least, math.inf)
        reached: BoolArray = numbers.values[: self.readings.size] >= least
        return reached

    def rough_at(self, ordinals: IntArray) -> Rough:
        """Return the sums of some items, roughly."""
        return self._rough(
            len(ordinals),
            lambda reading: self._based(reading).at(ordinals),
            lambda numbers: numbers.values[ordinals],
        )

    def _rough(self, count: int, take: Take, unscaled: Callable[[Numbers], Any]) -> Rough:
        total = np.zeros(count)
        below: FloatArray | None = None
        for part, coefficient, numbers in self._plan:
            if numbers is not None:
                column = unscaled(numbers) * coefficient
                may_fall = coefficient < 0 or numbers.extremes.is_negative
            else:
                column = part.sign * (part.weight * self._form(part.form, ROUGH, take))
                may_fall = bool((column < 0).any())
            total += column
            if may_fall:
                lower = np.minimum(column, 0.0)
                below = lower if below is None else below + lower
        if self.is_plain:
            return Rough(total, None)
        return Rough(total, total if below is None else total - 2.0 * below)

    @cached_property
    def _plan(self) -> list[tuple[Part, float, Numbers | None]]:
        """Each part with what its numbers are multiplied by, where it is no more than that."""
        plan: list[tuple[Part, float, Numbers | None]] = []
        for part in self.parts:
            term = part.form.term
            coefficient, numbers = 0.0, None
            if term.kind in _LINEAR and not part.form.transforms:
                reading = self._read(term)[0]
                if isinstance(reading, Zero):
                    continue
                if isinstance(reading, Numbers):
                    based = self._scaled(reading)
                    coefficient = part.sign * part.weight * based.scale
                    # A product that small has lost digits.
                    numbers = based if abs(coefficient) > _SMALL or not coefficient else None
            plan.append((part, coefficient, numbers))
        return plan

    def _read(self, term: Term) -> tuple[Reading, ...]:
        """Return the readings that a term is a function of, where it is of signals alone; else nothing."""
        readings, kind = self.readings, term.kind
        signal, of = term.signal or "", term.of or ""
        if kind == "decayed":
            return (readings.decayed(signal),)
        if kind in ("count", "velocity"):
            return (readings.count(signal, of),)
        if kind == "reach":
            return (readings.reach(),)
        if kind == "meta":
            return (readings.meta(of),)
        if kind == "engagement":
            return tuple(readings.decayed(name) for name in ("view", "like", "share"))
        if kind == "controversial":
            return readings.total("like"), readings.total("dislike")
        if kind in ("wilson", "gem"):
            return readings.total("like"), readings.total("view")
        return ()

    def _sparse(self, term: Term) -> Reading | None:
        """Return the reading that a term is, where it is one that only some items have; else nothing."""
        if term.kind == "cooccurrence":
            return self.readings.cooccurrence(term.of)
        if term.kind == "again":
            return self.readings.again()
        return self.readings.shared_tags(term.of) if term.kind == "shared_tags" else None

    def _reads(self, part: Part) -> Reads | None:
        """Return what a part reads, if bounds of it can be kept."""
        term = part.form.term
        if term.kind not in _KEPT or part.form.is_over_candidates:
            return None
        numbers = tuple(each for each in self._read(term) if isinstance(each, Numbers))
        if not all(each.extremes.is_lasting for each in numbers):
            return None
        if term.kind == "engagement" and any(each.extremes.is_negative for each in numbers):
            return None
        return Reads(numbers, term.kind in _LINEAR and not part.form.transforms)

    def _based(self, reading: Reading) -> Reading:
        """Return a reading at the scale that this evaluation is at."""
        return self._scaled(reading) if isinstance(reading, Numbers) else reading

    def _scaled(self, numbers: Numbers) -> Numbers:
        if self._scales is None:
            return numbers
        return numbers.scaled(self._scales.get(numbers.extremes, numbers.scale))

    def bounds(self) -> Interval:
        """Return between which sums the items of each block lie, widened for rounding."""
        count = self.readings.blocks

        def take(reading: Reading) -> Interval:
            return Interval(reading.least[:count], reading.greatest[:count])

        reads = [None if self.is_plain else self._reads(part) for part in self.parts]
        kept = [part for part, read in zip(self.parts, reads, strict=True) if read is not None]
        total = Interval(np.zeros(count), np.zeros(count))
        if kept:
            total = self._kept(tuple(kept), [read for read in reads if read is not None])
        for part, read in zip(self.parts, reads, strict=True):
            if read is None:
                interval = part.sign * (part.weight * self._form(part.form, BOUNDING, take))
                total = total + interval.widened(0.0 if self.is_plain else SLACK)
        return total

    def _kept(self, parts: tuple[Part, ...], reads: list[Reads]) -> Interval:
        def sums(blocks: IntArray, scales: Scales) -> tuple[FloatArray, FloatArray]:
            found = Evaluation(self.readings, parts, scales).rough(blocks)
            return found.values, np.abs(found.values) if found.size is None else found.size

        key = tuple((part.weight, part.sign, part.form) for part in parts)
        return kept_bounds(self.readings.ledgers.kept, key, reads, sums, self.readings.blocks)

    def _form(self, form: Form, ops: Operations, take: Take, settling: bool = False) -> Any:
        value = self._term(form.term, ops, take)
        for depth, transform in enumerate(form.transforms):
            if transform.name == "log1p":
                value = ops.log1p(value)
            elif transform.name == "saturate":
                value = formulas.saturate(ops, value, transform.k or 1.0)
            else:
                if settling:
                    self._over[form, depth] = np.sort(value)
                value = _among(transform.name, value, self._over[form, depth])
        return value

    def _term(self, term: Term, ops: Operations, take: Take) -> Any:
        readings, kind = self.readings, term.kind
        signal, of = term.signal or "", term.of or ""

        def total(name: str) -> Any:
            return take(readings.total(name))

        if kind == "decayed":
            return take(readings.decayed(signal))
        if kind == "count":
            return take(readings.count(signal, of))
        if kind == "velocity":
            length = WINDOWS[of]
            return (
                take(readings.zero())
                if length is None
                else take(readings.count(signal, of)) / (length / SECOND)
            )
        if kind == "ratio":
            return formulas.ratio(ops, total(signal), total(of), readings.overall(signal, of))
        if kind == "engagement":
            decayed = (take(readings.decayed(name)) for name in ("view", "like", "share"))
            return formulas.engagement(ops, *decayed)
        if kind == "recency":
            return formulas.recency(ops, take(readings.age()), float(term.half_life))
        if kind == "hot":
            return formulas.hot(ops, total("like"), total("dislike"), take(readings.age()))
        if kind == "rising":
            hour, day = (take(readings.count("view", window)) for window in ("1h", "24h"))
            return formulas.rising(ops, hour, day, take(readings.age()))
        if kind == "controversial":
            return formulas.controversial(ops, total("like"), total("dislike"))
        if kind in ("wilson", "gem"):
            formula = formulas.wilson if kind == "wilson" else formulas.gem
            return formula(ops, total("like"), total("view"))
        if kind == "shuffle":
            return formulas.shuffle(ops, take(readings.drawn()), total("like"), total("view"))
        if kind == "meta":
            return take(readings.meta(of))
        if kind == "reach":
            return take(readings.reach())
        if kind == "created_at":
            return take(readings.created_at())
        if kind == "text":
            return take(readings.text)
        if kind == "cooccurrence":
            return take(readings.cooccurrence(term.of))
        if kind == "again":
            return take(readings.again())
        if kind == "cosine":
            return take(readings.cosine(term.of))
        if kind == "shared_tags":
            return take(readings.shared_tags(term.of))
        if kind == "preference":
            return take(readings.preference())
        if kind == "affinity":
            return take(readings.affinity())
        if kind == SESSION:
            return take(readings.session(of))
        return take(readings.zero())


def of_profile(readings: Readings, profile: Profile) -> Evaluation:
    """Return the evaluation of a profile's base."""
    return Evaluation(readings, _parts(profile))


@lru_cache(maxsize=256)
def _parts(profile: Profile) -> tuple[Part, ...]:
    related = profile.related_to
    if profile.sort is not None:
        return (Part(str(profile.sort), 1.0, float(profile.sort.sign), related(profile.sort.form)),)
    boosts = [Part(str(boost.form), boost.weight, 1.0, related(boost.form)) for boost in profile.boosts]
    penalties = [Part(f"-{each.form}", each.weight, -1.0, related(each.form)) for each in profile.penalties]
    return (*boosts, *penalties)


def of_terms(readings: Readings, *terms: Term) -> Evaluation:
    """Return the evaluation of the sum of some terms."""
    return Evaluation(readings, tuple(Part(str(term), 1.0, 1.0, Form(term)) for term in terms))


def of_term(readings: Readings, term: Term) -> Evaluation:
    """Return the evaluation of one term alone."""
    return Evaluation(readings, (Part(str(term), 1.0, 1.0, Form(term)),))


def _among(name: str, value: FloatArray, ascending: FloatArray) -> FloatArray:
    """Return where values lie among those of all candidates, in [0, 1]."""
    if len(ascending) <= 1:
        return np.zeros(len(value))
    if name == "minmax":
        least, greatest = ascending[0], ascending[-1]
        if least == greatest:
            return np.zeros(len(value))
        scaled: FloatArray = (value - least) / (greatest - least)
        return scaled
    return np.searchsorted(ascending, value, side="left") / (len(ascending) - 1)
