"""What a database offers of ranking: by a text, by a profile, and why an item stands where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import Any

from germane.log.content import schema
from germane.log.journal import head
from germane.log.shown import Shown
from germane.model.diversity import Diversity
from germane.model.errors import InvalidArgument
from germane.model.filters import Filter
from germane.model.pages import Explanation, Page
from germane.model.values import check_id, neutral
from germane.model.weights import SearchWeights, SessionWeights
from germane.ranking.behaviour.readings import Readings
from germane.ranking.moment import Moment, Moments
from germane.ranking.retrieve.explain import explain_retrieve
from germane.ranking.retrieve.pipeline import retrieve
from germane.ranking.retrieve.request import RetrieveRequest, retrieve_request
from germane.ranking.search.explain import explain_search
from germane.ranking.search.pipeline import search, top, top_by_text
from germane.ranking.search.request import BY_TEXT, SearchRequest, encodable, search_request
from germane.ranking.session import resolved
from germane.sessions.context import Context
from germane.sessions.session import Session


class RankingCalls:
    """The part of a database that ranks."""

    _moments: Moments
    _shown: Shown

    def search(
        self,
        text: str,
        *,
        mode: str = "sections",
        user: str | None = None,
        session: Session | str | None = None,
        profile: str = "search",
        personalization: float | None = None,
        where: str | Filter | None = None,
        collections: Sequence[str] | None = None,
        algo: str = "text",
        match: str = "any",
        weights: SearchWeights | None = None,
        session_weights: SessionWeights | None = None,
        scorer: str = "bm25f",
        aggregate: str = "sum",
        facets: tuple[()] = (),
        sort_by: None = None,
        vector: None = None,
        rerank: int = 1000,
        typos: bool = True,
        lang: str | None = None,
        offset: int = 0,
        limit: int = 20,
        explain: bool = False,
        as_of: int | datetime | None = None,
    ) -> Page:
        """Rank sections by a text.

        Parameters
        ----------
        text : str
            ``words``, ``"a phrase"``, ``+must``, ``-not``, ``title:word``, ``body:``, ``code:``, and the
            exact filters ``tag:``, ``type:``, ``doc:``. No text is an error.
        mode : {"sections", "stats"}
            Ranked results, or counts of matches and words.
        user : str, optional
            Whom results are for: what they hid or whose creator they blocked is no match, and what they
            muted comes last.
        where : str or Filter, optional
            Search only items that meet this: ``"meta.price < 10 and not tags contains 'used'"``, or
            the same made with `germane.where`.
        collections : sequence of str, optional
            Search only these.
        match : {"any", "all"}
            With ``all`` a section holds every word; when none does, any will do and the page says so.
        profile : str
            Add what this profile says of behaviour to the best by text; ``search`` adds the user's
            taste, nothing without a user.
        personalization : float, optional
            How much of it, 0 to 1: at 1 up to half of the best score by text. Without one, 0.3.
        rerank : int
            To how many of the best by text it is added, 1 to 10,000.
        weights : SearchWeights, optional
        lang : str, optional
            Analyse the text in this language only; otherwise in all that the searched sections hold.
        offset : int
            Results to leave out, from 0.
        limit : int
            Results to return, 1 to 1000.
        explain : bool
            Whether results carry reasons with the numbers behind each word.
        as_of : int or datetime, optional
            Answer as it would have been then: after an event (a `Receipt.seq`), or at a time. It folds the
            log up to there, which may be slow.
        session : Session or str, optional
            A session of an agent, or its id: what it noted and did is added to the matches; without `user`
            the results are for its user. One that is not there any more is left out, and `degraded` says so.
        session_weights : SessionWeights, optional
        algo, scorer, aggregate, facets, sort_by, vector, typos
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

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> texts = {"a": "red lamp", "b": "red red bulb"}
        >>> ids = db.put_many(germane.Item(id=id, body=text) for id, text in texts.items())
        >>> [result.id for result in db.search("red lamp").items]
        ['a', 'b']
        """
        # Every parameter goes on under its own name, unless it has its default.
        request = search_request(
            text,
            **{
                name: value
                for name, value in locals().items()
                if name in SEARCH_DEFAULTS and value is not SEARCH_DEFAULTS[name]
            },
        )
        with self._moments.at(request.as_of) as moment:
            request, context = resolved(request, moment.session)
            audience = moment.audience(request.user, context=context)
            with behaviour_at(moment, request, context) as readings:
                return search(moment, request, audience, readings, context)

    def top(self, text: str, k: int = 10, **same: Any) -> tuple[list[str], list[float]]:
        """Rank sections by a text and return only the best ids and their scores.

        Parameters
        ----------
        text : str
        k : int
            How many, 1 to 1000.
        **same
            As `search` takes them, but ``limit`` and ``mode``.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> ids = db.put_many([germane.Item(id="a", body="red lamp"), germane.Item(id="b", body="blue lamp")])
        >>> db.top("red")[0]
        ['a']
        """
        if not same and isinstance(text, str) and type(k) is int and 1 <= k <= 1000:
            index = self._moments.index()
            found = None if index is None else top_by_text(index, encodable(text), k)
            if found is not None:
                return found
        for name in same:
            if name not in SEARCH_DEFAULTS or name in ("limit", "mode"):
                raise InvalidArgument(name, "is no parameter of top")
        try:
            request = search_request(text, limit=k, **same)
        except InvalidArgument as error:
            if error.field != "limit":
                raise
            raise InvalidArgument("k", error.message.partition(": ")[2]) from None
        with self._moments.at(request.as_of) as moment:
            request, context = resolved(request, moment.session)
            audience = moment.audience(request.user, context=context)
            with behaviour_at(moment, request, context) as readings:
                return top(moment, request, audience, readings, context)

    def retrieve(
        self,
        profile: str = "for_you",
        *,
        user: str | None = None,
        session: Session | str | None = None,
        similar_to: str | None = None,
        candidates: Sequence[str] | None = None,
        where: str | Filter | None = None,
        collections: Sequence[str] | None = None,
        diversity: Diversity | None = None,
        session_weights: SessionWeights | None = None,
        facets: tuple[()] = (),
        limit: int = 20,
        cursor: str | None = None,
        seed: str | int | None = None,
        explain: bool = False,
        as_of: int | datetime | None = None,
    ) -> Page:
        """Rank items by a profile.

        Parameters
        ----------
        profile : str
            A built-in one (``trending``, ``top:24h``, ``hot``...), one that the schema declares, or
            ``name@version``.
        user : str, optional
            Whom results are for: what they hid or whose creator they blocked is not among them, and what
            they muted comes last.
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
            `explain` may be left out then. Of more than 32,768 candidates three pages are ranked at a time;
            beyond them what was not shown is ranked again, so that no page repeats or passes over an item.
        seed : str or int, optional
            What exploration and ``shuffle`` draw by; without one, the log's position.
        explain : bool
            Whether results carry reasons.
        as_of : int or datetime, optional
            Answer as it would have been then, as for `search`.
        similar_to : str, optional
            The id of an item: rank only the 500 items whose vectors are nearest to its own, without it.
        session, session_weights
            As for `search`.
        facets
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
        with self._moments.at(request.as_of) as moment:
            request, context = resolved(request, moment.session)
            with readings_at(moment, request, context) as readings:
                keeps = schema(moment.connection).impressions
                return retrieve(moment, readings, self._shown, request, context, keeps)

    def related(self, id: str, limit: int = 10) -> Page:
        """Return the items that go with one: what the same users did, alike vectors, and tags in common.

        Parameters
        ----------
        id : str
        limit : int
            How many, 1 to 1000.

        Returns
        -------
        Page
            What `retrieve` returns for the profile ``related:ID``.

        Raises
        ------
        NotFound
            There is no such item.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> ids = db.put_many(germane.Item(id=id, title=id) for id in ("lamp", "bulb", "sofa"))
        >>> receipts = [db.signal("view", id, user="ann") for id in ("lamp", "bulb")]
        >>> [result.id for result in db.related("lamp").items]
        ['bulb']
        """
        return self.retrieve(f"related:{check_id(id, 'id')}", limit=limit)

    def explain(
        self,
        id: str,
        *,
        profile: str | None = None,
        text: str | None = None,
        user: str | None = None,
        session: Session | str | None = None,
        where: str | Filter | None = None,
        collections: Sequence[str] | None = None,
        candidates: Sequence[str] | None = None,
        similar_to: str | None = None,
        seed: str | int | None = None,
        session_weights: SessionWeights | None = None,
        limit: int = 20,
        as_of: int | datetime | None = None,
    ) -> Explanation:
        """Say why an item stands where it stands in a ranking, or why it is not there.

        Parameters
        ----------
        id : str
        profile : str, optional
            As `retrieve` takes it, the default too; with a text, as `search`.
        text : str, optional
            Explain the item's place in a search for this.
        user, session, where, collections, candidates, similar_to, seed, session_weights, limit, as_of
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
        if text is not None:
            neutral(candidates=(candidates, None), similar_to=(similar_to, None), seed=(seed, None))
            asked = {
                "profile": profile or BY_TEXT, "user": user, "session": session, "where": where,
                "session_weights": session_weights, "collections": collections,
            }  # fmt: skip
            searched = search_request(text, **asked, limit=limit, as_of=as_of, explain=True)
            with self._moments.at(as_of) as moment:
                searched, context = resolved(searched, moment.session)
                audience = moment.audience(searched.user, context=context)
                with behaviour_at(moment, searched, context) as behaviour:
                    return explain_search(id, moment, searched, audience, behaviour, context)
        request = retrieve_request(
            "for_you" if profile is None else profile,
            user=user,
            session=session,
            session_weights=session_weights,
            similar_to=similar_to,
            candidates=candidates,
            where=where,
            collections=collections,
            diversity=None,
            limit=limit,
            cursor=None,
            seed=seed,
            explain=True,
            as_of=as_of,
        )
        with self._moments.at(as_of) as moment:
            request, context = resolved(request, moment.session)
            with readings_at(moment, request, context) as readings:
                boost = moment.boost(context, request.session_weights)
                return explain_retrieve(readings, id, request, boost)

    def query(self, text: str) -> Page:
        """Answer a query in its textual form: a RETRIEVE or a SEARCH.

        Parameters
        ----------
        text : str
            Such as ``RETRIEVE items USING PROFILE trending WHERE meta.price < 10 LIMIT 5``, or
            ``SEARCH "move semantics" MATCH all``. Keywords may be in any case, clauses in any order.

        Returns
        -------
        Page
            What `retrieve` or `search` returns for the same arguments.

        Raises
        ------
        QuerySyntaxError
            It does not parse; the error says where, and what was expected there.
        InvalidArgument
            An argument cannot be used; the error names it.

        Examples
        --------
        >>> import germane
        >>> db = germane.open()
        >>> ids = db.put_many([germane.Item(id="a", body="red lamp"), germane.Item(id="b", body="bulb")])
        >>> [result.id for result in db.query('SEARCH "lamp" LIMIT 5').items]
        ['a']
        >>> [result.id for result in db.query("RETRIEVE items USING PROFILE new WHERE id = 'b'").items]
        ['b']
        """
        from germane.model.query_text import parse_query  # a grammar that nothing else here needs

        query = parse_query(text)
        surface = self.search if query.surface == "search" else self.retrieve
        return surface(**query.arguments)


@contextmanager
def readings_at(
    moment: Moment, request: RetrieveRequest, context: Context | None = None
) -> Iterator[Readings]:
    """Give the readings of a moment, to one reader at a time."""
    catalog = moment.catalog
    seed = _seed(moment, request) if request.seed is None else request.seed
    with moment.ledgers() as (ledgers, now):
        audience = moment.audience(request.user, now, context)
        yield Readings(moment.connection, ledgers, catalog, now, seed, audience)


def behaviour_at(
    moment: Moment, request: SearchRequest, context: Context | None = None
) -> AbstractContextManager[Readings | None]:
    """Give the readings of behaviour that a search needs, to one reader at a time; None without need."""
    return _NO_BEHAVIOUR if request.profile == BY_TEXT else _behaviour_at(moment, request, context)


@contextmanager
def _behaviour_at(moment: Moment, request: SearchRequest, context: Context | None) -> Iterator[Readings]:
    catalog = moment.catalog
    with moment.ledgers() as (ledgers, now):
        audience = moment.audience(request.user, now, context)
        yield Readings(moment.connection, ledgers, catalog, now, _seed(moment, request), audience)


def _seed(moment: Moment, request: RetrieveRequest | SearchRequest) -> str:
    """Return what draws depend on when a query does not say."""
    seed = f"{request.profile}\0{head(moment.connection)}"
    return seed if request.user is None else f"{request.user}\0{seed}"


_NO_BEHAVIOUR: AbstractContextManager[None] = nullcontext()
SEARCH_DEFAULTS: dict[str, Any] = dict(RankingCalls.search.__kwdefaults__ or {})
