"""Perturbed-leader learners."""

from hannan.learners.certificate import Certificate, SemiBanditCertificate
from hannan.learners.context_ftpl import ContextFTPL
from hannan.learners.context_semi_bandit_ftpl import ContextSemiBanditFTPL
from hannan.learners.ftpl import FTPL
from hannan.learners.propensities import Propensities

__all__ = [
    "FTPL",
    "Certificate",
    "ContextFTPL",
    "ContextSemiBanditFTPL",
    "Propensities",
    "SemiBanditCertificate",
]
