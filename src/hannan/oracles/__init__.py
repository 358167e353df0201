"""Policy classes, each with its optimiser."""

from hannan.oracles.all_policies import AllPolicies
from hannan.oracles.conjunctions import Conjunctions
from hannan.oracles.disjunctions import Disjunctions
from hannan.oracles.finite_policies import FinitePolicies
from hannan.oracles.function_oracle import FunctionOracle
from hannan.oracles.intercept_classifiers import InterceptClassifiers
from hannan.oracles.linear_policies import LinearPolicies
from hannan.oracles.linear_program import LinearProgram
from hannan.oracles.listed_rules import ListedRules
from hannan.oracles.matchings import Matchings
from hannan.oracles.matroid import Matroid
from hannan.oracles.multi_label import MultiLabel
from hannan.oracles.partition_matroid import PartitionMatroid
from hannan.oracles.paths import Paths
from hannan.oracles.per_context import PerContext
from hannan.oracles.predict_then_optimise import PredictThenOptimise
from hannan.oracles.random_fourier import RandomFourier
from hannan.oracles.shared_linear import SharedLinear
from hannan.oracles.sklearn_policies import SklearnPolicies
from hannan.oracles.spanning_trees import SpanningTrees
from hannan.oracles.stumps import Stumps
from hannan.oracles.submodular import Submodular
from hannan.oracles.subsets import Subsets
from hannan.oracles.switching import Switching
from hannan.oracles.thresholds import Thresholds
from hannan.oracles.trees import Trees

__all__ = [
    "AllPolicies",
    "Conjunctions",
    "Disjunctions",
    "FinitePolicies",
    "FunctionOracle",
    "InterceptClassifiers",
    "LinearPolicies",
    "LinearProgram",
    "ListedRules",
    "Matchings",
    "Matroid",
    "MultiLabel",
    "PartitionMatroid",
    "Paths",
    "PerContext",
    "PredictThenOptimise",
    "RandomFourier",
    "SharedLinear",
    "SklearnPolicies",
    "SpanningTrees",
    "Stumps",
    "Submodular",
    "Subsets",
    "Switching",
    "Thresholds",
    "Trees",
]
