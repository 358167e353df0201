"""Baselines: well-known learners for comparison."""

from hannan.baselines.ada_normal_hedge import AdaNormalHedge
from hannan.baselines.c2ucb import C2UCB
from hannan.baselines.comb_thompson import CombThompson
from hannan.baselines.comb_ucb1 import CombUCB1
from hannan.baselines.epoch_greedy import EpochGreedy
from hannan.baselines.epsilon_greedy import EpsilonGreedy
from hannan.baselines.exp4 import Exp4
from hannan.baselines.fixed_share import FixedShare
from hannan.baselines.follow_the_leader import FollowTheLeader
from hannan.baselines.hedge import Hedge
from hannan.baselines.item_lin_ucb import ItemLinUCB
from hannan.baselines.kalai_vempala import KalaiVempala
from hannan.baselines.lin_ucb import LinUCB
from hannan.baselines.optimistic_hedge import OptimisticHedge
from hannan.baselines.uniform_random import UniformRandom
from hannan.baselines.vowpal_wabbit import VowpalWabbit

__all__ = [
    "C2UCB",
    "AdaNormalHedge",
    "CombThompson",
    "CombUCB1",
    "EpochGreedy",
    "EpsilonGreedy",
    "Exp4",
    "FixedShare",
    "FollowTheLeader",
    "Hedge",
    "ItemLinUCB",
    "KalaiVempala",
    "LinUCB",
    "OptimisticHedge",
    "UniformRandom",
    "VowpalWabbit",
]
