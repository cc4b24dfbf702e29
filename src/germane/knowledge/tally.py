"""Counting what learning does."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from germane.model.reports import LearnReport, Skipped


@dataclass
class Tally:
    """Counts of sections, for the report."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    documents: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[Skipped] = field(default_factory=list)

    def report(self, began: float) -> LearnReport:
        """Return the report of a learning that began at a reading of `time.perf_counter`."""
        return LearnReport(
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            removed=self.removed,
            documents=self.documents,
            skipped=tuple(self.skipped),
            errors=tuple(self.errors),
            took_ms=(time.perf_counter() - began) * 1000,
        )
