"""Drift detectors for `Restarting`."""

from hannan.detectors._detector import Detector
from hannan.detectors.bernstein import Bernstein

__all__ = ["Bernstein", "Detector"]
