"""Replays of your own data: the answer in one sentence, and rules to take away."""

from hannan.replays.replay import FailedReplayError, Replay, replay
from hannan.replays.rule import Rule

__all__ = ["FailedReplayError", "Replay", "Rule", "replay"]
