"""Record of a run in constant memory: totals, and curves with a bounded number of points."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

from hannan.core import Learner, Objective, Oracle, ParameterError, Policy, Round
from hannan.core.oracle import context_at
from hannan.experiments.hints import HintWatch

_PROBES = 32  # contexts on which policies are compared
_CURVES = ("t", "loss", "weight", "calls", "bound", "certificate", "best", "leader")


class Marks:
    """Rounds at which a curve has a point: evenly spread rounds, the last, and a few early ones.

    A curve has at most `points` plus about log₂ T points.
    """

    def __init__(self, points: int, horizon: int) -> None:
        self.stride = max(1, math.ceil(horizon / points))
        self.horizon = horizon

    def due(self, t: int) -> bool:
        """Return whether the curve has a point after round t."""
        return self.after(t - 1) == t

    def after(self, t: int) -> int:
        """Return the next round after t at which the curve has a point."""
        ahead = [(t // self.stride + 1) * self.stride]
        if t < self.stride:
            ahead.append(1 << t.bit_length())
        if t < self.horizon:
            ahead.append(self.horizon)
        return min(ahead)


class Sums:
    """Weighted totals of losses; the weights are 1, except on a log."""

    weight = squared_weight = loss = 0.0

    @property
    def mean_loss(self) -> float | None:
        """Σ weight · loss / Σ weight: the mean loss, or an estimate of it from a log."""
        return self.loss / self.weight if self.weight else None

    @property
    def effective(self) -> float:
        """Effective sample size of the mean loss: (Σ w)² / Σ w²."""
        return self.weight**2 / self.squared_weight if self.weight else 0.0


class RunRecorder(Sums):
    """Record of the loss, oracle calls and certificates of a learner and the best policy so far.

    The best policy is taken from the class `comparator`. Curves have about `points` points, and at
    each of them the recorder calls `tick` with the number of rounds so far.
    """

    def __init__(
        self,
        learner: Learner,
        comparator: Oracle | None,
        points: int,
        horizon: int,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        self.learner = learner
        self.rounds = 0
        self._marks = Marks(points, horizon)
        self._next = self._marks.after(0)
        self._tick = tick
        self._calls_before = getattr(learner, "oracle_calls", 0)
        self._best = None if comparator is None else Hindsight(comparator)
        self._curve: dict[str, list[Any]] = {name: [] for name in _CURVES}
        self._seconds: list[float] = []
        self._hints = HintWatch(learner)

    def record(self, this_round: Round, seconds: float) -> None:
        """Record a round after it was played; `seconds` is the learner's time so far."""
        weight = this_round.weight
        self.rounds += 1
        self.weight += weight
        self.squared_weight += weight * weight
        if weight:
            self.loss += weight * this_round.loss
        if self._best is not None:
            self._best.add(this_round)
        self._hints.look()
        if self.rounds == self._next:
            self._point(seconds)
            self._next = self._marks.after(self.rounds)
            if self._tick is not None:
                self._tick(self.rounds)

    def result(self, seconds: float) -> tuple[dict[str, Any], list[float]]:
        """Return the record of the run, and the learner's seconds at the points of its curve."""
        if self.rounds and (not self._curve["t"] or self._curve["t"][-1] != self.rounds):
            self._point(seconds)
        leaders = None
        if self._best is not None:
            leaders, self._curve["leader"] = self._best.numbered(self._curve["leader"])
        curve = {
            name: None if all(value is None for value in values) else values
            for name, values in self._curve.items()
        }
        last = {name: values[-1] if values else None for name, values in curve.items()}
        regret = None if last["best"] is None else last["loss"] - last["best"]
        learns = getattr(self.learner, "learns", True)
        restarts = getattr(self.learner, "restarts", None)  # None if the learner never restarts
        result = {
            "rounds": self.rounds,
            "feedback": self.learner.feedback.value if learns else "none",
            "loss": last["loss"],
            "mean_loss": self.mean_loss,
            "best": last["best"],
            "regret": regret,
            "bound": last["bound"],
            "certificate": last["certificate"],
            "oracle_calls": self._calls,
            "effective": self.effective,
            "hints": self._hints.result(self.rounds),
            "restarts": len(restarts) if isinstance(restarts, list | tuple) else restarts,
            "leaders": leaders,
            "curve": curve,
        }
        return result, self._seconds

    @property
    def _calls(self) -> int:
        return int(getattr(self.learner, "oracle_calls", 0) - self._calls_before)

    def _point(self, seconds: float) -> None:
        best, whole = self._best, self.weight == self.rounds
        mean, tell = self.mean_loss, getattr(self.learner, "regret_bound", None)
        certify = getattr(self.learner, "certificate", None)
        headline = None if certify is None else certify().headline
        if headline is not None and not headline.bounds:  # the regret itself, not a bound
            headline = None
        point = {
            "t": self.rounds,
            "loss": self.loss if whole else mean and mean * self.rounds,
            "weight": None if whole else self.weight,
            "calls": self._calls,
            "bound": None if tell is None else _finite(tell()),
            "certificate": None if headline is None else _finite(headline.value),
            "best": None if best is None else best.loss(),
            "leader": None if best is None else best.policy(),
        }
        for name, value in point.items():
            self._curve[name].append(value)
        self._seconds.append(seconds)


class Hindsight:
    """Tracker of the best policy for the rounds so far, in constant memory."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._total: Objective = oracle.objective()
        self._rounds = 0
        self._probes: dict[Hashable, Any] = {}

    def add(self, this_round: Round) -> None:
        """Count the losses of one more round."""
        if not this_round.comparable:
            raise ParameterError(
                "An experiment compares learners with the best policy in hindsight, which is "
                "unknown if elements of sets are unavailable. Use hn.play, which records "
                "everything except the regret."
            )
        context = context_at(self.oracle, self._rounds, this_round.context)
        self._total.add(context, this_round.losses)
        self._rounds += 1
        if len(self._probes) < _PROBES:
            self._probes.setdefault(self.oracle.key(context), context)

    def policy(self) -> Policy:
        """Return the current leader."""
        return self._total.leader()

    def loss(self) -> float | None:
        """Return the least total loss of a policy; None if the oracle is inexact."""
        if not self.oracle.exact:
            return None
        return _finite(float(self._total.minima()[0]))

    def numbered(self, leaders: list[Policy]) -> tuple[list[str], list[int]]:
        """Return labels of the distinct policies among `leaders`, and the number of each leader.

        Two policies count as equal if they choose equal actions on the first few contexts.
        """
        labels: list[str] = []
        known: dict[Hashable, int] = {}
        numbers = []
        for policy in leaders:
            actions = [policy(context) for context in self._probes.values()]
            acts = tuple(a if isinstance(a, int) else tuple(int(j) for j in a) for a in actions)
            number = known.setdefault(acts, len(known))
            if number == len(labels):
                text = repr(policy).strip("<>")
                short = f"{type(policy).__name__} {number + 1}"
                labels.append(text if len(text) <= 60 else short)
            numbers.append(number)
        return labels, numbers


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
