"""No-regret decisions against an adversary, made with any optimiser you already have.

>>> import hannan as hn
>>> oracle = hn.oracles.AllPolicies(n_contexts=1, n_actions=2)
>>> learner = hn.ContextFTPL(oracle, seed=0)
>>> action = learner.act()
>>> learner.update([0.2, 0.7])
"""

from hannan import (
    baselines,
    bounds,
    checks,
    environments,
    experiments,
    losses,
    networks,
    oracles,
    predictors,
)
from hannan._version import __version__
from hannan.core import (
    ContextError,
    Decision,
    DecisionError,
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
    Predictor,
    Round,
)
from hannan.experiments import Trace, play
from hannan.learners import FTPL, Certificate, ContextFTPL, ContextSemiBanditFTPL

__all__ = [
    "FTPL",
    "Certificate",
    "ContextError",
    "ContextFTPL",
    "ContextSemiBanditFTPL",
    "Decision",
    "DecisionError",
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
    "Predictor",
    "Round",
    "Trace",
    "__version__",
    "baselines",
    "bounds",
    "checks",
    "environments",
    "experiments",
    "losses",
    "networks",
    "oracles",
    "play",
    "predictors",
]
