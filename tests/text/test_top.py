"""Plain words by one call of machine code: the same as by a plan."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Database, Item
from germane.ranking.search import pipeline
from germane.text import top
from germane.text.compiled import KERNEL

WORDS = ["lamp", "lamps", "bulb", "the", "of", "sofa", "nowhere", "chair", "Lamp", "getUser", '"bulb', "x"]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    KERNEL.load()


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    """Hold several parts, dead rows, and equal scores across parts; ids of many lengths, some not ASCII."""
    made = germane.open()
    for batch in range(4):
        texts = [
            "lamp bulb",
            "bulb of the sofa",
            "a lamp, a lamp and a chair",
            "chair",
            "sofa lamp bulb chair",
        ]
        made.put_many(
            Item(id=f"{'é' * (number % 3)}{batch}-{number}", title=texts[batch], body=text * (1 + number % 2))
            for number, text in enumerate(texts * 8)
        )
        made.top("lamp")
    made.delete("0-0")
    made.delete("é3-1")
    yield made
    made.close()


@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), k=st.sampled_from([1, 10, 1000]))
def test_equals_a_plan(db: Database, words: list[str], k: int) -> None:
    """Seen to fail when a word counts twice, when a stop word does, and with one idf for all."""
    text = " ".join(words)
    with db._moments.at() as moment:
        index = moment.index
    found = top.top_of_words(index, text, k)
    if found is None:
        assert set(words) & {"Lamp", "getUser", '"bulb'} or set(words) <= {"the", "of", "x"}
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "top_of_words", lambda *_: None)
        assert found == pipeline.top_by_text(index, text, k)


def test_what_is_kept_of_words_is_bounded(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top, "WORDS", 70)
    with db._moments.at() as moment:
        index = moment.index
    expected = top.top_of_words(index, "lamp sofa", 10)
    for number in range(200):
        assert top.top_of_words(index, "none" + chr(97 + number % 26) * (number % 9 + 1), 10) == ([], [])
        assert len(index.derived["words"].places) <= 70
    assert top.top_of_words(index, "lamp sofa", 10) == expected


def test_an_empty_store() -> None:
    empty = germane.open()
    assert empty.top("lamp") == ([], [])
    with empty._moments.at() as moment:
        assert top.top_of_words(moment.index, "lamp", 10) == ([], [])
    empty.close()
