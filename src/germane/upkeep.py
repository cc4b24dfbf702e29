"""Keeping a store sound and small: statistics, checking, rebuilding, and what retention takes away."""

from __future__ import annotations

import logging

import apsw
import numpy as np

from germane.log import checkpoint, content
from germane.log.base import Parts
from germane.log.chain import start
from germane.log.check import check_journal, guarded
from germane.log.events import Base
from germane.log.forget import Kept, forget, is_clean, unclean
from germane.log.journal import Journal, epoch
from germane.log.retention import SLACK, due, preview, replace_older
from germane.log.shown import Shown
from germane.model.errors import Busy, Corruption, Error, InvalidArgument, quoted
from germane.model.reports import CheckReport, Finding, ForgetReport, GcReport, Stats
from germane.model.times import Micros, to_duration
from germane.model.values import check_id
from germane.people.neighbours import states as states_of_neighbours
from germane.people.neighbours import without as without_in_neighbours
from germane.people.taste_view import states as states_of_tastes
from germane.people.taste_view import without as without_in_tastes
from germane.people.view import states as states_of_people
from germane.people.view import without as without_in_people
from germane.ranking.moment import Moments
from germane.ranking.views import Views
from germane.signals.base import without as without_in_signals
from germane.signals.view import states as states_of_signals
from germane.text.stats import store_stats

WAIT = 10.0
"""Seconds that forgetting waits for readers of the old state."""
WAIT_OPENING = 1.0
"""Seconds that opening waits for them, where a process that forgot someone was killed."""
_AGAIN = "bytes of the user are left. Try again, or open the store anew"

_logger = logging.getLogger("germane")


class Upkeep:
    """The part of a database that looks after it."""

    _journal: Journal
    _views: Views
    _moments: Moments
    _shown: Shown

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

    def forget(self, user: str, erase: bool = False) -> ForgetReport:
        """Forget a user: no file of the folder holds a byte of them afterwards.

        The log is written anew as if the user had never been named in it: signals stay and are nobody's,
        without event id, page and position, or are gone; relations of the user are gone. Positions stay
        valid. What is on record is that someone was forgotten, with a keyed hash. Every process builds its
        views anew. The same name may come back later, as someone new.

        What others wrote is theirs: contents and metadata, creators and what relations are to, are not
        looked into; nor are backups.

        Parameters
        ----------
        user : str
        erase : bool
            Whether the user's signals go as well. The numbers of those that a base has replaced (see `gc`)
            stay in it, nobody's; the report counts them.

        Returns
        -------
        ForgetReport

        Raises
        ------
        Busy
            The user is forgotten, but bytes of it are left, because a reader of the old state does not end
            or there is no room. Calling again goes on, and so does opening the store.
        Corruption
            The log is damaged; nothing changed.
        ReadOnly
            The store was opened to be read only.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> seq = db.signal("like", lamp, user="ann").seq
        >>> db.forget("ann").events, db.user("ann").signals, db.count("like", lamp)
        (1, 0, 1)
        """
        check_id(user, "user")
        if not isinstance(erase, bool):
            raise InvalidArgument("erase", f"must be True or False, not {quoted(erase)}")
        with self._journal.read() as connection:
            is_behind = unclean(connection) is not None
        done = self._journal.transact(forget, user, erase, without)
        self._moments.drop()
        # Also when nothing is known: rows that went earlier may have left bytes.
        files = self._clean(None if is_behind else user, WAIT)
        files += done.has_changed and self._journal.path is not None
        return ForgetReport(done.seq, done.events, done.folded, done.sketched, files)

    def _clean(self, user: str | None, wait: float) -> int:
        """Leave no byte of what is gone from the log; return how many other files were changed for it.

        Parameters
        ----------
        user : str or None
            Who was forgotten; None when that is not known any more, and all that was shown has to go.
        wait : float
            Seconds to wait for readers.

        Raises
        ------
        Busy
        """
        with self._journal.read() as connection:
            since, turn = unclean(connection), epoch(connection)
        self._journal.scrub(wait)
        # Who read the old state has ended: nothing is made of it any more.
        files = 0
        if self._journal.views is not None:
            try:
                files += checkpoint.clear_before(self._journal.views, turn)
            except OSError as error:
                raise Busy(f"{error.filename} cannot be removed ({error.strerror}): {_AGAIN}") from None
        shown = self._shown.forget(user)
        if shown is None:
            raise Busy(f"what was shown could not be cleaned: {_AGAIN}")
        if since is not None:
            is_clean(self._journal, since)
        return files + shown

    def _go_on_cleaning(self) -> None:
        """Do what a process that forgot a user was not there any more to do."""
        if self._journal.read_only:
            return
        try:
            with self._journal.read() as connection:
                is_due = unclean(connection) is not None
            if is_due:
                self._clean(None, WAIT_OPENING)
        except Error as error:
            _logger.warning("bytes of a user who was forgotten are left: %s", error)

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


def without(connection: apsw.Connection, base: Base, user: str) -> Kept:
    """Return what a base holds of every view without a user."""
    known = without_in_people(connection, base, user)
    if known is None:
        return Kept({})
    parts, sketched = without_in_signals(connection, base, user)
    still = np.intersect1d(known.items, sketched)
    parts = {
        **known.parts,
        **without_in_neighbours(connection, base, user),
        **without_in_tastes(connection, base, user),
        **parts,
    }
    return Kept(parts, known.signals, len(still))


def states(connection: apsw.Connection, seq: int) -> Parts:
    """Return what every view that derives from the log came to at a position."""
    return {
        **states_of_signals(connection, seq),
        **states_of_people(connection, seq),
        **states_of_neighbours(connection, seq),
        **states_of_tastes(connection, seq),
    }
