"""Evaluation: what profiles would have shown, had they been asked while a log was written."""

from germane.evaluation.cases import Case, cases
from germane.evaluation.metrics import Measured
from germane.evaluation.replay import Recommender, Replay, replay
from germane.evaluation.story import Story
from germane.evaluation.tune import Tuned, tune

__all__ = ["Case", "Measured", "Recommender", "Replay", "Story", "Tuned", "cases", "replay", "tune"]
