"""Logs as environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hannan.core import Oracle, ParameterError
from hannan.core.validation import check_choice, check_probability, refuse
from hannan.environments.from_log import METHODS, Logged, LoggedRound, Means, range_of_estimates
from hannan.off_policy.log import Log


class LogReplay(Logged):
    r"""Environment that replays the rounds of a `Log`, as `environments.FromLog` does for a file.

    Parameters
    ----------
    log
        The log, with at least one round.
    method, floor, oracle
        As in `FromLog`.
    baseline
        As in `FromLog`, but any finite number is allowed.

    Examples
    --------
    >>> import hannan as hn
    >>> log = hn.off_policy.Log([0, 1] * 50, [0, 0, 1, 1] * 25, [0, 1, 1, 0] * 25, [0.5] * 100, 2)
    >>> learner = hn.ContextSemiBanditFTPL(hn.oracles.AllPolicies(2, 2), seed=0)
    >>> trace = hn.play(learner, log.environment(), seed=0)
    >>> learner.rounds, [learner.best_policy()(x) for x in (0, 1)]
    (50, [0, 1])
    """

    def __init__(
        self,
        log: Log,
        *,
        method: str = "rejection",
        baseline: float | str = "running",
        floor: float | None = None,
        oracle: Oracle | None = None,
    ) -> None:
        if not isinstance(log, Log) or not len(log):
            raise refuse(self, "log", "a Log with at least one round", log)
        self.log = log
        self.method = check_choice(self, "method", method, METHODS)
        if isinstance(baseline, str):
            check_choice(self, "baseline", baseline, ("running",))
        elif not np.isfinite(baseline):
            raise refuse(self, "baseline", "a finite number or 'running'", baseline)
        self.baseline = baseline
        if floor is not None and check_probability(self, "floor", floor) == 0.0:
            raise refuse(self, "floor", "a number in (0, 1]", floor)
        self.floor = floor
        self.oracle = oracle
        self.n_actions = None if log.takes_items else log.n_actions  # type: ignore[assignment]
        self.oblivious = log.available is None or log.takes_items  # type: ignore[misc]

    @property
    def horizon(self) -> int:
        return len(self.log)

    @property
    def contexts(self) -> list[Any]:
        return list(self.log.rows)

    @property
    def estimates_range(self) -> tuple[float, float]:
        losses = self.log.losses
        # Running means begin at 1/2.
        known = min(0.5, float(losses.min())), max(0.5, float(losses.max()))
        return range_of_estimates(self.baseline, known, float(self.log.propensities.min()))

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[LoggedRound]:
        log, full = self.log, self.method == "importance"
        if horizon > len(log):
            raise ParameterError(
                f"horizon={horizon} is longer than the log. Pass at most {len(log)}."
            )
        floor = log.propensities.min() if self.floor is None else self.floor
        c = Means(self.baseline).before(log.losses)
        # A child generator, because the log may come from a generator with the same seed.
        thinning = rng if full else rng.spawn(1)[0]
        for t in range(horizon):
            p, logged, loss = log.propensities[t], int(log.actions[t]), float(log.losses[t])
            K = len(log.contexts[t]) if log.takes_items else log.n_actions
            losses = np.full(K, c[t])
            losses[logged] += (loss - c[t]) / p
            weight = 1.0 / p if full else float(thinning.random() * p < floor)
            this_round = LoggedRound(log.rows[t], losses, logged, loss, weight, full)
            if log.available is not None and len(log.available[t]) < K:
                this_round.available = log.available[t]
            yield this_round
