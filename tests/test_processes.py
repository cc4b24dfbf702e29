"""Many processes on one folder: nothing is lost or doubled, also when they are killed.

The long versions are `python -m benchmarks.reliability`.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.foretold import Holding, plan, stages
from benchmarks.reliability import summary
from benchmarks.trials import kills, two_writers

import germane
from germane import Item


def test_two_writers(tmp_path: Path) -> None:
    """Fails if the text view is not caught up before a query, or a write is decided before it is alone."""
    results = two_writers(tmp_path, 1.5, seed=7)
    for writer in results["writers"]:
        assert writer["steps"] > 20
        assert writer["looks"] > 2
        assert writer["searched"] > 10
    assert "Nothing lost, nothing doubled." in summary({**results, "took_s": 0})


def test_kills(tmp_path: Path) -> None:
    """Fails if an event and its tables are committed apart, or a batch item by item."""
    results = kills(tmp_path, 3, seed=11, longest=0.4, torn=2)
    assert results["acknowledged"] > 10
    assert results["torn"] == 4
    assert results["watched"] == 1
    assert "3 kills at random moments" in summary({**results, "took_s": 0})


def test_what_is_foretold_is_a_sequence_of_whole_steps() -> None:
    held, kinds = Holding(), set()
    for number in range(1, 300):
        step = plan("ana", 3, number, held)
        assert step == plan("ana", 3, number, held)
        at = stages("ana", held, step)
        assert at[0] == held
        held = at[-1]
        kinds.add(step.kind)
    assert len(kinds) == 10
    assert held.items
    assert held.documents
    assert held.pulse
    assert held.tally


CHILD = """
import sys, germane
db = germane.open(sys.argv[1])
for line in sys.stdin:
    word, *rest = line.split()
    if word == "put":
        print(db.put(germane.Item(id=rest[0], body=" ".join(rest[1:]))), flush=True)
    elif word == "delete":
        print(db.delete(rest[0]).changed, flush=True)
    elif word == "search":
        print(*sorted(result.id for result in db.search(rest[0], limit=1000).items), flush=True)
    elif word == "rebuild":
        print(db.rebuild(), flush=True)
"""


class Child:
    """Another process that does what it is told."""

    def __init__(self, store: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def test_each_sees_the_other_s_writes_on_its_next_query(tmp_path: Path) -> None:
    child = Child(tmp_path / "store")
    with germane.open(tmp_path / "store") as db:
        for number in range(20):
            db.put(Item(id=f"a{number}", body=f"word w{number}"))
            assert f"a{number}" in child.tell("search word").split()
            assert child.tell(f"put b{number} word") == f"b{number}"
            assert {result.id for result in db.search("word", limit=1000).items} >= {f"b{number}"}
            if number % 5 == 4:
                assert child.tell(f"delete a{number}") == "True"
                assert not db.delete(f"a{number}").changed
                assert f"a{number}" not in {result.id for result in db.search("word", limit=1000).items}
            if number == 10:
                child.tell("rebuild")
            if number == 15:
                db.rebuild()
        assert db.search("word").total == 36
        assert db.check().ok
        child.kill()
        assert db.search("word").total == 36
        assert db.put(Item(id="after", body="word")) == "after"


def test_a_process_killed_in_the_middle_of_a_transaction(tmp_path: Path) -> None:
    """Fails if anything of an uncommitted transaction is seen."""
    code = (
        "import germane, os, sys\n"
        "db = germane.open(sys.argv[1])\n"
        "with db._journal.write() as writer:\n"
        "    for n in range(3000):\n"
        "        writer.keep(f'{n}', 'text/plain', None, None, None, f'word {n} ' * 300)\n"
        f"    os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    )
    with germane.open(tmp_path / "store") as db:
        db.put(Item(id="a", body="word"))
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "store")], check=False)
        assert (tmp_path / "store" / "journal.sqlite-wal").stat().st_size > 1_000_000
        assert db.stats().revisions == 1
        db.put(Item(id="b", body="word"))
        assert db.stats().revisions == 1
        assert db.search("word").total == 2
        assert db.check().ok
    with germane.open(tmp_path / "store") as db:
        assert db.search("word").total == 2


def test_a_process_killed_while_it_writes_a_checkpoint(tmp_path: Path) -> None:
    """Fails if a checkpoint is found before it is whole."""
    folder = tmp_path / "store"
    code = (
        "import germane, os, sys\n"
        "db = germane.open(sys.argv[1])\n"
        "db.put_many(germane.Item(id=f'{n}', body=f'word {n}') for n in range(400))\n"
        "db.search('word')\n"
        "left, real = int(sys.argv[2]), os.fsync\n"
        "def fsync(file):\n"
        "    global left\n"
        "    left -= 1\n"
        f"    real(file) if left >= 0 else os.kill(os.getpid(), {int(signal.SIGKILL)})\n"
        "os.fsync = fsync\n"
        "db.close()\n"
    )
    for files in (0, 5, 29, 30):
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([sys.executable, "-c", code, str(folder), str(files)], check=False)
        is_whole = files == 30
        assert done.returncode == (0 if is_whole else -signal.SIGKILL)
        assert [path.suffix for path in (folder / "views").iterdir()] == ["" if is_whole else ".tmp"]
        with germane.open(folder) as db:
            assert db.search("word").total == 400
            assert db.check().ok
        assert any(not path.suffix for path in (folder / "views").iterdir())
