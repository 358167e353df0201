"""The nouns and their contracts."""

from hannan.core.decision import Decision
from hannan.core.environment import Environment, Feedback, Round
from hannan.core.errors import (
    ContextError,
    DamagedFileError,
    DecisionError,
    HannanError,
    InfeasibleError,
    InputTypeError,
    LossError,
    MissingPackageError,
    NewerFileError,
    OrderError,
    ParameterError,
    StorageError,
    TruncatedFileError,
    UntrustedError,
)
from hannan.core.late import LateLearner
from hannan.core.learner import Learner
from hannan.core.loss import LossFunction
from hannan.core.oracle import Noise, Objective, Oracle
from hannan.core.policy import Action, Policy
from hannan.core.predictor import Predictor
from hannan.core.storage import load

__all__ = [
    "Action",
    "ContextError",
    "DamagedFileError",
    "Decision",
    "DecisionError",
    "Environment",
    "Feedback",
    "HannanError",
    "InfeasibleError",
    "InputTypeError",
    "LateLearner",
    "Learner",
    "LossError",
    "LossFunction",
    "MissingPackageError",
    "NewerFileError",
    "Noise",
    "Objective",
    "Oracle",
    "OrderError",
    "ParameterError",
    "Policy",
    "Predictor",
    "Round",
    "StorageError",
    "TruncatedFileError",
    "UntrustedError",
    "load",
]
