"""The `Decider`: decisions between your actions, with outcomes in your units."""

from hannan.decisions.answers import NamedDecision, Why
from hannan.decisions.decider import Decider
from hannan.decisions.summary import Comparison, Holdout, Summary

__all__ = ["Comparison", "Decider", "Holdout", "NamedDecision", "Summary", "Why"]
