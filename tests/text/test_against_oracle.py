"""Pages, scores and statistics equal a plain oracle's, on a thousand random corpora."""

from __future__ import annotations

import math
from random import Random

import pytest

import germane
from oracle.search import Answer, Oracle
from text.corpora import Corpus, corpus, query, section, weights

CORPORA = 1_000
SHARDS = 10
QUERIES = 6


def assert_equal(corpus: Corpus, oracle: Oracle, text: str) -> None:
    random = corpus.random
    numbers = weights(random)
    match = random.choice(("any", "any", "all"))
    collections = random.choice((None, None, ("notes",), ("main", "notes"), ("none",)))
    lang = random.choice((None, None, None, "english"))
    offset, limit = random.choice(((0, 20), (0, 1000), (1, 2), (3, 5)))
    wanted = oracle.search(text, match=match, collections=collections, lang=lang, now=corpus.now, **numbers)
    page = corpus.db.search(
        text,
        match=match,
        collections=collections,
        lang=lang,
        weights=germane.SearchWeights(**numbers),
        offset=offset,
        limit=limit,
    )
    context = f"{text!r} {match} {collections} {lang} {numbers}"
    assert page.total == wanted.total, context
    assert page.loosened == wanted.loosened, context
    assert page.has_more == (offset + len(page.items) < wanted.total), context
    assert_same_order(page, wanted, offset, limit, context)
    ids, scores = corpus.db.top(
        text, k=limit, offset=offset, match=match, collections=collections, lang=lang,
        weights=germane.SearchWeights(**numbers),
    )  # fmt: skip
    assert ids == [result.id for result in page.items], context
    assert scores == [result.raw for result in page.items], context


def assert_same_order(page: germane.Page, wanted: Answer, offset: int, limit: int, context: str) -> None:
    hits = wanted.hits[offset : offset + limit]
    assert len(page.items) == len(hits), context
    by_id = {hit.id: hit for hit in wanted.hits}
    for result, expected in zip(page.items, hits, strict=True):
        # Sums that differ in the last bit may swap equals; then both sides hold equal scores.
        assert math.isclose(result.raw, expected.score, rel_tol=1e-9, abs_tol=1e-12), (context, result.id)
        hit = by_id[result.id]
        assert math.isclose(result.raw, hit.score, rel_tol=1e-9, abs_tol=1e-12), (context, result.id)
        assert list(result.contributions) == [name for name, _ in hit.contributions], (context, result.id)
        for (name, value), mine in zip(hit.contributions, result.contributions.values(), strict=True):
            assert math.isclose(mine, value, rel_tol=1e-9, abs_tol=1e-12), (context, result.id, name)
        assert list(result.matched_terms) == hit.matched, (context, result.id)
        assert result.score == result.raw == result.text_score
        total = 0.0
        for value in result.contributions.values():
            total += value
        assert result.raw == total, (context, result.id)


def assert_equal_statistics(corpus: Corpus, oracle: Oracle) -> None:
    mine, wanted = corpus.db.stats(), oracle.statistics()
    assert mine.total_sections == wanted.N
    assert mine.total_terms == wanted.total_terms
    assert mine.total_tokens == wanted.total_tokens
    assert mine.avg_section_length == pytest.approx(wanted.mean_length, rel=1e-12)
    assert mine.avg_heading_length == pytest.approx(wanted.avgdl["heading"], rel=1e-12)
    assert mine.avg_body_length == pytest.approx(wanted.avgdl["body"], rel=1e-12)
    assert mine.avg_code_length == pytest.approx(wanted.avgdl["code"], rel=1e-12)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_pages_equal_the_oracle(shard: int) -> None:
    """Seen to fail when k1 + 1 becomes k1, and when the zone's fifth becomes a fourth."""
    for seed in range(shard, CORPORA, SHARDS):
        made = corpus(seed, in_segments=shard % 2 == 1)
        oracle = Oracle(made.sections)
        assert_equal_statistics(made, oracle)
        for _ in range(QUERIES):
            text = query(made.random)
            try:
                assert_equal(made, oracle, text)
            except AssertionError as error:
                raise AssertionError(f"corpus {seed}: {error}") from error
        made.db.close()


def test_mode_stats_equals_the_oracle() -> None:
    for seed in range(100):
        made = corpus(seed)
        oracle = Oracle(made.sections)
        text = query(made.random)
        page = made.db.search(text, mode="stats")
        wanted = oracle.stats(text)
        assert page.stats is not None
        assert page.items == ()
        assert not page.has_more
        assert page.stats.total_matches == wanted.total
        assert page.stats.query == text
        found = [(stat.frequency, stat.sections_matched) for stat in page.stats.top_terms]
        assert found == [(term.frequency, term.sections_matched) for term in wanted.terms], (seed, text)


def test_what_is_pruned_could_not_have_entered() -> None:
    """Sections alike but for the order of their words: proximity decides, and most are never scored exactly.

    Seen to fail when proximity's ceiling is half of what it is.
    """
    random = Random(7)
    words = ["red", "lamp", "blue", *("filler",) * 9]
    db = germane.open()
    sections = []
    for number in range(400):
        held = words[: random.randint(1, 3)] + words[3:]
        random.shuffle(held)
        put = germane.Item(id=f"{number:03}", body=" ".join(held), type="text/plain", created_at=0)
        db.put(put)
        sections.append(section(put, (), "english"))
    oracle = Oracle(sections)
    for text in ("red lamp", "red lamp blue", "lamp blue", "blue red"):
        for weight in (0.1, 1.0, 10.0):
            wanted = oracle.search(text, proximity=weight).hits
            for limit in (1, 3, 10, 100):
                numbers = germane.SearchWeights(proximity=weight)
                page = db.search(text, weights=numbers, limit=limit)
                assert [result.id for result in page.items] == [hit.id for hit in wanted[:limit]]
