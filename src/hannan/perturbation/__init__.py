"""Unit noise on a context set: reproducible, and projected in blocks ahead of time."""

from hannan.perturbation.blocks import Blocks
from hannan.perturbation.laplace import LaplaceNoise, seed_key

__all__ = ["Blocks", "LaplaceNoise", "seed_key"]
