"""What a reader compares with."""

from hannan.baselines.ada_normal_hedge import AdaNormalHedge
from hannan.baselines.exp4 import Exp4
from hannan.baselines.fixed_share import FixedShare
from hannan.baselines.follow_the_leader import FollowTheLeader
from hannan.baselines.hedge import Hedge
from hannan.baselines.optimistic_hedge import OptimisticHedge
from hannan.baselines.uniform_random import UniformRandom

__all__ = [
    "AdaNormalHedge",
    "Exp4",
    "FixedShare",
    "FollowTheLeader",
    "Hedge",
    "OptimisticHedge",
    "UniformRandom",
]
