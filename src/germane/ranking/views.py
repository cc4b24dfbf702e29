"""The views of one store, together."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from germane.knowledge.catalog import CatalogView
from germane.knowledge.hint_view import HintView
from germane.people.neighbours import NeighbourView
from germane.people.taste_view import TasteView
from germane.people.view import PeopleView
from germane.sessions.view import SessionView
from germane.signals.view import SignalView
from germane.text.view import TextView


class Views(NamedTuple):
    """All that derives from a log, each part by itself."""

    text: TextView
    catalogs: CatalogView
    signals: SignalView
    people: PeopleView
    neighbours: NeighbourView
    tastes: TasteView
    sessions: SessionView
    hints: HintView

    @classmethod
    def of(cls, store: str = "", folder: Path | None = None, is_read_only: bool = False) -> Views:
        """Return the views of a store.

        Parameters
        ----------
        store : str
            Its id.
        folder : Path or None
            Where checkpoints lie; None keeps none.
        is_read_only : bool
            Whether to leave everything there as it is.
        """
        return cls(
            TextView(store, folder, is_read_only),
            CatalogView(store, folder, is_read_only),
            SignalView(store, folder, is_read_only),
            PeopleView(store, folder, is_read_only),
            NeighbourView(store, folder, is_read_only),
            TasteView(store, folder, is_read_only),
            SessionView(store, folder, is_read_only),
            HintView(store, folder, is_read_only),
        )
