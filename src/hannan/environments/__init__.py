"""Environments: adversaries, simulated streams, and replays of data."""

from hannan.environments.congestion import Congestion
from hannan.environments.from_arrays import Classification, FromArrays
from hannan.environments.from_log import FromLog
from hannan.environments.from_table import FromFile, FromFrame
from hannan.environments.planted import Bait, LeaderPunisher, PlantedPolicy, Switching
from hannan.environments.punishers import CopyPunisher, FrequencyPunisher, ItemPunisher
from hannan.environments.wrappers import Corrupted, Delayed, Drifting

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
