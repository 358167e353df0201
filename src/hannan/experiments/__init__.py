"""Games between learners and environments."""

from hannan.experiments.play import play
from hannan.experiments.trace import Trace

__all__ = ["Trace", "play"]
