"""Replays of your data: the answer in one sentence, and rules for new rows."""

from hannan.replays.replay import FailedReplayError, Replay, replay
from hannan.replays.rule import Rule

__all__ = ["FailedReplayError", "Replay", "Rule", "replay"]
