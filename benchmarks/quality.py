"""Ranking quality on judged collections, Germane beside BM25 over one field in the same run.

python -m benchmarks.quality --data PATH
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
from ir_measures import R, nDCG

from benchmarks.bm25 import K1, B, FloatArray
from benchmarks.corpora import Corpus, every_corpus, xquad
from benchmarks.environment import environment, load, save
from benchmarks.rankers import DEPTH, REFERENCE, Run, bm25_runs, check_bm25s, germane_runs
from benchmarks.significance import RESAMPLES, SEED, difference, interval

MEASURES = {"ndcg@10": nDCG @ 10, "recall@100": R @ 100}
HEADLINE = "ndcg@10"
_LOSSES = 10

Values = dict[str, dict[str, FloatArray]]
"""System to measure to one value a query."""


def required(corpus: Corpus) -> str:
    """Return the setting of Germane that must reach the reference on a corpus."""
    return "germane, heading 0.5" if corpus.name == "scifact" else "germane"


def measure(corpus: Corpus) -> dict[str, Any]:
    """Rank a corpus with every system, and compare."""
    runs = dict(chain(germane_runs(corpus), bm25_runs(corpus)))
    values = {name: evaluate(corpus, run) for name, run in runs.items()}
    return {
        "name": corpus.name,
        "documents": len(corpus.documents),
        "queries": len(corpus.queries),
        "judgements": sum(map(len, corpus.judgements.values())),
        "bm25s_check": check_bm25s(corpus)._asdict(),
        "systems": [
            {"name": name, **{measure: asdict(interval(of[measure])) for measure in MEASURES}}
            for name, of in values.items()
        ],
        "against_reference": [
            {
                "system": name,
                **{m: difference(of[m], values[REFERENCE][m]).plain() for m in MEASURES},
            }
            for name, of in values.items()
            if name != REFERENCE
        ],
        "requirement": _requirement(corpus, values),
        "steps": _steps(corpus, values),
        "losses": _losses(corpus, runs, values),
    }


def evaluate(corpus: Corpus, run: Run) -> dict[str, FloatArray]:
    """Return each measure's value for each query, in the order of the queries.

    A system is judged by the order it returned: scores are places counted from the end, so that no
    evaluator breaks ties of its own.
    """
    scored = {
        query: {document: float(len(ranked) - place) for place, document in enumerate(ranked)}
        for query, ranked in run.items()
    }
    found: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    named = {measure: name for name, measure in MEASURES.items()}
    for metric in ir_measures.iter_calc(list(named), corpus.judgements, scored):
        found[named[metric.measure]][metric.query_id] = metric.value
    return {
        # A query for which nothing was found has no value of its own: it is 0.
        name: np.array([values.get(query, 0.0) for query in corpus.queries])
        for name, values in found.items()
    }


def _requirement(corpus: Corpus, values: Values) -> dict[str, Any]:
    system = required(corpus)
    ours, reference = (float(values[name][HEADLINE].mean()) for name in (system, REFERENCE))
    typed = float(values[f"{system}, questions as typed"][HEADLINE].mean())
    others = {name: float(of[HEADLINE].mean()) for name, of in values.items() if name.startswith(REFERENCE)}
    return {
        "system": system,
        "reference": REFERENCE,
        HEADLINE: ours,
        "reference_value": reference,
        "met": ours >= reference,
        "as_typed": typed,
        "met_as_typed": typed >= reference,
        "variants_above": [name for name, value in others.items() if value > ours],
    }


def _steps(corpus: Corpus, values: Values) -> list[dict[str, Any]]:
    """Return the way from the reference to the required setting, each step changing one thing."""
    system = required(corpus)
    way = {
        "bm25": REFERENCE,
        "repeated words once": "bm25, repeated words once",
        "stop words count as length": "bm25, stop words in documents, repeated words once",
        "fields and wholes of compounds": f"{system}, no proximity, no zone",
        "proximity": f"{system}, no zone",
        "zone": system,
    }
    return [{"step": step, HEADLINE: float(values[name][HEADLINE].mean())} for step, name in way.items()]


def _losses(corpus: Corpus, runs: Mapping[str, Run], values: Values) -> list[dict[str, Any]]:
    """Return the queries on which the required setting falls furthest behind the reference."""
    system = required(corpus)
    deltas = values[system][HEADLINE] - values[REFERENCE][HEADLINE]
    queries = list(corpus.queries)
    shown = [REFERENCE, system, f"{system}, no proximity, no zone"]
    worst = [int(at) for at in np.argsort(deltas, kind="stable")[:_LOSSES] if deltas[at] < 0]
    return [
        {
            "query": corpus.queries[queries[at]],
            "difference": float(deltas[at]),
            "place_of_first_answer": {
                name: _place(runs[name].get(queries[at], []), corpus.judgements[queries[at]])
                for name in shown
            },
        }
        for at in worst
    ]


def _place(ranked: list[str], judged: Mapping[str, int]) -> int | None:
    return next((place for place, id in enumerate(ranked, 1) if judged.get(id, 0) > 0), None)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds xquad/ and scifact/")
    parser.add_argument("--quick", action="store_true", help="only XQuAD in English; nothing is saved")
    given = parser.parse_args()
    busy = load()
    results: list[dict[str, Any]] = []
    for corpus in [xquad(given.data, "en")] if given.quick else every_corpus(given.data):
        began = time.perf_counter()
        found = measure(corpus)
        results.append(found)
        print(f"{corpus.name}: {len(corpus.queries)} queries, {time.perf_counter() - began:.0f} s")
        for system in found["systems"]:
            print(f"  {system[HEADLINE]['mean']:.4f}  {system['recall@100']['mean']:.4f}  {system['name']}")
        print(f"  requirement met: {found['requirement']['met']}")
    if not given.quick:
        settings = {"k1": K1, "b": B, "depth": DEPTH, "resamples": RESAMPLES, "seed": SEED}
        path = save(
            "quality",
            {
                "environment": environment(busy, "bm25s", "ir-measures"),
                "settings": settings,
                "collections": results,
            },
        )
        print(f"written to {path}")


if __name__ == "__main__":
    main()
