"""Policy classes, each with its optimiser."""

from hannan.oracles.all_policies import AllPolicies
from hannan.oracles.finite_policies import FinitePolicies
from hannan.oracles.function_oracle import FunctionOracle
from hannan.oracles.linear_policies import LinearPolicies
from hannan.oracles.paths import Paths
from hannan.oracles.stumps import Stumps
from hannan.oracles.thresholds import Thresholds
from hannan.oracles.trees import Trees

__all__ = [
    "AllPolicies",
    "FinitePolicies",
    "FunctionOracle",
    "LinearPolicies",
    "Paths",
    "Stumps",
    "Thresholds",
    "Trees",
]
