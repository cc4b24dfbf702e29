"""A store that was made before there were sessions gets their tables when it is opened to write."""

from __future__ import annotations

from pathlib import Path

import apsw

import germane
from germane.log.fold_sessions import OF_SESSIONS


def test_a_store_of_an_earlier_version_gets_the_tables(tmp_path: Path) -> None:
    """Fails if tables are only made with a new store."""
    with germane.open(tmp_path / "s") as db:
        db.put(germane.Item(id="a", title="A"))
    connection = apsw.Connection(str(tmp_path / "s" / "journal.sqlite"))
    for name in OF_SESSIONS:
        connection.execute(f"DROP TABLE {name}")
    connection.close()
    with germane.open(tmp_path / "s") as db:
        session = db.start_session(user="ann", agent="helper")
        session.signal("view", "a")
        assert db.check().ok
        assert session.snapshot().accepted == 1
