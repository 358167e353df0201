"""Perturbed-leader learners."""

from hannan.learners.certificate import Certificate
from hannan.learners.context_ftpl import ContextFTPL
from hannan.learners.ftpl import FTPL

__all__ = ["FTPL", "Certificate", "ContextFTPL"]
