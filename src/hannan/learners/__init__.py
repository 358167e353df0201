"""Perturbed-leader learners."""

from hannan.core.propensities import Propensities
from hannan.learners.certificate import Certificate, SemiBanditCertificate
from hannan.learners.context_ftpl import ContextFTPL
from hannan.learners.context_semi_bandit_ftpl import ContextSemiBanditFTPL
from hannan.learners.discounted import Discounted
from hannan.learners.ftpl import FTPL
from hannan.learners.restarting import Restarting
from hannan.learners.strongly_adaptive import StronglyAdaptive

__all__ = [
    "FTPL",
    "Certificate",
    "ContextFTPL",
    "ContextSemiBanditFTPL",
    "Discounted",
    "Propensities",
    "Restarting",
    "SemiBanditCertificate",
    "StronglyAdaptive",
]
