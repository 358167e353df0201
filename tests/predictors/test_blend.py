"""Regressions side by side: equal to their definition, lazily and out of order too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hannan as hn
from hannan.core.storage import reread
from tests.for_each import for_each
from tests.naive_blend import NaiveBlend

CONTRACT = {
    "Blend": hn.predictors.Blend(),
    "Blend, two": hn.predictors.Blend([hn.predictors.Mean(), hn.predictors.Ridge()], alpha=0.2),
    "FourierRidge": hn.predictors.FourierRidge(features=20, seed=3),
    "FourierRidge, raw": hn.predictors.FourierRidge(features=0, standardise=False, ridge=2.0),
}
K = 3


def ready(predictor, n_actions=K):
    predictor.prepare(n_actions)
    return predictor


def fits_of(predictor):
    return predictor._fits


def played(T, p, kind, seed=0, n_actions=K):
    """Rounds (row, elements, losses) of one action, some of them, or all."""
    rng = np.random.default_rng(seed)
    rounds = []
    for t in range(T):
        size = {"one": 1, "all": n_actions, "some": 1 + rng.integers(n_actions)}[kind]
        elements = np.sort(rng.permutation(n_actions)[:size])
        row = rng.normal(3.0, 2.0, size=p)
        row[0] = 0.1 if t % 5 else row[0]
        rounds.append((row, elements, rng.random(size)))
    return rounds


def taught(predictor, rounds):
    for row, elements, losses in rounds:
        if len(elements) == 1:
            predictor.learn(row, int(elements[0]), float(losses[0]))
        else:
            predictor.learn(row, elements, losses)
    return predictor


def compare(predictor, twin, alpha, rows):
    np.testing.assert_allclose(predictor._fits.shares, twin.shares, atol=1e-8)
    assert predictor._fits.deviation == pytest.approx(twin.sigma, abs=1e-8)
    for row in rows:
        means, widths = twin.look(row)
        lower = means - alpha * twin.sigma * widths
        np.testing.assert_allclose(predictor.lower(row), lower, atol=1e-7)
        np.testing.assert_allclose(predictor.predict(row), lower.clip(0, 1), atol=1e-7)
        np.testing.assert_allclose(predictor.widths(row), widths, atol=1e-7)
        np.testing.assert_allclose(predictor.estimate(row), means.clip(0, 1), atol=1e-7)
        low = (means - twin.sigma * widths).clip(0, 1)
        np.testing.assert_allclose(predictor.baseline(row), low, atol=1e-7)
        best, estimates = predictor.advise(row)
        assert lower[best] <= lower.min() + 1e-7
        np.testing.assert_array_equal(estimates, predictor.estimate(row))


# The definition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["one", "some", "all"])
@pytest.mark.parametrize("T", [1, 7, 8, 21, 40])
@pytest.mark.parametrize(
    ("features", "ridge", "standardise"), [(12, 1.0, True), (17, 0.3, False), (0, 1.0, True)]
)
def test_fourier_ridge_equals_its_definition(kind, T, features, ridge, standardise):
    rounds = played(T, 3, kind, seed=T)
    options = {"features": features, "ridge": ridge, "standardise": standardise, "seed": 5}
    predictor = taught(ready(hn.predictors.FourierRidge(alpha=0.7, **options)), rounds)
    twin = NaiveBlend(rounds, K, linear=False, **options)
    compare(predictor, twin, 0.7, np.random.default_rng(1).normal(3.0, 2.0, size=(4, 3)))


@pytest.mark.parametrize("kind", ["one", "some", "all"])
def test_blend_equals_its_definition(kind):
    rounds = played(20, 2, kind)
    predictor = taught(ready(hn.predictors.Blend(seed=2)), rounds)
    twin = NaiveBlend(rounds, K, linear=True, features=200, seed=2)
    assert 0.02 < twin.shares[0] < 0.98
    np.testing.assert_allclose(predictor.weights, twin.shares, atol=1e-8)
    compare(predictor, twin, 0.5, np.random.default_rng(1).normal(3.0, 2.0, size=(3, 2)))


@pytest.mark.slow
def test_a_light_part_has_no_say_in_the_width():
    # Losses that no line can follow: the linear part is soon wrong.
    rng = np.random.default_rng(0)
    rounds = []
    for _ in range(64):
        row = rng.choice([-1.0, 1.0], size=2)
        rounds.append((row, np.arange(K), np.array([row[0] * row[1] > 0, 0.5, 0.5], dtype=float)))
    predictor = taught(ready(hn.predictors.Blend()), rounds)
    twin = NaiveBlend(rounds, K, linear=True, features=200)
    assert twin.shares[0] < 0.01
    compare(predictor, twin, 0.5, [rows for rows, *_ in rounds[:3]])


def test_a_standardised_ridge_is_the_linear_part():
    rounds = played(40, 3, "some")
    ridge = taught(ready(hn.predictors.Ridge(alpha=0.0, standardise=True)), rounds)
    linear = taught(ready(hn.predictors.FourierRidge(features=0, alpha=0.0)), rounds)
    for row, *_ in played(5, 3, "one", seed=9):
        np.testing.assert_allclose(ridge.lower(row), linear.lower(row), atol=1e-9)
        np.testing.assert_allclose(ridge.widths(row), linear.widths(row), atol=1e-9)
    fresh = ready(ridge.clone())
    np.testing.assert_allclose(
        fresh.widths([3.0, 0.0, 0.0]), np.sqrt([1 + 3.0**2 / 3] * K), atol=1e-12
    )


# Advice ------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_widths_looked_at_lazily_give_the_same_action(data):
    n_actions = data.draw(st.integers(1, 6))
    seed = data.draw(st.integers(0, 10_000))
    alpha = data.draw(st.sampled_from([0.0, 0.1, 0.5, 3.0]))
    kind = data.draw(st.sampled_from(["one", "some", "all"]))
    features = data.draw(st.sampled_from([0, 8]))
    # Few different rows and losses, so that there are ties.
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, size=(4, 2)).astype(float)
    predictor = ready(hn.predictors.FourierRidge(features, alpha), n_actions)
    for _, elements, _ in played(data.draw(st.integers(0, 30)), 1, kind, seed, n_actions):
        row = rows[rng.integers(4)]
        predictor.learn(row, elements, rng.integers(0, 2, size=len(elements)).astype(float))
    some = data.draw(st.none() | st.sets(st.integers(0, n_actions - 1), min_size=1).map(sorted))
    some = None if some is None else np.array(some)
    for row in rows:
        low = predictor.lower(row)
        among = np.arange(n_actions) if some is None else some
        assert predictor.advise(row, some)[0] == among[low[among].argmin()]


def test_advice_with_two_parts_is_the_lowest_value():
    rounds = played(60, 4, "one", n_actions=8)
    predictor = ready(hn.predictors.Blend(alpha=2.0), 8)
    found = set()
    for row, elements, losses in rounds:
        best, _ = predictor.advise(row)
        assert best == predictor.lower(row).argmin()
        found.add(best)
        predictor.learn(row, int(elements[0]), float(losses[0]))
    assert len(found) > 4


def test_only_widths_that_matter_are_computed(monkeypatch):
    # Two actions of 50 look cheap, the others never do: most widths are not worth looking at.
    from hannan.kernels import blend as kernel

    if not hasattr(kernel.width, "py_func"):
        pytest.skip("counts calls by replacing compiled code")
    predictor = ready(hn.predictors.FourierRidge(features=0), 50)
    rng = np.random.default_rng(0)
    for _ in range(20):
        row = rng.normal(size=2)
        losses = np.where(np.arange(50) < 2, 0.1, 0.9)
        for k in range(50):
            predictor.learn(row, k, float(losses[k]))
    calls = []
    plain = kernel.width.py_func

    def counted(*arguments):
        calls.append(arguments[0])
        return plain(*arguments)

    monkeypatch.setattr(kernel, "width", counted)
    monkeypatch.setattr(kernel, "advise", kernel.advise.py_func)
    assert predictor.advise(rng.normal(size=2))[0] in (0, 1)
    assert set(calls) == {0, 1}


def test_the_default_advice_is_the_least_guess():
    class Fixed(hn.Predictor):
        def predict(self, context):
            return np.array([0.5, 0.2, 0.4])

        def estimate(self, context):
            return np.array([0.6, 0.5, 0.4])

        def learn(self, context, action, loss):
            pass

    action, estimates = Fixed().advise(0)
    assert (action, type(action), estimates.tolist()) == (1, int, [0.6, 0.5, 0.4])
    action, _ = Fixed().advise(0, np.array([0, 2]))
    assert (action, type(action)) == (2, int)


# What is kept between questions ------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_questions_between_two_losses_change_nothing(data):
    """Whatever was asked before, in any order, a loss teaches the same: bit for bit."""
    rounds = played(
        12, 2, data.draw(st.sampled_from(["one", "some"])), data.draw(st.integers(0, 99))
    )
    options = {"features": data.draw(st.sampled_from([0, 6]))}
    asked = ready(hn.predictors.FourierRidge(**options))
    silent = ready(hn.predictors.FourierRidge(**options))
    buffer = np.zeros(2)
    for row, elements, losses in rounds:
        for index in data.draw(st.lists(st.integers(0, 11), max_size=3)):
            ask = data.draw(st.sampled_from(["advise", "predict", "estimate", "widths"]))
            buffer[:] = rounds[index][0]
            getattr(asked, ask)(buffer)
        buffer[:] = row
        taught(asked, [(buffer, elements, losses)])
        taught(silent, [(row, elements, losses)])
    for row, *_ in rounds:
        np.testing.assert_array_equal(asked.lower(row), silent.lower(row))
    np.testing.assert_array_equal(fits_of(asked)._inverse, fits_of(silent)._inverse)


@pytest.mark.parametrize("kind", ["one", "all"])
@pytest.mark.parametrize("T", [0, 3, 8, 20, 511, 512, 520])
def test_a_file_holds_all_of_it(T, kind):
    rounds = played(T + 20, 2, kind)
    for original in (
        hn.predictors.FourierRidge(features=10),
        hn.predictors.Ridge(standardise=True),
    ):
        predictor = taught(ready(original), rounds[:T])
        predictor.advise(rounds[T][0])
        twin = reread(predictor)
        for each in rounds[T:]:
            assert twin.advise(each[0])[0] == predictor.advise(each[0])[0]
            taught(predictor, [each])
            taught(twin, [each])
            np.testing.assert_array_equal(twin.lower(each[0]), predictor.lower(each[0]))


def test_a_blend_goes_on_after_a_file():
    rounds = played(60, 3, "one")
    for original in (
        hn.predictors.Blend(seed=4),
        hn.predictors.Blend([hn.predictors.Ridge(), hn.predictors.FourierRidge(10)]),
    ):
        predictor = taught(ready(original), rounds[:30])
        twin = reread(predictor)
        for each in rounds[30:]:
            taught(predictor, [each])
            taught(twin, [each])
        np.testing.assert_array_equal(twin.weights, predictor.weights)
        np.testing.assert_array_equal(twin.lower(rounds[0][0]), predictor.lower(rounds[0][0]))


def test_a_clone_has_learned_nothing():
    predictor = taught(ready(hn.predictors.Blend()), played(20, 2, "one"))
    fresh = ready(predictor.clone())
    assert not fresh.estimate([1.0, 2.0]).any()
    assert fresh.weights.tolist() == [0.5, 0.5]


def test_the_number_of_features_is_that_of_the_first_row_learned():
    predictor = ready(hn.predictors.Blend())
    assert predictor.advise([1.0, 2.0, 3.0])[0] == 0
    assert predictor.predict([1.0]).tolist() == [0.0] * K
    predictor.learn([1.0, 2.0], 1, 0.5)
    with pytest.raises(hn.ContextError, match="Blend needs contexts with 2 features"):
        predictor.advise([1.0, 2.0, 3.0])


ROW = np.array([1.0, 2.0])
BAD = [
    ((np.array([1.0, np.nan]), 1, 0.5), hn.ContextError, "finite numbers"),
    (([1.0, np.inf], 1, 0.5), hn.ContextError, "finite numbers"),
    (("rain", 1, 0.5), hn.ContextError, "finite numbers"),
    (([1.0, 2.0, 3.0], 1, 0.5), hn.ContextError, "2 features"),
    ((ROW, 1, np.nan), hn.LossError, "finite"),
    ((ROW, np.arange(2), np.array([0.5, np.nan])), hn.LossError, "finite"),
    ((ROW, np.arange(2), np.array([0.5, 0.5, 0.5])), hn.LossError, "2 losses"),
    ((ROW, 3, 0.5), hn.ParameterError, "action"),
    ((ROW, -1, 0.5), hn.ParameterError, "action"),
    ((ROW, np.array([0, 7]), np.array([0.5, 0.5])), hn.ParameterError, "action"),
    ((ROW, 1, "cheap"), hn.InputTypeError, "numbers"),
    ((ROW, np.arange(3), hn.losses.Coverage([[0], [1], [0, 1]])), hn.InputTypeError, "one loss"),
]
KINDS = {
    "Blend": hn.predictors.Blend(),
    "FourierRidge": hn.predictors.FourierRidge(10),
    "Blend, two": hn.predictors.Blend([hn.predictors.Ridge(), hn.predictors.FourierRidge(10)]),
    "Ridge": hn.predictors.Ridge(),
    "Ridge, standardised": hn.predictors.Ridge(standardise=True),
}


@for_each("shared", [True, False])
@for_each("kind", KINDS)
@for_each(("given", "error", "message"), BAD)
def test_what_is_refused_changes_nothing(kind, shared, given, error, message):
    rounds = played(7, 2, "all" if shared else "one")
    one, other = ready(KINDS[kind].clone()), ready(KINDS[kind].clone())
    for each in (one, other):
        taught(each, rounds)
    with pytest.raises(error, match=message):
        one.learn(*given)
    taught(one, rounds[:3])
    taught(other, rounds[:3])
    np.testing.assert_array_equal(one.lower(ROW), other.lower(ROW))
    np.testing.assert_array_equal(one.widths(ROW), other.widths(ROW))


@pytest.mark.parametrize("ask", ["advise", "predict", "estimate", "widths"])
def test_rows_with_holes_are_refused(ask):
    predictor = taught(ready(hn.predictors.Blend()), played(3, 2, "one"))
    with pytest.raises(hn.ContextError, match="Blend needs contexts that are vectors of finite"):
        getattr(predictor, ask)(np.array([np.nan, 1.0]))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Blend", {"predictors": []}),
        ("Blend", {"predictors": hn.predictors.Mean()}),
        ("Blend", {"predictors": [3]}),
        ("Blend", {"alpha": -1.0}),
        ("Blend", {"memory": 0}),
        ("Blend", {"seed": None}),
        ("FourierRidge", {"features": -1}),
        ("FourierRidge", {"alpha": np.nan}),
        ("FourierRidge", {"ridge": 0.0}),
        ("FourierRidge", {"bandwidths": ()}),
        ("FourierRidge", {"bandwidths": (1.0, -2.0)}),
        ("FourierRidge", {"bandwidths": "wide"}),
        ("FourierRidge", {"standardise": 1}),
        ("FourierRidge", {"memory": 1.5}),
        ("Ridge", {"standardise": "yes"}),
    ],
)
def test_bad_parameters_are_refused(kind, options):
    with pytest.raises((hn.ParameterError, hn.InputTypeError), match=next(iter(options))):
        getattr(hn.predictors, kind)(**options)


# Standardisation ---------------------------------------------------------------------------------


def test_units_do_not_matter_once_eight_rows_were_learned():
    rounds = played(40, 3, "one")
    units, origin = np.array([1e6, 1e-3, 7.0]), np.array([-3.0, 1e-2, 50.0])
    here = taught(ready(hn.predictors.Blend()), rounds)
    there = taught(
        ready(hn.predictors.Blend()),
        [(units * row + origin, elements, losses) for row, elements, losses in rounds],
    )
    for row, *_ in played(5, 3, "one", seed=7):
        np.testing.assert_allclose(here.lower(row), there.lower(units * row + origin), atol=1e-6)


def test_constant_columns_keep_their_scale():
    predictor = ready(hn.predictors.FourierRidge(0))
    rng = np.random.default_rng(0)
    for _ in range(8):
        predictor.learn([0.1, 1e9, rng.normal()], 0, 0.5)
    scaling = fits_of(predictor)._scaling
    assert scaling.scale[:2].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(scaling.center[:2], [0.1, 1e9], rtol=1e-12)


def test_far_rows_are_clipped():
    predictor = taught(ready(hn.predictors.FourierRidge(0)), played(8, 2, "one"))
    np.testing.assert_array_equal(predictor.lower([1e5, -1e5]), predictor.lower([1e9, -1e9]))


def test_observations_are_kept_until_the_scaling_is_frozen():
    rounds = played(600, 2, "one")
    predictor = taught(ready(hn.predictors.FourierRidge(4)), rounds[:511])
    scaling = fits_of(predictor)._scaling
    assert len(scaling._losses) == 511
    before = scaling.center.copy()
    taught(predictor, rounds[511:512])
    assert (scaling.center != before).all()
    np.testing.assert_allclose(scaling.center, np.mean([r for r, *_ in rounds[:512]], axis=0))
    assert len(scaling._rows) == len(scaling._losses) == len(scaling._elements) == 0
    before = scaling.center.copy()
    taught(predictor, rounds[512:])
    np.testing.assert_array_equal(scaling.center, before)


def test_few_observations_are_kept_where_rows_are_long():
    predictor = ready(hn.predictors.FourierRidge(0, memory=8 * 20 * 1003))
    rng = np.random.default_rng(0)
    for _ in range(17):
        predictor.learn(rng.normal(size=1000), 0, 0.5)
    assert len(fits_of(predictor)._scaling._rows) == 0


# Memory ------------------------------------------------------------------------------------------


def sizes(n_actions, p, **options):
    predictor = ready(hn.predictors.Blend(**options), n_actions)
    predictor.learn(np.zeros(p), 0, 0.5)
    fits = fits_of(predictor)
    return fits._sizes.tolist(), fits._inverse.nbytes, predictor


@pytest.mark.parametrize(("n_actions", "p"), [(10, 64), (100, 10), (1000, 10), (3, 500)])
def test_there_are_as_many_cosines_as_fit_into_the_memory(n_actions, p):
    found, taken, _ = sizes(n_actions, p)
    assert found[0] == p + 1
    assert taken <= 2**26
    each = (found[1] - found[0]) // 2
    assert 5 <= each <= 100
    n = found[0] + 2 * (each + 1)
    more = 8 * n_actions * (found[0] * (found[0] + 1) + n * (n + 1)) // 2
    assert each == 100 or more > 2**26


def test_without_room_for_cosines_there_is_a_linear_part_and_then_its_diagonal():
    p, linear = 30, 8 * K * 31 * 32 // 2
    found, taken, _ = sizes(K, p, memory=3 * linear)
    assert len(found) == 2
    assert taken <= 3 * linear
    found, taken, predictor = sizes(K, p, memory=linear)
    assert (found, taken, predictor.weights.tolist()) == ([p + 1], linear, [1.0])
    found, taken, _ = sizes(K, p, memory=linear - 1)
    assert (found, taken) == ([p + 1], 8 * K * 31)


@pytest.mark.parametrize("kind", ["one", "some", "all"])
def test_diagonals_follow_their_own_rule(kind):
    predictor = ready(hn.predictors.FourierRidge(10, memory=1, standardise=False, ridge=2.0))
    rounds = played(15, 3, kind)
    w, variance = np.zeros((K, 4)), np.full((K, 4), 0.5)
    for row, elements, losses in rounds:
        x = np.append(row, 1.0)
        for k, loss in zip(elements, losses, strict=True):
            gain = variance[k] * x / (1.0 + variance[k] @ x**2)
            w[k] += gain * (loss - w[k] @ x)
            variance[k] -= gain * variance[k] * x
    taught(predictor, rounds)
    for row, *_ in rounds:
        x = np.append(row, 1.0)
        np.testing.assert_allclose(predictor.widths(row), np.sqrt(variance @ x**2), atol=1e-9)
        np.testing.assert_allclose(predictor.estimate(row), (w @ x).clip(0, 1), atol=1e-9)


def test_with_full_information_one_inverse_serves_all():
    rounds = played(20, 2, "all", n_actions=50)
    predictor = taught(ready(hn.predictors.Blend(), 50), rounds)
    n = 3 + 200
    assert fits_of(predictor)._inverse.size == 3 * 4 // 2 + n * (n + 1) // 2
    predictor.learn(rounds[0][0], 3, 0.5)
    assert fits_of(predictor)._inverse.size == 50 * (3 * 4 // 2 + n * (n + 1) // 2)


# Other predictors --------------------------------------------------------------------------------


class Sklearn:
    """One model of scikit-learn for each action: predict and learn, nothing else."""

    def __init__(self, make):
        self.make = make

    def prepare(self, n_actions):
        self.models = [self.make() for _ in range(n_actions)]
        self.seen = [False] * n_actions

    def predict(self, context):
        return np.array([
            model.predict([context])[0] if seen else 0.0
            for model, seen in zip(self.models, self.seen, strict=True)
        ])  # fmt: skip

    def learn(self, context, action, loss):
        for k, cost in zip(np.atleast_1d(action), np.atleast_1d(loss), strict=True):
            self.models[k].partial_fit([context], [cost])
            self.seen[k] = True


@pytest.mark.parametrize("full", [True, False])
def test_models_of_river_and_scikit_learn_side_by_side(full):
    from river import linear_model, optim
    from sklearn.linear_model import SGDRegressor

    river = hn.adapters.RiverPredictor(linear_model.LinearRegression(optimizer=optim.SGD(0.1)))
    # One that cannot learn, as its steps are far too small.
    lame = Sklearn(lambda: SGDRegressor(eta0=1e-9, learning_rate="constant", random_state=0))
    quick = Sklearn(lambda: SGDRegressor(eta0=0.1, learning_rate="constant", random_state=0))
    blend = ready(hn.predictors.Blend([river, lame, quick]), 2)
    rng = np.random.default_rng(0)
    for t in range(150):
        x = rng.uniform(-1, 1, size=2)
        losses = 0.5 + 0.4 * np.array([x[0], x[1]])
        if full:
            blend.learn(x, np.arange(2), losses)
        else:
            blend.learn(x, t % 2, float(losses[t % 2]))
    assert blend.weights[1] < 0.01
    assert blend.weights.sum() == pytest.approx(1.0)
    action, estimates = blend.advise(np.array([0.9, -0.9]))
    assert action == 1
    np.testing.assert_allclose(estimates, [0.86, 0.14], atol=0.1)
    assert not blend.widths(x).any()
    assert blend.advise(np.array([0.9, -0.9]), np.array([0]))[0] == 0


def test_parts_with_widths_count_by_their_weight():
    parts = [hn.predictors.Ridge(), hn.predictors.Last(), hn.predictors.Mean(by_context=False)]
    blend = taught(ready(hn.predictors.Blend(parts, alpha=0.7)), played(12, 2, "one"))
    ridge, last, mean = blend._fits._parts
    x = np.array([1.0, 2.0])
    weights = blend.weights
    assert (weights > 0.01).all()
    expected = weights @ [ridge.estimate(x), last.estimate(x), mean.estimate(x)]
    widths = weights[0] * ridge.widths(x) + weights[2] * mean.widths(x)
    np.testing.assert_allclose(blend.estimate(x), expected)
    np.testing.assert_allclose(blend.widths(x), widths)
    np.testing.assert_allclose(blend.lower(x), expected - 0.7 * blend._fits.deviation * widths)
    assert blend.advise(x)[0] == blend.lower(x).argmin()


def test_the_parts_given_stay_as_they_are():
    ridge = hn.predictors.Ridge()
    taught(ready(hn.predictors.Blend([ridge])), played(5, 2, "one"))
    assert ridge._fits is None


# What it is for ----------------------------------------------------------------------------------


def lost(predictor, world, T, seed):
    """Mean loss of the second half, playing what is advised."""
    rng = np.random.default_rng(seed)
    predictor = ready(predictor, 4)
    total = 0.0
    for t in range(T):
        row, losses = world(rng)
        action, _ = predictor.advise(row)
        predictor.learn(row, action, float(losses[action]))
        total += losses[action] * (t >= T // 2)
    return predictor, total / (T - T // 2)


def xor(rng):
    row = rng.normal(size=6)
    label = int(row[0] * row[1] > 0) + 2 * int(row[2] * row[3] > 0)
    if rng.random() < 0.1:
        label = int(rng.integers(4))
    return row, (np.arange(4) != label).astype(float)


TRUTH = np.random.default_rng(1).normal(size=(4, 6)) / np.sqrt(6)


def noisy_line(rng):
    row = rng.normal(size=6)
    means = np.clip(0.5 + 0.15 * TRUTH @ row, 0, 1)
    return row, np.clip(means + 0.2 * rng.normal(size=4), 0, 1)


@pytest.mark.stat
def test_cosines_win_where_losses_are_not_linear():
    blend, loss = lost(hn.predictors.Blend(), xor, 4000, seed=0)
    _, linear = lost(hn.predictors.FourierRidge(0), xor, 4000, seed=0)
    assert blend.weights[1] > 0.999
    assert loss < 0.45 < 0.6 < linear


@pytest.mark.stat
def test_lines_win_where_losses_are_linear():
    blend, loss = lost(hn.predictors.Blend(), noisy_line, 3000, seed=0)
    _, linear = lost(hn.predictors.FourierRidge(0), noisy_line, 3000, seed=0)
    _, curved = lost(hn.predictors.FourierRidge(), noisy_line, 3000, seed=0)
    assert blend.weights[0] > 0.9
    assert loss < linear + 0.005
    assert loss < curved
