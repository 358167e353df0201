"""Propensities of a log: whether they can be right, and estimates where there are none."""

from __future__ import annotations

from hannan.environments._propensities import (
    check_propensities,
    estimate_propensities,
    is_sorted,
)

__all__ = ["check_propensities", "estimate_propensities", "is_sorted"]
