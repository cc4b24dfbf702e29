"""Events: what is written is what is read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.log import events
from germane.log.events import Event, decode, encode, metadata_from_plain, metadata_to_plain
from germane.log.fold import _FOLDS
from germane.log.fold_sessions import _FOLDS as OF_SESSIONS
from germane.model.documents import Placement
from germane.model.errors import Corruption

text = st.text(st.characters(codec="utf-8"), max_size=20)
whole = st.integers(-(2**63), 2**63 - 1)
time = st.datetimes(timezones=st.just(UTC))
scalar = text | whole | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | time
metadata = st.dictionaries(text, scalar | st.lists(scalar, max_size=3).map(tuple), max_size=4)
plain = metadata.map(metadata_to_plain)
texts = st.lists(text, max_size=3).map(tuple)
maybe = st.none() | text
lessons = st.lists(st.tuples(text, st.floats(-1e12, 1e12)), max_size=3).map(tuple)


def unset(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(msgspec.UNSET) | strategy


put = st.builds(
    events.PutItem,
    id=text,
    rev=text,
    created_at=whole,
    creator=maybe,
    metadata=plain,
    tags=texts,
    collection=text,
    kind=text,
)
placement = st.builds(
    Placement,
    id=text,
    level=st.integers(0, 6),
    parent=maybe,
    heading_path=texts,
    lines=st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
STRATEGIES: dict[type[Event], st.SearchStrategy[Event]] = {
    events.PutItem: put,
    events.UpdateItem: st.builds(
        events.UpdateItem,
        id=text,
        creator=unset(maybe),
        metadata=unset(plain),
        tags=unset(texts),
        collection=unset(text),
        created_at=unset(whole),
    ),
    events.DeleteItem: st.builds(events.DeleteItem, id=text),
    events.PutDocument: st.builds(
        events.PutDocument,
        docid=text,
        title=text,
        metadata=plain,
        tags=texts,
        collection=text,
        root=maybe,
        source=maybe,
        digest=maybe,
        sections=st.lists(placement, max_size=3).map(tuple),
        items=st.lists(put, max_size=3).map(tuple),
        retired=texts,
    ),
    events.DeleteDocument: st.builds(events.DeleteDocument, docid=text, retired=texts),
    events.AddRoot: st.builds(events.AddRoot, name=text, location=text),
    events.RecordSignal: st.builds(
        events.RecordSignal,
        name=text,
        item=text,
        weight=st.floats(-1e12, 1e12),
        user=maybe,
        event_id=maybe,
        page=maybe,
        position=st.none() | st.integers(0, 1000),
        is_timed=st.booleans(),
        is_first=st.booleans(),
        session=maybe,
    ),
    events.RecordSignals: st.builds(
        events.RecordSignals,
        names=texts,
        name=st.binary(),
        item=st.binary(),
        weight=st.binary(),
        at=st.binary(),
        users=texts,
        user=st.binary(),
        event_ids=st.lists(maybe, max_size=3).map(tuple),
        pages=st.lists(maybe, max_size=3).map(tuple),
        positions=st.lists(st.none() | st.integers(0, 9), max_size=3).map(tuple),
        is_timed=st.booleans(),
        first=texts,
    ),
    events.Base: st.builds(
        events.Base,
        parts=st.dictionaries(text, st.lists(whole, max_size=2).map(tuple), max_size=2),
        seal=whole,
    ),
    events.Relate: st.builds(events.Relate, user=text, relation=text, target=text),
    events.Unrelate: st.builds(events.Unrelate, user=text, relation=text, target=text),
    events.Forgotten: st.builds(events.Forgotten, first=texts),
    events.ForgetUser: st.builds(events.ForgetUser, who=text, erased=st.booleans()),
    events.StartSession: st.builds(
        events.StartSession, session=text, agent=text, user=maybe, policy=plain, metadata=plain
    ),
    events.AnnotateSession: st.builds(events.AnnotateSession, session=text, text=text),
    events.CloseSession: st.builds(events.CloseSession, session=text, user=maybe, learned=lessons),
    events.RefuseWrite: st.builds(events.RefuseWrite, session=text, action=text, cause=text),
    events.SweepSessions: st.builds(
        events.SweepSessions,
        ended=st.lists(st.builds(events.Ended, text, whole, maybe, lessons), max_size=3).map(tuple),
        expired=texts,
    ),
    events.DeclareSchema: st.builds(events.DeclareSchema, schema=st.dictionaries(text, text, max_size=3)),
}


def test_every_type_is_tried_and_folded() -> None:
    assert set(STRATEGIES) == set(events.TYPES.values()) == set(_FOLDS) | set(OF_SESSIONS)
    assert len(events.TYPES) == len(set(events.TYPES.values()))


@given(st.one_of(*STRATEGIES.values()))
def test_encoded_and_decoded_it_is_the_same(event: Event) -> None:
    """Fails if a default is given to a field whose absence means something else."""
    kind, data = encode(event)
    again = decode(1, kind, data)
    assert again == event
    assert type(again) is type(event)
    assert encode(again) == (kind, data)


@given(metadata)
def test_metadata_keeps_its_types(values: dict[str, Any]) -> None:
    again = metadata_from_plain(msgspec.json.decode(msgspec.json.encode(metadata_to_plain(values))))
    assert again == values
    for name, value in values.items():
        assert type(again[name]) is type(value)


def test_a_time_is_kept_to_the_microsecond() -> None:
    moment = datetime(2024, 2, 29, 23, 59, 59, 999_999, UTC)
    assert metadata_from_plain(metadata_to_plain({"at": (moment, "x")})) == {"at": (moment, "x")}


def test_unset_is_not_none() -> None:
    _, data = encode(events.UpdateItem(id="a", creator=None))
    again = decode(1, "update", data)
    assert isinstance(again, events.UpdateItem)
    assert again.creator is None
    assert again.metadata is msgspec.UNSET


def test_text_where_columns_should_be_is_corruption() -> None:
    with pytest.raises(Corruption, match=r"event 7 of the log \(signals\) does not decode"):
        decode(7, "signals", "{}")


@given(text)
def test_an_unknown_type_is_corruption(kind: str) -> None:
    if kind not in events.TYPES:
        with pytest.raises(Corruption, match="event 7 of the log has the unknown type"):
            decode(7, kind, "{}")


@given(st.sampled_from(sorted(events.TYPES)), text | st.binary(max_size=20))
def test_data_that_is_of_no_type_is_corruption(kind: str, data: str | bytes) -> None:
    try:
        event = decode(7, kind, data)
    except Corruption as error:
        assert f"event 7 of the log ({kind}) does not decode" in str(error)
    else:
        assert type(event) is events.TYPES[kind]
