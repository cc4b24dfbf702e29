"""The ledgers as files: one canonical form, so that equal logs give equal bits.

The form depends on nothing but the log up to a position: it holds what is within the windows at the time of
the last record, whatever was read since, users by item and hash, and no room for more.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import numpy as np

from germane.log.checkpoint import Arrays
from germane.model.signals import Signal
from germane.model.times import Micros
from germane.signals.ledger import SignalLedger
from germane.signals.reach import Reach

VERSION = 1
"""Of the arrays, and of how they follow from the log."""

OF_REACH = "reach_"
"""What the names of the arrays of reach begin with."""


def declared_form(signals: tuple[Signal, ...]) -> str:
    """Return what names the form of a checkpoint: other declarations have other arrays."""
    told = msgspec.json.encode([signal.declaration() for signal in signals])
    return f"{VERSION}/{hashlib.blake2b(told, digest_size=8).hexdigest()}"


def to_arrays(ledgers: list[SignalLedger], reach: Reach, recorded_at: Micros) -> Arrays:
    """Return ledgers, in the order of their declaration, in their canonical form.

    Parameters
    ----------
    ledgers : list of SignalLedger
    reach : Reach
    recorded_at : int
        When the last record applied was recorded, in microseconds.
    """
    parts = [ledger.to_arrays(recorded_at) for ledger in ledgers]
    arrays: Arrays = {"recorded_at": np.array([recorded_at])}
    for name in parts[0] if parts else ():
        # One file a kind of array, not one a signal: each costs a sync when it is written.
        arrays[name] = np.concatenate([part[name] for part in parts])
        arrays[f"{name}_ends"] = np.cumsum([len(part[name]) for part in parts], dtype=np.int64)
    return arrays | {OF_REACH + name: array for name, array in reach.to_arrays().items()}


def from_arrays(arrays: Arrays, signals: tuple[Signal, ...]) -> tuple[list[SignalLedger], Reach, Micros]:
    """Return the ledgers that `to_arrays` made arrays of, as they take part in them.

    Raises
    ------
    KeyError, ValueError
        The arrays are not of that form.
    """
    recorded_at = int(arrays["recorded_at"][0])
    ledgers = [SignalLedger(signal) for signal in signals]
    names = [name for name in arrays if f"{name}_ends" in arrays]
    for number, ledger in enumerate(ledgers):
        ledger.resume({name: _part(arrays, name, number) for name in names}, recorded_at)
    of_reach = {
        name.removeprefix(OF_REACH): array for name, array in arrays.items() if name.startswith(OF_REACH)
    }
    return ledgers, Reach.from_arrays(of_reach), recorded_at


def _part(arrays: Arrays, name: str, number: int) -> np.ndarray[Any, Any]:
    ends = arrays[f"{name}_ends"]
    return arrays[name][int(ends[number - 1]) if number else 0 : int(ends[number])]
