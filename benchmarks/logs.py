"""Logs of what people did, as they lie in the data folder: a blog's requests, and a shop's invoice lines."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from germane.model.values import ID_LENGTH
from germane.signals.decay import FloatArray

DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Log:
    """Events of one kind, in order of time.

    Parameters
    ----------
    name : str
    items : list of str
        What each event was done with.
    at : float64[n]
        Seconds since the epoch.
    """

    name: str
    items: list[str]
    at: FloatArray


def weblog(data: Path) -> Log:
    """Return the pages of the blog that people viewed; assets and bots are left out."""
    return _read("web log", data / "weblog" / "events.tsv.gz", "view")


def shop(data: Path) -> Log:
    """Return what was bought, an event for each line of an invoice."""
    return _read("shop log", data / "online-retail" / "events.tsv.gz", "buy")


def _read(name: str, path: Path, action: str) -> Log:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = [
            (datetime.fromisoformat(row["ts"]).replace(tzinfo=UTC).timestamp(), row["item"][:ID_LENGTH])
            for row in csv.DictReader(file, delimiter="\t")
            if row["action"] == action
        ]
    rows.sort(key=lambda row: row[0])
    return Log(name, [item for _, item in rows], np.array([at for at, _ in rows]))
