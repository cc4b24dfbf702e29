"""Learning that is interrupted, repeated from two processes' stores, and watched."""

from __future__ import annotations

from pathlib import Path

import pytest

import germane
from germane.knowledge.learn import BATCH_FILES
from germane.model.errors import Interrupted

from .conftest import Write, counts

FILES = 2 * BATCH_FILES + 20


@pytest.fixture
def many(tree: Path, write: Write) -> Path:
    for number in range(FILES):
        write(f"{number:03}.md", f"# File {number}\n\nbody {number}\n\n## More\n\nmore body {number}\n")
    return tree


class Stop:
    """A progress callback that presses Ctrl-C at one file."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __call__(self, done: int, total: int, path: str) -> None:
        if done == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [0, 1, BATCH_FILES, BATCH_FILES + 50, FILES - 1, FILES])
def test_an_interruption_keeps_whole_batches_and_learning_goes_on(
    tmp_path: Path, many: Path, at: int
) -> None:
    with germane.open(tmp_path / "store") as db:
        with pytest.raises(Interrupted) as caught:
            db.learn(many, progress=Stop(at))
        kept = FILES if at == FILES else at // BATCH_FILES * BATCH_FILES
        assert db.stats().documents == kept
        assert db.stats().items == 2 * kept
        assert db.check().ok
        if at < FILES:
            assert (caught.value.report.documents, counts(caught.value.report)) == (kept, (2 * kept, 0, 0, 0))
        ids = {place.id for n in range(kept) for place in db.document(f"docs/{n:03}.md").sections}
    with germane.open(tmp_path / "store") as db:
        assert counts(db.learn(many)) == (2 * (FILES - kept), 0, 2 * kept, 0)
        assert ids == {place.id for n in range(kept) for place in db.document(f"docs/{n:03}.md").sections}
        assert db.search("body", limit=1).total == 2 * FILES
        assert db.check().ok


def test_an_interruption_while_things_change_and_go(many: Path) -> None:
    with germane.open() as db:
        db.learn(many)
        for number in range(FILES):
            path = many / f"{number:03}.md"
            path.unlink() if number % 3 == 0 else path.write_text(f"# File {number}\n\nedited body\n")
        with pytest.raises(KeyboardInterrupt):
            db.learn(many, progress=Stop(BATCH_FILES + 1))
        assert db.check().ok
        db.learn(many)
        left = sum(number % 3 != 0 for number in range(FILES))
        assert (db.stats().documents, db.stats().items) == (left, left)
        assert db.search("edited", limit=1).total == left
        assert db.check().ok


def test_an_error_in_the_callback_is_the_callers(many: Path) -> None:
    def broken(done: int, total: int, path: str) -> None:
        raise ZeroDivisionError

    with germane.open() as db:
        with pytest.raises(ZeroDivisionError):
            db.learn(many, progress=broken)
        assert db.learn(many).documents == FILES


def test_progress_counts_every_file(many: Path) -> None:
    calls: list[tuple[int, int, str]] = []
    with germane.open() as db:
        db.learn(many, progress=lambda *call: calls.append(call))
    assert [done for done, _, _ in calls] == list(range(FILES + 1))
    assert {total for _, total, _ in calls} == {FILES}
    assert [path for _, _, path in calls] == [*(str(many / f"{n:03}.md") for n in range(FILES)), ""]


def test_two_stores_of_one_folder_agree(tmp_path: Path, many: Path) -> None:
    """Each sees what the other learned: nothing is learned twice, nothing that is there is retired."""
    with germane.open(tmp_path / "store") as one, germane.open(tmp_path / "store") as two:
        one.learn(many)
        events = two.stats().events
        assert counts(two.learn(many)) == (0, 0, 2 * FILES, 0)
        assert one.stats().events == events
        late = many / "late.md"

        def other_process(done: int, total: int, path: str) -> None:
            if done == 1:
                late.write_text("# Late\n\nbody\n")
                two.learn(late)
                two.learn(many)

        (many / "000.md").write_text("# Edited\n\nbody\n")
        report = one.learn(many, progress=other_process)
        assert report.removed <= 1
        assert one.document("docs/late.md").title == "Late"
        assert one.document("docs/000.md").title == "Edited"
        assert two.stats().documents == FILES + 1
        assert one.check().ok


def test_another_root_may_come_while_learning(tmp_path: Path, many: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# A\n\nbody\n")
    with germane.open(tmp_path / "store") as one, germane.open(tmp_path / "store") as two:

        def other_process(done: int, total: int, path: str) -> None:
            if done == 0:
                two.learn(other)

        assert counts(one.learn(many, progress=other_process)) == (2 * FILES, 0, 0, 0)
        assert one.document("other/a.md").title == "A"
