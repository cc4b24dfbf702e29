"""Recording signals: what is taken, refused, told apart by event id, and kept through everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest

import germane
from germane import Conflict, InvalidArgument, Item, NotFound, Schema, Signal

NOW = 1_700_000_000.0


@pytest.fixture
def db() -> germane.Database:
    made = germane.open(clock=lambda: NOW)
    made.put_many([Item(id="a", title="A"), Item(id="b", title="B")])
    return made


def test_a_receipt_says_where_it_stands(db: germane.Database) -> None:
    receipt = db.signal("like", "a", user="u", weight=2.0)
    assert (receipt.id, receipt.rev, receipt.changed, receipt.duplicate) == (
        "a",
        db.get("a").rev,
        True,
        False,
    )
    assert db.stats().events == receipt.seq


def test_a_new_store_declares_the_usual_signals() -> None:
    names = [signal.name for signal in germane.open().schema.signals]
    assert names == ["view", "like", "dislike", "skip", "save", "share", "completion", "reward"]
    assert germane.open(schema=Schema()).schema.signals == ()


@pytest.mark.parametrize("many", [False, True])
def test_an_event_id_names_one_event_for_good(db: germane.Database, many: bool) -> None:
    def send(**event: Any) -> bool:
        if many:
            return db.signal_many([event]) == 0
        return db.signal(event.pop("name"), event.pop("item"), **event).duplicate

    first = {"name": "view", "item": "a", "user": "u", "weight": 2.0, "at": NOW - 5, "event_id": "e1"}
    assert not send(**first)
    assert send(**first)
    assert send(**{**first, "at": None})  # a retry that does not know the time
    for change in (
        {"name": "like"},
        {"item": "b"},
        {"user": "v"},
        {"weight": 1.0},
        {"at": NOW},
        {"user": None},
    ):
        with pytest.raises(Conflict, match="event id 'e1' was used for another event"):
            send(**{**first, **change})
    assert not send(name="view", item="a", event_id="e2")
    assert send(name="view", item="a", event_id="e2", at=NOW - 100)  # the first call had not given one
    assert db.count("view", "a", "all") == 2


def test_duplicates_within_one_batch_count_once(db: germane.Database) -> None:
    event = {"name": "view", "item": "a", "event_id": "e1"}
    assert db.signal_many([event, event, {"name": "view", "item": "a"}]) == 2
    with pytest.raises(Conflict):
        db.signal_many([{**event, "event_id": "e3"}, {**event, "event_id": "e3", "item": "b"}])
    assert db.count("view", "a", "all") == 2


def test_rows_and_columns_say_the_same() -> None:
    counts = []
    for given in (
        [
            {"name": "view", "item": "a", "at": NOW - 1, "user": "u"},
            {"name": "like", "item": "b", "weight": 3.0},
        ],
        {
            "name": ["view", "like"],
            "item": np.array(["a", "b"]),
            "at": [NOW - 1, None],
            "user": ["u", None],
            "weight": np.array([1.0, 3.0]),
        },
    ):
        db = germane.open(clock=lambda: NOW)
        db.put_many([Item(id="a", title="A"), Item(id="b", title="B")])
        assert db.signal_many(given) == 2
        counts.append((db.count("view", "a", "all"), db.decayed("view", "a"), db.decayed("like", "b")))
    assert counts[0] == counts[1]


def test_times_may_be_numpys(db: germane.Database) -> None:
    at = np.array(["2023-11-14T22:00:00", "2023-11-14T22:10:00"], "datetime64[s]")
    assert db.signal_many({"name": ["view"] * 2, "item": ["a"] * 2, "at": at}) == 2
    assert db.count("view", "a", "1h") == 2


@pytest.mark.parametrize("kind", [list, "float64", "float32", "int64", "int32", "uint64"])
def test_times_and_weights_of_any_kind_of_number(db: germane.Database, kind: Any) -> None:
    """Fails if seconds are multiplied before they have room for microseconds."""
    seconds = [1_699_999_872, 0, -1 if kind != "uint64" else 1]  # the first has room in 24 bits of a float
    at, weight = ([*seconds], [1, 2, 3]) if kind is list else (np.array(seconds, kind), np.arange(1, 4))
    assert db.signal_many({"name": ["view"] * 3, "item": ["a"] * 3, "at": at, "weight": weight}) == 3
    with db._journal.read() as connection:
        data = connection.execute("SELECT data FROM log WHERE type = 'signals'").get
    recorded = msgspec.msgpack.decode(data)
    assert np.frombuffer(recorded["at"], "<i8").tolist() == [second * 1_000_000 for second in seconds]
    assert np.frombuffer(recorded["weight"], "<f8").tolist() == [1.0, 2.0, 3.0]


def test_a_batch_that_is_sent_again_changes_nothing(db: germane.Database) -> None:
    columns: dict[str, list[Any]] = {
        "name": ["view", "like"] * 50,
        "item": ["a", "b"] * 50,
        "user": ["u", None] * 50,
        "event_id": [None if n == 7 else f"e{n}" for n in range(100)],
    }
    assert db.signal_many(columns) == 100
    assert db.signal_many(columns) == 1
    more = {name: [*values, *values[:2]] for name, values in columns.items()}
    assert db.signal_many({**more, "event_id": [*columns["event_id"], "new", "new too"]}) == 3
    assert db.count("view", "a", "all") == 51
    with pytest.raises(Conflict, match="event id 'e99' was used for another event"):
        db.signal_many({**columns, "user": ["u", None] * 49 + ["u", "v"]})
    assert db.check().ok


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        ({"name": "veiw"}, InvalidArgument, "name: 'veiw' is no declared signal: declared are view, like,"),
        ({"item": "c"}, NotFound, "there is no item 'c' to signal on"),
        ({"weight": float("nan")}, InvalidArgument, "weight: must be a number from -1e12 to 1e12, not nan"),
        ({"weight": float("inf")}, InvalidArgument, "weight: must be a number from -1e12 to 1e12, not inf"),
        (
            {"weight": 1e13},
            InvalidArgument,
            "weight: must be a number from -1e12 to 1e12, not 10000000000000.0",
        ),
        ({"weight": "1"}, InvalidArgument, "weight: must be a number from -1e12 to 1e12, not '1'"),
        ({"at": NOW + 301}, InvalidArgument, "at: lies more than 5 minutes ahead of the database's time"),
        ({"user": ""}, InvalidArgument, "user: is empty: an id has 1 to 200 characters"),
        ({"event_id": "a\n"}, InvalidArgument, "event_id: holds a control character at 1"),
        (
            {"position": -1},
            InvalidArgument,
            "position: -1 is out of range: it must be a whole number from 0 up",
        ),
    ],
)
def test_what_is_refused_leaves_nothing_behind(
    db: germane.Database, event: dict[str, Any], error: type[Exception], message: str
) -> None:
    events = db.stats().events
    whole = {"name": "view", "item": "a", **event}
    with pytest.raises(error) as caught:
        db.signal(whole.pop("name"), whole.pop("item"), **whole)
    assert str(caught.value).startswith(message)
    with pytest.raises(error):
        db.signal_many([{"name": "view", "item": "b"}, {"name": "view", "item": "a", **event}])
    assert db.stats().events == events
    assert db.count("view", "b", "all") == 0


@pytest.mark.parametrize("many", [False, True])
def test_five_minutes_ahead_is_still_accepted(db: germane.Database, many: bool) -> None:
    """Fails when the limit itself is refused, and when one microsecond more is not."""

    def record(at: float) -> None:
        if many:
            db.signal_many({"name": ["view"], "item": ["a"], "at": [at]})
        else:
            db.signal("view", "a", at=at)

    record(NOW + 300)
    events = db.stats().events
    with pytest.raises(InvalidArgument, match="more than 5 minutes ahead"):
        record(NOW + 300.000001)
    assert db.stats().events == events


def test_errors_of_many_name_the_row(db: germane.Database) -> None:
    good = {"name": "view", "item": "a"}
    for rows, message in (
        ([good, {**good, "weight": "x"}], "rows[1].weight: must be a number"),
        ([good, {"name": "view"}], "rows[1].item: is missing"),
        ([good, {**good, "wieght": 1}], "rows[1].wieght: is nothing an event has: it has name, item, user"),
        ([good, {**good, "item": "zzz"}], "rows[1]: there is no item 'zzz' to signal on"),
        ({"name": ["view"], "item": ["a", "b"]}, "rows: columns must be of one length: name 1, item 2"),
        (7, "rows: must be events, or columns of them, not int"),
        ({"name": "view", "item": "a"}, "name: must be a column of values, not str"),
    ):
        with pytest.raises(germane.Error) as caught:
            db.signal_many(rows)  # type: ignore[arg-type]
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda db: db.count("view", "a", "2h"),
            "window: '2h' is no window of 'view': it has 1h, 24h, 7d, 30d, all",
        ),
        (lambda db: db.count("view"), "item: give an item or a creator, one of the two"),
        (lambda db: db.count("view", "a", creator="c"), "item: give an item or a creator, one of the two"),
        (
            lambda db: db.decayed("view", "a", at=NOW + 1),
            "at: lies in the future: readings are of now or of the past",
        ),
        (lambda db: db.decayed("nothing", "a"), "name: 'nothing' is no declared signal"),
        (lambda db: db.decayed("view", "zzz"), "there is no item 'zzz'"),
    ],
)
def test_errors_of_readings(db: germane.Database, call: Any, message: str) -> None:
    with pytest.raises(germane.Error) as caught:
        call(db)
    assert str(caught.value).startswith(message)


def test_velocity_must_be_declared() -> None:
    db = germane.open(schema=Schema([Signal("view", half_life="1d", velocity=False)]))
    db.put(Item(id="a", title="A"))
    with pytest.raises(InvalidArgument, match="declared without velocity"):
        db.velocity("view", "a")


def test_a_deleted_item_takes_no_signal(db: germane.Database) -> None:
    db.signal("view", "a")
    db.delete("a")
    for call in (lambda: db.signal("view", "a"), lambda: db.count("view", "a")):
        with pytest.raises(NotFound):
            call()
    db.put(Item(id="a", title="A again"))
    assert db.count("view", "a", "all") == 1


def readings(db: germane.Database) -> list[Any]:
    return [
        read
        for item in ("a", "b")
        for name in ("view", "like")
        for read in (
            db.decayed(name, item),
            *(db.count(name, item, w) for w in ("1h", "24h", "7d", "30d", "all")),
        )
    ]


def test_live_replayed_reopened_and_elsewhere_are_equal_bits(tmp_path: Path) -> None:
    """Fails when a record is applied in another order than the log's, or twice."""
    clock = [NOW]
    rng = np.random.default_rng(3)
    with (
        germane.open(tmp_path, clock=lambda: clock[0]) as db,
        germane.open(tmp_path, clock=lambda: clock[0]) as other,
    ):
        db.put_many([Item(id="a", title="A"), Item(id="b", title="B")])
        for step in range(60):
            clock[0] += float(rng.integers(0, 90_000))
            writer = (db, other)[step % 2]
            if step % 3:
                at = clock[0] - float(rng.integers(-200, 40 * 86_400))
                writer.signal(
                    ("view", "like")[step % 2], "ab"[step % 5 % 2], weight=float(rng.normal()), at=at
                )
            else:
                n = int(rng.integers(1, 40))
                writer.signal_many(
                    {
                        "name": [("view", "like")[k % 2] for k in range(n)],
                        "item": ["ab"[int(k)] for k in rng.integers(0, 2, n)],
                        "weight": rng.normal(size=n),
                        "at": clock[0] - rng.random(n) * 86_400 * 35,
                    }
                )
            if step % 7 == 0:
                assert readings(db) == readings(other)
        live = readings(db)
        assert readings(other) == live
        assert db.check().ok
        db.rebuild()
        assert readings(db) == live
        assert readings(other) == live
    with germane.open(tmp_path, clock=lambda: clock[0]) as again:
        assert readings(again) == live


def test_a_schema_may_change_later(tmp_path: Path) -> None:
    clock = [NOW]
    day = 86_400.0
    with germane.open(tmp_path, Schema([Signal("view", half_life="1d")]), clock=lambda: clock[0]) as db:
        db.put(Item(id="a", title="A"))
        db.signal("view", "a")
        clock[0] += day
        assert db.decayed("view", "a") == pytest.approx(0.5)
        changed = Schema(
            [Signal("view", half_life="2d", windows=("7d", "all")), Signal("like", half_life="1d")]
        )
        with germane.open(tmp_path, changed, clock=lambda: clock[0]) as other:
            assert other.decayed("view", "a") == pytest.approx(0.5**0.5)
            assert other.decayed("like", "a") == 0.0
        assert db.decayed("view", "a") == pytest.approx(0.5**0.5)
        with pytest.raises(InvalidArgument, match="no window"):
            db.count("view", "a", "1h")
    with germane.open(tmp_path) as again:
        assert again.schema == changed


@pytest.mark.parametrize(
    ("declare", "field", "message"),
    [
        (lambda: Signal("Like"), "signal.name", "'Like' must be [a-z][a-z0-9_]{0,63}"),
        (lambda: Signal("like", half_life=0), "signal.like.half_life", "0 is not a duration"),
        (lambda: Signal("like", half_life="0.5s"), "signal.like.half_life", "'0.5s' is out of range"),
        (lambda: Signal("like", half_life="11y"), "signal.like.half_life", "'11y' is not a duration"),
        (
            lambda: Signal("like", windows=("2h",)),
            "signal.like.windows",
            "'2h' is none of 1h, 24h, 7d, 30d, all",
        ),
        (
            lambda: Signal("like", half_life="1d", windows=(), velocity=False),
            "signal.like.windows",
            "a signal that decays needs",
        ),
        (lambda: Signal("like", windows=("all",)), "signal.like.velocity", "needs a window that ends"),
        (lambda: Signal("like", polarity=0), "signal.like.polarity", "must be 1 or -1, not 0"),
        (
            lambda: Signal("like", preference=2),
            "signal.like.preference",
            "must be a number from 0 to 1, not 2",
        ),
        (
            lambda: Signal("like", affinity=float("nan")),
            "signal.like.affinity",
            "must be a number from -1e+06",
        ),
        (lambda: Schema([Signal("a1"), Signal("a1")]), "signals[1].name", "'a1' is declared twice"),
        (lambda: Schema(cast(Any, ["like"])), "signals[0]", "must be a Signal, not str"),
        (
            lambda: Schema.from_declaration({"signals": [{"name": "x", "halflife": 1}]}),
            "signal.halflife",
            "is nothing a signal declares",
        ),
        (lambda: Schema.from_declaration({"signals": [{"half_life": 1}]}), "signal.name", "is missing"),
    ],
)
def test_errors_of_declarations(declare: Any, field: str, message: str) -> None:
    with pytest.raises(germane.SchemaError) as caught:
        declare()
    assert caught.value.field == field
    assert caught.value.message.startswith(f"{field}: {message}")


def test_a_schema_is_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    view, buy = 'name = "view"\nhalf_life = "7d"', 'name = "buy"\nwindows = ["24h", "all"]'
    path.write_text(f'lang = "german"\n[[signals]]\n{view}\n[[signals]]\n{buy}\n')
    schema = Schema([Signal("view", half_life="7d"), Signal("buy", windows=("24h", "all"))], lang="german")
    assert germane.open(schema=path).schema == schema == Schema.from_declaration(schema.declaration())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"weight": np.array([1.0, np.nan])}, "rows[1].weight: must be a number from -1e12 to 1e12, not nan"),
        ({"weight": [1.0, "x"]}, "rows[1].weight: must be a number"),
        ({"at": np.array([0.0, np.inf])}, "rows[1].at: inf is not a time"),
        ({"at": np.array([NOW, NOW + 301])}, "rows[1].at: lies more than 5 minutes ahead"),
        ({"at": np.array([0.0, np.nan])}, "rows[1].at: nan is not a time"),
        ({"at": [NOW, float("nan")]}, "rows[1].at: nan is not a time"),
        ({"at": [0, 10**30]}, "rows[1].at: 10000"),
        ({"weight": [1, True]}, "rows[1].weight: must be a number"),
        ({"weight": np.array(["2020-01-01"] * 2, "datetime64[s]")}, "rows[0].weight: must be a number"),
        ({"event_id": ["e", "\x00"]}, "rows[1].event_id: holds a control character at 0"),
        ({"item": ["a", 7]}, "rows[1].item: must be a string, not int"),
        ({"at": [NOW, "soon"]}, "rows[1].at: a time is an aware datetime or seconds"),
        ({"user": ["u", 7]}, "rows[1].user: must be a string, not int"),
        ({"user": ["u", []]}, "rows[1].user: must be a string, not list"),
        ({"name": ["view", None]}, "rows[1].name: must be a string, not NoneType"),
        ({"item": ["a", "zzz"]}, "rows[1]: there is no item 'zzz' to signal on"),
        ({"position": [0, -1]}, "rows[1].position: -1 is out of range"),
        ({"event_id": ["e", "e"]}, "rows[1]: event id 'e' was used for another event (view on 'a')"),
        ({"weight": np.array(2.0)}, "weight: must be a column of values, not ndarray"),
        (
            {"at": np.array(["NaT", "0000-12-31"], "datetime64[D]")},
            "rows[1].at: '0000-12-31' lies outside the years 1 to 9999",
        ),
        # As microseconds these overflow, the first of them into the year -109.
        (
            {"at": np.array(["1169000-01-01", "2020-01-01"], "datetime64[D]")},
            "rows[0].at: '1169000-01-01' lies",
        ),
        (
            {"at": np.array(["2020-01-01", "-9999999-01-01"], "datetime64[D]")},
            "rows[1].at: '-9999999-01-01' lies",
        ),
        ({"wieght": [1, 2]}, "wieght: is nothing an event has: it has name, item, user"),
    ],
)
def test_errors_of_columns_name_the_row(db: germane.Database, columns: dict[str, Any], message: str) -> None:
    events = db.stats().events
    with pytest.raises(germane.Error) as caught:
        db.signal_many({"name": ["view", "view"], "item": ["a", "b"], **columns})
    assert str(caught.value).startswith(message)
    assert db.stats().events == events


@pytest.mark.parametrize("missing", ["name", "item"])
def test_columns_need_names_and_items(db: germane.Database, missing: str) -> None:
    columns = {"name": ["view"], "item": ["a"]}
    del columns[missing]
    with pytest.raises(InvalidArgument, match=f"^{missing}: is missing"):
        db.signal_many(columns)


def test_batches_are_kept_whole_or_not_at_all(db: germane.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.signals.batch.BATCH", 3)
    rows = [{"name": "view", "item": "a", "weight": 1.0}] * 5
    with pytest.raises(InvalidArgument, match=r"^rows\[5\]\.weight"):
        db.signal_many([*rows, {"name": "view", "item": "a", "weight": "x"}])
    assert db.count("view", "a", "all") == 3
    columns = {"name": ["view"] * 7, "item": ["a"] * 6 + ["zzz"], "at": np.arange(7), "weight": np.arange(7)}
    with pytest.raises(NotFound, match=r"^rows\[6\]: there is no item 'zzz'"):
        db.signal_many(columns)
    assert db.count("view", "a", "all") == 9


def test_weights_may_be_numbers_of_numpy() -> None:
    db = germane.open()
    lamp = db.put(Item(title="Lamp"))
    for weight in (np.int64(2), np.float32(0.5), np.uint8(1)):
        db.signal("like", lamp, weight=weight)  # type: ignore[arg-type]
    assert db.decayed("like", lamp) == pytest.approx(3.5)
    with pytest.raises(InvalidArgument, match=r"^weight: must be a number"):
        db.signal("like", lamp, weight=np.bool_(True))  # type: ignore[arg-type]
