"""Evaluation: a profile's numbers for items. The canonical sum, and every contribution, come from here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from germane.model.forms import Form, Term
from germane.model.profiles import Profile
from germane.model.signals import WINDOWS
from germane.model.times import SECOND
from germane.ranking.behaviour import formulas
from germane.ranking.behaviour.interval import BOUNDING, Interval
from germane.ranking.behaviour.operations import EXACT, ROUGH, SLACK, FloatArray, Operations
from germane.ranking.behaviour.readings import Reading, Readings
from germane.signals.decay import BLOCK, IntArray

Take = Callable[[Reading], Any]
"""Gives the numbers of a reading for what is evaluated: an array, or an interval."""

_SEQUENTIAL = ("decayed", "count", "velocity", "ratio", "reach", "meta", "created_at")
"""Terms that are the same computed roughly and exactly."""


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
    """

    def __init__(self, readings: Readings, parts: tuple[Part, ...]) -> None:
        self.readings = readings
        self.parts = parts
        self._over: dict[tuple[Form, int], FloatArray] = {}

    @property
    def is_over_candidates(self) -> bool:
        """Whether `settle` must be called before anything is evaluated."""
        return any(part.form.is_over_candidates for part in self.parts)

    @property
    def is_plain(self) -> bool:
        """Whether rough numbers are the exact ones."""
        return all(
            part.form.term.kind in _SEQUENTIAL
            and all(transform.name != "log1p" for transform in part.form.transforms)
            for part in self.parts
        )

    def settle(self, candidates: IntArray) -> None:
        """Find what transforms over all candidates need to know of them."""
        for part in self.parts:
            if part.form.is_over_candidates:
                self._form(part.form, EXACT, lambda reading: reading.at(candidates), settling=True)

    def columns(self, ordinals: IntArray) -> Iterator[tuple[str, FloatArray]]:
        """Yield the contributions to some items' sums, in order: name and float64[items]."""
        yield from self._columns(EXACT, lambda reading: reading.at(ordinals))

    def sums(self, ordinals: IntArray) -> FloatArray:
        """Return the exact sums of some items, added from left to right: float64[items]."""
        total = np.zeros(len(ordinals))
        for _, column in self.columns(ordinals):
            total += column
        return total

    def rough(self, blocks: IntArray) -> tuple[FloatArray, FloatArray | None]:
        """Return the sums of all items of some blocks, and by how much each may be off (None for nothing)."""
        total = np.zeros(len(blocks) * BLOCK)
        size = None if self.is_plain else np.zeros(len(total))
        for _, column in self._columns(ROUGH, lambda reading: reading.within(blocks)):
            total += column
            if size is not None:
                size += np.abs(column)
        return total, None if size is None else size * SLACK

    def bounds(self) -> Interval:
        """Return between which sums the items of each block lie, widened for rounding."""
        count = self.readings.blocks

        def take(reading: Reading) -> Interval:
            return Interval(reading.least[:count], reading.greatest[:count])

        total = Interval(np.zeros(count), np.zeros(count))
        size = np.zeros(count)
        for part in self.parts:
            interval = part.sign * (part.weight * self._form(part.form, BOUNDING, take))
            total = total + interval
            size += np.maximum(np.abs(interval.least), np.abs(interval.greatest))
        return Interval(total.least - size * SLACK, total.greatest + size * SLACK)

    def _columns(self, ops: Operations, take: Take) -> Iterator[tuple[str, FloatArray]]:
        for part in self.parts:
            column = part.weight * self._form(part.form, ops, take)
            yield part.name, -column if part.sign < 0 else column

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
        return take(readings.zero())  # of a user: here there is none


def of_profile(readings: Readings, profile: Profile) -> Evaluation:
    """Return the evaluation of a profile's base."""
    if profile.sort is not None:
        return Evaluation(
            readings, (Part(str(profile.sort), 1.0, float(profile.sort.sign), profile.sort.form),)
        )
    boosts = [Part(str(boost.form), boost.weight, 1.0, boost.form) for boost in profile.boosts]
    penalties = [Part(f"-{each.form}", each.weight, -1.0, each.form) for each in profile.penalties]
    return Evaluation(readings, (*boosts, *penalties))


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
