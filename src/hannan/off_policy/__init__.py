"""Off-policy evaluation: the mean outcome of policies, estimated from logged decisions."""

from hannan.off_policy.estimators import Estimate, evaluate
from hannan.off_policy.log import Log, LoggedDecision
from hannan.off_policy.propensities import check_propensities, estimate_propensities
from hannan.off_policy.recording import Recorder, Watched
from hannan.off_policy.replay import LogReplay
from hannan.off_policy.rules import probabilities
from hannan.off_policy.set_log import SetLog
from hannan.off_policy.watch import PolicyIntervals, Watch

__all__ = [
    "Estimate",
    "Log",
    "LogReplay",
    "LoggedDecision",
    "PolicyIntervals",
    "Recorder",
    "SetLog",
    "Watch",
    "Watched",
    "check_propensities",
    "estimate_propensities",
    "evaluate",
    "probabilities",
]
