"""What a database offers of ranking by profiles: feeds, and why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import apsw

from germane.knowledge.catalog import CatalogView
from germane.log.content import schema
from germane.log.journal import Journal
from germane.log.shown import Shown
from germane.model.diversity import Diversity
from germane.model.filters import Filter
from germane.model.pages import Explanation, Page
from germane.model.values import check_id, neutral
from germane.ranking.behaviour.readings import Readings
from germane.ranking.retrieve.explain import explain_retrieve
from germane.ranking.retrieve.pipeline import retrieve
from germane.ranking.retrieve.request import RetrieveRequest, retrieve_request
from germane.signals.view import SignalView


class RankingCalls:
    """The part of a database that ranks by profiles."""

    _journal: Journal
    _signals: SignalView
    _catalogs: CatalogView
    _shown: Shown

    def retrieve(
        self,
        profile: str = "for_you",
        *,
        user: None = None,
        session: None = None,
        similar_to: None = None,
        candidates: Sequence[str] | None = None,
        where: str | Filter | None = None,
        collections: Sequence[str] | None = None,
        diversity: Diversity | None = None,
        session_weights: None = None,
        facets: tuple[()] = (),
        limit: int = 20,
        cursor: str | None = None,
        seed: str | int | None = None,
        explain: bool = False,
        as_of: None = None,
    ) -> Page:
        """Rank items by a profile.

        Parameters
        ----------
        profile : str
            A built-in one (``trending``, ``top:24h``, ``hot``...), one that the schema declares, or
            ``name@version``.
        candidates : sequence of str, optional
            Rank only the items with these ids; at most 10,000.
        where : str or Filter, optional
            Rank only items that meet this.
        collections : sequence of str, optional
            Rank only items of these.
        diversity : Diversity, optional
            Instead of the profile's own limits.
        limit : int
            Items of a page, 1 to 1000.
        cursor : str, optional
            Of the page before: goes on in the same order, for 15 minutes. Other arguments but `limit` and
            `explain` may be left out then.
        seed : str or int, optional
            What exploration and ``shuffle`` draw by; without one, the log's position.
        explain : bool
            Whether results carry reasons.
        user, session, similar_to, session_weights, facets, as_of
            Only their neutral value is available in this version.

        Returns
        -------
        Page

        Raises
        ------
        InvalidArgument
            An argument cannot be used; the error names it.
        QuerySyntaxError
            `where` does not parse; the error says where.
        CursorExpired
            The cursor is too old, or was not made by this store.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> ids = db.put_many([germane.Item(id="a", title="Lamp"), germane.Item(id="b", title="Bulb")])
        >>> _ = db.signal("view", "b")
        >>> [(result.id, round(result.raw, 3)) for result in db.retrieve("most_viewed").items]
        [('b', 1.25)]
        """
        # Every parameter goes on under its own name.
        request = retrieve_request(**{name: value for name, value in locals().items() if name != "self"})
        with self._journal.read() as connection, self._readings(connection, request) as readings:
            impressions = schema(connection).impressions
            return retrieve(readings, self._shown, request, readings.catalog.seq, impressions)

    def explain(
        self,
        id: str,
        *,
        profile: str | None = None,
        text: str | None = None,
        user: None = None,
        session: None = None,
        where: str | Filter | None = None,
        collections: Sequence[str] | None = None,
        candidates: Sequence[str] | None = None,
        seed: str | int | None = None,
        limit: int = 20,
    ) -> Explanation:
        """Say why an item stands where it stands in a ranking, or why it is not there.

        Parameters
        ----------
        id : str
        profile : str, optional
            As `retrieve` takes it, the default too; with a text, as `search`.
        text : str, optional
            Explain the item's place in a search for this.
        where, collections, candidates, seed, limit
            As the query in question had them.

        Raises
        ------
        NotFound
            There never was such an item.
        InvalidArgument
            An argument cannot be used.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> lamp = db.put(germane.Item(title="Lamp"))
        >>> db.explain(lamp, profile="most_viewed").absence[0].code
        'NotACandidate'
        """
        check_id(id, "id")
        neutral(user=(user, None), session=(session, None))
        request = retrieve_request(
            "for_you" if profile is None else profile,
            candidates=candidates,
            where=where,
            collections=collections,
            diversity=None,
            limit=limit,
            cursor=None,
            seed=seed,
            explain=True,
        )
        with self._journal.read() as connection, self._readings(connection, request) as readings:
            return explain_retrieve(readings, id, request)

    @contextmanager
    def _readings(self, connection: apsw.Connection, request: RetrieveRequest) -> Iterator[Readings]:
        """Give the readings at the position that a connection sees, to one reader at a time."""
        catalog = self._catalogs.at(connection)
        seed = request.seed
        if seed is None:
            seed = f"{request.profile}\0{catalog.seq}"
        with self._signals.at(connection, lambda: self._journal.now(connection)) as (ledgers, now):
            yield Readings(connection, ledgers, catalog, now, seed)
