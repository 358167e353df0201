"""Make repeated decisions and learn from their outcomes, even if the environment reacts.

>>> import hannan as hn
>>> oracle = hn.oracles.AllPolicies(n_contexts=1, n_actions=2)
>>> learner = hn.ContextFTPL(oracle, seed=0)
>>> action = learner.act()
>>> learner.update([0.2, 0.7])
"""

import importlib
from typing import TYPE_CHECKING, Any

from hannan._version import __version__
from hannan.core import (
    ClosedDecisionError,
    ContextError,
    ContradictoryOutcomeError,
    DamagedFileError,
    Decision,
    DecisionError,
    Environment,
    Feedback,
    HannanError,
    InfeasibleError,
    InputTypeError,
    Learner,
    LossError,
    Menu,
    MissingPackageError,
    NewerFileError,
    Objective,
    OpenDecisionError,
    OpenRound,
    Oracle,
    OrderError,
    ParameterError,
    Policy,
    Predictor,
    Round,
    StorageError,
    TruncatedFileError,
    UnknownDecisionError,
    UntrustedError,
    load,
)

if TYPE_CHECKING:
    from hannan import (
        adapters,
        baselines,
        bounds,
        checks,
        decisions,
        detectors,
        environments,
        experiments,
        features,
        losses,
        networks,
        off_policy,
        oracles,
        paper,
        predictors,
        replays,
        report,
        separators,
        verify,
    )
    from hannan._recommended import bandit, experts
    from hannan._show_versions import show_versions
    from hannan._warm_up import warm_up
    from hannan.decisions import Decider
    from hannan.experiments.play import play
    from hannan.experiments.trace import Trace
    from hannan.learners import (
        FTPL,
        AdaptiveDiscount,
        Anytime,
        Certificate,
        ContextFTPL,
        ContextSemiBanditFTPL,
        Discounted,
        Exp3IX,
        PlayoutBandit,
        PlayoutFTPL,
        Pool,
        Resampling,
        Restarting,
        SelfTuned,
        StronglyAdaptive,
        Trust,
        TsallisINF,
    )
    from hannan.replays import replay

__all__ = [
    "FTPL",
    "AdaptiveDiscount",
    "Anytime",
    "Certificate",
    "ClosedDecisionError",
    "ContextError",
    "ContextFTPL",
    "ContextSemiBanditFTPL",
    "ContradictoryOutcomeError",
    "DamagedFileError",
    "Decider",
    "Decision",
    "DecisionError",
    "Discounted",
    "Environment",
    "Exp3IX",
    "Feedback",
    "HannanError",
    "InfeasibleError",
    "InputTypeError",
    "Learner",
    "LossError",
    "Menu",
    "MissingPackageError",
    "NewerFileError",
    "Objective",
    "OpenDecisionError",
    "OpenRound",
    "Oracle",
    "OrderError",
    "ParameterError",
    "PlayoutBandit",
    "PlayoutFTPL",
    "Policy",
    "Pool",
    "Predictor",
    "Resampling",
    "Restarting",
    "Round",
    "SelfTuned",
    "StorageError",
    "StronglyAdaptive",
    "Trace",
    "TruncatedFileError",
    "Trust",
    "TsallisINF",
    "UnknownDecisionError",
    "UntrustedError",
    "__version__",
    "adapters",
    "bandit",
    "baselines",
    "bounds",
    "checks",
    "decisions",
    "detectors",
    "environments",
    "experiments",
    "experts",
    "features",
    "load",
    "losses",
    "networks",
    "off_policy",
    "oracles",
    "paper",
    "play",
    "predictors",
    "replay",
    "replays",
    "report",
    "separators",
    "show_versions",
    "verify",
    "warm_up",
]


_HOMES = {
    "Decider": "decisions",
    "Trace": "experiments",
    "play": "experiments",
    "replay": "replays",
    "bandit": "_recommended",
    "experts": "_recommended",
    "show_versions": "_show_versions",
    "warm_up": "_warm_up",
}


def _load(name: str) -> Any:
    """Import a package, function or learner at its first use, so that `import hannan` is fast."""
    if name not in __all__:
        raise AttributeError(f"module 'hannan' has no attribute {name!r}{_nearest(name)}")
    if name in _HOMES or name[0].isupper():  # all remaining classes are in learners
        home = _HOMES.get(name, "learners")
        return getattr(importlib.import_module(f"hannan.{home}"), name)
    return importlib.import_module(f"hannan.{name}")


def _nearest(name: str) -> str:
    """Suggest a known name that resembles an unknown one, as the end of an error message."""
    if name.startswith("_"):
        return ""
    import difflib

    known = {each.lower(): f"hn.{each}" for each in __all__}
    for package in ("baselines", "oracles", "predictors", "environments", "features", "off_policy"):
        for each in importlib.import_module(f"hannan.{package}").__all__:
            known.setdefault(each.lower(), f"hn.{package}.{each}")
    near = difflib.get_close_matches(name.lower(), known, 1, 0.75)
    return f"; did you mean {known[near[0]]}?" if near else ""


if not TYPE_CHECKING:  # a type checker would otherwise accept any attribute
    __getattr__ = _load


def __dir__() -> list[str]:
    return __all__
