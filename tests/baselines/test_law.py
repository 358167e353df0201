"""Laws with a formula: copies play by it, whatever is available, and asking changes nothing."""

import numpy as np
import pytest
from scipy.stats import chisquare

import hannan as hn
from hannan.core.storage import reread

B = hn.baselines
K, COPIES = 4, 4000
TABLE = np.random.default_rng(0).integers(K, size=(12, 3))
FINITE = hn.oracles.FinitePolicies(TABLE, n_actions=K)
LEARNERS = {
    "UniformRandom": B.UniformRandom(K, seed=0),
    "LinUCB": B.LinUCB(K),
    "EpsilonGreedy": B.EpsilonGreedy(K, epsilon=0.4, seed=0),
    "EpsilonGreedy, decaying": B.EpsilonGreedy(K, epsilon=1.0, decay=1 / 3, seed=0),
    "EpochGreedy": B.EpochGreedy(FINITE, seed=0),
    "Exp4": B.Exp4(FINITE, learning_rate=0.05, seed=0),
    "Hedge": B.Hedge(FINITE, learning_rate=0.1, seed=0),
    "OptimisticHedge": B.OptimisticHedge(FINITE, learning_rate=0.1, seed=0),
    "FixedShare": B.FixedShare(FINITE, learning_rate=0.1, seed=0),
    "AdaNormalHedge": B.AdaNormalHedge(FINITE, seed=0),
    "FollowTheLeader": B.FollowTheLeader(FINITE),
    "FollowTheLeader, scores": B.FollowTheLeader(hn.oracles.AllPolicies(3, K)),
}
NAMES = [*LEARNERS, "Restarting"]
SURE = 1e-3 / (4 * len(NAMES))
"""Equal distributions are called different with probability 1e-3 in all tests together."""


def made(name):
    if name == "Restarting":
        return hn.Restarting(LEARNERS["Exp4"])
    return LEARNERS[name].clone()


def trained(twin, rounds=31):
    """The learner with a past, in a third of which one action was not available."""
    rng = np.random.default_rng(1)
    for t in range(rounds):
        some = None if t % 3 else np.sort(rng.permutation(K)[:3])
        action = twin.act(t % 3, available=some)
        losses = rng.random(K) * np.linspace(0.5, 1.0, K)
        twin.update(losses if twin.feedback is hn.Feedback.FULL else float(losses[action]))
    return twin


def fits(counts, distribution):
    """The p-value of counts under a distribution; actions it rules out must not occur."""
    assert not counts[distribution == 0.0].any()
    likely = distribution * counts.sum() >= 5.0
    wanted = distribution[likely] * counts[likely].sum() / distribution[likely].sum()
    return chisquare(counts[likely], wanted).pvalue if likely.sum() > 1 else 1.0


def check(learner, context, some):
    distribution = learner.propensities(context, available=some)
    assert distribution.draws == 0
    assert not distribution.standard_errors.any()
    assert distribution.probabilities.sum() == pytest.approx(1.0)
    copies = learner.would_play(context, COPIES, seed=5, available=some)
    assert fits(np.bincount(copies, minlength=K), distribution.probabilities) > SURE


@pytest.mark.stat
@pytest.mark.parametrize("some", [None, [0, 2], [1, 2, 3], [3]])
@pytest.mark.parametrize("name", NAMES)
def test_copies_play_by_the_formula(name, some):
    check(trained(made(name)), 1, some)


@pytest.mark.stat
@pytest.mark.parametrize("some", [None, [0, 2]])
@pytest.mark.parametrize("rounds", range(30, 36))
def test_epochs_have_the_law_of_exploring_or_of_the_leader(rounds, some):
    check(trained(made("EpochGreedy"), rounds), 1, some)


@pytest.mark.stat
@pytest.mark.parametrize("some", [None, [0, 2], [1, 2, 3], [3]])
def test_vowpal_wabbit_plays_by_its_own_law(some):
    pytest.importorskip("vowpalwabbit")
    learner = trained(B.VowpalWabbit(K, "--squarecb", seed=0))
    check(learner, 1, some)
    asked = learner.propensities(1, available=some).probabilities
    assert asked == pytest.approx(learner.probabilities(1, some), abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_asking_changes_nothing(name):
    asked, left_alone = trained(made(name)), trained(made(name))
    for some in (None, [0, 2]):
        asked.propensities(1, available=some)
    assert asked.oracle_calls == left_alone.oracle_calls
    assert reread(asked).act(2) == asked.act(2) == left_alone.act(2)


def test_sets_have_probabilities_of_their_elements():
    slates = hn.oracles.FinitePolicies([[(0, 1)], [(1, 2)], [(0, 2)], [(0, 1)]])
    learner = B.Hedge(slates, seed=0)
    assert learner.propensities(0).probabilities == pytest.approx([0.75, 0.75, 0.5])


def test_hedge_is_weights_by_hand():
    learner = B.Hedge([[0], [1], [1]], learning_rate=1.0, seed=0)
    learner.act(0)
    learner.update([1.0, 0.0])
    q = np.exp(-1.0) / (np.exp(-1.0) + 2.0)
    assert learner.propensities(0).probabilities == pytest.approx([q, 1.0 - q])


def test_a_wrong_number_of_draws_is_refused_as_elsewhere():
    with pytest.raises(hn.ParameterError, match="'draws'"):
        B.UniformRandom(2).propensities(draws=0)
