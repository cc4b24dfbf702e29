"""Kernels: compiled they give the bits that they give as they are, and the best are those of a full scan.

Segments are drawn at random, with what is rare in real text: words in every row, in one field alone,
thousands of times in one row, far into a section; rows of one token and of many thousands; equal scores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.model.weights import SearchWeights
from germane.text import compiled, segment
from germane.text.arrays import offsets
from germane.text.build import Sections, build, merge
from germane.text.compiled import KERNEL, Kernels
from germane.text.index import Index, Part, Statistics
from germane.text.plan import Plan, Word
from germane.text.scoring import Scoring
from germane.text.segment import Segment, occurrences
from germane.text.stored import canonical, from_arrays, to_arrays
from germane.text.vocabulary import Vocabulary

SEEDS = 40
TERMS = 12


def sections(random: np.random.Generator, count: int, start: int = 0) -> Sections:
    """Sections whose words are skewed: word 0 stands everywhere, the last ones nearly nowhere."""
    terms, positions, lengths, counts = [], [], [], []
    longest = int(random.choice([3, 30, 400]))
    for _ in range(count):
        fields = random.integers(0, longest, 3) * (random.random(3) < [0.4, 1.0, 0.3])
        fields[1] += not fields.any()
        if random.random() < 0.002:
            fields[1] += 20_000
        size = int(fields.sum())
        drawn = np.minimum(random.geometric(0.3, size) - 1, TERMS - 1)
        if random.random() < 0.2:
            drawn[:] = drawn[0]
        terms.append(drawn)
        positions.append(np.arange(size))
        lengths.append(fields)
        counts.append(size)
    return Sections(
        ordinals=np.arange(start, start + count),
        created_at=random.integers(0, 10**15, count),
        ids=[f"{random.integers(0, 10**6):x}-{start + at}".encode() for at in range(count)],
        shelves=np.zeros(count, np.int32),
        lengths=np.array(lengths, np.int32).reshape(-1, 3),
        counts=np.array(counts, np.int64),
        terms=np.concatenate(terms).astype(np.int32),
        positions=np.concatenate(positions).astype(np.int32),
    )


def an_index(random: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index of some parts, some rows of which are dead."""
    monkeypatch.setattr("germane.text.build.DENSE", int(random.choice([1, 8, 512])))
    monkeypatch.setattr("germane.text.scoring.FEW", int(random.choice([0, 2_048])))
    parts, statistics, start = [], Statistics(), 0
    for _ in range(int(random.integers(1, 4))):
        made = build(sections(random, int(random.integers(1, 300)), start))
        start += len(made)
        alive = random.random(len(made)) < random.choice([1.0, 0.7])
        alive[0] = True
        parts.append(Part(made, alive))
        statistics = statistics.changed_by(made, np.flatnonzero(alive), +1)
    words = Vocabulary()
    for term in range(TERMS):
        words.number(f"t{term}")
    return Index(1, 0, "english", tuple(parts), statistics, words, (("main", "english"),))


def a_query(random: np.random.Generator, index: Index) -> Scoring:
    words = []
    for at in range(int(random.integers(1, 6))):
        terms = frozenset(f"t{n}" for n in random.integers(0, TERMS + 1, random.integers(1, 3)))
        fields = None if random.random() < 0.8 else frozenset(random.integers(0, 3, 2).tolist())
        words.append(Word(f"w{at}", f"w{at}", terms, at > 0 and random.random() < 0.2, False, fields, None))
    numbers = {
        "k1": random.choice([0.0, 1.2, 50.0]), "b": random.choice([0.0, 0.75, 1.0]),
        "heading": random.choice([0.0, 2.0]), "body": random.choice([0.0, 1.0, 1e3]),
        "proximity": random.choice([0.0, 1.0, 20.0]), "zone": random.choice([0.0, 0.5, 9.0]),
        "freshness": random.choice([0.0, 0.0, 2.0]),
    }  # fmt: skip
    allowed = None if random.random() < 0.5 else index.alive & (random.random(index.size) < 0.3)
    weights = SearchWeights(**{name: float(value) for name, value in numbers.items()})
    return Scoring(index, Plan(tuple(words)), weights, 10**15, allowed)


@pytest.fixture
def as_they_are(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Choose between the kernels' own source, NumPy expressions in its place, and compiled ones."""

    def choose(how: str) -> None:
        chosen = {"source": compiled.AS_THEY_ARE, "plain": compiled.PLAIN}.get(how) or KERNEL.load()
        monkeypatch.setattr(Kernels, "ready", lambda self, postings: chosen)

    return choose


def everything(asked: Scoring, wanted: int) -> list[Any]:
    copy = Scoring(asked.index, asked.plan, asked.weights, asked.now, asked.allowed)
    rows = copy.rows
    return [
        copy.total,
        copy.best_pairs(wanted),
        rows.tolist(),
        copy.scores(rows).tolist(),
        copy.scores(rows, is_exact=False).tolist(),
        *(each.tolist() for each in copy.details(rows)),
    ]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_compiled_and_not_they_say_the_same(
    seed: int, as_they_are: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    index = an_index(random, monkeypatch)
    for _ in range(3):
        asked, wanted = a_query(random, index), int(random.choice([1, 5, 50, 1000]))
        as_they_are("source")
        source = everything(asked, wanted)
        as_they_are("plain")
        assert everything(asked, wanted) == source
        as_they_are("compiled")
        assert everything(asked, wanted) == source


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_best_are_those_of_a_full_scan(
    seed: int, as_they_are: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    as_they_are("compiled")
    random = np.random.default_rng(1_000 + seed)
    index = an_index(random, monkeypatch)
    for _ in range(20):
        asked = a_query(random, index)
        scores, bounds = asked.scores(asked.rows), asked.scores(asked.rows, is_exact=False)
        assert (bounds >= scores).all()
        pairs = sorted(
            zip(scores.tolist(), asked.rows.tolist(), strict=True),
            key=lambda pair: (-pair[0], index.id_bytes(pair[1])),
        )
        for wanted in (1, 3, 10, 1000):
            assert asked.best_pairs(wanted) == pairs[:wanted]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_merged_index_says_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2_000 + seed)
    index = an_index(random, monkeypatch)
    merged = merge([(part.segment, part.alive) for part in index.parts])
    whole = Part(merged, np.ones(len(merged), np.bool_))
    other = Index(1, 0, "english", (whole,), index.statistics, index.vocabulary, index.shelves)
    assert_equal(canonical(index), canonical(other))
    again = merge([(merged, whole.alive)])
    assert_equal(dict(merged.arrays()), dict(again.arrays()))
    assert_equal(canonical(from_arrays(to_arrays(index), 1, 0, "english")), canonical(index))


def assert_equal(ours: dict[str, np.ndarray[Any, Any]], wanted: dict[str, np.ndarray[Any, Any]]) -> None:
    for name, array in wanted.items():
        assert np.array_equal(ours[name], array), name


def test_every_occurrence_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    given = sections(random, 200)
    made = build(given)
    found = occurrences(made)
    row = np.repeat(np.arange(200), given.counts)
    ours = sorted(
        zip(made.terms[found.slots].tolist(), found.rows.tolist(), found.positions.tolist(), strict=True)
    )
    assert ours == sorted(zip(given.terms.tolist(), row.tolist(), given.positions.tolist(), strict=True))
    ends = given.lengths.cumsum(axis=1)[found.rows]
    field = (found.positions >= ends[:, 0]).astype(int) + (found.positions >= ends[:, 1])
    assert (field == found.fields).all()


def test_a_million_repeats_of_a_word(as_they_are: Callable[[str], None]) -> None:
    """Beside two others: one far from them all, one next to the last."""
    as_they_are("compiled")
    count = 1_000_000
    body = np.zeros(count, np.int32)
    body[0], body[-1] = 1, 2
    rest = np.array([0, 1, 2], np.int32)
    made = build(
        Sections(
            ordinals=np.arange(2), created_at=np.zeros(2, np.int64), ids=[b"a", b"b"],
            shelves=np.zeros(2, np.int32), lengths=np.array([[0, count, 0], [0, 3, 0]], np.int32),
            counts=np.array([count, 3]), terms=np.append(body, rest),
            positions=np.append(np.arange(count), [0, 1, 2]).astype(np.int32),
        )
    )  # fmt: skip
    part = Part(made, np.ones(2, np.bool_))
    words = Vocabulary()
    for term in ("many", "first", "last"):
        words.number(term)
    index = Index(
        1, 0, "english", (part,), Statistics().changed_by(made, slice(None), 1), words, (("main", "english"),)
    )
    names = ("many", "first", "last")
    plan = Plan(tuple(Word(name, name, frozenset([name]), False, False, None, None) for name in names))
    asked = Scoring(index, plan, SearchWeights(), 0)
    near = asked.details(np.array([0, 1])).near.tolist()
    # Two words side by side, of three; and all three.
    assert near == [2 / 3, 1.0]
    assert [row for _, row in asked.best_pairs(2)] == [1, 0]


def test_a_phrase_is_found_where_it_stands(as_they_are: Callable[[str], None]) -> None:
    for how in ("source", "compiled"):
        as_they_are(how)
        random = np.random.default_rng(9)
        for _ in range(10):
            given = sections(random, 60)
            made = build(given)
            places = np.sort(random.integers(0, 3, 2)).tolist()
            first, second = random.integers(0, TERMS, 2).tolist()
            marked = np.zeros(60, np.bool_)
            fields = int(random.integers(1, 8))
            asked = np.array([(made.slot(first), 0, 0), (made.slot(second), 1, 1 + places[1])], np.int64)
            KERNEL.ready(0).mark_phrase(*made.for_kernels[:7], asked, fields, marked)
            assert marked.tolist() == holding(given, first, second, 1 + places[1], fields)


def holding(given: Sections, first: int, second: int, distance: int, fields: int) -> list[bool]:
    found, begins = [], offsets(given.counts)
    for row, ends in enumerate(given.lengths.cumsum(axis=1).tolist()):
        terms = given.terms[begins[row] : begins[row + 1]].tolist()
        held = False
        for at in range(len(terms) - distance):
            field = (at >= ends[0]) + (at >= ends[1])
            other = (at + distance >= ends[0]) + (at + distance >= ends[1])
            is_here = terms[at] == first and terms[at + distance] == second
            held |= is_here and field == other and bool(fields >> field & 1)
        found.append(held)
    return found


def test_a_segment_is_as_small_as_it_says() -> None:
    """Three bytes a posting, about one a position."""
    made = build(sections(np.random.default_rng(3), 500))
    assert isinstance(made, Segment)
    assert made.rows.dtype == np.uint16
    assert made.codes.dtype == np.uint8
    assert len(made.positions) < 1.2 * int(made.tf().sum()) + 2 * 20_000
    assert segment.ROWS == 65_536


def test_machine_code_of_older_sources_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel's helpers lie in other files than itself, which numba does not look at."""
    names = "kernels.best kernels.scores kernels.details postings.mark_any postings.mark_phrase".split()
    names += ["pieces.place_pieces", "pieces.find_pieces", "machine.best_of_all", "machine.best_of_words"]
    source = tmp_path / "heap.py"
    source.touch()
    monkeypatch.setattr(compiled, "_CACHE", tmp_path)
    monkeypatch.setattr(compiled, "_SOURCES", [source])
    assert not compiled.is_cached()
    for name in names:
        (tmp_path / f"{name}-1.py311.nbi").touch()
    assert compiled.is_cached()
    os.utime(source, (time.time() + 60, time.time() + 60))
    assert not compiled.is_cached()
    compiled._drop_stale()
    assert [path.name for path in tmp_path.iterdir()] == ["heap.py"]
