"""Events from files, block by block as columns: the form in which many are recorded fastest."""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice, zip_longest
from pathlib import Path
from types import NoneType
from typing import IO, Any

from germane.model.errors import InvalidArgument
from germane.model.times import to_micros

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
FIELDS = ("name", "item", "user", "weight", "at", "event_id", "page", "position")
PART = 200
BLOCK = 100_000
"""Events of a block: as many as are one record of the log."""
MISSING = ("", "-")
"""What stands in a column for no value, beside nothing at all."""

Columns = dict[str, Any]


def format_of(file: str) -> str | None:
    """Return the format that a file's name tells, None if it tells none.

    Examples
    --------
    >>> format_of("log.tsv.gz"), format_of("events.JSONL"), format_of("events")
    ('tsv', 'jsonl', None)
    """
    return FORMATS.get(Path(file.lower().removesuffix(".gz")).suffix)


@contextmanager
def opened(file: str) -> Iterator[IO[str]]:
    """Give a file of text to read, unpacked where its name ends with .gz; stdin for ``-``."""
    if file == "-":
        yield sys.stdin
        return
    unpack: Any = gzip.open if file.lower().endswith(".gz") else open
    with unpack(file, "rt", encoding="utf-8-sig", newline="") as source:
        yield source


def blocks(source: IO[str], kind: str, names: Mapping[str, str]) -> Iterator[Columns]:
    """Yield the events of a text as columns, a block at a time.

    Parameters
    ----------
    source : file of text
    kind : {"jsonl", "csv", "tsv"}
    names : mapping
        Which column of the text is which field; others go by their own name, or are left out.

    Raises
    ------
    InvalidArgument
        A value cannot be read; the error names the row, counted from 0.
    """
    read = _json_columns(source, names) if kind == "jsonl" else _csv_columns(source, kind, names)
    done = 0
    for columns in _told(read):
        count = len(next(iter(columns.values()), ()))
        columns = {field: _kept(values) for field, values in columns.items()}
        for field in ("name", "item"):
            if None in (column := columns.get(field, (None,))):
                raise InvalidArgument(f"rows[{done + column.index(None)}].{field}", "is missing")
        for field, convert in _CONVERT.items():
            if field in columns:
                columns[field] = convert(columns[field], field, done)
        yield columns
        done += count


def _told(read: Iterator[Columns]) -> Iterator[Columns]:
    try:
        yield from read
    except csv.Error as error:
        raise InvalidArgument("rows", f"cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            "rows", f"are no UTF-8 text: {error.reason} after {error.start} bytes"
        ) from None
    except gzip.BadGzipFile:
        raise InvalidArgument("rows", "are no gzip file, in spite of its name") from None


def _csv_columns(source: IO[str], kind: str, names: Mapping[str, str]) -> Iterator[Columns]:
    rows = filter(None, csv.reader(source, delimiter="\t" if kind == "tsv" else ","))
    header = [names.get(name, name) for name in next(rows, ())]
    places = {field: header.index(field) for field in FIELDS if field in header}
    while True:
        columns: Columns = {field: [] for field in places}
        one: dict[str, str] = {}
        # Turned in small parts, which stay near at hand, and longer parts would not.
        for _ in range(BLOCK // PART):
            # Values beyond the header are nobody's, and a row may lack its last ones.
            turned = list(zip_longest(header, *islice(rows, PART), fillvalue=""))
            for field, place in places.items():
                # Each distinct text once: it is hashed while at hand, and takes its room once.
                column = turned[place][1:]
                columns[field] += map(one.setdefault, column, column)
        if not any(columns.values()):
            return
        yield columns


def _json_columns(source: IO[str], names: Mapping[str, str]) -> Iterator[Columns]:
    import msgspec

    decode = msgspec.json.Decoder(dict[str, Any]).decode
    known = [(name, names.get(name, name)) for name in dict.fromkeys((*names, *FIELDS))]
    lines, number = (line for line in source if not line.isspace()), 0
    while block := list(islice(lines, BLOCK)):
        rows = []
        for line in block:
            try:
                rows.append(decode(line))
            except msgspec.MsgspecError as error:
                raise InvalidArgument(f"rows[{number}]", f"is no JSON object: {error}") from None
            number += 1
        columns: Columns = {}
        for name, field in known:
            values = [row.get(name) for row in rows]
            if values.count(None) < len(values):
                columns[field] = values
        yield columns


def _kept(values: Sequence[Any]) -> Sequence[Any]:
    """Return a column with None for what stands for no value."""
    # Searching two strings in a column costs less than a look at each of its values in Python.
    if any(mark in values for mark in MISSING):
        return [None if value in MISSING else value for value in values]
    return values


def _times(values: Sequence[Any], field: str, done: int) -> Any:
    """Return times: from ISO 8601, UTC where it names no zone, or from seconds since 1970."""
    import numpy as np

    kinds = set(map(type, values))
    if str not in kinds:
        return values
    if kinds == {str}:
        with suppress(ValueError):
            return np.array(values, np.float64)
    if kinds <= {str, NoneType}:
        known = _read(values, lambda text: to_micros(_moment(text), field), field, done)
        known[None] = _NEVER
        return np.fromiter(map(known.__getitem__, values), np.int64, len(values)).view("M8[us]")
    return _each(values, _moment, field, done)


def _weights(values: Sequence[Any], field: str, done: int) -> Any:
    import numpy as np

    if set(map(type, values)) == {str}:
        with suppress(ValueError):
            return np.array(values, np.float64)
    return _each(values, float, field, done)


def _positions(values: Sequence[Any], field: str, done: int) -> Any:
    return _each(values, int, field, done)


def _each(values: Sequence[Any], read: Callable[[str], Any], field: str, done: int) -> list[Any]:
    """Return a column with its strings read."""
    known = _read(values, read, field, done)
    return [known[value] if isinstance(value, str) else value for value in values]


def _read(values: Sequence[Any], read: Callable[[str], Any], field: str, done: int) -> dict[Any, Any]:
    """Read each distinct string of a column once."""
    known: dict[Any, Any] = {}
    is_text = set(map(type, values)) <= {str, NoneType}  # which, unlike lists, can be told apart at once
    texts = values if is_text else [value for value in values if isinstance(value, str)]
    for text in dict.fromkeys(texts):
        if text is None:
            continue
        try:
            known[text] = read(text)
        except ValueError:
            row = done + values.index(text)
            raise InvalidArgument(f"rows[{row}].{field}", f"{text!r} cannot be read") from None
    return known


def _moment(text: str) -> datetime | float:
    if text[4:5] != "-":
        with suppress(ValueError):
            return float(text)
    when = datetime.fromisoformat(text)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


_CONVERT = {"at": _times, "weight": _weights, "position": _positions}
_NEVER = -(1 << 63)
"""NumPy's time that is none."""
