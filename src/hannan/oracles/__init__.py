"""Policy classes, each with its optimiser."""

from hannan.oracles.all_policies import AllPolicies
from hannan.oracles.finite_policies import FinitePolicies
from hannan.oracles.function_oracle import FunctionOracle
from hannan.oracles.linear_policies import LinearPolicies

__all__ = ["AllPolicies", "FinitePolicies", "FunctionOracle", "LinearPolicies"]
