"""The distribution of the played action at a fixed history is that of Algorithm 2.

Each test compares two samples by a chi-square test and fails for equal distributions with
probability at
most 1e-3 divided by the number of tests in this file; seeds are fixed.
"""

import numpy as np
import pytest

import hannan as hn
from tests import naive, problems, statistics

SURE = 1e-3 / 40
SAMPLES = 2500


def instance(kind, seed):
    rng = np.random.default_rng([seed, len(kind)])
    d, K = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    oracle, rows = problems.make(kind, d=d, K=K, N=int(rng.integers(3, 8)), seed=seed)
    history = problems.rounds(d, K, int(rng.integers(2, 7)), seed=seed)
    return oracle, rows, d, K, history, int(rng.integers(d))


def simulated(rows, X, history, context, epsilon, K, seed=0, samples=SAMPLES):
    rng = np.random.default_rng([seed, 99])
    return [naive.algorithm_2(rows, X, history, context, epsilon, rng, K) for _ in range(samples)]


def played(history, context, make, samples=SAMPLES):
    """The last action of many learners that differ in their seeds only."""
    actions = []
    for seed in range(samples):
        learner = make(seed)
        problems.play(learner, history)
        actions.append(learner.act(context))
    return actions


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", problems.KINDS)
def test_transductive_play_has_the_law_of_algorithm_2(kind, seed):
    oracle, rows, d, K, history, context = instance(kind, seed)
    epsilon = [0.3, 0.6, 1.0, 2.0][seed]
    found = played(
        history, context, lambda s: hn.ContextFTPL(oracle, range(d), epsilon=epsilon, seed=s)
    )
    expected = simulated(rows, range(d), history, context, epsilon, K, seed)
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("kind", ["FinitePolicies", "FunctionOracle"])
@pytest.mark.parametrize("seed", range(3))
def test_play_with_a_small_separator_has_the_law_of_algorithm_2(kind, seed):
    # Policies that differ on contexts 0 and 1; contexts 2 and 3 carry no noise.
    rng = np.random.default_rng(seed)
    rows = [[a, b, *rng.integers(0, 2, size=2).tolist()] for a in (0, 1) for b in (0, 1)]
    solve = naive.solver(rows)
    oracle = {
        "FinitePolicies": lambda: hn.oracles.FinitePolicies(rows),
        "FunctionOracle": lambda: hn.oracles.FunctionOracle(solve, n_actions=2),
    }[kind]()
    history = problems.rounds(4, 2, 5, seed=seed)
    context = next(x for x in (3, 2) if len({row[x] for row in rows}) > 1)
    found = played(
        history,
        context,
        lambda s: hn.ContextFTPL(oracle, separator=[0, 1], epsilon=0.5, seed=s),
    )
    expected = simulated(rows, [0, 1], history, context, 0.5, 2, seed)
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.stat
def test_all_policies_with_their_separator_have_the_law_of_algorithm_2():
    oracle, rows = problems.make("AllPolicies", d=2, K=3)
    history = problems.rounds(2, 3, 5, seed=8)
    found = played(
        history, 1, lambda s: hn.ContextFTPL(oracle, separator=[1, 0], epsilon=0.4, seed=s)
    )
    expected = simulated(rows, [1, 0], history, 1, 0.4, 3)
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.stat
@pytest.mark.parametrize("kind", problems.KINDS)
def test_successive_rounds_of_one_learner_have_the_law_of_algorithm_2(kind):
    oracle, rows, d, K, history, context = instance(kind, 11)
    learner = hn.ContextFTPL(oracle, range(d), epsilon=0.5, seed=0)
    problems.play(learner, history)
    # Rounds without loss leave the history's totals as they are.
    rounds = [(context, np.zeros(K))] * (2 * SAMPLES)
    found = problems.play(learner, rounds)
    expected = simulated(rows, range(d), history, context, 0.5, K)
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE
    # And one round tells nothing about the next.
    again = [2 * K * a + b for a, b in zip(found[0::2], found[1::2], strict=True)]
    shuffled = np.random.default_rng(0).permutation(found)
    independent = [2 * K * a + b for a, b in zip(shuffled[0::2], shuffled[1::2], strict=True)]
    assert statistics.same_distribution(again, independent) > SURE


@pytest.mark.stat
@pytest.mark.parametrize("kind", problems.KINDS)
def test_self_tuned_play_has_the_law_of_algorithm_2_at_its_epsilon(kind):
    oracle, rows, d, K, _, context = instance(kind, 5)
    learner = hn.ContextFTPL(oracle, range(d), seed=0)
    history = problems.rounds(d, K, 25, seed=3)
    problems.play(learner, history)
    epsilon = learner.complexity.value / learner.step.D
    found = problems.play(learner, [(context, np.zeros(K))] * (2 * SAMPLES))
    expected = simulated(rows, range(d), history, context, epsilon, K)
    assert len(set(expected)) > 1
    assert statistics.same_distribution(found, expected) > SURE


@pytest.mark.stat
def test_these_tests_would_notice_a_wrong_scale_of_noise():
    oracle, rows = problems.make("FinitePolicies", seed=0)
    history = [(0, np.array([0.0, 1.0, 2.0]))] * 2
    found = played(
        history, 0, lambda s: hn.ContextFTPL(oracle, epsilon=0.5, loss_range=(0, 2), seed=s)
    )
    wrong = simulated(rows, range(3), history, 0, 0.7, 3)
    right = simulated(rows, range(3), history, 0, 0.5, 3)
    assert statistics.same_distribution(found, right) > SURE
    assert statistics.same_distribution(found, wrong) < SURE


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("kind", problems.KINDS)
def test_ftpl_with_laplace_fakes_plays_like_context_ftpl(kind):
    oracle, _, d, K, history, context = instance(kind, 2)

    def fakes(rng):
        return [(x, rng.laplace(scale=1 / 0.5, size=K)) for x in range(d)]

    samples = SAMPLES // 2
    ftpl = played(history, context, lambda s: hn.FTPL(oracle, fakes, seed=s), samples)
    other = played(
        history, context, lambda s: hn.ContextFTPL(oracle, range(d), epsilon=0.5, seed=s), samples
    )
    assert len(set(ftpl)) > 1
    assert statistics.same_distribution(ftpl, other) > SURE
