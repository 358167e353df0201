"""Contract checks: run your own oracle, learner, environment or bound through them.

Each check is a plain function that raises `AssertionError` with a sentence about what does not
hold. `check_oracle`, `check_learner` and `check_environment` run all that apply; the small checks
are in the lists `ORACLE_CHECKS`, `LEARNER_CHECKS` and `ENVIRONMENT_CHECKS`, for a test framework
to go through one by one. `FAILURE_CHECKS` take the same as those of learners, and ask more: that an
oracle or a predictor which fails in the middle of a round leaves no trace.

>>> import hannan as hn
>>> hn.checks.check_oracle(hn.oracles.AllPolicies(3, 2))
"""

from hannan.checks.bounds import check_bound
from hannan.checks.environments import ENVIRONMENT_CHECKS, check_environment
from hannan.checks.failing import FAILURE_CHECKS
from hannan.checks.gap import Gap, oracle_gap
from hannan.checks.learners import LEARNER_CHECKS, check_average_regret_falls, check_learner
from hannan.checks.oracles import ORACLE_CHECKS, check_oracle
from hannan.checks.parameters import PARAMETER_CHECKS, check_docstring

__all__ = [
    "ENVIRONMENT_CHECKS",
    "FAILURE_CHECKS",
    "LEARNER_CHECKS",
    "ORACLE_CHECKS",
    "PARAMETER_CHECKS",
    "Gap",
    "check_average_regret_falls",
    "check_bound",
    "check_docstring",
    "check_environment",
    "check_learner",
    "check_oracle",
    "oracle_gap",
]
