"""Performance of a predictor's hints under bandit feedback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hannan.core import Learner
from hannan.experiments.game import at_work
from hannan.learners.hint import Hint


@dataclass(frozen=True, slots=True)
class Hints:
    """Performance of hints, as means over seeds.

    Attributes
    ----------
    share
        Share of rounds in which the hint was active, from 0 to 1.
    cost
        Measured loss of the played hints minus that of the base learner's choices.
    budget
        `cost` as a share of the budget; 0 if the hints have saved losses.
    refused
        Share of rounds without a hint because the budget was spent.
    advantage, error
        Estimated saving of following every hint compared with the base learner's choices, and the
        standard error of the estimate.
    """

    share: float
    cost: float
    budget: float
    refused: float
    advantage: float
    error: float

    @classmethod
    def mean(cls, found: Iterable[Mapping[str, float] | None]) -> Hints | None:
        """Average the results of several runs; None if one of them has no hints."""
        listed = list(found)
        games = [game for game in listed if game is not None]
        if not games or len(games) < len(listed):
            return None
        fields = ("share", "cost", "budget", "refused", "advantage")
        means = {name: float(np.mean([game[name] for game in games])) for name in fields}
        return cls(error=float(np.linalg.norm([g["error"] for g in games])) / len(games), **means)

    def scaled(self, factor: float) -> Hints:
        """Convert the amounts to another unit of losses."""
        amounts = {name: factor * getattr(self, name) for name in ("cost", "advantage", "error")}
        return replace(self, **amounts)

    def __str__(self) -> str:
        spent = "at no measured cost"
        if self.cost > 0.0:
            spent = f"and spent {_percent(self.budget)} of its budget"
        changed = "increased" if self.advantage < 0.0 else "reduced"
        amount = f"{_short(abs(self.advantage))} ± {_short(self.error)}"
        off = f"; it was left out in {_percent(self.refused)} because its budget was spent"
        return (
            f"the predictor took part in {_percent(self.share)} of the rounds {spent}; following "
            f"it in every round would have {changed} the total loss by {amount} compared with the "
            f"base learner alone{off if self.refused >= 0.005 else ''}"
        )


class HintWatch:
    """Record of a learner's hints during a run, also across restarts."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._players = [at_work(learner)]
        self._restarts = hasattr(learner, "current_learner")

    def look(self) -> None:
        """Check whether a restart has replaced the current learner."""
        if self._restarts:
            player = at_work(self._learner)
            if player is not self._players[-1]:
                self._players.append(player)

    def result(self, rounds: int) -> dict[str, float] | None:
        """Return the totals for the record of the run; None without hints."""
        hints = [(player, getattr(player, "hint", None)) for player in self._players]
        found = [(p, h) for p, h in hints if isinstance(h, Hint) and h.mixes]
        if not found or not rounds:
            return None
        cost = sum(hint.S for _, hint in found)
        limit = 0.0
        for player, hint in found:  # c √(G t), in the units of losses
            leader, oracle = getattr(player, "leader", None), player.oracle
            G = oracle.complexity(oracle.contexts) if leader is None else leader.G
            limit += hint.trust.limit(G, max(player.rounds, 1), hint.top)
        gains = np.array([hint.advantage for _, hint in found])
        return {
            "share": int(sum(hint.hinted for _, hint in found)) / rounds,
            "cost": float(cost),
            "budget": max(0.0, float(cost)) / limit if limit > 0.0 else 0.0,
            "refused": int(sum(hint.refused for _, hint in found)) / rounds,
            "advantage": float(gains[:, 0].sum()),
            "error": float(np.linalg.norm(gains[:, 1])),
        }


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.2g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
