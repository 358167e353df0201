"""Contract checks: run your own oracle, learner, environment or bound through them.

Each check is a plain function that raises an `AssertionError` with a sentence about the violation.
`check_oracle`, `check_learner` and `check_environment` run all checks that apply. A test framework
can run the single checks in the lists `ORACLE_CHECKS`, `LEARNER_CHECKS` and `ENVIRONMENT_CHECKS`
one by one. The stricter `FAILURE_CHECKS` take the same arguments as the checks of learners: an
oracle or a predictor that fails in the middle of a round must leave no trace.

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
