"""What may be the best policy in hindsight, where no optimiser can tell."""

import numpy as np
import pytest

import hannan as hn
from hannan.experiments.search import LinearFit, Sample, candidates, mean_loss


def fitted(rows, losses, oracle=None, **options):
    oracle = oracle or hn.oracles.LinearPolicies(losses.shape[1])
    total, sample = oracle.objective(), Sample()
    for row, loss in zip(rows, losses, strict=True):
        total.add(oracle.check_context(row), loss)
        sample.add(row, loss)
    found = candidates(oracle, total.leader(), sample, **options)
    return {fit.name: fit for fit in found}, sample


def world(n=1500, K=3, p=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    labels = (rows @ rng.normal(size=(p, K))).argmin(axis=1)
    return rows, 1.0 - np.eye(K)[labels]


@pytest.mark.slow
def test_the_classs_own_fit_is_among_them_and_does_what_its_policy_does():
    rows, losses = world()
    oracle = hn.oracles.LinearPolicies(3)
    total = oracle.objective()
    for row, loss in zip(rows, losses, strict=True):
        total.add(row, loss)
    policy = total.leader()
    fits, _ = fitted(rows, losses, oracle)
    assert fits["ridge regression"].choose(rows).tolist() == [policy(row) for row in rows]


@pytest.mark.slow
def test_every_model_is_tried_and_the_search_never_makes_a_fit_worse():
    fits, sample = fitted(*world())
    costs = {name: mean_loss(fit, sample) for name, fit in fits.items()}
    *_, last = fits
    assert set(costs) - {last} == {
        "ridge regression", "logistic regression", "decision tree", "gradient boosting"
    }  # fmt: skip
    start = last.removeprefix("local search from ")
    assert (
        costs[last]
        <= costs[start]
        == min(
            costs[name]
            for name, fit in fits.items()
            if isinstance(fit.choose, LinearFit) and name != last
        )
    )
    assert costs[last] < 0.03  # the labels are those of a linear policy


@pytest.mark.slow
def test_the_search_finds_a_threshold_that_least_squares_misses():
    rng = np.random.default_rng(1)
    x = rng.exponential(size=(2000, 1))
    losses = np.column_stack([(x[:, 0] > 3.0) * 1.0, np.full(2000, 0.3)])
    fits, sample = fitted(x, losses)
    best = min(
        np.where(x[:, 0] > cut, losses[:, 1], losses[:, 0]).mean() for cut in np.sort(x[:, 0])
    )
    *_, last = fits.values()
    assert mean_loss(fits["ridge regression"], sample) > 1.2 * best
    assert mean_loss(last, sample) <= 1.02 * best


@pytest.mark.slow
@pytest.mark.parametrize("never", [0, 1, 2])
def test_an_action_that_is_never_the_cheapest_is_not_chosen_by_the_logistic_fit(never):
    rows, losses = world(K=2)
    losses = np.insert(losses, never, 2.0, axis=1)
    fits, _ = fitted(rows, losses)
    assert never not in fits["logistic regression"].choose(rows)


@pytest.mark.slow
def test_without_a_choice_to_learn_there_is_no_logistic_fit():
    rows, losses = world(K=2)
    fits, sample = fitted(rows, np.column_stack([losses[:, 0], losses[:, 0] + 0.5]))
    assert "logistic regression" not in fits
    assert mean_loss(fits["decision tree"], sample) == pytest.approx(losses[:, 0].mean())


def test_a_class_without_a_constant_keeps_to_it():
    rows, losses = world(200)
    fits, _ = fitted(rows, losses, hn.oracles.LinearPolicies(3, intercept=False))
    linear = [fit.choose for fit in fits.values() if isinstance(fit.choose, LinearFit)]
    assert len(linear) == 3
    assert all(fit.weights.shape == (4, 3) for fit in linear)


def test_other_classes_are_asked_row_by_row():
    rows, losses = world(400)
    fits, _ = fitted(rows, losses, hn.oracles.Trees(3, depth=3), other_models=False)
    assert list(fits) == ["Trees"]
    assert fits["Trees"].choose(rows).shape == (400,)


def test_a_large_sample_is_drawn_evenly():
    sample = Sample(most=200)
    for t in range(2000):
        sample.add(np.array([t]), np.zeros(2))
    kept = np.sort(sample.rows[:, 0])
    assert len(np.unique(kept)) == 200
    # The mean of 200 numbers of 2000 drawn without replacement: five standard errors.
    assert abs(kept.mean() - 999.5) < 5 * 577 / np.sqrt(200)


def test_a_sample_keeps_copies():
    row, losses, sample = np.zeros(2), np.zeros(2), Sample()
    sample.add(row, losses)
    row += 1.0
    losses += 1.0
    assert not sample.rows.any()
    assert not sample.losses.any()
