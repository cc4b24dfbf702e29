"""A disk that fails when it is told to: a file system for SQLite that counts writes and syncs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

BASE = "unix"


class FaultyDisk(apsw.VFS):
    """Passes everything on, and fails the n-th operation from when it is told to.

    Parameters
    ----------
    name : str
        Under which SQLite knows it; it becomes the default of the process.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, BASE, makedefault=True)
        self.opened: list[str | None] = []
        self.operations = 0
        self._left = -1
        self._fault: type[apsw.Error] | None = None
        self._of = ""

    @contextmanager
    def failing(self, at: int, fault: type[apsw.Error], of: str = "") -> Iterator[None]:
        """Fail the operation after `at` others, and every one after it: full is full.

        With `of` only operations on files of that name count.
        """
        self._left, self._fault, self._of, self.operations = at, fault, of, 0
        try:
            yield
        finally:
            self._fault = None

    def operate(self, name: str) -> None:
        if self._of not in ("", name):
            return
        self.operations += 1
        if self._fault is None:
            return
        if self._left > 0:
            self._left -= 1
            return
        raise self._fault("injected")

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.opened.append(path)
        return FaultyFile(self, Path(path or "").name, name, flags)


class FaultyFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: FaultyDisk, name: str, opened: Any, flags: list[int]) -> None:
        super().__init__(BASE, opened, flags)
        self._disk, self._name = disk, name

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        self._disk.operate(self._name)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.operate(self._name)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.operate(self._name)
        super().xTruncate(size)
