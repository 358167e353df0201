"""Decisions of your own, by name and in your units: the front door."""

from hannan.decisions.answers import Answer, Why
from hannan.decisions.decider import Decider
from hannan.decisions.summary import Standing, Summary

__all__ = ["Answer", "Decider", "Standing", "Summary", "Why"]
