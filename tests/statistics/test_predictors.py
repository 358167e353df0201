"""Predictions under bandit feedback as baselines in the estimates."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.bounds import hinted, kappa, laplace_complexity
from hannan.environments import FromArrays
from hannan.learners import Resampling
from hannan.verify import Effort
from hannan.verify.theorem_5 import Script
from hannan.verify.trial import Trial, best_total
from tests.statistics.means import fails
from tests.verify.breaks import reuse_the_noise_that_chose

pytestmark = [pytest.mark.stat, pytest.mark.slow]


class Baseline:
    """Rounds with guesses Q as baselines, at the ε that is best for the errors."""

    def __init__(self, oracle, world, Q):
        self.losses, self.Q = np.asarray(world.losses), Q
        T, K = Q.shape
        G = laplace_complexity(oracle, pairs=2000).upper
        r = np.maximum(self.losses - Q, 0.0)
        L = math.ceil(math.sqrt(K * T))
        slope = Resampling(1, exact=False).second_moment * kappa() * float((r**2).sum())
        epsilon = math.sqrt(G / slope)
        self.limit = slope * epsilon + G / epsilon + K * r.max(axis=1).sum() / (math.e * L)
        self.baseline = {"epsilon": epsilon, "max_resamples": L, "trust": "baseline"}
        options = {"predictor": Script(Q), "resampling": "shared"}
        kind = hn.ContextSemiBanditFTPL
        self.trial = Trial("", oracle, world, T, None, kind, options, pseudo=True)

    def net_regret(self, played):
        """Return the mean of Σ (ℓ+o)(a), less the smallest Σ (ℓ+o)(π)."""
        charged = np.maximum(self.losses, self.Q)
        rows = np.arange(len(charged))
        suffered = [charged[rows, np.array(trace.actions)].sum() for _, trace in played]
        contexts = played[0][1].contexts
        return np.mean(suffered) - best_total(self.trial.oracle, [(contexts, charged)])


def guessed(what):
    T, rng = 3000, Effort().rng("predictor-baseline")
    oracle = hn.oracles.FinitePolicies(rng.integers(3, size=(12, 3)), n_actions=3)
    arrivals = rng.integers(3, size=T)
    mean = rng.random((3, 3))[arrivals]
    losses = (rng.random((T, 3)) < mean).astype(np.float64)
    total = oracle.objective()
    for context, row in zip(arrivals.tolist(), mean, strict=True):
        total.add(context, row)
    best = np.array([total.leader()(context) for context in oracle.contexts])[arrivals]
    guesses = {
        "none": np.zeros_like(losses),
        "nine tenths of the loss": 0.9 * losses,
        "half the mean": 0.5 * mean,
        "random": rng.random(losses.shape),
        "bad news of the best policy": np.eye(3)[best],
    }
    return Baseline(oracle, FromArrays(arrivals.tolist(), losses), guesses[what])


GUESSES = ["none", "nine tenths of the loss", "half the mean", "random"]
BAD_NEWS = "bad news of the best policy"


@pytest.mark.parametrize("what", [*GUESSES, BAD_NEWS])
def test_regret_follows_the_errors_of_a_baseline(what):
    """Regret is at most 2εκ Σ‖r‖² + G/ε + Σ K max r/(eL) and the net over-prediction.

    r and o are what Q was too low and too high by; as max(ℓ, Q) = ℓ + o, the inequality for all
    policies at once is one on the pseudo-regret with those losses. Means over fixed seeds.
    """
    problem = guessed(what)
    played = problem.trial.games([0, 1], **problem.baseline)
    assert problem.net_regret(played) <= problem.limit


def test_a_good_guess_lowers_the_limit():
    without, good = (guessed(what).limit for what in GUESSES[:2])
    assert good <= without / 3.0


def test_a_baseline_that_is_too_high_can_cost_linear_regret():
    """The same guess with earned trust costs no more than its bound; means over fixed seeds.

    Losses (0.9, 0), guesses (0, 1): the good action is never seen to be good.
    """
    T, oracle = 4000, hn.oracles.AllPolicies(1, 2)
    world = FromArrays([0] * T, np.tile([0.9, 0.0], (T, 1)))
    problem = Baseline(oracle, world, np.tile([0.0, 1.0], (T, 1)))
    believed = problem.trial.games(range(3), **problem.baseline)
    costly = np.mean([trace.losses.sum() for _, trace in believed])
    assert costly >= 0.6 * T
    # The best action's o is 1, the other one's is 0.
    over = np.mean([np.sum(np.array(trace.actions) == 0) for _, trace in believed])
    assert costly <= problem.limit + over
    assert problem.net_regret(believed) <= problem.limit
    careful = problem.trial.games(range(3))
    cheap = np.mean([trace.losses.sum() for _, trace in careful])
    G = laplace_complexity(oracle)
    assert cheap <= hinted(T, d=1, n_actions=2, complexity=G, start=1.0).value
    assert cheap <= np.mean([float(learner.certificate()) for learner, _ in careful])


def test_estimates_from_noise_that_is_used_again_show(monkeypatch):
    reuse_the_noise_that_chose(monkeypatch)
    fails(test_regret_follows_the_errors_of_a_baseline, BAD_NEWS)
