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
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._turn = threading.Condition()
        self._asked = 0
        self._done = 0
        self._syncing = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def soon(self) -> None:
        """Have everything committed so far on disk within 10 ms."""
        with self._turn:
            self._asked += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="germane-sync", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    def now(self) -> None:
        """Return when everything committed so far is on disk."""
        with self._turn:
            self._asked += 1
        self._wait()

    def close(self) -> None:
        """Sync what is outstanding and stop."""
        self._wait()
        with self._turn:
            self._closed = True
            self._turn.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _wait(self) -> None:
        with self._turn:
            target = self._asked
            while self._done < target:
                if self._syncing:
                    self._turn.wait()
                    continue
                self._syncing = True
                covers = self._asked
                self._turn.release()
                try:
                    self._sync()
                finally:
                    self._turn.acquire()
                    self._syncing = False
                    self._turn.notify_all()
                self._done = max(self._done, covers)

    def _sync(self) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR)
        getattr(os, "fdatasync", os.fsync)(self._file)

    def _run(self) -> None:
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._closed or self._asked > self._done)
                if self._closed:
                    return
                self._turn.wait_for(lambda: self._closed, timeout=INTERVAL)
            try:
                self._wait()
            except OSError:
                # The next call of now() or close() meets the same failure and reports it to a caller.
                with self._turn:
                    self._turn.wait_for(lambda: self._closed, timeout=1.0)
