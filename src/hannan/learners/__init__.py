"""Perturbed-leader learners."""

from hannan.learners.adaptive_discount import AdaptiveDiscount
from hannan.learners.context_ftpl import ContextFTPL
from hannan.learners.context_semi_bandit_ftpl import ContextSemiBanditFTPL
from hannan.learners.context_set import Pool
from hannan.learners.discounted import Discounted
from hannan.learners.exp3_ix import Exp3IX
from hannan.learners.ftpl import FTPL
from hannan.learners.hint import Trust
from hannan.learners.importance_weights import Resampling
from hannan.learners.playout_bandit import PlayoutBandit
from hannan.learners.playout_ftpl import PlayoutFTPL
from hannan.learners.restarting import Restarting
from hannan.learners.statements import Certificate, SemiBanditCertificate, Statement
from hannan.learners.step_size import Anytime, SelfTuned
from hannan.learners.strongly_adaptive import StronglyAdaptive
from hannan.learners.tsallis_inf import TsallisINF

__all__ = [
    "FTPL",
    "AdaptiveDiscount",
    "Anytime",
    "Certificate",
    "ContextFTPL",
    "ContextSemiBanditFTPL",
    "Discounted",
    "Exp3IX",
    "PlayoutBandit",
    "PlayoutFTPL",
    "Pool",
    "Resampling",
    "Restarting",
    "SelfTuned",
    "SemiBanditCertificate",
    "Statement",
    "StronglyAdaptive",
    "Trust",
    "TsallisINF",
]
