"""Many sessions at once, from threads and processes: no leak, no lost write, every refusal on record."""

from __future__ import annotations

from pathlib import Path

from benchmarks.crowd import BEYOND, NOTES, SIGNALS, crowd


def test_a_small_crowd(tmp_path: Path) -> None:
    """Fails if the count that a limit looks at is read outside of the transaction that writes."""
    found = crowd(tmp_path / "store", 24, processes=2, threads=8)
    assert found.wrong == ()
    assert (found.writes, found.refusals) == (24 * (NOTES + SIGNALS), 24 * 2 * BEYOND)
