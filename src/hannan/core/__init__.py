"""The core classes (learners, oracles, environments, policies) and their contracts."""

from hannan.core.environment import Environment, Feedback, Round
from hannan.core.errors import (
    ClosedDecisionError,
    ContextError,
    ContradictoryOutcomeError,
    DamagedFileError,
    DecisionError,
    HannanError,
    InfeasibleError,
    InputTypeError,
    LossError,
    MissingPackageError,
    NewerFileError,
    OpenDecisionError,
    OrderError,
    ParameterError,
    PropensityError,
    StorageError,
    TruncatedFileError,
    UnknownDecisionError,
    UntrustedError,
)
from hannan.core.learner import Learner, Propensities
from hannan.core.loss import LossFunction
from hannan.core.menu import Menu
from hannan.core.oracle import WITHOUT_NOISE, Draw, Noise, Objective, Oracle
from hannan.core.policy import Action, Policy
from hannan.core.predictor import Predictor
from hannan.core.rounds import Decision, Ledger, OpenRound
from hannan.core.storage import load

__all__ = [
    "WITHOUT_NOISE",
    "Action",
    "ClosedDecisionError",
    "ContextError",
    "ContradictoryOutcomeError",
    "DamagedFileError",
    "Decision",
    "DecisionError",
    "Draw",
    "Environment",
    "Feedback",
    "HannanError",
    "InfeasibleError",
    "InputTypeError",
    "Learner",
    "Ledger",
    "LossError",
    "LossFunction",
    "Menu",
    "MissingPackageError",
    "NewerFileError",
    "Noise",
    "Objective",
    "OpenDecisionError",
    "OpenRound",
    "Oracle",
    "OrderError",
    "ParameterError",
    "Policy",
    "Predictor",
    "Propensities",
    "PropensityError",
    "Round",
    "StorageError",
    "TruncatedFileError",
    "UnknownDecisionError",
    "UntrustedError",
    "load",
]
