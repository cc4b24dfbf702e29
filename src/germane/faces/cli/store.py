"""Finding the store that a command is about, and opening it as the verb needs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from germane.model.errors import Busy, InvalidArgument, NotFound, ReadOnly

if TYPE_CHECKING:
    from germane.database import Database

FOLDER = ".germane"
VARIABLE = "GERMANE_DB"


def find(db: str | None) -> Path:
    """Return the store's folder, whether it exists or not.

    Parameters
    ----------
    db : str or None
        As given with ``--db``; else the environment and the working directory decide.
    """
    if db is not None and not db:
        raise InvalidArgument("db", "is empty: give the store's folder, as in --db .germane")
    if db or (db := os.environ.get(VARIABLE)):
        return Path(db).expanduser().absolute()
    try:
        here = Path.cwd()
    except OSError:
        raise NotFound("the working directory is gone: type --db FOLDER, or go to another") from None
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return here / FOLDER


def exists(folder: Path) -> bool:
    """Tell whether there is a store in a folder."""
    from germane.log.file import FILE

    return (folder / FILE).is_file()


def existing(db: str | None, *, read_only: bool = False) -> Database:
    """Open a store that is there already.

    Raises
    ------
    NotFound
        There is none.
    """
    from germane.database import open

    return open(_existing(db), read_only=read_only)


def reading(db: str | None) -> Database:
    """Open a store for reading, and for the index's checkpoint if its folder can be written.

    Raises
    ------
    NotFound
        There is none.
    """
    from germane.database import open

    folder = _existing(db)
    try:
        return open(folder)
    except (ReadOnly, Busy):
        return open(folder, read_only=True)


def made(db: str | None) -> Database:
    """Open a store, and make it if there is none."""
    from germane.database import open

    return open(find(db))


def _existing(db: str | None) -> Path:
    folder = find(db)
    if folder.is_file():
        raise NotFound(f"{folder} is a file, and a store is a folder: type --db FOLDER")
    if not exists(folder):
        option = f"--db {shlex.quote(db)} " if db else ""
        raise NotFound(
            f"there is no store in {folder}; to make and fill one, type: germane {option}learn PATH"
        )
    return folder
