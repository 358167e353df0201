"""Losses of described actions: shared regressions and items."""

import math

import numpy as np
import pytest

import hannan as hn
from hannan.core.storage import reread
from hannan.predictors._items import ItemTerms
from tests.described import menus

CONTRACT = {
    "Hybrid": hn.predictors.Hybrid(),
    "Hybrid, small": hn.predictors.Hybrid(("action",), width=5, cosines=0, window=50.0, items=3),
}


def taught(predictor, rounds, seed=0, loss=None, ids=True):
    rng = np.random.default_rng(seed)
    for menu in menus(rounds, seed, ids=ids):
        action = int(rng.integers(len(menu)))
        value = rng.random() if loss is None else loss(menu, action)
        predictor.learn(menu, action, float(value))
    return predictor


def naive(rounds, ridge=1.0, seed=0):
    """The steady part without items, standardised by the first 512 rows, learned in one go."""
    rng = np.random.default_rng(seed)
    rows, losses = [], []
    for menu in menus(rounds, seed):
        action = int(rng.integers(len(menu)))
        rows.append(np.append(menu.context, menu.rows[action]))
        losses.append(rng.random())
    rows, losses = np.array(rows), np.array(losses)
    center, scale = rows[:512].mean(axis=0), rows[:512].std(axis=0)

    def features(x, a):
        z = np.clip((np.append(x, a) - center) / scale, -5.0, 5.0)
        x, a = z[: len(x)], z[len(x) :]
        found = np.concatenate([[1.0], x, a, np.outer(x, a).ravel()])
        return found / math.sqrt(len(found))

    V = np.array([features(row[:2], row[2:]) for row in rows])
    levels = (0.5 + np.concatenate([[0.0], np.cumsum(losses)[:-1]])) / np.arange(1, rounds + 1)
    w = np.linalg.solve(ridge * np.eye(V.shape[1]) + V.T @ V, V.T @ (losses - levels))
    level = (0.5 + losses.sum()) / (1 + rounds)
    return lambda menu: np.array([level + w @ features(menu.context, a) for a in menu.rows])


@pytest.mark.parametrize("rounds", [512, 700])
def test_the_steady_part_is_a_ridge_regression(rounds):
    predictor = taught(hn.predictors.Hybrid(cosines=0), rounds, ids=False)
    predictor._fits._tally[1] = 1e6  # the fading part has no weight
    guess = naive(rounds)
    for menu in menus(5, 99):
        np.testing.assert_allclose(
            predictor.estimate(menu), np.clip(guess(menu), 0.0, 1.0), atol=1e-8
        )


def test_the_fading_part_forgets_at_its_rate():
    """With little penalty it is least squares with weights γ^age."""
    window, rounds = 50.0, 600
    predictor = taught(
        hn.predictors.Hybrid(("action",), cosines=0, window=window, ridge=1e-6),
        rounds,
        loss=lambda menu, action: 0.5 + 0.01 * menu.rows[action, 0],
        ids=False,
    )
    predictor._fits._tally[0] = 1e6
    (menu,) = menus(1, 50)
    np.testing.assert_allclose(predictor.estimate(menu), 0.5 + 0.01 * menu.rows[:, 0], atol=2e-3)


@pytest.mark.parametrize("name", CONTRACT)
def test_it_goes_on_after_a_file_as_before(name):
    predictor = taught(CONTRACT[name].clone(), 30)
    twin = reread(predictor)
    for one in (predictor, twin):
        taught(one, 600, seed=3)
    for menu in menus(4, 5, ids=True):
        assert twin.predict(menu).tolist() == predictor.predict(menu).tolist()


def test_rare_clicks_tell_parts_apart():
    """Errors count in units of σ²: a twentieth of the clicks, and the parts still part."""
    rng = np.random.default_rng(0)
    predictor = hn.predictors.Hybrid(cosines=0)
    for t in range(4000):
        menu = hn.Menu(None, rng.normal(size=(3, 2)))
        sign = 1.0 if t < 2000 else -1.0
        rate = 0.03 + 0.03 * np.tanh(3.0 * sign * menu.rows[0, 0])
        predictor.learn(menu, 0, float(rng.random() >= rate))
    found = predictor.estimate(hn.Menu(None, [[2.0, 0.0], [-2.0, 0.0]]))
    assert found[0] > found[1] + 0.02  # it has turned round
    assert predictor._fits.deviation == pytest.approx(math.sqrt(0.03), abs=0.03)


def test_an_item_differs_from_its_features():
    rng, predictor = np.random.default_rng(1), hn.predictors.Hybrid()
    menu = hn.Menu(None, [[1.0], [1.0], [1.0]], ["good", "bad", "new"])
    for _ in range(800):
        for action, mean in ((0, 0.3), (1, 0.7)):
            predictor.learn(menu, action, float(rng.random() < mean))
    estimates, widths = predictor.estimate(menu), predictor.widths(menu)
    assert estimates[0] < 0.36
    assert estimates[1] > 0.64
    assert abs(estimates[2] - 0.5) < 0.05
    assert widths[2] > widths[0]


def test_items_that_do_not_differ_have_no_term():
    terms, rng = ItemTerms(10), np.random.default_rng(0)
    for t in range(2000):
        terms.learn(t % 5, float(rng.normal()))
    assert terms.variance() < 0.02


def test_memory_is_bounded_whatever_is_seen():
    terms = ItemTerms(4)
    for t in range(1000):
        terms.learn(f"item {t}", 0.1)
        terms.learn("always", 0.2)
    assert len(terms._ids) == len(terms._places) == 4
    assert terms._places["always"] in range(4)
    assert terms._played[terms._places["always"]] == 1000.0
    assert "item 0" not in terms._places


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ([1.0], "Menu"),
        (hn.Menu("x", [[1.0] * 3]), "vectors of finite numbers"),
        (hn.Menu(np.zeros(5), [[1.0] * 3]), "contexts with 2"),
        (hn.Menu(np.zeros(2), [[1.0] * 2]), "actions with 3"),
        (hn.Menu(np.array([np.nan, 0.0]), [[1.0] * 3]), "finite"),
    ],
)
def test_bad_contexts_are_refused_and_change_nothing(context, said):
    predictor, twin = (taught(hn.predictors.Hybrid(), 20) for _ in range(2))
    with pytest.raises(hn.ContextError, match=said):
        predictor.learn(context, 0, 0.5)
    with pytest.raises(hn.ContextError, match=said):
        predictor.advise(context)
    (menu,) = menus(1, 7)
    assert predictor.predict(menu).tolist() == twin.predict(menu).tolist()


@pytest.mark.parametrize(
    "given",
    [{"blocks": ()}, {"width": 1}, {"cosines": -1}, {"alpha": -1.0}, {"window": 1.0},
     {"items": 0}, {"ridge": 0.0}, {"seed": -1}],
)  # fmt: skip
def test_parameters_are_checked(given):
    with pytest.raises(hn.ParameterError):
        hn.predictors.Hybrid(**given)
