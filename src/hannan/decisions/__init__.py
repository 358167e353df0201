"""Decisions of your own, by name and in your units: the front door."""

from hannan.decisions.answers import NamedDecision, Why
from hannan.decisions.decider import Decider
from hannan.decisions.summary import Comparison, Holdout, Summary

__all__ = ["Comparison", "Decider", "Holdout", "NamedDecision", "Summary", "Why"]
