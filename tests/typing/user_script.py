"""What a user writes, for mypy --strict: nothing is refused, and nothing is Any by accident."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import numpy as np
import numpy.typing as npt

import hannan as hn

Array = npt.NDArray[np.float64]


class Weather(hn.Environment):
    """An environment of one's own."""

    def __init__(self, n_actions: int = 3) -> None:
        self.n_actions = n_actions

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[hn.Round]:
        """Independent losses."""
        for _ in range(horizon):
            yield hn.Round(int(rng.integers(4)), rng.random(self.n_actions))


def solve(contexts: list[int], losses: Array) -> hn.Policy:
    """An optimiser of one's own."""
    total = hn.oracles.AllPolicies(4, 3).objective()
    for context, row in zip(contexts, losses, strict=True):
        total.add(context, row)
    return total.leader()


def full_information() -> float:
    """Two calls a round."""
    oracle = hn.oracles.FinitePolicies([[0, 1, 2, 0], [2, 2, 1, 1]], n_actions=3)
    learner = hn.ContextFTPL(oracle, seed=0)
    action = learner.act(2)
    learner.update([0.2, 0.7, 0.1])
    assert_type(action, int | npt.NDArray[np.intp])
    certificate = learner.certificate()
    assert_type(certificate, hn.Certificate)
    assert_type(certificate.measured, float | None)
    return float(certificate)


def bandit() -> float:
    """Decisions whose losses come later."""
    learner = hn.ContextSemiBanditFTPL(
        hn.oracles.LinearPolicies(n_actions=3), predictor=hn.predictors.Ridge(alpha=0.1), seed=0
    )
    decision = learner.decide(np.array([0.1, 0.9]))
    assert_type(decision, hn.Decision)
    learner.update(0.3, decision=decision)
    eager = hn.ContextSemiBanditFTPL(
        hn.oracles.AllPolicies(2, 3),
        epsilon=hn.SelfTuned(2.0),
        resampling=hn.Resampling(successes=4),
        predictor=hn.predictors.Mean(),
        trust=hn.Trust(budget=2.0, prior=1.0, floor=0.25, share=0.5, baseline=None),
    )
    assert_type(eager.late, str | None)
    return float(decision.weights.sum())


class Constant(hn.Learner):
    """A learner of one's own."""

    def __init__(self, action: int = 0) -> None:
        super().__init__()
        self.action = action

    def _act(self, opened: hn.OpenRound) -> None:
        opened.play(self.action)

    def _update(self, opened: hn.OpenRound, loss: object) -> None:
        """Learn nothing."""


def arrays(rows: Array) -> None:
    """Contexts as arrays, wherever there may be several."""
    linear = hn.oracles.LinearPolicies(n_actions=2)
    hn.ContextFTPL(linear, contexts=rows)
    hn.ContextSemiBanditFTPL(linear, contexts=hn.Pool(rows))
    hn.PlayoutFTPL(linear, contexts=rows)
    hn.PlayoutBandit(linear, contexts=hn.Pool(rows), horizon=50, epsilon=0.1)
    hn.ContextFTPL(hn.oracles.Disjunctions(3), separator=np.eye(3))
    hn.baselines.KalaiVempala(linear, contexts=rows)
    hn.bounds.laplace_complexity(linear, rows)
    hn.bounds.complete_information(100, loss_bound=2.0, **hn.bounds.sizes_of(linear, rows))
    hn.environments.PlantedPolicy(linear, rows)
    hn.environments.FromArrays(rows, rows)
    hn.oracles.PerContext(hn.oracles.AllPolicies(1, 2), rows[:, 0])
    hn.oracles.PartitionMatroid(np.array([0, 0, 1]), [1, 1])


def roads() -> list[tuple[object, ...]]:
    """Sets of edges."""
    paths = hn.oracles.Paths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], "a", "d")
    learner = hn.ContextSemiBanditFTPL(paths, epsilon="theorem", horizon=100, seed=0)
    chosen = np.atleast_1d(learner.act())
    learner.update([0.5] * len(chosen))
    return [paths.edges[j] for j in chosen]


def games() -> hn.Trace:
    """A game, and what came of it."""
    trace = hn.play(hn.baselines.Hedge([[0] * 4, [1] * 4]), Weather(2), horizon=50, seed=0)
    assert_type(trace, hn.Trace)
    print(trace.losses.mean(), trace.regret(), trace.oracle_calls)
    return trace


def checked() -> None:
    """Errors by name, and the contract checks."""
    try:
        hn.oracles.Subsets(3, 5)
    except hn.ParameterError as error:
        print(error)
    hn.checks.check_oracle(hn.oracles.AllPolicies(2, 2))
    hn.checks.check_environment(Weather())
    hn.show_versions()
    assert_type(hn.warm_up(hn.bandit(2, n_contexts=1)), float)
    assert Constant(1).act() == 1


if __name__ == "__main__":
    full_information()
    bandit()
    arrays(np.random.default_rng(0).random((5, 2)))
    roads()
    games()
    checked()
    hn.ContextFTPL(hn.oracles.FunctionOracle(solve, n_actions=3), contexts=range(4)).act(0)
