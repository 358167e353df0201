"""Experiments that could refute the results of the paper or of this library: `hannan verify`."""

from hannan.verify.claim import Check, Claim, Effort, Finding
from hannan.verify.suite import Verdict, claims, verify

__all__ = ["Check", "Claim", "Effort", "Finding", "Verdict", "claims", "verify"]
