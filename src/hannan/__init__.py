"""No-regret decisions against an adversary, made with any optimiser you already have.

>>> import hannan as hn
>>> oracle = hn.oracles.AllPolicies(n_contexts=1, n_actions=2)
>>> learner = hn.ContextFTPL(oracle, seed=0)
>>> action = learner.act()
>>> learner.update([0.2, 0.7])
"""

from hannan import baselines, bounds, checks, environments, experiments, oracles
from hannan._version import __version__
from hannan.core import (
    ContextError,
    Environment,
    Feedback,
    HannanError,
    InfeasibleError,
    InputTypeError,
    Learner,
    LossError,
    Objective,
    Oracle,
    OrderError,
    ParameterError,
    Policy,
    Round,
)
from hannan.experiments import Trace, play
from hannan.learners import FTPL, Certificate, ContextFTPL

__all__ = [
    "FTPL",
    "Certificate",
    "ContextError",
    "ContextFTPL",
    "Environment",
    "Feedback",
    "HannanError",
    "InfeasibleError",
    "InputTypeError",
    "Learner",
    "LossError",
    "Objective",
    "Oracle",
    "OrderError",
    "ParameterError",
    "Policy",
    "Round",
    "Trace",
    "__version__",
    "baselines",
    "bounds",
    "checks",
    "environments",
    "experiments",
    "oracles",
    "play",
]
