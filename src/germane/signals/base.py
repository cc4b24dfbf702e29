"""What the base of a log holds of signals, and how ledgers go on from it.

For each schema that can still be asked for, the one in force at the base and those declared behind it, the
base holds the ledgers in their canonical form. A signal that is declared in another way later goes on from
its count of all time; its decayed score and its windows begin with the events that are still kept.
"""

from __future__ import annotations

import logging

import apsw
import msgspec
import numpy as np

from germane.log.base import Parts, arrays_from_chunks, arrays_to_chunks, chunks
from germane.log.checkpoint import Arrays
from germane.log.events import Base
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.decay import IntArray
from germane.signals.ledger import SignalLedger
from germane.signals.reach import Reach, without_user
from germane.signals.stored import OF_REACH, from_arrays

_PART = "signals/"
_logger = logging.getLogger("germane")


def part_name(number: int) -> str:
    """Return the name of the part that holds the ledgers under one of the schemas, the oldest first."""
    return f"{_PART}{number}"


def declared_chunk(signals: tuple[Signal, ...]) -> bytes:
    """Return the first chunk of such a part: the declarations. The ledgers follow in their canonical form."""
    return msgspec.json.encode([signal.declaration() for signal in signals])


def from_base(
    connection: apsw.Connection, base: Base, signals: tuple[Signal, ...]
) -> tuple[list[SignalLedger], Reach, Micros]:
    """Return the ledgers that a base holds, under any declarations.

    Raises
    ------
    Corruption
        The base is damaged.
    """
    variants: list[tuple[tuple[Signal, ...], Arrays]] = []
    while part_name(len(variants)) in base.parts:
        declared, *told = chunks(connection, base, part_name(len(variants)))
        was = tuple(Signal.from_declaration(each) for each in msgspec.json.decode(declared))
        variants.append((was, arrays_from_chunks(told)))
    for was, arrays in variants:
        if was == signals:
            return from_arrays(arrays, signals)
    return _nearest(variants, signals)


def without(connection: apsw.Connection, base: Base, user: str) -> tuple[Parts, IntArray]:
    """Return the parts of a base that change without a user, and the items whose users are a sketch.

    The numbers of the ledgers stay: they are nobody's. A sketch cannot be freed of one user, who stays
    counted in it; it holds no names and no hashes.
    """
    parts: dict[str, list[bytes]] = {}
    sketched = np.zeros(0, np.int64)
    number = 0
    while (name := part_name(number)) in base.parts:
        declared, *told = chunks(connection, base, name)
        arrays = arrays_from_chunks(told)
        reach = {key: array for key, array in arrays.items() if key.startswith(OF_REACH)}
        changed = without_user({key.removeprefix(OF_REACH): array for key, array in reach.items()}, user)
        arrays |= {OF_REACH + key: array for key, array in changed.items()}
        parts[name] = [declared, *arrays_to_chunks(arrays)]
        sketched = np.union1d(sketched, changed["sketched"])
        number += 1
    return parts, sketched


def _nearest(
    variants: list[tuple[tuple[Signal, ...], Arrays]], signals: tuple[Signal, ...]
) -> tuple[list[SignalLedger], Reach, Micros]:
    """Return each ledger from the newest declaration that counted alike, or from its count of all time."""
    found: dict[str, SignalLedger] = {}
    counted: dict[str, SignalLedger] = {}
    wanted = {signal.name: signal for signal in signals}
    for was, arrays in reversed(variants):
        ledgers, reach, recorded_at = from_arrays(
            arrays, tuple(wanted[s.name] if _is_alike(s, wanted.get(s.name)) else s for s in was)
        )
        if not counted:
            newest = reach, recorded_at
        for before, ledger in zip(was, ledgers, strict=True):
            counted.setdefault(before.name, ledger)
            if _is_alike(before, wanted.get(before.name)):
                found.setdefault(before.name, ledger)
    for signal in signals:
        if signal.name not in found:
            found[signal.name] = ledger = SignalLedger(signal)
            if signal.name in counted:
                ledger.totals, ledger.waiting = counted[signal.name].totals, counted[signal.name].waiting
                _logger.warning(
                    "signal %r was declared anew: it is counted from the events that are still kept",
                    signal.name,
                )
    return [found[signal.name] for signal in signals], *newest


def _is_alike(first: Signal, second: Signal | None) -> bool:
    return second is not None and (first.half_life, first.windows) == (second.half_life, second.windows)
