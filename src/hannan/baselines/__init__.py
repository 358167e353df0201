"""What a reader compares with."""

from hannan.baselines.exp4 import Exp4
from hannan.baselines.follow_the_leader import FollowTheLeader
from hannan.baselines.hedge import Hedge
from hannan.baselines.uniform_random import UniformRandom

__all__ = ["Exp4", "FollowTheLeader", "Hedge", "UniformRandom"]
