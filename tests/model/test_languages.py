"""Names of languages, as people write them."""

from __future__ import annotations

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from germane.model.languages import language_name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("english", "english"),
        ("English ", "english"),
        ("en", "english"),
        ("EN", "english"),
        ("en-US", "english"),
        ("en_GB", "english"),
        ("pt-BR", "portuguese"),
        ("zh-Hant-TW", "chinese"),
        ("nb", "norwegian"),
        ("tlh", "tlh"),
        ("tlh-Latn", "tlh-latn"),
        ("", None),
        ("e", None),
        ("englsh", None),
        ("en-", None),
        ("en--us", None),
        ("en US", None),
        ("en\n", "english"),
        ("日本語", None),
    ],
)
def test_names(given: str, name: str | None) -> None:
    assert language_name(given) == name


def test_every_stemmer_has_a_name() -> None:
    algorithms = set(Stemmer.algorithms()) - {"porter", "dutch_porter", "lovins"}
    assert {language_name(algorithm) for algorithm in algorithms} == algorithms


@given(st.text(max_size=30))
def test_a_name_is_its_own_name(text: str) -> None:
    name = language_name(text)
    assert name is None or language_name(name) == name
