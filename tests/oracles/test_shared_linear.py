"""One linear score for all described actions."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.oracle import WITHOUT_NOISE, Draw
from hannan.perturbation import seed_key
from tests.described import menus

CONTRACT = {
    "SharedLinear": (hn.oracles.SharedLinear(), menus(5)),
    "SharedLinear, hashed": (
        hn.oracles.SharedLinear(["action", "context*action"], width=5, ridge=0.5),
        menus(4, 1),
    ),
}


def total_of(oracle, rounds, seed=0):
    rng = np.random.default_rng(seed)
    total, rows, targets = oracle.objective(), [], []
    for menu in rounds:
        losses = rng.normal(size=len(menu))
        total.add(menu, losses)
        rows += list(oracle.crossing.rows(menu))
        targets += list(losses)
    return total, np.array(rows), np.array(targets)


@pytest.mark.parametrize("width", [64, 6])
def test_scores_are_those_of_one_ridge_regression(width):
    oracle = hn.oracles.SharedLinear(width=width, ridge=0.7)
    total, X, y = total_of(oracle, menus(40))
    w = np.linalg.solve(0.7 * np.eye(X.shape[1]) + X.T @ X, X.T @ y)
    for menu in menus(5, 9):
        np.testing.assert_allclose(total.scores(menu), oracle.crossing.rows(menu) @ w, atol=1e-9)


def test_a_tilt_adds_to_the_moments_alone():
    oracle = hn.oracles.SharedLinear()
    total, X, y = total_of(oracle, menus(30))
    (menu,) = menus(1, 5)
    rows = oracle.crossing.rows(menu)
    A = np.eye(X.shape[1]) + X.T @ X
    noise, rng, seen = (
        oracle.noise(menus(7), seed_key(0), 0, 2**20),
        np.random.default_rng(0),
        set(),
    )
    for _ in range(20):
        losses = 5.0 * rng.normal(size=len(menu))
        expected = rows @ np.linalg.solve(A, X.T @ y + rows.T @ losses)
        best = int(expected.argmin())
        assert total.action(menu, WITHOUT_NOISE, losses) == best
        assert total.chosen(menu, WITHOUT_NOISE, 1, losses)[0, best]
        assert total.distribution(menu, Draw(noise, 0, 1e-9), losses)[best] == pytest.approx(1.0)
        seen.add(best)
    assert len(seen) > 1


def test_noise_has_the_mean_variance_of_fake_losses():
    oracle = hn.oracles.SharedLinear()
    total, X, _ = total_of(oracle, menus(30))
    (menu,) = menus(1, 6)
    noise = oracle.noise(menus(7), seed_key(0), 0, 2**20)
    rows = oracle.crossing.rows(menu)
    h = np.diag(rows @ np.linalg.solve(np.eye(X.shape[1]) + X.T @ X, rows.T))
    sigma = 1.5 * math.sqrt(2.0 * 7 / 30 * h.mean())
    for draw in range(20):
        expected = total.scores(menu) + sigma * noise.normal(draw, len(menu))
        assert total.action(menu, Draw(noise, draw, 1.5)) == int(expected.argmin())


@pytest.mark.stat
def test_the_law_is_that_of_the_draws():
    oracle = hn.oracles.SharedLinear()
    total, *_ = total_of(oracle, menus(30))
    noise = oracle.noise(menus(7), seed_key(0), 0, 2**20)
    for menu in menus(3, 8):
        distribution = total.distribution(menu, Draw(noise, 0, 3.0))
        draws = total.chosen(menu, Draw(noise, 0, 3.0), 20_000).mean(axis=0)
        assert distribution.sum() == pytest.approx(1.0)
        assert np.abs(distribution - draws).max() < 5 * 0.5 / math.sqrt(
            20_000
        )  # five standard errors


def test_much_noise_prefers_no_action():
    """Whatever the rows: those at the margin would be likelier under one draw of the weights."""
    oracle = hn.oracles.SharedLinear()
    menu = hn.Menu(None, [[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [-9.0, 5.0]])
    total = oracle.objective()
    total.add(menu, np.array([0.1, 0.2, 0.3, 0.0]))
    noise = oracle.noise([menu], seed_key(0), 0, 2**20)
    np.testing.assert_allclose(total.distribution(menu, Draw(noise, 0, 1e9)), 0.25, atol=1e-6)


def test_features_may_be_any_number_until_something_is_learned():
    oracle = hn.oracles.SharedLinear()
    total = oracle.objective()
    for q in (1, 3):
        assert total.action(hn.Menu(None, np.ones((2, q))), WITHOUT_NOISE) == 0
    total.add(hn.Menu(None, np.ones((2, 3))), np.zeros(2))
    with pytest.raises(hn.ContextError, match="actions with 3; got 0 and 2"):
        total.action(hn.Menu(None, np.ones((2, 2))), WITHOUT_NOISE)


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ([1.0, 2.0], r"only the context \[1.0, 2.0\]"),
        (None, "only the context None"),
        (hn.Menu([float("nan")], [[1.0]]), "finite"),
        (hn.Menu(["x"], [[1.0]]), "numbers"),
    ],
)
def test_contexts_are_menus(context, said):
    with pytest.raises(hn.ContextError, match=said):
        hn.oracles.SharedLinear().check_context(context)


def test_menus_of_different_widths_are_refused_where_their_complexity_is_asked():
    narrow = hn.Menu(np.zeros(2), np.ones((3, 1)))
    wide = hn.Menu(np.zeros(2), np.ones((3, 2)))
    oracle = hn.oracles.SharedLinear()
    assert oracle.complexity([narrow, narrow]) > 0.0
    with pytest.raises(hn.ContextError, match="equal numbers of context and action features"):
        oracle.complexity([narrow, wide])
