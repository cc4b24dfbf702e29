"""Profiles: what is declared, how it is printed, and every message of what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane import InvalidArgument, Profile, Schema, SchemaError, Signal
from germane.model.builtin import NAMES, built_in
from germane.model.diversity import Diversity

TERMS = (
    "is no term: there are SIGNAL.decayed, SIGNAL.count.24h, SIGNAL.velocity.1h, SIGNAL.ratio.SIGNAL, "
    "recency.48h, meta.NAME, text, preference, affinity, cooccurrence, again, cosine, shared_tags, reach, "
    "engagement, hot, rising, controversial, wilson, gem, shuffle, created_at"
)
STRATEGIES = "all, ids, signal(TERM, N), fresh(N), nearest(N), following(N), related(ID, N), related(N)"
NUMBER = "give how many, from 1 to 1,000,000"
WINDOW = "needs a window: one of 1h, 24h, 7d, 30d, all"
WEIGHT = "must be a number from -1e+12 to 1e+12, not"
DURATION = "is not a duration: give one like '30m', '24h' or '7d', or seconds above 0"
OVER = "give strategies like signal(like.decayed, 500) whose numbers sum to at most 10,000, and not 'all'"
VERSIONS = "a whole number from 1 to 1000000"
BOOST = "give a string like '0.5 log1p(like.decayed)', or a form and its weight, not"
FIELDS = "type, tags, creator, document, collection, kind, and meta.NAME"


@pytest.mark.parametrize("name", ["", "A", "1a", "a b", "a-b", "é", "a" * 65, None, 3])
def test_names_that_are_refused(name: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        Profile(name)
    assert str(caught.value) == f"profile.name: {name!r} must be [a-z][a-z0-9_]{{0,63}}"
    assert caught.value.field == "profile.name"


@pytest.mark.parametrize(
    ("field", "given", "message"),
    [
        ("version", 0, f"version: 0 is out of range: it must be {VERSIONS}"),
        ("version", 1.5, f"version: must be {VERSIONS}, not 1.5"),
        ("version", True, f"version: must be {VERSIONS}, not True"),
        ("version", None, f"version: must be {VERSIONS}, not None"),
        ("candidates", (), "candidates: is empty: give at least one strategy, such as 'all'"),
        ("candidates", "all", "candidates: must be a list, not str"),
        ("candidates", ["al"], f"candidates[0]: 'al' is no strategy: there are {STRATEGIES}"),
        ("candidates", [1], f"candidates[0]: a strategy is a string, one of {STRATEGIES}, not 1"),
        ("candidates", ["fresh()"], f"candidates[0]: 'fresh()': {NUMBER}"),
        ("candidates", ["fresh(0)"], f"candidates[0]: 'fresh(0)': {NUMBER}"),
        ("candidates", ["fresh(-1)"], f"candidates[0]: 'fresh(-1)': {NUMBER}"),
        ("candidates", ["fresh(1000001)"], f"candidates[0]: 'fresh(1000001)': {NUMBER}"),
        ("candidates", ["signal(reach)"], f"candidates[0]: 'signal(reach)': {NUMBER}"),
        ("candidates", ["fresh(a, 3)"], f"candidates[0]: 'fresh(a, 3)': there are {STRATEGIES}"),
        ("candidates", ["related()"], f"candidates[0]: 'related()': {NUMBER}"),
        ("candidates", ["related(, 3)"], "candidates[0]: is empty: an id has 1 to 200 characters"),
        ("candidates", ["all", "signal(x, 5)"], f"candidates[1]: 'x' {TERMS}"),
        ("candidates", ["signal(log1p(reach), 4)"], f"candidates[0]: 'log1p(reach)' {TERMS}"),
        ("candidates", ["fresh(2)", "fresh( 2 )"], "candidates[1]: 'fresh(2)' is declared twice"),
        ("boosts", "reach", "boosts: must be a list, not str"),
        ("boosts", None, "boosts: must be a list, not NoneType"),
        ("boosts", [3], f"boosts[0]: {BOOST} 3"),
        ("boosts", [("reach",)], f"boosts[0]: {BOOST} ('reach',)"),
        ("boosts", ["like"], f"boosts[0]: 'like' {TERMS}"),
        ("boosts", ["reach", "-reach"], f"boosts[1]: '-reach' {TERMS}"),
        ("boosts", ["log1p(reach"], f"boosts[0]: 'log1p(reach' {TERMS}"),
        ("boosts", ["recency"], f"boosts[0]: 'recency' {TERMS}"),
        ("boosts", ["recency.x"], f"boosts[0]: 'recency.x': 'x' {DURATION}"),
        ("boosts", ["recency.0h"], f"boosts[0]: 'recency.0h': '0h' {DURATION}"),
        ("boosts", ["meta."], "boosts[0]: is empty: an id has 1 to 200 characters"),
        ("boosts", ["like.count"], f"boosts[0]: 'like.count' {WINDOW}"),
        ("boosts", ["like.velocity.2h"], f"boosts[0]: 'like.velocity.2h' {WINDOW}"),
        ("boosts", ["like.ratio"], "boosts[0]: 'like.ratio' needs a second signal: like.ratio.view"),
        (
            "boosts",
            ["like.decayed.24h"],
            "boosts[0]: 'like.decayed.24h': a decayed score has no window: write like.decayed",
        ),
        (
            "boosts",
            ["sqrt(reach)"],
            "boosts[0]: 'sqrt' is no transform: there are linear, log1p, saturate, minmax, rank",
        ),
        (
            "boosts",
            ["saturate(reach)"],
            "boosts[0]: 'saturate(reach)': write saturate(3)(x), and others like log1p(x)",
        ),
        (
            "boosts",
            ["log1p(3)(reach)"],
            "boosts[0]: 'log1p(3)(reach)': write saturate(3)(x), and others like log1p(x)",
        ),
        ("boosts", ["saturate(0)(reach)"], "boosts[0]: saturate takes a number from 1e-12 to 1e12, not '0'"),
        ("boosts", ["saturate(nan)(reach)"], "boosts[0]: 'nan' is no number that can be used here"),
        (
            "boosts",
            ["log1p(" * 17 + "reach" + ")" * 17],
            "boosts[0]: has more than 16 transforms within each other",
        ),
        ("boosts", ["1e13 reach"], f"boosts[0]: {WEIGHT} 10000000000000.0"),
        ("boosts", ["1e400 reach"], "boosts[0]: '1e400' is no number that can be used here"),
        ("boosts", ["1..2 reach"], "boosts[0]: '1..2' is no number that can be used here"),
        ("boosts", [("reach", math.nan)], f"boosts[0]: {WEIGHT} nan"),
        ("boosts", {"reach": math.inf}, f"boosts[0]: {WEIGHT} inf"),
        ("boosts", [("reach", True)], f"boosts[0]: {WEIGHT} True"),
        ("boosts", ["2 reach", "reach"], "boosts[1]: 'reach' is declared twice"),
        ("boosts", ["reach", "linear(reach)"], "boosts[1]: 'reach' is declared twice"),
        ("boosts", [{"weight": 1}], "boosts[0]: a table has term, and may have transform and weight"),
        ("boosts", [{"term": "x", "k": 1}], "boosts[0]: a table has term, and may have transform and weight"),
        ("penalties", ["like"], f"penalties[0]: 'like' {TERMS}"),
        ("penalties", ["reach", "1 reach"], "penalties[1]: 'reach' is declared twice"),
        ("boosts", ["minmax(reach)"], f"candidates: 'minmax(reach)' looks at all candidates: {OVER}"),
        ("penalties", ["rank(reach)"], f"candidates: 'rank(reach)' looks at all candidates: {OVER}"),
        ("sort", "minmax(reach)", f"candidates: 'minmax(reach)' looks at all candidates: {OVER}"),
        ("gates", "reach >= 1", "gates: must be a list, not str"),
        ("gates", ["reach > 1"], "gates[0]: 'reach > 1': a gate is like 'view.count.all >= 10'"),
        ("gates", ["reach >= nan"], "gates[0]: 'nan' is no number that can be used here"),
        ("gates", {"reach": math.inf}, f"gates[0]: {WEIGHT} inf"),
        ("gates", ["log1p(reach) >= 1"], f"gates[0]: 'log1p(reach)' {TERMS}"),
        (
            "gates",
            [3],
            "gates[0]: give a string like 'view.count.all >= 10', or a term and its threshold, not 3",
        ),
        ("gates", ["text >= 1"], "gates[0]: 'text' has a value in searches only: give min scores there"),
        ("sort", 3, "sort: must be a form like 'created_at' or '-meta.price', not 3"),
        ("sort", "--reach", f"sort: '-reach' {TERMS}"),
        ("exploration", -0.1, "exploration: must be a number from 0 to 0.5, not -0.1"),
        ("exploration", 0.6, "exploration: must be a number from 0 to 0.5, not 0.6"),
        ("exploration", math.nan, "exploration: must be a number from 0 to 0.5, not nan"),
        ("exploration", "0.1", "exploration: must be a number from 0 to 0.5, not '0.1'"),
        ("diversity", 3, "diversity: must be a Diversity, not int"),
        (
            "diversity",
            {"max": 1},
            "diversity.max: is no limit: there are max_per_creator, max_share, mmr, relax",
        ),
        (
            "diversity",
            {"max_per_creator": 0},
            "diversity.max_per_creator: 0 is out of range: it must be a whole number from 1 to 1000",
        ),
    ],
)
def test_what_is_refused(field: str, given: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Profile("p", **{field: given})
    assert str(caught.value) == f"profile.p.{message}"
    assert caught.value.field == f"profile.p.{message.partition(': ')[0]}"


def test_what_orders_alone_takes_nothing_beside_it() -> None:
    beside: list[dict[str, Any]] = [{"boosts": ["reach"]}, {"penalties": ["reach"]}]
    for declared in beside:
        with pytest.raises(SchemaError) as caught:
            Profile("p", sort="hot", **declared)
        assert str(caught.value) == (
            "profile.p.sort: orders alone: leave out boosts and penalties, or weigh it with them"
        )


def test_strategies_that_transforms_can_look_over() -> None:
    """Fails when the numbers are counted each for themselves instead of summed."""
    Profile("p", candidates=["fresh(5000)", "signal(reach, 5000)"], boosts=["rank(reach)"])
    with pytest.raises(SchemaError, match="sum to at most 10,000"):
        Profile("p", candidates=["fresh(5000)", "signal(reach, 5001)"], boosts=["rank(reach)"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"max_per_creator": 1001},
            "max_per_creator: 1001 is out of range: it must be a whole number from 1 to 1000",
        ),
        ({"max_per_creator": True}, "max_per_creator: must be a whole number from 1 to 1000, not True"),
        ({"max_share": 3}, "max_share: must be a mapping like {'meta.format': 0.6}, not 3"),
        ({"max_share": {"meta.x": 0}}, "max_share.meta.x: must be above 0 and at most 1, not 0"),
        ({"max_share": {"meta.x": 1.1}}, "max_share.meta.x: must be above 0 and at most 1, not 1.1"),
        ({"max_share": {"meta.x": math.nan}}, "max_share.meta.x: must be above 0 and at most 1, not nan"),
        ({"max_share": {"id": 0.5}}, f"max_share: 'id' is no field to limit: there are {FIELDS}"),
        ({"max_share": {"meta.": 0.5}}, f"max_share: 'meta.' is no field to limit: there are {FIELDS}"),
        ({"max_share": {3: 0.5}}, f"max_share: 3 is no field to limit: there are {FIELDS}"),
        ({"mmr": 1.5}, "mmr: must be a number from 0 to 1, not 1.5"),
        ({"relax": 1}, "relax: must be True or False, not 1"),
    ],
)
def test_limits_that_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Diversity(**given)
    assert str(caught.value) == message
    with pytest.raises(InvalidArgument) as within:
        Diversity.of(given)
    assert str(within.value) == f"diversity.{message}"


SIGNALS = (Signal("like", windows=("1h", "all"), velocity=False), Signal("view"))


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("dislike.decayed", "'dislike' is no declared signal: declared are like, view"),
        ("like.ratio.dislike", "'dislike' is no declared signal: declared are like, view"),
        ("dislike.ratio.like", "'dislike' is no declared signal: declared are like, view"),
        ("like.count.24h", "'24h' is no window of 'like': it has 1h, all"),
        ("like.velocity.1h", "signal 'like' is declared without velocity"),
    ],
)
def test_terms_that_a_schema_does_not_offer(term: str, message: str) -> None:
    places = {
        "boosts[1]": Profile("p", boosts=["reach", term]),
        "penalties[0]": Profile("p", penalties=[f"log1p({term})"]),
        "gates[1]": Profile("p", gates=["reach >= 1", f"{term} >= 1"]),
        "candidates[1]": Profile("p", candidates=["fresh(1)", f"signal({term}, 1)"]),
        "sort": Profile("p", sort=f"-{term}"),
    }
    for place, profile in places.items():
        with pytest.raises(SchemaError) as caught:
            Schema(SIGNALS, [profile])
        assert str(caught.value) == f"profile.p.{place}: '{term}': {message}"


@pytest.mark.parametrize(
    ("profiles", "message"),
    [
        ([Profile("p"), Profile("p", sort="hot")], "profiles[1].version: 'p@1' is declared twice"),
        (["p"], "profiles[0]: must be a Profile, not str"),
        ("p", "profiles: must be a list of Profile, not str"),
        (3, "profiles: must be a list of Profile, not int"),
        *(([Profile(name)], f"profiles[0].name: {name!r} is a built-in profile") for name in NAMES),
    ],
)
def test_profiles_that_a_schema_refuses(profiles: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema(SIGNALS, profiles)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "profiles: each must be a table, not int"),
        ({"boosts": ["reach"]}, "profile.name: is missing: every profile has a name"),
        (
            {"name": "p", "boost": []},
            "profile.boost: is nothing a profile declares: it declares name, version, candidates, boosts, "
            "penalties, gates, sort, diversity, exploration",
        ),
    ],
)
def test_tables_that_are_no_profile(data: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Profile.from_declaration(data)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("top", "'top' needs a window: top:1h, top:24h, top:7d, top:30d, top:all"),
        ("top:2h", "'top:2h' needs a window: top:1h, top:24h, top:7d, top:30d, top:all"),
        ("hot:24h", "'hot' takes nothing after a colon"),
    ],
)
def test_parameters_of_built_in_profiles(name: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        built_in(name)
    assert str(caught.value) == f"profile: {message}"


# What is declared is printed, and declared again from that is the same.

keys = st.text(min_size=1, max_size=8).filter(str.isprintable)
terms = st.one_of(
    st.sampled_from(
        [
            "reach", "engagement", "hot", "shuffle", "created_at", "like.decayed", "like.count.1h",
            "like.count.all", "view.velocity.24h", "like.ratio.view", "recency.48h", "recency.0.5h",
        ]
    ),
    keys.map(lambda key: "meta.'" + key.replace("'", "''") + "'"),
)  # fmt: skip
transforms = st.sampled_from(["{}", "log1p({})", "saturate(3)({})", "saturate(1e-05)({})", "linear( {} )"])
forms = st.tuples(transforms, transforms, terms).map(lambda parts: parts[0].format(parts[1].format(parts[2])))
numbers = st.floats(-1e12, 1e12)
profiles = st.builds(
    Profile,
    st.just("p"),
    version=st.integers(1, 9),
    candidates=st.lists(
        st.one_of(
            st.just("all"), st.just("ids"), st.just("fresh(3)"), terms.map(lambda term: f"signal({term}, 5)")
        ),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    boosts=st.dictionaries(forms, numbers, max_size=1),
    penalties=st.lists(forms, max_size=1),
    gates=st.lists(st.tuples(terms, numbers), max_size=2),
    diversity=st.none() | st.just({"max_per_creator": 2, "max_share": {"meta.format": 0.6}}),
    exploration=st.floats(0, 0.5),
)


@given(profile=profiles)
def test_a_profile_is_printed_back_identically(profile: Profile) -> None:
    """Fails when a weight is printed with fewer digits, and when transforms are printed inside out."""
    data = profile.declaration()
    again = Profile.from_declaration(msgspec.json.decode(msgspec.json.encode(data)))
    assert again == profile
    assert again.declaration() == data


@given(st.text(alphabet="relik.decaymnx()'1 5,*>=-+e0", max_size=30))
def test_any_text_is_a_form_or_refused_by_name(text: str) -> None:
    for field in ("boosts", "gates", "candidates"):
        data = {"name": "p", field: [text]}
        try:
            printed = Profile.from_declaration(data).declaration()
        except SchemaError as error:
            assert error.field.startswith(f"profile.p.{field}"), error
        else:
            assert Profile.from_declaration(printed).declaration() == printed


def test_ways_to_say_the_same() -> None:
    same = [
        ["2 log1p(reach)"],
        ["2*log1p( reach )"],
        [("log1p(reach)", 2)],
        {"log1p(reach)": 2.0},
        [{"term": "reach", "transform": "log1p", "weight": 2}],
    ]
    declared = [Profile("p", boosts=boosts) for boosts in same]
    assert declared == [declared[0]] * len(same)
    assert declared[0].declaration()["boosts"] == ["2 log1p(reach)"]
    gates: list[Any] = [["reach >= 1"], [("reach", 1)], {"reach": 1.0}]
    assert len({str(Profile("p", gates=each).declaration()) for each in gates}) == 1


def test_a_file_declares_profiles(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(
        """
        [[signals]]
        name = "like"
        [[profiles]]
        name = "p"
        version = 2
        candidates = ["signal(like.decayed, 500)", "fresh(20)"]
        boosts = ["0.5 minmax(like.velocity.24h)", {term = "reach", transform = "log1p"}]
        penalties = [["meta.price", 0.1]]
        gates = ["reach >= 3"]
        exploration = 0.1
        [profiles.diversity]
        max_per_creator = 2
        max_share = {"meta.format" = 0.6}
        """
    )
    expected = Profile(
        "p",
        version=2,
        candidates=["signal(like.decayed, 500)", "fresh(20)"],
        boosts=["0.5 minmax(like.velocity.24h)", "log1p(reach)"],
        penalties=["0.1 meta.price"],
        gates=["reach >= 3"],
        diversity=Diversity(max_per_creator=2, max_share={"meta.format": 0.6}),
        exploration=0.1,
    )
    schema = Schema([Signal("like")], [expected])
    assert Schema.from_toml(path) == schema
    assert Schema.from_declaration(schema.declaration()).profiles == (expected,)
