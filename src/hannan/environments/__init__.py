"""Adversaries and data streams."""

from hannan.environments.bait import Bait
from hannan.environments.classification import Classification
from hannan.environments.congestion import Congestion
from hannan.environments.copy_punisher import CopyPunisher
from hannan.environments.corrupted import Corrupted
from hannan.environments.delayed import Delayed
from hannan.environments.drifting import Drifting
from hannan.environments.frequency_punisher import FrequencyPunisher
from hannan.environments.from_arrays import FromArrays
from hannan.environments.from_log import FromLog
from hannan.environments.from_table import FromFile, FromFrame
from hannan.environments.item_punisher import ItemPunisher
from hannan.environments.leader_punisher import LeaderPunisher
from hannan.environments.planted_policy import PlantedPolicy
from hannan.environments.switching import Switching

__all__ = [
    "Bait",
    "Classification",
    "Congestion",
    "CopyPunisher",
    "Corrupted",
    "Delayed",
    "Drifting",
    "FrequencyPunisher",
    "FromArrays",
    "FromFile",
    "FromFrame",
    "FromLog",
    "ItemPunisher",
    "LeaderPunisher",
    "PlantedPolicy",
    "Switching",
]
