"""Policies: what is declared is what is read, from Python and TOML; errors name the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane import Item, Policy, PolicyViolation, Schema, SchemaError, Signal, where
from germane.faces.cli.verbs.schema import toml
from germane.model.policies import tokens_at

FULL: dict[str, Any] = {
    "allowed_signals": ["view"],
    "max_signals": 0,
    "max_annotations": 7,
    "max_annotation_chars": None,
    "max_duration": None,
    "retention": "30m",
    "rate_per_minute": 5,
    "allowed_items": where.meta.price < 10,
    "annotation_half_life": "1h",
    "learn": True,
}


@pytest.mark.parametrize("given", [{}, FULL, *({name: value} for name, value in FULL.items())])
def test_a_policy_survives_its_declaration(given: dict[str, Any], tmp_path: Path) -> None:
    """Fails if a field is not declared, or a limit that is lifted is there again."""
    policy = Policy("p", **given)
    assert Policy.from_declaration(policy.declaration()) == policy
    schema = Schema([Signal("view")], policies=[policy])
    (tmp_path / "s.toml").write_text(toml(schema.declaration()))
    assert Schema.from_toml(tmp_path / "s.toml").policy("p") == policy
    with germane.open(schema=schema) as db:
        assert db.schema == schema


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "P"}, "policy.name"), ({"allowed_signals": "view"}, "policy.p.allowed_signals"),
        ({"max_signals": -1}, "policy.p.max_signals"), ({"max_signals": True}, "policy.p.max_signals"),
        ({"max_annotations": 1.5}, "policy.p.max_annotations"),
        ({"max_annotation_chars": "x"}, "policy.p.max_annotation_chars"),
        ({"max_duration": "soon"}, "policy.p.max_duration"), ({"retention": -1}, "policy.p.retention"),
        ({"rate_per_minute": 0}, "policy.p.rate_per_minute"),
        ({"allowed_items": 3}, "policy.p.allowed_items"),
        ({"allowed_items": "unseen"}, "policy.p.allowed_items"),
        ({"annotation_half_life": "x"}, "policy.p.annotation_half_life"), ({"learn": 1}, "policy.p.learn"),
    ],
)  # fmt: skip
def test_what_cannot_be_declared(given: dict[str, Any], field: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Policy(**{"name": "p", **given})
    assert caught.value.field == field


def test_a_schema_checks_its_policies() -> None:
    for policies, field in (
        ([Policy("p"), Policy("p")], "policies[1].name"), (["p"], "policies[0]"),
        ([Policy("p", allowed_signals=["nope"])], "policy.p.allowed_signals"), ("p", "policies"),
    ):  # fmt: skip
        with pytest.raises(SchemaError) as caught:
            Schema(policies=policies)  # type: ignore[arg-type]
        assert caught.value.field == field
    assert Schema(policies=[Policy("default", max_signals=1)]).policy("default").max_signals == 1


@given(st.integers(1, 30), st.lists(st.integers(0, 40_000_000), min_size=1, max_size=30))
def test_the_bucket_is_that_of_a_plain_model(rate: int, waits: list[int]) -> None:
    """Fails if the bucket fills beyond its size, begins empty, or a refusal takes a token."""
    now = 1e9
    db = germane.open(
        schema=Schema([Signal("view")], policies=[Policy("p", rate_per_minute=rate)]), clock=lambda: now
    )
    db.put(Item(id="a", title="a"))
    session = db.start_session(agent="a", policy="p")
    tokens = float(rate)
    for wait in waits:
        now += wait / 1e6
        tokens = min(float(rate), tokens + wait / 1e6 * rate / 60)
        if abs(tokens - 1) < 1e-4:
            return  # within what a microsecond makes
        try:
            session.signal("view", "a")
            assert tokens >= 1
            tokens -= 1
        except PolicyViolation as refused:
            assert tokens < 1 and refused.limit == "rate_per_minute"
            assert refused.retry_after == pytest.approx((1 - tokens) * 60 / rate, abs=2e-5)
            wait_for = refused.retry_after or 0.0
            now += wait_for + 1e-6
            session.annotate("let through")
            tokens = max(tokens + (wait_for + 1e-6) * rate / 60 - 1, 0.0)


def test_a_bucket_never_holds_more_than_its_size() -> None:
    assert tokens_at(0.0, 0, 10**12, 7) == 7.0
