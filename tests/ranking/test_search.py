"""SEARCH as its users meet it: arguments, filters, paging, order, modes."""

from __future__ import annotations

from typing import Any

import pytest

import germane
from germane import InvalidArgument, Item


@pytest.fixture
def db() -> germane.Database:
    made = germane.open(clock=lambda: 1_000_000)
    made.put_document(
        "guide",
        title="Guide",
        sections=[
            Item(id="g1", title="Red lamps", body="A lamp that glows red.", tags=["color"]),
            Item(id="g2", title="Blue lamps", body="A lamp that glows blue.", tags=["color", "two words"]),
        ],
    )
    made.put_many(
        [
            Item(id="code", body="def lamp(): pass", type="text/x-python", collection="source"),
            Item(id="image", title="A lamp", body=b"\x89PNG", type="image/png"),
            Item(id="hidden", body=b"\x89PNG", type="image/png", tags=["color"]),
            Item(id="note", body="Nothing glows here: no light at all.", metadata={"n": 1}),
        ]
    )
    return made


def ids(db: germane.Database, text: str, **more: Any) -> list[str]:
    return [result.id for result in db.search(text, **more).items]


def test_fields_and_filters(db: germane.Database) -> None:
    assert ids(db, "title:lamp") == ["g1", "g2", "image"] or set(ids(db, "title:lamp")) == {
        "g1",
        "g2",
        "image",
    }
    assert ids(db, "code:lamp") == ["code"]
    assert set(ids(db, "lamp tag:color")) == {"g1", "g2"}
    assert set(ids(db, "lamp -tag:color")) == {"code", "image"}
    assert ids(db, 'lamp tag:"two words"') == ["g2"]
    assert ids(db, "lamp type:image/png") == ["image"]
    assert ids(db, "lamp doc:guide -blue") == ["g1"]
    assert ids(db, "lamp doc:Guide") == []


def test_filters_alone_list_what_they_select_by_id(db: germane.Database) -> None:
    page = db.search("tag:color")
    assert [(result.id, result.score, result.contributions) for result in page.items] == [
        ("g1", 0.0, {}),
        ("g2", 0.0, {}),
    ]
    assert ids(db, "tag:color -red") == ["g2"]


def test_negatives_alone_match_nothing(db: germane.Database) -> None:
    assert db.search("-lamp").total == db.search("-tag:color").total == db.search('-"a b" -c').total == 0


def test_must_phrases_and_not(db: germane.Database) -> None:
    assert ids(db, "+glows +red") == ["g1"]
    assert ids(db, '"glows blue"') == ["g2"]
    assert ids(db, '"glows here no"') == ["note"]
    assert ids(db, '"lamps a"') == []  # from the heading into the body
    assert set(ids(db, "lamp -red")) == {"g2", "code", "image"}
    assert ids(db, 'glows -"no light"') == ["g1", "g2"]


def test_all_words_or_loosened(db: germane.Database) -> None:
    page = db.search("glows red", match="all")
    assert ([r.id for r in page.items], page.loosened) == (["g1"], False)
    page = db.search("glows purple", match="all")
    assert page.loosened
    assert page.total == 3
    assert not db.search("purple", match="all").loosened


def test_stop_words_count_only_alone_or_quoted(db: germane.Database) -> None:
    assert set(ids(db, "a")) == {"g1", "g2", "image"}
    assert set(ids(db, "a glows")) == {"g1", "g2", "note"}
    assert ids(db, '"that glows"') == ["g1", "g2"]


def test_paging_is_a_window_of_one_order(db: germane.Database) -> None:
    whole = ids(db, "lamp glows")
    pages = [db.search("lamp glows", offset=offset, limit=2) for offset in (0, 2, 4, 6)]
    assert [r.id for page in pages for r in page.items] == whole
    assert [page.total for page in pages] == [5] * 4
    assert [page.has_more for page in pages] == [True, True, False, False]
    assert (pages[1].offset, pages[1].limit) == (2, 2)


def test_equal_scores_go_by_code_point() -> None:
    db = germane.open()
    names = ["b", "a", "é", "Z", "中", "𝒳", "\uffee"]
    db.put_many(Item(id=name, body="lamp") for name in names)
    assert ids(db, "lamp") == sorted(names)
    assert ids(db, "lamp", limit=3) == sorted(names)[:3]


def test_collections(db: germane.Database) -> None:
    assert ids(db, "lamp", collections=["source"]) == ["code"]
    assert ids(db, "lamp", collections=["none"]) == []
    assert ids(db, "lamp", collections=[]) == []
    everywhere = {r.id: r.score for r in db.search("lamp").items}
    assert db.search("lamp", collections=["source"]).items[0].score == everywhere["code"]


def test_a_result_says_where_it_stands(db: germane.Database) -> None:
    first = db.search("red").items[0]
    assert (first.id, first.docids, first.title, first.heading, first.level) == (
        "g1",
        ("guide",),
        "Red lamps",
        "Red lamps",
        1,
    )
    assert first.created_at.isoformat() == "1970-01-12T13:46:40+00:00"
    note = db.search("nothing").items[0]
    assert (note.heading, note.docids, note.level, note.path, note.metadata) == (
        None,
        (),
        None,
        None,
        {"n": 1},
    )
    assert note.reasons == ()


def test_reasons_come_when_asked_for(db: germane.Database) -> None:
    (reason,) = db.search("red lamp", explain=True).items[0].reasons
    assert reason.code == "TextMatch"
    assert reason.detail["words"]["red"] == {
        "df": 1,
        "idf": pytest.approx(1.386, abs=1e-3),
        "tf": {"heading": 1, "body": 1, "code": 0},
    }


def test_matched_terms_are_the_querys_own_words(db: germane.Database) -> None:
    assert db.search("Glowing LAMPS purple").items[0].matched_terms == ("Glowing", "LAMPS")


def test_names_of_contributions_stay_apart() -> None:
    db = germane.open()
    db.put(Item(id="a", body="getUsing getusing"))
    names = list(db.search("getUsing getusing").items[0].contributions)
    assert len(names) == len(set(names))
    assert "text.getusing.body" in names
    assert "text.getusing#2.body" in names


def test_mode_stats(db: germane.Database) -> None:
    page = db.search("lamp glows", mode="stats")
    assert page.items == ()
    assert page.stats is not None
    assert page.total == page.stats.total_matches == 5
    assert [(s.term, s.frequency, s.sections_matched) for s in page.stats.top_terms] == [
        ("lamp", 6, 4),
        ("glows", 3, 3),
    ]


def test_freshness_prefers_the_young() -> None:
    day = 86_400
    db = germane.open(clock=lambda: 100 * day)
    db.put_many(
        [Item(id="old", body="lamp", created_at=0), Item(id="young", body="lamp", created_at=99 * day)]
    )
    assert ids(db, "lamp") == ["old", "young"]
    page = db.search("lamp", weights=germane.SearchWeights(freshness=1.0, half_life_days=1))
    assert [r.id for r in page.items] == ["young", "old"]
    assert page.items[0].contributions["freshness"] == 0.5


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"offset": -1}, "offset", "offset: -1 is out of range: it must be a whole number from 0 up"),
        ({"offset": 1.5}, "offset", "offset: must be a whole number from 0 up, not 1.5"),
        ({"limit": 0}, "limit", "limit: 0 is out of range: it must be a whole number from 1 to 1000"),
        ({"limit": 1001}, "limit", "limit: 1001 is out of range: it must be a whole number from 1 to 1000"),
        ({"limit": True}, "limit", "limit: must be a whole number from 1 to 1000, not True"),
        ({"mode": "pages"}, "mode", "mode: 'pages' is none of sections, stats"),
        ({"mode": "documents"}, "mode", "mode: is not available in this version: leave it at 'sections'"),
        ({"match": "some"}, "match", "match: 'some' is none of any, all"),
        (
            {"lang": "englsh"},
            "lang",
            "lang: 'englsh' is no language: give a name or code like 'english' or 'en'",
        ),
        ({"collections": "main"}, "collections", "collections: must be a list of strings, not str"),
        ({"weights": {"heading": 1}}, "weights", "weights: must be SearchWeights, not dict"),
        ({"explain": 1}, "explain", "explain: must be True or False, not 1"),
        ({"typos": "no"}, "typos", "typos: must be True or False, not 'no'"),
        ({"algo": "hybrid"}, "algo", "algo: is not available in this version: leave it at 'text'"),
        ({"user": ""}, "user", "user: is empty: an id has 1 to 200 characters"),
        (
            {"where": "id = 'a' and not unseen"},
            "where",
            "where: 'unseen' is about a user: say which, as in user='ann', or leave it out",
        ),
        ({"session": 3}, "session", "session: must be a session or its id, not int"),
        (
            {"session_weights": 1},
            "session_weights",
            "session_weights: must be a SessionWeights, not int",
        ),
        ({"facets": ("tag",)}, "facets", "facets: is not available in this version: leave it at ()"),
        (
            {"rerank": 0},
            "rerank",
            "rerank: 0 is out of range: it must be a whole number from 1 to 10000",
        ),
        ({"personalization": 2}, "personalization", "personalization: must be a number from 0 to 1, not 2"),
        ({"profile": ""}, "profile", "profile: is empty: an id has 1 to 200 characters"),
    ],
)
def test_errors_name_the_parameter(
    db: germane.Database, arguments: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        db.search("lamp", **arguments)
    assert caught.value.field == field
    assert str(caught.value) == message


def test_every_parameter_of_a_later_feature_refuses_all_but_its_neutral_value(db: germane.Database) -> None:
    later = ("sort_by", "vector")
    for name in (*later, "scorer", "aggregate"):
        with pytest.raises(InvalidArgument, match=f"^{name}: is not available") as caught:
            db.search("lamp", **{name: "x"})  # type: ignore[arg-type]
        assert caught.value.field == name
    assert db.search("lamp", typos=False).total == db.search("lamp", typos=True).total


def test_errors_of_top(db: germane.Database) -> None:
    with pytest.raises(InvalidArgument, match=r"^k: 0 is out of range"):
        db.top("lamp", 0)
    with pytest.raises(InvalidArgument, match=r"^mode: is no parameter of top"):
        db.top("lamp", mode="stats")
    with pytest.raises(InvalidArgument, match=r"^text: must be a string, not bytes"):
        db.top(b"lamp")  # type: ignore[arg-type]


def test_identifiers_are_found_whole_and_by_part() -> None:
    db = germane.open()
    texts = {
        "dec": "see DEC-0054 there",
        "snake": "call apply_secrets now",
        "camel": "call getUserById now",
        "version": "since v1.2.3 of it",
        "path": "in src/app/main.py here",
        "zh": "全文检索引擎",
        "ja": "日本語を話す",
        "ko": "한국어 검색",
        "th": "ภาษาไทยง่าย",
        "hi": "हिन्दी में खोज",
        "accent": "Café crème",
        "combining": "cafe\u0301 noir",
    }
    db.put_many(Item(id=id, body=body, type="text/plain") for id, body in texts.items())
    for query, id in {
        "DEC-0054": "dec",
        "0054": "dec",
        "apply_secrets": "snake",
        "secrets": "snake",
        "getUserById": "camel",
        "user": "camel",
        "getuserbyid": "camel",
        "v1.2.3": "version",
        "src/app/main.py": "path",
        "main.py": "path",
        "检索": "zh",
        "引": "zh",
        "日本": "ja",
        "話す": "ja",
        "검색": "ko",
        "ไทย": "th",
        "खोज": "hi",
        "noir": "combining",
    }.items():
        assert ids(db, query)[:1] == [id], query
    assert set(ids(db, "cafe")) == set(ids(db, "café")) == {"accent", "combining"}
