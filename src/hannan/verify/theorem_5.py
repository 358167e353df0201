"""Theorem 5: regret depends on the errors of the predicted losses."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from hannan.bounds import predictable, self_tuned
from hannan.core import Oracle, Predictor
from hannan.core.policy import Action
from hannan.core.validation import FloatArray
from hannan.environments import FromArrays
from hannan.learners import ContextFTPL, SelfTuned
from hannan.learners.perturbed_leader import PerturbedLeader
from hannan.learners.prediction import TRUST
from hannan.oracles import FinitePolicies, Subsets
from hannan.predictors import Last, Mean
from hannan.verify.adversaries import turns
from hannan.verify.be_the_leader import foreseeing, lemma
from hannan.verify.claim import Check, Effort, claim
from hannan.verify.trial import Trial, sizes

_LEVEL = 1e-6
_TWO = FinitePolicies([[0], [1]])


class Script(Predictor):
    """Predictions fixed in advance, one row per round."""

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        self._round = 0

    def predict(self, context: Any) -> FloatArray:
        return np.array(self.rows[self._round])

    def learn(self, context: Any, action: Action, loss: Any) -> None:
        self._round += 1


def losses_of_actions(oracle: Oracle, losses: FloatArray) -> FloatArray:
    """Return the loss of each action in each round, from those of its elements."""
    chosen = combinations(range(losses.shape[1]), oracle.max_chosen)
    return np.array([losses[:, list(elements)].sum(axis=1) for elements in chosen]).T


def squared_errors(oracle: Oracle, world: FromArrays, predictor: Predictor) -> tuple[float, float]:
    """Return the sums over rounds of the squared norm and of the squared range of f - Q.

    Q are the predictions of a predictor that observes all losses.
    """
    losses, off = np.asarray(world.losses), []
    predictor = predictor.clone()
    if hasattr(predictor, "prepare"):
        predictor.prepare(losses.shape[1])
    for context, row in zip(world.contexts or [None] * len(losses), losses, strict=True):
        off.append(row - np.clip(predictor.predict(context), 0.0, 1.0))
        predictor.learn(context, np.arange(len(row)), row)
    gaps = losses_of_actions(oracle, np.array(off))
    return float((np.abs(gaps).max(axis=1) ** 2).sum()), float((np.ptp(gaps, axis=1) ** 2).sum())


def problem(
    what: str,
    oracle: Oracle,
    environment: FromArrays,
    predictor: Predictor,
    separator: Sequence[int] | None = None,
) -> Trial:
    """Return the trial of a learner that always trusts a predictor."""
    norms, ranges = squared_errors(oracle, environment, predictor)
    known = sizes(oracle, separator=separator)
    bound = partial(predictable, norms, squared_ranges=ranges, **known)
    options = {"separator": separator, "predictor": predictor, "trust": "always"}
    return Trial(what, oracle, environment, environment.horizon, bound, options=options)


def problems(T: int, rng: np.random.Generator) -> list[Trial]:
    """Return trials whose losses resemble the last losses, their mean, or no prediction."""
    t = np.arange(T)
    x = t % 3
    # Each constant policy loses on one context: without a prediction, the leader loses.
    three = FinitePolicies(np.repeat(np.arange(3)[:, None], 3, axis=1))
    drift = 0.5 + 0.5 * np.cos(2 * np.pi * (2.0 * t[:, None] / T + rng.random((3, 3))[x]))
    slow = FromArrays(x.tolist(), 0.8 * np.eye(3)[x] + 0.2 * drift)
    path = 0.5 + 0.5 * np.cos(2 * np.pi * (4.0 * t[:, None] / T + rng.random(4)))
    means = rng.random((3, 3))
    independent = np.clip(means[x] + 0.5 * (rng.random((T, 3)) - 0.5), 0.0, 1.0)
    both = FinitePolicies([[0, 0, 1, 1, 0], [1, 1, 0, 1, 0], [0, 1, 1, 0, 0]])
    y = rng.integers(5, size=T)
    elsewhere = FromArrays(y.tolist(), rng.random((5, 2))[y] * rng.random((T, 2)))
    taken = turns(T, T // 8)
    wrong = Script(1.0 - np.asarray(taken.losses))
    return [
        problem("slowly varying losses", three, slow, Last()),
        problem("slowly varying losses, sets", Subsets(4, 2), FromArrays(None, path), Last()),
        problem("independent losses", three, FromArrays(x.tolist(), independent), Mean()),
        problem("independent losses, separator", both, elsewhere, Mean(), [0, 1, 2]),
        problem("wrong predictions", _TWO, taken, wrong),
    ]


def self_tuned_limit(trial: Trial, squared_ranges: float) -> float:
    """Return the bound of Theorem 5 for a self-tuned learner."""
    signed: dict[str, Any] = {"nonnegative": False, "loss_range": (-1.0, 1.0)}
    known = sizes(trial.oracle, separator=trial.options["separator"])
    return self_tuned(trial.horizon, squares=squared_ranges, **signed, **known).value


@claim(
    "theorem-5",
    "Theorem 5",
    "means many standard errors below their bounds; exact predictions: Bernstein's at 1e-6",
)
def follows_errors(effort: Effort) -> Iterator[Check]:
    """Regret with predictors is at most 4εK Σ‖f - Q‖² + (10/ε)√(dm) log N, with d times the first
    term for a separator. The sharp form is εκ Σ range(f - Q)² + G/ε, without K for single actions.
    """
    seeds = effort.seeds("theorem-5", 8, 40)
    trials = problems(effort.pick(200, 1200), effort.rng("theorem-5", "losses"))
    for trial in trials:
        yield from trial.theorem(seeds)
        world: Any = trial.environment
        _, ranges = squared_errors(trial.oracle, world, trial.options["predictor"])
        limit = self_tuned_limit(trial, ranges)
        yield Check(f"{trial.what}: regret, self-tuned", trial.regret(seeds), limit)
    yield from _right_guesses(trials, effort.seeds("right guesses", 30, 200))


def _right_guesses(trials: list[Trial], seeds: list[int]) -> Iterator[Check]:
    """Check that with exact predictions only noise costs anything, and self-tuning uses none.

    If one of two actions always costs 1, noise of size s costs nearly s G: the learner errs in
    round t with the probability that noise outweighs t rounds. The allowance is Bernstein's.
    """
    losses = np.tile([0.0, 1.0], (200, 1))
    steady = problem("", _TWO, FromArrays(None, losses), Script(losses))
    limit = steady.bound(form="sharp", epsilon=0.05).value
    share = -np.log(_LEVEL) / len(seeds)
    chance = float(np.sqrt(2.0 * limit * share) + share / 3.0)
    what = "exact predictions, ε = 1/20: regret at most G/ε"
    yield Check(what, steady.regret(seeds, epsilon=0.05), limit, allowance=chance)
    worst = 0.0
    for trial in (steady, *trials):
        world: Any = trial.environment
        right = Script(np.asarray(world.losses))
        for trust in TRUST:
            worst = max(worst, *trial.regrets(seeds[:2], trust=trust, predictor=right))
    yield Check("exact predictions: largest regret, self-tuned", float(worst), 0.0)


class Recorded(SelfTuned):
    """Self-tuning that records the instability cost of each round."""

    def __init__(self, eagerness: float | None = None) -> None:
        super().__init__(eagerness)
        self.costs: list[float] = []

    def after(self, leader: PerturbedLeader, instability: float, late: bool = False) -> None:
        self.costs.append(instability)
        super().after(leader, instability, late)


@claim(
    "be-the-optimistic-leader",
    "Lemma (follow vs be the leader with predictors)",
    "holds on every path",
)
def on_every_path(effort: Effort) -> Iterator[Check]:
    r"""Prediction errors are the only cost of be-the-leader with predictions, besides the noise on
    the best policy and on its own first choice.

    :math:`\sum_t Q_t(a_t) + (f_t - Q_t)(b_t) \le \sum_t f_t(\pi^*) + z(\pi^*) - z(\pi_1)`, with a
    the leader's action if the prediction counts as a round, and b the action of the leader that
    knows the loss. Each prediction error :math:`(f-Q)(a) - (f-Q)(b)` costs at least zero.
    """
    rng = effort.rng("optimistic leader")
    excess, least = [], [0.0]
    for _ in range(effort.pick(60, 1500)):
        N, d, K, T = (int(n) for n in rng.integers([2, 1, 2, 1], [12, 5, 5, 30]))
        oracle = FinitePolicies(rng.integers(K, size=(N, d)), n_actions=K)
        x = rng.integers(d, size=T).tolist()
        f, Q = rng.integers(-3, 4, size=(2, T, K)).astype(float)
        scale = float(rng.choice([0.0, 0.3, 3.0, 30.0]))
        key = int(rng.integers(2**63))
        excess.append(foreseeing(oracle, key, scale, zip(x, f, Q, strict=True)))
        options: Any = {"trust": "always", "loss_range": (-3.0, 3.0)}
        learner = ContextFTPL(oracle, epsilon=Recorded(), predictor=Script(Q), **options)
        for context, losses in zip(x, f, strict=True):
            learner.act(context)
            learner.update(losses)
        step: Any = learner.step
        least += step.costs
    yield lemma(excess)
    what = "smallest cost of a prediction error, self-tuned learners"
    yield Check(what, min(least), 0.0, at_most=False)
