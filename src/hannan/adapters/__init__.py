"""Adapters to other libraries; each adapter is imported only when it is used."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hannan.adapters.coba.environment import FromCoba, ToCoba
    from hannan.adapters.coba.learner import CobaLearner
    from hannan.adapters.coba.log import log_from_coba, log_to_coba
    from hannan.adapters.obp import log_from_obp, log_to_obp, policy_to_obp
    from hannan.adapters.river.detector import RiverDetector
    from hannan.adapters.river.policies import RiverPolicies
    from hannan.adapters.river.policy import RiverPolicy
    from hannan.adapters.river.predictor import RiverPredictor
    from hannan.adapters.river.stream import FromRiver
    from hannan.adapters.sklearn import OnlinePolicyClassifier
    from hannan.adapters.vw.dsjson import read_dsjson
    from hannan.adapters.vw.files import FromVW
    from hannan.adapters.vw.logs import actions_from_vw, log_from_vw, log_to_vw
    from hannan.adapters.vw.rounds import CbAdfRound, CbRound, VWFormatError
    from hannan.adapters.vw.text import read_vw, write_vw

__all__ = [
    "CbAdfRound",
    "CbRound",
    "CobaLearner",
    "FromCoba",
    "FromRiver",
    "FromVW",
    "OnlinePolicyClassifier",
    "RiverDetector",
    "RiverPolicies",
    "RiverPolicy",
    "RiverPredictor",
    "ToCoba",
    "VWFormatError",
    "actions_from_vw",
    "log_from_coba",
    "log_from_obp",
    "log_from_vw",
    "log_to_coba",
    "log_to_obp",
    "log_to_vw",
    "policy_to_obp",
    "read_dsjson",
    "read_vw",
    "write_vw",
]

_HOMES = {
    "coba.environment": ("FromCoba", "ToCoba"),
    "coba.learner": ("CobaLearner",),
    "coba.log": ("log_from_coba", "log_to_coba"),
    "obp": ("log_from_obp", "log_to_obp", "policy_to_obp"),
    "river.detector": ("RiverDetector",),
    "river.policies": ("RiverPolicies",),
    "river.policy": ("RiverPolicy",),
    "river.predictor": ("RiverPredictor",),
    "river.stream": ("FromRiver",),
    "sklearn": ("OnlinePolicyClassifier",),
    "vw.dsjson": ("read_dsjson",),
    "vw.files": ("FromVW",),
    "vw.logs": ("actions_from_vw", "log_from_vw", "log_to_vw"),
    "vw.rounds": ("CbAdfRound", "CbRound", "VWFormatError"),
    "vw.text": ("read_vw", "write_vw"),
}


def _load(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"hannan.adapters.{home}"), name)
    raise AttributeError(f"module 'hannan.adapters' has no attribute {name!r}")


if not TYPE_CHECKING:  # a type checker would otherwise accept any attribute
    __getattr__ = _load


def __dir__() -> list[str]:
    return __all__
