"""Intercept classifiers against enumeration, and what the search beyond it loses."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import Draw, with_rounds
from hannan.oracles import intercept_classifiers as module
from hannan.perturbation import seed_key
from tests import naive_formulas as naive
from tests import problems

CONTRACT = {
    "InterceptClassifiers": (hn.oracles.InterceptClassifiers(3, 0.5), problems.ROWS),
    "InterceptClassifiers, many": (
        hn.oracles.InterceptClassifiers(3, 0.005, restarts=2),
        problems.ROWS,
    ),
}


def values(n, steps, history):
    return np.array(
        [sum(losses[naive.far(a, row)] for row, losses in history)
         for a in naive.classifiers(n, steps)], dtype=float
    )  # fmt: skip


def random_history(rng, n, steps, rounds):
    """Points on a grid, so that some lie on hyperplanes, and small integer losses."""
    rows = rng.integers(0, 2 * steps + 2, size=(rounds, n)) / (2 * steps)
    losses = rng.integers(-2, 3, size=(rounds, 2)).astype(float)
    return list(zip(rows, losses, strict=True))


def total(oracle, history):
    objective = oracle.objective()
    for row, losses in history:
        objective.add(oracle.check_context(row), losses)
    return objective


def test_leader_is_the_first_best_classifier():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n, steps = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        oracle = hn.oracles.InterceptClassifiers(n, 1 / steps)
        history = random_history(rng, n, steps, int(rng.integers(0, 9)))
        found = values(n, steps, history)
        objective = total(oracle, history)
        best = naive.classifiers(n, steps)[int(np.argmin(found))]
        assert tuple(objective.leader().intercepts) == best
        assert objective.minima()[0] == found.min()


def test_fake_losses_are_added_like_rounds():
    oracle = hn.oracles.InterceptClassifiers(2, 0.25)
    rng = np.random.default_rng(2)
    rows = oracle.check_contexts(rng.random((6, 2)))
    losses = rng.normal(size=(6, 2))
    before = oracle.objective()
    perturbed = with_rounds(before, rows, losses)
    expected = total(oracle, list(zip(rows, losses, strict=True)))
    assert perturbed.scores.tolist() == expected.scores.tolist()
    assert not before.scores[: oracle.n_policies].any()
    assert hn.baselines.KalaiVempala(oracle, rows, seed=0).act(rows[0]) in (0, 1)


def test_leader_under_noise_is_the_best_perturbed_classifier():
    rng = np.random.default_rng(1)
    for trial in range(60):
        n, steps = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        oracle = hn.oracles.InterceptClassifiers(n, 1 / steps)
        history = random_history(rng, n, steps, int(rng.integers(0, 9)))
        X = oracle.check_contexts(
            rng.random((5, n)) if trial % 2
            else hn.separators.intercept_classifiers(n, 1 / steps)
        )  # fmt: skip
        noise = oracle.noise(X, seed_key(trial), 0, 2**18)
        objective = total(oracle, history)
        for draw, scale in ((0, 0.5), (19, 3.0), (3, -1.0)):
            fakes = list(zip(X, scale * noise.unit(draw), strict=True))
            found = values(n, steps, history + fakes)
            best = int(np.flatnonzero(found < found.min() + 1e-9)[0])
            leader = objective.leaders(Draw(noise, draw, scale), 1)[0]
            assert tuple(leader.intercepts) == naive.classifiers(n, steps)[best]
            low = objective.minima(Draw(noise, draw, scale), 1)[0]
            assert low == pytest.approx(found.min(), abs=1e-4)


def test_policies_are_what_they_say():
    rng = np.random.default_rng(2)
    oracle = hn.oracles.InterceptClassifiers(2, 0.25)
    for intercepts in naive.classifiers(2, 4):
        policy = oracle.policy(intercepts)
        assert tuple(policy.intercepts) == intercepts
        for row in rng.integers(0, 9, size=(5, 2)) / 8:
            assert policy(row) == naive.far(intercepts, row)
    assert oracle.policy([None, 0.5])([0.9, 0.5]) == 1
    assert repr(oracle.policy([math.inf, 0.5])) == "<policy with intercepts inf, 0.5>"


@pytest.mark.parametrize("most", [2**20, 0])
def test_the_contract_is_kept(most, monkeypatch):
    monkeypatch.setattr(module, "_MOST_LISTED", most)
    oracle = hn.oracles.InterceptClassifiers(2, 0.5)
    assert oracle.exact == (most > 0)
    contexts = [[0.1, 0.9], [0.6, 0.6], [0.9, 0.2], [1.0, 0.0], [0.2, 0.2]]
    policies = [oracle.policy(a) for a in naive.classifiers(2, 2)]
    hn.checks.check_oracle(oracle, contexts, policies)


@pytest.mark.slow
def test_the_search_beyond_the_list_comes_close(monkeypatch):
    rng = np.random.default_rng(3)
    exact, found = [], []
    for _ in range(60):
        history = [(row, rng.normal(size=2)) for row in rng.random((30, 3))]
        low = values(3, 4, history).min()
        with monkeypatch.context() as patch:
            patch.setattr(module, "_MOST_LISTED", 0)
            oracle = hn.oracles.InterceptClassifiers(3, 0.25)
            objective = total(oracle, history)
            value = objective.minima()[0]
            policy = objective.leader()
        assert value == pytest.approx(sum(losses[policy(row)] for row, losses in history))
        assert value >= low - 1e-9
        exact.append(low)
        found.append(value)
    gap = np.array(found) - np.array(exact)
    assert (gap < 1e-9).mean() > 0.7
    assert gap.mean() < 0.05 * np.abs(exact).mean()


def test_more_restarts_never_hurt(monkeypatch):
    monkeypatch.setattr(module, "_MOST_LISTED", 0)
    rng = np.random.default_rng(4)
    history = [(row, rng.normal(size=2)) for row in rng.random((40, 4))]
    lows = [
        total(hn.oracles.InterceptClassifiers(4, 0.1, restarts=r), history).minima()
        for r in (1, 2, 4, 8, 32)
    ]
    assert (np.diff(np.ravel(lows)) <= 0).all()


@pytest.mark.parametrize("setting", ["contexts", "separator", "open"])
@pytest.mark.parametrize("learner", [hn.ContextFTPL, hn.ContextSemiBanditFTPL])
@pytest.mark.parametrize("n", [2, 9])
def test_learners_play_with_it(setting, learner, n):
    rng = np.random.default_rng(5)
    oracle = hn.oracles.InterceptClassifiers(n, 0.25, restarts=2)
    assert oracle.exact == (n == 2)
    X = rng.random((8, n))
    target = oracle.policy([0.5] + [math.inf] * (n - 1))
    points = hn.separators.intercept_classifiers(n, 0.25)
    where = {"contexts": {"contexts": X}, "separator": {"separator": points}, "open": {}}
    player = learner(oracle, seed=0, **where[setting])
    lost = 0.0
    for t in range(60):
        row = X[t % 8]
        losses = np.full(2, 1.0)
        losses[target(row)] = 0.0
        action = player.act(row)
        player.update(losses if learner is hn.ContextFTPL else losses[action])
        lost += losses[action]
    assert lost < 25
    player.certificate()


def test_an_inexact_class_is_not_certified():
    player = hn.ContextFTPL(
        hn.oracles.InterceptClassifiers(30, 0.1, restarts=1),
        separator=hn.separators.intercept_classifiers(30, 0.1)[::50],
    )
    assert "inexact" in str(player.certificate())


def test_size_is_bounded_by_sauer_and_by_counting():
    oracle = hn.oracles.InterceptClassifiers(3, 0.25)
    X = np.random.default_rng(6).random((40, 3))
    assert oracle.n_policies == 125
    assert oracle.log_size(X) == pytest.approx(math.log(125))
    for d in (1, 2, 5):
        rows = {tuple(naive.far(a, x) for x in X[:d]) for a in naive.classifiers(3, 4)}
        assert math.log(len(rows)) <= oracle.log_size(X[:d]) + 1e-9


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 0.5), "n"), ((2, 0.3), "tau"), ((2, 2.0), "tau"), ((2, -0.5), "tau"),
     ((2, 0.5, 0), "restarts")],
)  # fmt: skip
def test_bad_parameters_are_refused(arguments, name):
    with pytest.raises(hn.ParameterError, match=f"'{name}' parameter"):
        hn.oracles.InterceptClassifiers(*arguments)


def test_bad_contexts_and_intercepts_are_refused():
    oracle = hn.oracles.InterceptClassifiers(2, 0.5)
    for bad in ([1.0], [1.0, math.nan], [[1.0, 1.0]], "ab"):
        with pytest.raises(hn.ContextError):
            oracle.check_context(bad)
    for bad in ([0.3, 0.5], [0.5], [0.0, 0.5], [1.5, 0.5]):
        with pytest.raises(hn.ParameterError, match="intercepts"):
            oracle.policy(bad)
