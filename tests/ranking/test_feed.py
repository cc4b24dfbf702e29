"""Feeds: one order, paged through while signals arrive; cursors; what is kept of what was shown."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import germane
from germane import CursorExpired, Diversity, InvalidArgument, Item, Profile, Schema, Signal
from germane.log.shown import FILE

SIGNALS = [Signal("view", half_life="7d"), Signal("like", half_life="7d"), Signal("share", half_life="7d")]
PLAIN = Profile("plain", boosts=["view.count.all", "0.1 meta.n"])
MIXED = Profile("mixed", boosts=["meta.n"], diversity=Diversity(max_per_creator=2), exploration=0.25)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def store(path: Path | None = None, items: int = 90) -> tuple[germane.Database, Clock]:
    clock = Clock()
    db = germane.open(path, Schema(SIGNALS, [PLAIN, MIXED]), clock=clock)
    db.put_many(
        Item(id=f"i{n:03}", title=f"item {n}", creator=f"c{n % 4}", metadata={"n": n}) for n in range(items)
    )
    return db, clock


def walk(db: germane.Database, profile: str, limit: int, between: bool = False) -> list[list[str]]:
    page = db.retrieve(profile, limit=limit)
    pages = [[result.id for result in page.items]]
    while page.cursor is not None:
        if between:
            for _ in range(20):
                db.signal("view", f"i{len(pages):03}")
        assert page.has_more
        page = db.retrieve(cursor=page.cursor, limit=limit)
        pages.append([result.id for result in page.items])
    assert not page.has_more
    return pages


def test_pages_are_slices_of_the_first_order_while_signals_arrive() -> None:
    """Fails when a later page ranks again."""
    db, _ = store()
    whole = [result.id for result in db.retrieve("plain", limit=1000).items]
    pages = walk(db, "plain", 7, between=True)
    assert [id for page in pages for id in page] == whole
    assert [result.id for result in db.retrieve("plain", limit=3).items] != whole[:3]


def test_limits_hold_on_every_page_and_nothing_is_lost() -> None:
    """Fails when what is held back is not first in line, or an explored item comes twice."""
    db, _ = store()
    pages = walk(db, "mixed", 8)
    ids = [id for page in pages for id in page]
    assert sorted(ids) == sorted(f"i{n:03}" for n in range(90))
    for page in pages:
        creators = [db.get(id).creator for id in page]
        assert max(map(creators.count, creators)) <= 2


def test_scores_of_later_pages_are_those_of_the_ranking() -> None:
    db, _ = store()
    whole = db.retrieve("plain", limit=1000).items
    page = db.retrieve("plain", limit=10)
    db.signal("view", "i000", weight=5)
    second = db.retrieve(cursor=page.cursor, limit=10)
    assert [(r.id, r.raw, r.score, dict(r.contributions)) for r in second.items] == [
        (r.id, r.raw, r.score, dict(r.contributions)) for r in whole[10:20]
    ]
    assert (second.offset, second.total, second.as_of) == (10, 90, page.as_of)


def test_the_same_cursor_gives_the_same_page_and_the_same_next_cursor() -> None:
    db, _ = store()
    cursor = db.retrieve("plain", limit=10).cursor
    first, again = db.retrieve(cursor=cursor, limit=10), db.retrieve(cursor=cursor, limit=10)
    assert [r.id for r in first.items] == [r.id for r in again.items]
    assert first.cursor == again.cursor != cursor


def test_what_is_deleted_meanwhile_is_not_shown() -> None:
    db, _ = store()
    page = db.retrieve("plain", limit=10)
    gone = db.retrieve(cursor=page.cursor, limit=1).items[0].id
    db.delete(gone)
    second = db.retrieve(cursor=page.cursor, limit=10)
    assert gone not in [r.id for r in second.items]
    assert len(second.items) == 10


def test_a_cursor_ends_after_fifteen_minutes() -> None:
    db, clock = store()
    cursor = db.retrieve("plain", limit=10).cursor
    clock.now += 15 * 60 - 1
    assert db.retrieve(cursor=cursor, limit=10).items
    clock.now += 2
    with pytest.raises(CursorExpired, match="older than 15 minutes, or no cursor of this store"):
        db.retrieve(cursor=cursor, limit=10)


def test_no_string_but_a_cursor_is_one() -> None:
    """Fails when the signature is not checked: then another key would be looked up."""
    db, _ = store()
    cursor = db.retrieve("plain", limit=10).cursor
    assert cursor is not None
    assert len(cursor) <= 512
    token = bytearray(base64.urlsafe_b64decode(cursor))
    for place in range(len(token)):
        changed = token.copy()
        changed[place] ^= 1
        with pytest.raises(CursorExpired):
            db.retrieve(cursor=base64.urlsafe_b64encode(changed).decode())
    for text in ("", "x", "é", cursor[:-4], cursor + "AAAA", cursor.replace("=", "") + "*", "\ud800"):
        with pytest.raises(CursorExpired):
            db.retrieve(cursor=text)
    other, _ = store()
    with pytest.raises(CursorExpired):
        other.retrieve(cursor=cursor)
    with pytest.raises(InvalidArgument, match=r"^cursor: must be the cursor of a page, not int"):
        db.retrieve(cursor=3)  # type: ignore[arg-type]


def test_a_cursor_belongs_to_its_query() -> None:
    db, _ = store()
    cursor = db.retrieve("plain", limit=10, where="meta.n > 3").cursor
    assert db.retrieve("plain", cursor=cursor, where="meta.n > 3").items
    for other in ({"profile": "mixed"}, {"where": "meta.n > 4"}, {"collections": ["main"]}, {"seed": 3}):
        (name,) = other
        with pytest.raises(InvalidArgument, match=f"^cursor: is of a feed with another {name}"):
            db.retrieve(cursor=cursor, **other)


def test_another_process_goes_on_with_a_feed(tmp_path: Path) -> None:
    db, clock = store(tmp_path / "s")
    whole = [r.id for r in db.retrieve("plain", limit=1000).items]
    cursor = db.retrieve("plain", limit=10).cursor
    db.close()
    with germane.open(tmp_path / "s", clock=clock) as again:
        assert [r.id for r in again.retrieve(cursor=cursor, limit=10).items] == whole[10:20]


def test_a_damaged_or_missing_file_of_what_was_shown_is_no_loss(tmp_path: Path) -> None:
    db, clock = store(tmp_path / "s")
    db.retrieve("plain", limit=10)
    db.close()
    (tmp_path / "s" / FILE).write_bytes(b"no database at all" * 100)
    for suffix in ("-wal", "-shm"):
        (tmp_path / "s" / (FILE + suffix)).unlink(missing_ok=True)
    with germane.open(tmp_path / "s", clock=clock) as again:
        page = again.retrieve("plain", limit=10)
        assert page.cursor is not None
        assert page.degraded == ()
        assert again.check().ok


def test_a_read_only_store_pages_in_memory(tmp_path: Path) -> None:
    db, clock = store(tmp_path / "s")
    db.close()
    (tmp_path / "s" / FILE).unlink(missing_ok=True)
    with germane.open(tmp_path / "s", read_only=True, clock=clock) as reader:
        cursor = reader.retrieve("plain", limit=10).cursor
        assert len(reader.retrieve(cursor=cursor, limit=10).items) == 10
    assert not (tmp_path / "s" / FILE).exists()


def test_where_it_cannot_be_kept_the_page_says_so(tmp_path: Path) -> None:
    db, _ = store(tmp_path / "s")
    (tmp_path / "s" / FILE).mkdir()
    page = db.retrieve("plain", limit=10)
    assert [r.id for r in page.items][:1] == ["i089"]
    assert page.has_more
    assert page.cursor is None
    assert [each.code for each in page.degraded] == ["not_kept"]
    db.close()


def test_what_a_page_showed_is_kept_unless_it_is_switched_off(tmp_path: Path) -> None:
    import msgspec

    db, _ = store(tmp_path / "s")
    page = db.retrieve("mixed", limit=8)
    data = msgspec.msgpack.decode(db._shown.page(page.id) or b"", strict=False)
    assert (data["profile"], data["offset"], len(data["items"])) == ("mixed@1", 0, 8)
    assert data["propensities"] == {3: 1 / 82, 7: 1 / 82}
    db.close()
    with germane.open(tmp_path / "s", Schema(SIGNALS, [PLAIN, MIXED], impressions=False)) as quiet:
        assert quiet._shown.page(quiet.retrieve("mixed", limit=8).id) is None


def test_exploration_is_uniform_over_what_would_not_be_shown() -> None:
    """Fails when the draw is biased, or ignores the seed."""
    db, _ = store(items=24)
    counts: dict[str, int] = {}
    for seed in range(600):
        page = db.retrieve("mixed", limit=8, seed=seed, explain=True)
        assert [r.id for r in page.items] == [r.id for r in db.retrieve("mixed", limit=8, seed=seed).items]
        explored = {r.id for r in page.items if any(reason.code == "Exploration" for reason in r.reasons)}
        assert {page.items[3].id, page.items[7].id} == explored
        counts[page.items[3].id] = counts.get(page.items[3].id, 0) + 1
    # Those that rank first are shown anyway; the others are drawn equally often: chi-squared, 99.9 %.
    expected = 600 / len(counts)
    assert len(counts) == 16
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 37.7
