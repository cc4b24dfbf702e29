"""Indexing text and asking it, Germane beside other engines in the same run.

python -m benchmarks.speed [--data PATH] [--large] [--rounds N] [--systems a,b] [--sections N]

With ``--data`` a real collection is asked its own questions as well; ``--large`` asks a million sections
in place of a hundred thousand.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import Stemmer

from benchmarks.bm25 import K1, B, Exact, overlap
from benchmarks.corpora import scifact
from benchmarks.engines import ENGINES, SHARES, lucene
from benchmarks.engines.worker import ADDED, CHECKED, PHRASE, TIMED_S, TOP, WARM_S
from benchmarks.environment import environment, load, save
from benchmarks.zipf import (
    BANDS,
    COMMON,
    VOCABULARY,
    WORDS,
    bands_of,
    phrases,
    queries,
    sections,
    vocabulary,
)
from germane.text.stemming import stop_words

SECTIONS, LARGE = 100_000, 1_000_000
LARGE_SYSTEMS = ("germane", "germane page", "tantivy", "Lucene")
ROUNDS = 3
QUERIES = 1_000
LENGTHS = {"1 word": 1, "2 words": 2, "4 words": 4}
QUESTIONS = "questions"
PARTS = ("timed", "warm")

Figures = dict[str, Any]
Asked = dict[str, dict[str, list[str]]]
"""Kind to part to queries."""


@dataclass(frozen=True)
class Collection:
    """Texts on disk, one a line, and what is asked of them."""

    name: str
    texts: Path
    asked: Asked

    @property
    def queries(self) -> Path:
        """The file of queries."""
        return self.texts.with_suffix(".queries")

    def write(self, texts: Iterable[str]) -> None:
        """Write texts and queries for the workers."""
        with self.texts.open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
        lines = (
            f"{kind}\t{part}\t{query}\n"
            for kind, parts in self.asked.items()
            for part, of in parts.items()
            for query in of
        )
        self.queries.write_text("".join(lines), encoding="utf-8")

    def read(self) -> Iterator[str]:
        """Yield the texts."""
        with self.texts.open(encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")


def made_up(folder: Path, count: int) -> Collection:
    """Write made-up sections and queries of words of mixed frequencies."""
    asked: Asked = {
        kind: {part: queries(length, QUERIES, seed) for seed, part in enumerate(PARTS)}
        for kind, length in LENGTHS.items()
    }
    first = list(islice(sections(count), 10_000))
    asked[PHRASE] = {part: phrases(first, QUERIES, seed) for seed, part in enumerate(PARTS)}
    made = Collection(f"{count:,} made-up sections", folder / "made-up", asked)
    made.write(sections(count))
    return made


def real(folder: Path, data: Path) -> Collection:
    """Write SciFact as plain words; its first claims are timed, and the others asked before."""
    corpus = scifact(data)
    # Once each: engines do not agree on what a word that is asked twice counts.
    claims = [once for text in corpus.queries.values() if (once := plain_once(text))]
    half = len(claims) // 2
    asked = {QUESTIONS: {"timed": claims[:half], "warm": claims[half:]}}
    made = Collection("SciFact", folder / "scifact", asked)
    made.write(plain(document.joined) for document in corpus.documents)
    return made


def plain(text: str) -> str:
    """Return the words of a text in lower case without stop words, so that every engine cuts the same.

    Examples
    --------
    >>> plain("The effect of TNF-alpha.")
    'effect tnf alpha'
    """
    stops = stop_words("english")
    return " ".join(word for word in re.findall("[a-z]+", text.lower()) if word not in stops)


def plain_once(text: str) -> str:
    """Return a question as plain words, each stem once.

    Examples
    --------
    >>> plain_once("Cells of a cell")
    'cells'
    """
    found = {stem(word): word for word in reversed(plain(text).split())}
    return " ".join(reversed(found.values()))


_stemmer = Stemmer.Stemmer("english")


@cache
def stem(word: str) -> str:
    found: str = _stemmer.stemWord(word)
    return found


def stems(text: str) -> list[str]:
    """Return the terms of a text or query."""
    return list(map(stem, text.split()))


def run(name: str, task: str, *given: object) -> Figures:
    """Give a process of its own one task, and read its figures."""
    told = list(map(str, given))
    if ENGINES[name] == "lucene":
        command = lucene.command(task, told)
    else:
        command = [sys.executable, "-m", "benchmarks.engines.worker", name, task, *told]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} {task} failed:\n{done.stderr[-4000:]}")
    found: Figures = json.loads(done.stdout)
    return found


def present(names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the versions of those that can take part, and why the others cannot."""
    versions, missing = {}, {}
    for name in names:
        try:
            versions[name] = run(name, "version")["version"]
        except (RuntimeError, lucene.NoLucene) as error:
            missing[name] = str(error).strip().splitlines()[-1]
            print(f"{name} is left out: {missing[name]}")
    return versions, missing


def measure(collection: Collection, systems: Sequence[str], rounds: int, folder: Path) -> Figures:
    """Take turns: each round builds and asks every system, so that a busy machine is busy for all of them."""
    exact = Exact(
        (stems(text) for text in collection.read()),
        {term for parts in collection.asked.values() for query in parts["timed"] for term in stems(query)},
    )
    text = next(collection.read())
    found: dict[str, list[Figures]] = {name: [] for name in systems}
    for turn in range(rounds):
        with tempfile.TemporaryDirectory(dir=folder) as indexes:
            for name in systems:
                shared = SHARES.get(name, name)
                index = Path(indexes) / shared.replace(" ", "-")
                figures: Figures = {}
                if shared == name or not index.exists():
                    figures["built"] = run(shared, "build", collection.texts, index)
                asked = run(name, "ask", collection.queries, index, exact.size, text)
                found[name].append(figures | asked)
                told = ", ".join(
                    f"{kind}: {of['p50_us']:.0f}/{of['p99_us']:.0f}"
                    for kind, of in ((kind, quantiles(of)) for kind, of in asked["kinds"].items())
                )
                print(f"{collection.name}, round {turn + 1}, {name}, p50/p99 us: {told}", flush=True)
    return {
        "name": collection.name,
        "sections": exact.size,
        "bytes": collection.texts.stat().st_size,
        "asked": {kind: _described(collection, exact, kind) for kind in collection.asked},
        "systems": [{"name": name, **summary(name, exact, collection, each)} for name, each in found.items()],
    }


def _described(collection: Collection, exact: Exact, kind: str) -> Figures:
    """Say what is asked: how many match, and from which bands the words come."""
    timed = collection.asked[kind]["timed"]
    told: Figures = {"queries": len(timed), "examples": timed[:3]}
    if kind != PHRASE:
        matches = [exact.holds(stems(query)) for query in timed]
        p10, p50, p90 = np.quantile(matches, [0.1, 0.5, 0.9])
        told["matching"] = {"p10": p10, "p50": p50, "p90": p90}
    if kind != QUESTIONS:
        told["words_by_band"] = bands_of(timed)
    return told


def quantiles(of: Figures) -> dict[str, float]:
    """Return what half of the queries, and all but one in a hundred, took at most."""
    p50, p99 = np.quantile(of["times_us"], [0.5, 0.99])
    return {"p50_us": float(p50), "p99_us": float(p99)}


def summary(name: str, exact: Exact, collection: Collection, rounds: list[Figures]) -> Figures:
    """Return medians over the rounds, how near the answers are to exact BM25, and the rounds themselves."""
    told: Figures = {}
    if "built" in rounds[0] and name not in SHARES:
        built = {key: median(each["built"][key] for each in rounds) for key in rounds[0]["built"]}
        told["built"] = built | {"sections_per_core_s": exact.size / built["processor_s"]}
    told |= {key: median(each[key] for each in rounds) for key in ("open_s", "first_s")}
    told["memory"] = {
        when: median(
            each["memory"][when]["resident"] - each["memory"]["imported"]["resident"] for each in rounds
        )
        for when in ("opened", "asked")
    }
    if visible := [spent for each in rounds for spent in each["visible_us"]]:
        told["visible_us"] = median(visible)
    told["kinds"] = {}
    for kind in rounds[0]["kinds"]:
        every = [quantiles(each["kinds"][kind]) for each in rounds]
        of: Figures = {key: median(each[key] for each in every) for key in every[0]}
        of["queries"] = min(len(each["kinds"][kind]["times_us"]) for each in rounds)
        if kind != PHRASE and name not in SHARES:
            of |= agreement(exact, collection.asked[kind]["timed"], rounds[0]["kinds"][kind])
        told["kinds"][kind] = of
    told["rounds"] = [
        {
            **{key: value for key, value in each.items() if key != "kinds"},
            "kinds": {kind: quantiles(of) for kind, of in each["kinds"].items()},
        }
        for each in rounds
    ]
    return told


def agreement(exact: Exact, timed: Sequence[str], of: Figures) -> Figures:
    """Return the mean share of the exact top 10 that was found, and how far scores are from it, if told."""
    alone = of.get("exact")
    ranked = [numbers for numbers, _ in alone] if alone else of["top"]
    shares, furthest = [], 0.0
    for at, (query, numbers) in enumerate(zip(timed, ranked, strict=False)):
        scores = exact.scores(dict.fromkeys(stems(query)))
        share = overlap(scores, numbers, TOP)
        if share is None:
            continue
        shares.append(share)
        if alone:
            wanted = np.sort(scores)[::-1][: len(numbers)] * (K1 + 1)
            given = np.array(alone[at][1])
            furthest = max(furthest, float(np.max(np.abs(given - wanted) / wanted, initial=0)))
    found = {"overlap": float(np.mean(shares)), "compared": len(shares)}
    return found | ({"furthest_score": furthest} if alone else {})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder that holds scifact/")
    parser.add_argument("--large", action="store_true", help=f"{LARGE:,} sections")
    parser.add_argument("--sections", type=int, help=f"how many in place of {SECTIONS:,}; nothing is saved")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS}; 1 with --large")
    parser.add_argument("--systems", help=f"some of {','.join(ENGINES)}; nothing is saved")
    parser.add_argument("--output", type=Path, help="also write the results to this file")
    given = parser.parse_args()
    busy = load()
    wanted = (given.systems or ",".join(LARGE_SYSTEMS if given.large else ENGINES)).split(",")
    if unknown := set(wanted).difference(ENGINES):
        parser.error(f"no such system: {', '.join(sorted(unknown))}")
    count = given.sections or (LARGE if given.large else SECTIONS)
    rounds = given.rounds or (1 if given.large else ROUNDS)
    versions, missing = present(wanted)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        collections = [measure(made_up(folder, count), tuple(versions), rounds, folder)]
        if given.data:
            collections.append(measure(real(folder, given.data), tuple(versions), rounds, folder))
    found = {
        "environment": environment("apsw", load_before=busy) | {"engines": versions, "missing": missing},
        "settings": {
            "words": WORDS,
            "vocabulary": VOCABULARY,
            "passed_over": vocabulary()[:COMMON],
            "bands": BANDS,
            "queries": QUERIES,
            "top": TOP,
            "k1": K1,
            "b": B,
            "rounds": rounds,
            "warm_s": WARM_S,
            "warm_lucene_s": lucene.WARM_S,
            "timed_s": TIMED_S,
            "checked": CHECKED,
            "added": ADDED,
        },
        "collections": collections,
    }
    if given.output:
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not (given.sections or given.systems):
        print(f"written to {save('speed-large' if given.large else 'speed', found)}")


if __name__ == "__main__":
    main()
