"""Keeping a store sound and small: statistics, checking, rebuilding, and what retention takes away."""

from __future__ import annotations

import logging

import apsw

from germane.log import content
from germane.log.base import Parts
from germane.log.chain import start
from germane.log.check import check_journal, guarded
from germane.log.journal import Journal
from germane.log.retention import SLACK, due, preview, replace_older
from germane.model.errors import Corruption, Error, InvalidArgument, quoted
from germane.model.reports import CheckReport, Finding, GcReport, Stats
from germane.model.times import Micros, to_duration
from germane.people.neighbours import states as states_of_neighbours
from germane.people.taste_view import states as states_of_tastes
from germane.people.view import states as states_of_people
from germane.ranking.moment import Moments
from germane.ranking.views import Views
from germane.signals.view import states as states_of_signals
from germane.text.stats import store_stats

_logger = logging.getLogger("germane")


class Upkeep:
    """The part of a database that looks after it."""

    _journal: Journal
    _views: Views
    _moments: Moments

    def stats(self) -> Stats:
        """Return exact statistics of the store."""
        with self._journal.read() as connection:
            return store_stats(connection, self._views.text.at(connection), self._journal.folder)

    def check(self, repair: bool = False) -> CheckReport:
        """Check the file, the log, its content, and every view against a rebuild from the log.

        Parameters
        ----------
        repair : bool
            Whether to rebuild what is derived from the log and not as it should be. A damaged log or
            content cannot be rebuilt: the finding says what is lost.
        """
        findings = self._findings()
        if not repair or not findings:
            return CheckReport(not findings, tuple(findings))
        try:
            self.rebuild()
        except Corruption:
            self._views.text.drop()  # the tables cannot be folded anew, but the index can be built from them
        left = self._findings()
        mended = [
            Finding(finding.part, finding.detail, repaired=True)
            for finding in findings
            if finding not in left
        ]
        return CheckReport(not left, (*mended, *left))

    def rebuild(self) -> int:
        """Throw every view away, build it anew from the log, and return the position reached."""
        seq = self._journal.refold()
        for view in self._views:
            view.drop()
        self._moments.drop()
        with self._journal.read() as connection:
            self._views.text.at(connection)
            self._save(connection)
        return seq

    def gc(self, dry_run: bool = True) -> GcReport:
        """Replace the events that are older than the schema's retention by what they came to.

        Closing does the same when the oldest event exceeds the retention by a tenth. Answers and readings
        stay what they are; before the position that is reported there is no past any more. Ages are
        measured back from the last event that was recorded.

        Parameters
        ----------
        dry_run : bool
            Whether only to say what would be replaced.

        Returns
        -------
        GcReport

        Raises
        ------
        Corruption
            The log is damaged, or the tables are not what it comes to; nothing changed.

        Examples
        --------
        >>> import germane
        >>> germane.open().gc()
        GcReport(base=0, events=0, contents=0)
        """
        if not isinstance(dry_run, bool):
            raise InvalidArgument("dry_run", f"must be True or False, not {quoted(dry_run)}")
        retention = self._retention()
        if retention is None:
            with self._journal.read() as connection:
                return GcReport(start(connection).seq, 0, 0)
        if dry_run:
            return preview(self._journal, states, retention)
        return replace_older(self._journal, states, retention)

    def _tidy(self) -> None:
        """Replace old events if it is time to; what stands in the way is told, and does not keep it open."""
        retention = self._retention()
        if retention is None:
            return
        try:
            with self._journal.read() as connection:
                is_due = due(connection, retention, SLACK) is not None
            if is_due:
                replace_older(self._journal, states, retention)
        except Error as error:
            _logger.warning("events beyond retention could not be replaced: %s", error)

    def _retention(self) -> Micros | None:
        with self._journal.read() as connection:
            kept = content.schema(connection).retention
        return None if kept is None else to_duration(kept, "retention")

    def _findings(self) -> list[Finding]:
        with self._journal.read() as connection:
            return [
                *check_journal(connection),
                *(finding for view in self._views for finding in guarded(view.part, view.check, connection)),
            ]

    def _save(self, connection: apsw.Connection) -> None:
        for view in self._views:
            try:
                view.save(connection)
            except OSError as error:
                _logger.warning("the %s could not be saved, and will be built anew: %s", view.title, error)


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what every view that derives from the log came to at a position."""
    return {
        **states_of_signals(connection, seq),
        **states_of_people(connection, seq),
        **states_of_neighbours(connection, seq),
        **states_of_tastes(connection, seq),
    }
