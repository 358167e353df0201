"""Experiments that could refute the paper's results, or this library: `hannan verify`."""

from hannan.verify.claim import Check, Claim, Effort, Finding
from hannan.verify.suite import Verdict, claims, verify

__all__ = ["Check", "Claim", "Effort", "Finding", "Verdict", "claims", "verify"]
