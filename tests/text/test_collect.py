"""Collecting sections: machine code cuts texts as Python does, and nothing is left of pieces but terms."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.log.content import Row
from germane.text import collect, pieces
from germane.text.collect import Collector
from germane.text.compiled import KERNEL, Kernels
from germane.text.vocabulary import Vocabulary

WORDS = st.sampled_from(
    ["lamp", "Lamps,", "getUserById", "v1.2.3", "don't", "中文字", "a\u00a0b", "naïve", "x" * 70, "\x1c",
     "--", "ﷺ", "DEC-0054", "(the)", "e\u0301te", "\x00", "1984", "A"]
) | st.text(max_size=6).filter(lambda text: text.encode("utf-8", "replace").decode() == text)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=12).flatmap(
    lambda words: st.sampled_from([" ", "\n", "\t  ", "\x0b"]).map(lambda space: space.join(words))
)
ITEMS = st.lists(
    st.tuples(TEXTS, TEXTS, st.sampled_from([None, "german", "french"]), st.booleans()),
    min_size=1,
    max_size=8,
)


def row(number: int, title: str, body: str, lang: str | None, live: bool) -> Row:
    return Row(
        ordinal=number, id=f"i{number}", rev="r", creator=None, metadata="{}", tags="[]", collection="main",
        kind="item", created_at=number, live=live, seq=number, type="text/plain", lang=lang, title=title,
        description=None, body=body,
    )  # fmt: skip


def collected(rows: list[Row], blocks: int) -> list[Any]:
    """Return what sections hold, with terms in place of their numbers."""
    words = Vocabulary()
    collector = Collector(words, {})
    found: list[Any] = []
    for start in range(0, len(rows), blocks):
        made = collector.sections(rows[start : start + blocks], "english")
        if made is not None:
            found.append(
                [
                    *(each.tolist() for each in (made.ordinals, made.lengths, made.counts, made.positions)),
                    words.terms(made.terms.tolist()), made.ids, made.shelves.tolist(),
                ]
            )  # fmt: skip
    return found


@settings(deadline=None)
@given(ITEMS, st.integers(1, 4))
def test_machine_code_cuts_as_python_does(items: list[Any], blocks: int) -> None:
    """Seen to fail when a text given as bytes ends one byte early."""
    rows = [row(number, *item) for number, item in enumerate(items)]
    compiled = KERNEL.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernels, "at_once", lambda self, postings: None)
        plain = collected(rows, blocks)
        patch.setattr(Kernels, "at_once", lambda self, postings: compiled)
        assert collected(rows, blocks) == plain
        patch.setattr(collect, "BYTES", 5)
        assert collected(rows, blocks) == plain


def test_a_table_that_fills_up_grows() -> None:
    """Seen to fail when pieces of equal length are taken for equal."""
    compiled = KERNEL.load()
    words = [f"{number:x}q" for number in range(5_000)]
    known = pieces.Pieces("english", Vocabulary())
    for start in range(0, 5_000, 700):
        known.numbered([word.encode() for word in words[start : start + 700]], compiled)
    numbers, ends = known.numbered([b" ".join(word.encode() for word in words), b"", b"0q"], compiled)
    assert numbers.tolist() == [*range(5_000), 0]
    assert ends.tolist() == [5_000, 5_000, 5_001]


def test_what_many_pieces_took_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails when long pieces, which have no entry, are kept for ever."""
    monkeypatch.setattr(collect, "KEPT", 3)
    collector = Collector(Vocabulary(), {})
    for number in range(4):
        collector.sections([row(number, "", f"{'x' * 70}{number} " * 2, None, True)], "english")
    assert sum(len(each.starts) for each in collector._pieces.values()) <= 4
