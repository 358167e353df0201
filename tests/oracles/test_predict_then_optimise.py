"""A cost model for each element, then an optimiser."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import hannan as hn
from hannan.checks import check_oracle
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key

CONTRACT = {
    "PredictThenOptimise": (
        hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(4), hn.oracles.Subsets(4, 2)),
        np.random.default_rng(2).normal(size=(4, 2)),
    ),
}


def slates(n=5, m=2):
    return hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(n), hn.oracles.Subsets(n, m))


def test_the_action_is_the_best_one_for_the_predicted_losses():
    rng = np.random.default_rng(0)
    oracle = slates()
    total, model = oracle.objective(), hn.oracles.LinearPolicies(5).objective()
    for _ in range(30):
        x, losses = rng.normal(size=3), rng.normal(size=5)
        total.add(x, losses)
        model.add(x, losses)
    noise = oracle.noise([rng.normal(size=3) for _ in range(4)], seed_key(1), 0, 2**20)
    for draw in range(40):
        x = oracle.check_context(rng.normal(size=3))
        scores = model.scores(x, Draw(noise, draw, 0.7))
        expected = np.sort(np.argsort(scores)[:2])
        assert (total.action(x, Draw(noise, draw, 0.7)) == expected).all()
        assert (total.leaders(Draw(noise, draw, 0.7), 1)[0](x) == expected).all()


def test_it_keeps_the_contract_of_an_oracle():
    check_oracle(slates(), contexts=np.random.default_rng(1).normal(size=(4, 2)))


@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
def test_routes_follow_the_context(learner):
    # Two ways from 0 to 3; the feature says which one is jammed.
    base = hn.oracles.Paths([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3)
    oracle = hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(4), base)
    player = learner(oracle, seed=0)
    rng = np.random.default_rng(2)
    losses = []
    for _ in range(1500):
        jam = float(rng.integers(2))
        costs = np.array([jam, jam, 1.0 - jam, 1.0 - jam]) * 0.8 + 0.1
        action = player.act([jam])
        losses.append(costs[action].sum())
        player.update(costs if learner is hn.ContextFTPL else costs[action])
    # The free way costs 0.2, the jammed one 1.8, a coin 1.0.
    assert np.mean(losses[-300:]) < 0.5
    assert any("inexact" in note for note in player.certificate().notes)


def test_a_base_that_does_not_fit_is_refused():
    with pytest.raises(hn.ParameterError, match="LinearPolicies\\(4\\)"):
        hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(3), hn.oracles.Subsets(4, 2))
    with pytest.raises(hn.ParameterError, match="without contexts"):
        hn.oracles.PredictThenOptimise(hn.oracles.LinearPolicies(3), hn.oracles.AllPolicies(2, 3))
    for model, base in ((Ridge(), hn.oracles.Subsets(3, 2)), (hn.oracles.LinearPolicies(3), "3")):
        with pytest.raises(hn.InputTypeError, match="LinearPolicies as its model"):
            hn.oracles.PredictThenOptimise(model, base)


def test_a_round_of_zero_losses_counts_in_the_regressions():
    one, two = slates().objective(), slates().objective()
    x = np.array([1.0, -1.0])
    for total in (one, two):
        total.add(x, np.arange(5.0))
    one.add(x, np.zeros(5))
    assert one.oracle.counts_rounds
    assert (one.model.scores(x, WITHOUT_NOISE) != two.model.scores(x, WITHOUT_NOISE)).any()
    assert one.model.rounds == 2
