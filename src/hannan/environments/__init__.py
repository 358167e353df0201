"""Adversaries and data streams."""

from hannan.environments.congestion import Congestion
from hannan.environments.from_arrays import FromArrays
from hannan.environments.image_cut import ImageCut
from hannan.environments.leader_punisher import LeaderPunisher
from hannan.environments.measured_speeds import MeasuredSpeeds
from hannan.environments.planted_policy import PlantedPolicy
from hannan.environments.slate_clicks import SlateClicks
from hannan.environments.switching import Switching

__all__ = [
    "Congestion",
    "FromArrays",
    "ImageCut",
    "LeaderPunisher",
    "MeasuredSpeeds",
    "PlantedPolicy",
    "SlateClicks",
    "Switching",
]
