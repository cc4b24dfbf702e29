"""Many threads on one database: no write is lost, and no reader meets a half of one."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import germane
from germane import Item
from germane.text.stored import canonical

THREADS = 8
STEPS = 20


@pytest.fixture(params=["batched", "sync", "in memory"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> germane.Database:
    if request.param == "in memory":
        return germane.open()
    return germane.open(tmp_path / "store", durability=request.param)


@pytest.fixture
def often_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*work: Callable[[], None]) -> None:
    """Run pieces of work at once, and raise what any of them raised."""
    problems: list[str] = []
    start = threading.Barrier(len(work))

    def run(piece: Callable[[], None]) -> None:
        try:
            start.wait()
            piece()
        except BaseException:
            problems.append(traceback.format_exc())

    threads = [threading.Thread(target=run, args=(piece,)) for piece in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, "\n".join(problems)


def test_writes_searches_and_deletes_at_once(db: germane.Database) -> None:
    """Fails without the turn of the writers."""
    kept: list[set[str]] = [set() for _ in range(THREADS)]

    def work(number: int) -> Callable[[], None]:
        def run() -> None:
            for step in range(STEPS):
                id = f"{number}-{step}"
                db.put(Item(id=id, body=f"word w{number}x{step} common", tags=(f"t{number}",)))
                kept[number].add(id)
                page = db.search(f"tag:t{number}", limit=1000)
                assert {result.id for result in page.items} == kept[number]
                if step % 4 == 3:
                    gone = f"{number}-{step - 2}"
                    assert db.delete(gone).changed
                    kept[number].discard(gone)
                if step % 10 == 5:
                    ids = [f"{number}-m{step}-{n}" for n in range(5)]
                    db.put_many([Item(id=one, body="common", tags=(f"t{number}",)) for one in ids])
                    kept[number].update(ids)
                    db.update(ids[0], metadata={"n": step})
                assert db.search("common").total >= len(kept[number])

        return run

    with db:
        together(*(work(number) for number in range(THREADS)))
        wanted = set().union(*kept)
        assert {result.id for result in db.search("common", limit=1000).items} == wanted
        assert db.stats().items == len(wanted)
        assert db.check() == germane.CheckReport(True)


def test_one_item_that_all_change(db: germane.Database) -> None:
    """Fails if an update is decided outside of its transaction: others' keys would be lost."""
    with db:
        db.put(Item(id="shared", body="word"))

        def work(number: int) -> Callable[[], None]:
            def run() -> None:
                for step in range(STEPS):
                    db.update("shared", metadata={f"k{number}": step})

            return run

        together(*(work(number) for number in range(THREADS)))
        assert db.get("shared").metadata == {f"k{number}": STEPS - 1 for number in range(THREADS)}
        assert db.stats().events == 2 + THREADS * STEPS


def test_an_index_is_written_out_while_others_add_to_its_vocabulary(
    tmp_path: Path, often_switching: None
) -> None:
    """Fails if the vocabulary is not copied first: it changes size while it is gone through."""
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="first", body=" ".join(f"w{letters(n)}" for n in range(3_000))))
        stop = threading.Event()

        def write() -> None:
            try:
                for step in range(30):
                    db.put(
                        Item(id=f"{step}", body=" ".join(f"{letters(step)}x{letters(n)}" for n in range(300)))
                    )
                    db.search("w")
            finally:
                stop.set()

        def write_out() -> None:
            while not stop.is_set():
                with db._journal.read() as connection:
                    held = db._text.at(connection)
                    assert len(canonical(held)["term_ends"]) == held.total_terms() + 1

        together(write, write_out, write_out)


def letters(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "bcfghjkmnp"))


def test_rebuilding_and_checking_beside_writers(db: germane.Database) -> None:
    stop = threading.Event()

    def write(number: int) -> Callable[[], None]:
        def run() -> None:
            try:
                for step in range(STEPS):
                    words = " ".join(f"n{number}x{step}x{n}" for n in range(50))
                    db.put(Item(id=f"{number}-{step}", body=f"word {words}"))
                    assert db.search(f"n{number}x{step}x0", match="all").total >= 1
            finally:
                if number == 0:
                    stop.set()

        return run

    def look() -> None:
        while not stop.is_set():
            report = db.check()
            assert report.ok, report
            db.rebuild()
            assert db.stats().total_sections <= 4 * STEPS

    with db:
        together(*(write(number) for number in range(4)), look)
        assert db.search("word").total == 4 * STEPS
        assert db.check().ok


def test_a_reader_sees_one_moment(db: germane.Database) -> None:
    """Fails if a page is put together from more than one snapshot."""
    with db:
        db.put_many([Item(id=f"{n}", body="word even") for n in range(10)])
        stop = threading.Event()

        def write() -> None:
            try:
                for step in range(STEPS):
                    word = "odd" if step % 2 == 0 else "even"
                    db.put_many([Item(id=f"{n}", body=f"word {word}") for n in range(10)])
            finally:
                stop.set()

        def look() -> None:
            while not stop.is_set():
                page = db.search("word")
                assert page.total == 10
                assert len({result.snippet for result in page.items}) == 1
                assert len({result.score for result in page.items}) == 1

        together(write, look, look)


def test_closing_beside_readers_and_writers(db: germane.Database) -> None:
    """Whoever comes too late is told so; nothing else happens to anyone."""
    written: list[str] = []

    def write(number: int) -> Callable[[], None]:
        def run() -> None:
            try:
                for step in range(10_000):
                    written.append(db.put(Item(id=f"{number}-{step}", body="word")))
                    db.search("word", limit=1)
            except germane.InvalidArgument as error:
                assert "is closed" in str(error)

        return run

    def close() -> None:
        while len(written) < 30:
            pass
        db.close()

    together(*(write(number) for number in range(4)), close, close)
    if db.path is not None:
        with germane.open(db.path) as again:
            assert again.stats().items >= len(written)
            assert all(again.get(id) for id in written)
            assert again.check().ok
