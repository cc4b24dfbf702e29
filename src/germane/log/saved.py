"""What a view saves of itself: its checkpoints, as the view deals with them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import apsw
import numpy as np

from germane.log import checkpoint
from germane.log.chain import checksum_at, end, start
from germane.log.checkpoint import Arrays, Loaded, Manifest
from germane.log.journal import epoch, head
from germane.model.reports import Finding

_logger = logging.getLogger("germane")

View = TypeVar("View")


class Checkpoints:
    """The checkpoints of one view of one store.

    Parameters
    ----------
    name : str
        The view's, as the names of its folders begin.
    title : str
        What people call the view.
    store : str
        The store's id.
    folder : Path or None
        Where checkpoints lie; None keeps none.
    is_read_only : bool
        Whether to leave everything there as it is.
    writable : bool
        Whether the view changes its arrays; the files do not.
    are_constant : bool
        Whether it never does: large files are then compared with their checksums beside the first answers,
        and what did not change is not written again.
    """

    def __init__(
        self,
        name: str,
        title: str,
        store: str,
        folder: Path | None,
        is_read_only: bool,
        writable: bool = False,
        are_constant: bool = False,
    ) -> None:
        self.name = name
        self.title = title
        self._store = store
        self._folder = folder
        self._is_read_only = is_read_only
        self._writable = writable
        self._are_constant = are_constant

    @property
    def are_kept(self) -> bool:
        """Whether there is a place for them."""
        return self._folder is not None

    def load(
        self,
        connection: apsw.Connection,
        format: str,
        make: Callable[[int, Arrays], View],
        drop: Callable[[], None] | None = None,
    ) -> View | None:
        """Return the view of the newest one that can be used, None without any.

        Parameters
        ----------
        connection : apsw.Connection
            Inside a read transaction.
        format : str
            The view's own version of its arrays and of how they are derived.
        make : callable
            Makes the view of a position and arrays; one that it cannot is set aside.
        drop : callable, optional
            Called later, in a thread of its own, when a large file turns out to be damaged.
        """
        if self._folder is None or not self._folder.is_dir():
            return None
        largest = checkpoint.LARGE if self._are_constant and drop is not None else None
        manifest, arrays, damage = self.loaded(connection, format, largest)
        view: View | None = None
        if manifest is not None:
            try:
                view = make(manifest.seq, arrays)
            except (KeyError, ValueError, TypeError, IndexError) as error:
                aside = checkpoint.set_aside(
                    self._folder, self.name, manifest, repr(error), self._is_read_only
                )
                damage = (*damage, aside)
        for each in damage:
            self._warn(each)
        if (
            view is not None
            and largest is not None
            and any(each.nbytes > largest for each in arrays.values())
        ):
            assert manifest is not None
            assert drop is not None
            threading.Thread(
                target=self._compare, args=(manifest, drop), name="germane-checking", daemon=True
            ).start()
        return view

    def _warn(self, damage: str) -> None:
        _logger.warning("a checkpoint of the %s cannot be used and is built anew: %s", self.title, damage)

    def _compare(self, manifest: Manifest, drop: Callable[[], None]) -> None:
        """Compare all files with their checksums, and set the checkpoint aside if they differ."""
        assert self._folder is not None
        wrong = checkpoint.unsound(self._folder, self.name, manifest)
        if wrong is not None:
            self._warn(checkpoint.set_aside(self._folder, self.name, manifest, wrong, self._is_read_only))
            drop()

    def loaded(self, connection: apsw.Connection, format: str, largest: int | None = None) -> Loaded:
        """Return the newest one that can be used, and what was wrong with others."""
        if self._folder is None:
            return Loaded(None, {}, ())
        return checkpoint.load(
            self._folder,
            self.name,
            self.manifest(connection, format),
            lambda seq: checksum_at(connection, seq),
            self._is_read_only,
            self._writable,
            largest,
        )

    def write(
        self, connection: apsw.Connection, format: str, arrays: Mapping[str, np.ndarray[Any, Any]]
    ) -> None:
        """Write one at the position that a connection sees.

        Raises
        ------
        OSError
            It could not be written; nothing changed.
        """
        assert self._folder is not None
        checkpoint.write(
            self._folder, self.name, self.manifest(connection, format), arrays, self._are_constant
        )

    def newest(self, connection: apsw.Connection) -> int:
        """Return the position of the newest, 0 without any that the log still knows of."""
        if self._folder is None:
            return 0
        saved = checkpoint.newest(self._folder, self.name, epoch(connection), head(connection))
        return saved if saved >= start(connection).seq else 0

    def clear(self) -> None:
        """Drop them all."""
        if self._folder is not None:
            checkpoint.clear(self._folder, self.name)

    def check(self, connection: apsw.Connection, format: str) -> tuple[list[Finding], bool]:
        """Return what is wrong with them, and whether there is one that can be used."""
        if self._folder is None or not self._folder.is_dir():
            return [], False
        found = [
            Finding("checkpoint", f"{path.stem}: it was damaged, set aside and built anew")
            for path in sorted(self._folder.glob(f"{self.name}-*.damaged"))
        ]
        loaded = self.loaded(connection, format)
        found += [Finding("checkpoint", damage) for damage in loaded.damage]
        return found, loaded.manifest is not None

    def manifest(self, connection: apsw.Connection, format: str) -> Manifest:
        """Return what a checkpoint at the position that a connection sees is of."""
        last = end(connection)
        return Manifest(
            store=self._store,
            epoch=epoch(connection),
            seq=last.seq,
            history=last.checksum,
            format=format,
        )


def differing(ours: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names of the arrays that differ."""
    return [name for name, array in wanted.items() if not np.array_equal(ours[name], array)]
