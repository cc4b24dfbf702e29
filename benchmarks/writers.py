"""Processes that write to one store, and what watches them: side by side, and killed at random moments.

The child tells when it begins a step and when the step was acknowledged. From these lines alone the parent
works out what the store must hold of it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path

import germane
from benchmarks.foretold import Holding, Step, perform, plan, pulse, read, stages
from germane.log import journal
from germane.log.tables import FOLDED_NAMES
from germane.text.stored import canonical

ROOT = Path(__file__).resolve().parents[1]
LOOK_EVERY = 5
"""Steps after which a writer looks for the other's last pulse."""


def write(
    store: Path, side: Path, name: str, seed: int, seconds: float, other: str | None, wal_pages: int
) -> None:
    """Write until the time is over, as the child: tell of every step before and after it."""
    journal.WAL_PAGES = wal_pages
    tree = side / name
    told = os.open(side / f"{name}.pulse", os.O_RDWR | os.O_CREAT)
    heard = os.open(side / f"{other}.pulse", os.O_RDWR | os.O_CREAT) if other else None
    with germane.open(store) as db:
        held = read(db, name)
        _say("ready")
        until = time.monotonic() + seconds
        for number in count(1):
            step = plan(name, seed, number, held)
            _say(f"begin {number}")
            began = time.perf_counter()
            perform(db, name, step, tree)
            _say(f"done {number} {(time.perf_counter() - began) * 1e3:.3f}")
            held = stages(name, held, step)[-1]
            if step.kind == "pulse":
                os.pwrite(told, step.number.to_bytes(8, "big"), 0)
            if heard is not None and other is not None and number % LOOK_EVERY == 0:
                # What was acknowledged before this query begins must be in it.
                acknowledged = int.from_bytes(os.pread(heard, 8, 0), "big")
                seen = pulse(db, other)
                assert seen >= acknowledged, f"{other} beat {acknowledged}, and {name} saw {seen}"
                _say(f"saw {seen}")
            if time.monotonic() >= until:
                break
    _say("end")


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())  # at once, and whole: nothing is lost when the process is killed


class Writer:
    """A child process, and what it has told so far.

    Parameters
    ----------
    store, side : Path
        The store's folder; a folder for files to learn and for pulses.
    name : str
        What its ids begin with.
    seed : int
    seconds : float
        How long it writes, unless it is killed.
    other : str, optional
        The writer whose pulses it looks for.
    wal_pages : int
        Pages of write-ahead log after which it is copied back.
    """

    def __init__(
        self,
        store: Path,
        side: Path,
        name: str,
        seed: int,
        seconds: float,
        *,
        other: str | None = None,
        wal_pages: int = journal.WAL_PAGES,
    ) -> None:
        self.name, self.seed = name, seed
        self.milliseconds: list[float] = []
        self.done = self.begun = self.looks = 0
        self.has_ended = False
        self.ready = threading.Event()
        command = [
            *(sys.executable, "-m", "benchmarks.writers", str(store), str(side), name),
            *(str(seed), str(seconds), "--wal-pages", str(wal_pages)),
            *(("--other", other) if other else ()),
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def kill(self) -> None:
        """Kill it as the operating system does, and hear out what it had told."""
        self.process.kill()
        self.join()

    def join(self) -> str:
        """Wait until it is gone, and return what it wrote as errors."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read()
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return errors

    def possible(self, before: Holding) -> list[Holding]:
        """Return what the store may hold now, given what it held at the start: the last is the most."""
        held = before
        for number in range(1, self.done + 1):
            held = stages(self.name, held, plan(self.name, self.seed, number, held))[-1]
        if self.begun == self.done:
            return [held]
        return stages(self.name, held, plan(self.name, self.seed, self.begun, held))

    def steps(self, before: Holding) -> list[Step]:
        """Return the steps that were acknowledged."""
        held, made = before, []
        for number in range(1, self.done + 1):
            made.append(plan(self.name, self.seed, number, held))
            held = stages(self.name, held, made[-1])[-1]
        return made

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, *values = line.split()
            if word == "begin":
                self.begun = int(values[0])
            elif word == "done":
                self.done = int(values[0])
                self.milliseconds.append(float(values[1]))
            elif word == "saw":
                self.looks += 1
            elif word == "end":
                self.has_ended = True
            self.ready.set()
        self.ready.set()


def prepare(store: Path) -> None:
    """Make the store with the item that all writers share."""
    with germane.open(store) as db:
        db.put(germane.Item(id="shared", title="Shared", body="touched by all"))


def bits(db: germane.Database) -> str:
    """Return a digest of everything that is derived from the log: folded tables and text index."""
    digest = hashlib.sha256()
    with db._journal.read() as connection:
        for name in FOLDED_NAMES:
            digest.update(name.encode())
            for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2"):
                digest.update(repr(row).encode())
        for name, array in canonical(db._text.at(connection)).items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def kinds(steps: list[Step]) -> dict[str, int]:
    """Count steps by kind."""
    return dict(sorted(Counter(step.kind for step in steps).items()))


def wait_and_kill(writer: Writer, chance: random.Random, longest: float) -> None:
    """Kill a writer at a random moment of its writing."""
    writer.ready.wait()
    time.sleep(chance.uniform(0.01, longest))
    writer.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The child of the trials; they start it themselves.")
    parser.add_argument("store", type=Path)
    parser.add_argument("side", type=Path)
    parser.add_argument("name")
    parser.add_argument("seed", type=int)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--other")
    parser.add_argument("--wal-pages", type=int, required=True)
    write(**vars(parser.parse_args()))
