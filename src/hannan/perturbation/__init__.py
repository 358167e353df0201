"""Unit noise on a context set: reproducible, and projected in blocks before it is needed."""

from hannan.perturbation.blocks import Blocks
from hannan.perturbation.laplace import LaplaceNoise, seed_key
from hannan.perturbation.playout import FuturePlayout

__all__ = ["Blocks", "FuturePlayout", "LaplaceNoise", "seed_key"]
