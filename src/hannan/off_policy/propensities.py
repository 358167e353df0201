"""Checks and estimates of the propensities of a log."""

from __future__ import annotations

from hannan.environments._propensities import (
    check_propensities,
    estimate_propensities,
    is_sorted,
)

__all__ = ["check_propensities", "estimate_propensities", "is_sorted"]
