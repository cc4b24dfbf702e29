"""Getting committed writes onto the disk: one fsync shared by all that wait for it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

INTERVAL = 0.005
"""Seconds the background thread lets writes gather; with the fsync itself this stays within 10 ms."""


class WalSync:
    """Syncs SQLite's write-ahead log, which SQLite in mode NORMAL leaves to the operating system.

    The file is opened on its own; SQLite takes no locks on it, so closing it releases none.

    Parameters
    ----------
    path : Path
        The write-ahead log.
    in_background : bool
        Whether a thread syncs within 10 ms whatever was asked for; otherwise callers `wait`.
    """

    def __init__(self, path: Path, in_background: bool) -> None:
        self._path = path
        self._in_background = in_background
        self._file: int | None = None
        self._lock = threading.RLock()
        self._turn = threading.Condition(self._lock)
        self._asked = 0
        self._done = 0
        self._failed = 0
        self._failure: OSError | None = None
        self._untold: OSError | None = None
        self._syncing = False
        self._resting = False
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Ask that everything committed so far gets onto the disk.

        Raises
        ------
        OSError
            The background thread failed to sync an earlier write, whose caller was not there to be told.
        """
        with self._lock:
            self._asked += 1
            if not self._in_background:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="germane-sync", daemon=True)
                self._thread.start()
            if self._resting:  # woken while writes gather, it would cost more than a write does
                self._resting = False
                self._turn.notify_all()
            if self._untold is not None:
                self._tell()

    def wait(self) -> None:
        """Return when everything asked for so far is on disk.

        Raises
        ------
        OSError
            It is not. The operating system reports that once, so it is told to all who wait.
        """
        with self._turn:
            target = self._asked
            while self._done < target:
                if self._failure is not None and self._failed >= target:
                    raise OSError(*self._failure.args)
                if self._syncing:
                    self._turn.wait()
                else:
                    self._sync_all()

    def close(self) -> None:
        """Sync what is outstanding and stop.

        Raises
        ------
        OSError
            Something is not on disk.
        """
        try:
            with self._turn:
                self._failure = None
            self.wait()
            with self._turn:
                self._tell()
        finally:
            with self._turn:
                self._closed.set()
                self._turn.notify_all()
            if self._thread is not None:
                self._thread.join()
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _sync_all(self) -> None:
        """Sync as the one that does it for all, without holding the others up who only ask."""
        self._syncing = True
        covers = self._asked
        failure: OSError | None = None
        self._turn.release()
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR)
            getattr(os, "fdatasync", os.fsync)(self._file)
        except OSError as error:
            failure = error
        finally:
            self._turn.acquire()
            self._syncing = False
            self._turn.notify_all()
        if failure is not None:
            self._failed, self._failure = covers, failure
            raise failure
        self._done = covers

    def _tell(self) -> None:
        failure, self._untold = self._untold, None
        if failure is not None:
            raise OSError(*failure.args)

    def _run(self) -> None:
        while True:
            with self._turn:
                while self._asked <= max(self._done, self._failed) and not self._closed.is_set():
                    self._resting = True
                    self._turn.wait()
            if self._closed.wait(INTERVAL):
                return
            try:
                self.wait()
            except OSError as error:
                with self._turn:
                    self._untold = error
                    self._turn.notify_all()
