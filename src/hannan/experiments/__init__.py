"""Runs of learners in environments: single runs, experiment files and their results."""

from hannan.experiments.plan import Plan, make_plan, read_plan
from hannan.experiments.play import play
from hannan.experiments.run import Run, run
from hannan.experiments.search import fit_rule
from hannan.experiments.summary import summarise
from hannan.experiments.trace import Trace

__all__ = [
    "Plan",
    "Run",
    "Trace",
    "fit_rule",
    "make_plan",
    "play",
    "read_plan",
    "run",
    "summarise",
]
